"""Inspect: an exam as a task file with its questions, and logs read back.

Here the choices are shown and a letter is written, which any chat model can do; it measures something else than the
likelihood of the choices' own words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from examcore import Exam, Question, shown_json
from rag import ExamPrompts, passages_and_stem
from ragexam.exchange._formats import ImportedAnswer, Origin, json_text, slug, template
from ragexam.exchange._inspect_logs import Log

RIGHT = {"C": 1, "I": 0, "N": 0, 1: 1, 0: 0}
"""What Inspect writes for right, wrong and no answer, as letters or numbers."""


def task_files(exam: Exam, asked: Sequence[ExamPrompts]) -> dict[str, str]:
    """The files of a task folder, by name: `exam.py` and the questions with each retriever's passages."""
    files = {"exam.py": template("exam.py")}
    for one in _without_shots(asked):
        files[f"{slug(one.name)}.jsonl"] = "".join(json_text(_sample(exam, each, one)) for each in exam.questions)
    return files


def variants(asked: Sequence[ExamPrompts]) -> list[str]:
    """The names that `-T passages=` takes."""
    return [slug(one.name) for one in _without_shots(asked)]


def _without_shots(asked: Sequence[ExamPrompts]) -> list[ExamPrompts]:
    """Shots complete `Answer:` with a choice's words; above a question that asks for a letter they would mislead."""
    bare = (replace(one, shots=()) for one in asked)
    return list({one.name: one for one in bare}.values())


def _sample(exam: Exam, question: Question, asked: ExamPrompts) -> dict[str, object]:
    return {
        "id": question.id,
        "input": passages_and_stem(question, asked.passages[question.id]),
        "choices": list(question.choices),
        "target": _letter(question.key),
        "metadata": Origin.out(exam, asked).fields,
    }


def read_log(path: Path, llm: str, log: Log, exam: Exam) -> Iterator[ImportedAnswer]:
    """The answers of a log; a question asked in several epochs counts its right answers among its trials.

    A sample that ended in an error is no answer. Raises ValueError (file, sample, found, wanted) for samples of another
    exam, or scored by something else than `choice`.
    """
    keys = {question.id: _letter(question.key) for question in exam.questions}
    found: dict[tuple[Any, str], ImportedAnswer] = {}
    for sample in log.samples:
        place = f"{path}: sample {shown_json(sample.get('id'))}"
        origin = Origin.of(sample.get("metadata"), place, exam)
        question = str(sample.get("id"))
        if question not in keys:
            raise ValueError(f"{place}: not asked in exam {exam.hash}; wanted one of its questions")
        if sample.get("target") != keys[question]:
            raise ValueError(
                f"{place}: target is {shown_json(sample.get('target'))}; wanted {keys[question]}, the exam's key"
            )
        if not sample.get("scores"):
            continue
        pipeline = origin.pipeline(llm)
        before = found.get((pipeline, question), ImportedAnswer(place, pipeline, question, 0, 0))
        right = before.right + _right(sample["scores"], place)
        found[pipeline, question] = before._replace(right=right, trials=before.trials + 1)
    yield from found.values()


def _right(scores: object, place: str) -> int:
    score = scores.get("choice") if isinstance(scores, Mapping) else None
    value = score.get("value") if isinstance(score, Mapping) else None
    if isinstance(value, list | dict) or value not in RIGHT:
        raise ValueError(f"{place}: score of 'choice' is {shown_json(value)}; wanted C, I or N")
    return RIGHT[value]


def _letter(key: int) -> str:
    """How Inspect names a choice: A to Z, then 1, 2, ..."""
    return chr(ord("A") + key) if key < 26 else str(key - 25)
