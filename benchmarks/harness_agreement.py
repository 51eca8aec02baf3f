"""The same exam, the same model: a sitting of ours against lm-evaluation-harness, question by question.

`python benchmarks/harness_agreement.py RUN MODEL WORK` takes a run folder that a float32 model has sat (its only
language model), exports the exam, saves the model as a folder the harness can load, lets the harness answer, and
compares log-likelihoods and chosen answers. What WORK holds already is not done again. Needs the extra `peers`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from examcore import read_exam
from rag import Answer, AnswerStore, ChoiceEvidence, choose_answer, load_model
from ragexam.exchange import export_exam

METRICS = {"acc": "sum", "acc_norm": "character", "acc_bytes": "byte"}


def save(model: str, folder: Path) -> bool:
    """Save a model as transformers does; returns whether it has a chat template."""
    loaded: Any = load_model(model, "float32", "cpu")
    if not folder.exists():
        loaded._model.save_pretrained(folder)
        loaded.tokenizer.save_pretrained(folder)
    return bool(loaded.tokenizer.chat_template)


def evaluate(model: Path, work: Path, *, chat: bool) -> None:
    words = ["--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu"]
    words += ["--tasks", "exam_chat", "--apply_chat_template"] if chat else ["--tasks", "exam"]
    words += ["--include_path", str(work / "tasks"), "--output_path", str(work / "samples"), "--log_samples"]
    subprocess.run([sys.executable, "-m", "lm_eval", *words], env={**os.environ, "HF_HUB_OFFLINE": "1"}, check=True)


def compare(run: Path, samples: Path) -> None:
    """Print, for each retriever and number of shots, the largest difference in nats and how many answers agree."""
    questions = {one.id: one for one in read_exam(run / "exam.jsonl").questions}
    with AnswerStore(run / "answers.sqlite") as store:
        ours: dict[tuple[str, str], Answer] = {
            (one.pipeline.partition("+")[2], one.question): one for one in store.answers()
        }
    differences: dict[str, list[float]] = {}
    agree: dict[str, Counter[str]] = {}
    for path in sorted(samples.rglob("samples_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            theirs = json.loads(line)
            doc, name = theirs["doc"], f"{theirs['doc']['retriever']}+icl{theirs['doc']['icl']}"
            answer, question = ours[name, doc["id"]], questions[doc["id"]]
            sums = [float(one[0]) for one in theirs["filtered_resps"]]
            gaps = [abs(one - other) for one, other in zip(sums, answer.log_likelihoods, strict=True)]
            differences.setdefault(name, []).append(max(gaps))
            evidence = ChoiceEvidence(question.choices, answer.log_likelihoods, answer.choice_tokens)
            for metric, normalization in METRICS.items():
                right = choose_answer(evidence, normalization) == question.key
                agree.setdefault(name, Counter())[metric] += right == bool(theirs[metric])
    print(f"| passages and shots | questions | largest difference, nats | {' | '.join(METRICS)} |")
    print("|---|---|---|---|---|---|")
    for name, gaps in differences.items():
        counts = " | ".join(f"{agree[name][metric]} of {len(gaps)}" for metric in METRICS)
        print(f"| {name} | {len(gaps)} | {max(gaps):.1e} | {counts} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("model")
    parser.add_argument("work", type=Path)
    given = parser.parse_args()
    chat = save(given.model, given.work / "model")
    if not (given.work / "tasks").exists():
        export_exam(given.run, "lm-eval", given.work / "tasks", "exam")
    if not (given.work / "samples").exists():
        evaluate(given.work / "model", given.work, chat=chat)
    compare(given.run, given.work / "samples")


if __name__ == "__main__":
    main()
