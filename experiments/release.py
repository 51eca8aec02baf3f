"""What may be given away of a run: every answer with its log-likelihoods, and of each question what is not its text.

    python experiments/release.py runs/paper_grid experiments/paper_grid/released

`answers.csv.gz` has one row per pipeline and question: facets, chosen choice, right or not, log-likelihood and tokens
of each choice after the prompt and without the question (`unconditional`), ids of the passages read, tokens of the
prompt, seconds. `questions.csv` says of each question its key, topic, source passage, labels and lengths in words;
`responses.csv` is what `ragexam fit` reads. `retrieval.csv`, the tables of `fit/` (not its draws), `prune.json`,
`corpus.json` and `statistics.json` say what the run measured, counted and lost, for the tables and figures of
`paper_figs/`; what a run lacks is left out. No text of the corpus and no question leaves the run.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from examcore import Question, read_exam
from rag import FACETS, Answer, AnswerStore

ANSWERS = (
    *("pipeline", *FACETS, "question", "chosen", "correct", "log_likelihoods", "choice_tokens", "unconditional"),
    *("passages", "prompt_tokens", "seconds"),
)
QUESTIONS = ("question", "key", "choices", "topic", "chunk", "stem_words", "choice_words", "labels")

MEASURED = {name: name for name in ("responses.csv", "retrieval.csv")} | {"pruned/prune.json": "prune.json"}
MEASURED |= {f"fit/{name}": f"fit/{name}" for name in ("items.csv", "abilities.csv", "components.csv", "fit.json")}
"""Files that hold ids and numbers alone, and where they go."""
COUNTED = ("corpus", "statistics")
"""Parts of `run.json`: what `ragexam corpus` and `ragexam statistics` tell with `--json`."""


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("out", type=Path)
    words = parser.parse_args()
    words.out.mkdir(parents=True, exist_ok=True)
    exam = read_exam(words.run / "exam.jsonl")
    with AnswerStore(words.run / "answers.sqlite") as store:
        rows = [answer_row(one) for one in store.answers()]
    # Without a time stamp, the same run gives the same bytes.
    packed = gzip.compress(table(ANSWERS, rows).encode(), mtime=0)
    (words.out / "answers.csv.gz").write_bytes(packed)
    (words.out / "questions.csv").write_text(table(QUESTIONS, map(question_row, exam.questions)), encoding="utf-8")
    for source, name in MEASURED.items():
        if (words.run / source).is_file():
            (words.out / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(words.run / source, words.out / name)
    record = json.loads((words.run / "run.json").read_text(encoding="utf-8"))
    for part in COUNTED:
        if part in record:
            (words.out / f"{part}.json").write_text(json.dumps(record[part], indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows)} answers to {len(exam)} questions, {len(packed):,} bytes")


def answer_row(answer: Answer) -> Sequence[object]:
    """One answer; lists are divided by blanks."""
    return [
        answer.pipeline,
        *answer.pipeline.split("+")[: len(FACETS)],
        answer.question,
        answer.chosen,
        int(answer.correct),
        *(" ".join(f"{one:.5g}" for one in sums) for sums in (answer.log_likelihoods, answer.choice_tokens)),
        " ".join(f"{one:.5g}" for one in answer.unconditional),
        " ".join(answer.passages),
        answer.prompt_tokens,
        f"{answer.seconds:.4f}",
    ]


def question_row(question: Question) -> Sequence[object]:
    """What is known of a question besides its text."""
    return [
        question.id,
        question.key,
        len(question.choices),
        question.topic,
        question.chunk_id,
        len(question.stem.split()),
        " ".join(str(len(one.split())) for one in question.choices),
        json.dumps({name: list(found) for name, found in question.labels.items()}),
    ]


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    main()
