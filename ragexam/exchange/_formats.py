"""What the formats have in common: names, lines, and where an answer came from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

from examcore import Exam, Question, shown_json
from rag import FACTORS, ExamPrompts, Pipeline, short_name


def exported_fields(exam: Exam, asked: ExamPrompts) -> dict[str, object]:
    """What goes out with every question and comes back with its answer: exam, retriever, examples, crossed factors."""
    return {"exam": exam.hash, "retriever": asked.retriever, "icl": len(asked.shots), **asked.factors}


def answered(place: str, given: object, name: object, exam: Exam, llm: str) -> tuple[Pipeline, Question]:
    """Who answered what, by the fields that came back and the id of the question; the model goes by its short name.

    ValueError for an answer to another exam, to none of its questions, or to no exam of ours.
    """
    fields = given if isinstance(given, Mapping) else {}
    found, retriever, icl = (fields.get(part) for part in ("exam", "retriever", "icl"))
    if not isinstance(found, str) or not isinstance(retriever, str) or not retriever or not _is_count(icl, 0):
        raise ValueError(f"{place}: no exam, retriever and icl; wanted an answer to what ragexam exported")
    if found != exam.hash:
        raise ValueError(f"{place}: answers exam {shown_json(found)}; wanted exam {exam.hash}")
    factors = {factor: fields[factor] for factor in FACTORS if fields.get(factor) is not None}
    for factor, level in factors.items():
        is_named = factor in ("queries", "answers")
        if not (isinstance(level, str) and level if is_named else _is_count(level, 1)):
            wanted = f"a kind of {factor}" if is_named else "a whole number from 1"
            raise ValueError(f"{place}: {factor} is {shown_json(level)}; wanted {wanted}")
    if str(name) not in exam.by_id:
        raise ValueError(f"{place}: question {shown_json(name)}; wanted one of exam {exam.hash}")
    student = re.sub(r"[\s+,\"']+", "-", short_name(llm))
    return Pipeline(student, retriever, icl, **factors), exam.by_id[str(name)]  # type: ignore[arg-type]


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


class ImportedAnswer(NamedTuple):
    """How often a pipeline was right in so many trials of a question; `place` says where that stands."""

    place: str
    pipeline: Pipeline
    question: str
    right: int
    trials: int = 1


def json_text(fields: Mapping[str, object]) -> str:
    """One line of a JSON-lines file."""
    return json.dumps(fields, ensure_ascii=False) + "\n"


def slug(name: str) -> str:
    """A name that is safe in files and on command lines."""
    return re.sub(r"[^\w.-]+", "_", name)


def template(name: str) -> str:
    """The text of a file that goes out with an export."""
    return (files("ragexam.exchange") / "templates" / name).read_text(encoding="utf-8")
