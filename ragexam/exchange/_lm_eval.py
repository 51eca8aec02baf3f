"""lm-evaluation-harness: an exam as a folder of tasks, and its samples files read back.

The tasks hold the prompts of a sitting word for word, so that the harness scores what a sitting scores: each choice as
the continuation of the same text, with ` ` before it. Its `acc`, `acc_norm` and `acc_bytes` are the normalisations
`sum`, `character` and `byte`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from examcore import Exam, JsonRecord, Question, read_json_lines, shown_json
from rag import ANSWER_PREFIX, ChoiceEvidence, ExamPrompts, choose_answer
from ragexam.exchange._formats import ImportedAnswer, answered, exported_fields, json_text, slug, template

NORMALIZATIONS = ("sum", "character", "byte")
"""The normalisations that a samples file has the numbers for."""


def task_files(exam: Exam, asked: Sequence[ExamPrompts], name: str) -> dict[str, str]:
    """The files of a task folder, by name: two tasks for each of `asked`, the questions and what reads them.

    `NAME_RETRIEVER` is for models that complete a text, `NAME_RETRIEVER_chat` for `--apply_chat_template`; the tags
    `NAME` and `NAME_chat` run all of either kind.
    """
    files = {"exam_data.py": template("exam_data.py")}
    # Text and beginning of the reply meet on lines of their own, or in the turns of a chat.
    promptings = {
        name: {"doc_to_text": "{{prompt}}\n" + ANSWER_PREFIX},
        f"{name}_chat": {"doc_to_text": "prompt", "gen_prefix": ANSWER_PREFIX},
    }
    for one in asked:
        data = f"{slug(one.name)}.jsonl"
        files[data] = "".join(json_text(_doc(exam, question, one)) for question in exam.questions)
        for tag, prompting in promptings.items():
            task = f"{name}_{slug(one.name)}{tag.removeprefix(name)}"
            if task in promptings or f"{task}.yaml" in files:
                raise ValueError(
                    f"retriever {one.retriever!r}: two things are called {task!r}; wanted another name for it"
                )
            files[f"{task}.yaml"] = _task(task, tag, data, prompting, exam)
    return files


def _doc(exam: Exam, question: Question, asked: ExamPrompts) -> dict[str, object]:
    return {
        "id": question.id,
        "prompt": asked.prompt(question).user,
        "choices": [choice.strip() for choice in question.choices],
        "answer": question.key,
        **exported_fields(exam, asked),
    }


def _task(task: str, tag: str, data: str, prompting: Mapping[str, str], exam: Exam) -> str:
    metrics = [
        {"metric": metric, "aggregation": "mean", "higher_is_better": True}
        for metric in ("acc", "acc_norm", "acc_bytes")
    ]
    settings: dict[str, Any] = {
        "task": task,
        "tag": tag,
        "dataset_kwargs": {"file": data},
        "test_split": "test",
        "output_type": "multiple_choice",
        **prompting,
        "doc_to_choice": "choices",
        "doc_to_target": "answer",
        "target_delimiter": " ",
        "num_fewshot": 0,
        "metric_list": metrics,
        "metadata": {"version": 1.0, "exam": exam.hash},
    }
    return "custom_dataset: !function exam_data.load\n" + yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)


def read_samples(path: Path, llm: str, exam: Exam, normalization: str) -> Iterator[ImportedAnswer]:
    """The answers of a `samples_*.jsonl` file, chosen again from its log-likelihoods under a normalisation.

    Equal scores go to the choice with the higher sum, as in a sitting, where the harness takes the first. Raises
    ValueError (file:line, found, wanted) for samples of another exam, or of other choices.
    """
    for record in read_json_lines(path):
        doc = record.fields.get("doc")
        if not isinstance(doc, dict) or "id" not in doc:
            raise ValueError(f"{record.place}: no doc with an id; wanted a sample of a task that ragexam exported")
        pipeline, question = answered(record.place, doc, doc["id"], exam, llm)
        if [doc.get("choices"), doc.get("answer")] != [[choice.strip() for choice in question.choices], question.key]:
            raise ValueError(f"{record.place}: other choices or key of question {question.id!r}; wanted the exam's")
        sums = _sums(record, len(question.choices))
        chosen = choose_answer(ChoiceEvidence(question.choices, sums, (1,) * len(sums)), normalization)
        yield ImportedAnswer(record.place, pipeline, question.id, int(chosen == question.key))


def model_of(path: Path) -> str:
    """The model behind a samples file: as the results file of the same run names it, else as its folder does."""
    date = path.stem.rpartition("_")[2]
    for results in sorted(path.parent.glob(f"*_{date}.json")):
        # What it says beside the name does not matter here, not even whether it can be read.
        with contextlib.suppress(ValueError, AttributeError):
            name = json.loads(results.read_text(encoding="utf-8")).get("model_name")
            if isinstance(name, str) and name:
                return name
    return path.resolve().parent.name.replace("__", "/")


def _sums(record: JsonRecord, count: int) -> tuple[float, ...]:
    """The log-likelihoods of the choices; behind them may stand those of the choices alone."""
    found = record.fields.get("filtered_resps")
    try:
        sums = tuple(float(one[0]) for one in found[:count])  # type: ignore[index]
    except (TypeError, ValueError, IndexError, KeyError):
        sums = ()
    # Not even of a choice that cannot be is a likelihood above one.
    if len(sums) != count or not all(one <= 0 for one in sums):
        raise ValueError(f"{record.place}: filtered_resps is {shown_json(found)}; wanted {count} log-likelihoods")
    return sums
