"""What the formats have in common: names, lines, and where an answer came from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple, Self

from exam_gen.lines import shown
from exam_gen.records import Exam
from rag.pipelines import Pipeline, short_name


class Origin(NamedTuple):
    """What goes out with every question and comes back with its answer."""

    exam: str
    retriever: str
    icl: int

    @classmethod
    def of(cls, fields: Mapping[str, object], place: str, exam: Exam) -> Self:
        """The origin of an answer; ValueError for one to another exam, or from no exam of ours."""
        found, retriever, icl = (fields.get(name) for name in cls._fields)
        if not isinstance(found, str) or not isinstance(retriever, str) or not isinstance(icl, int):
            raise ValueError(f"{place}: no exam, retriever and icl; wanted an answer to what ragexam exported")
        if found != exam.hash:
            raise ValueError(f"{place}: answers exam {shown(found)}; wanted exam {exam.hash}")
        return cls(found, retriever, icl)

    def pipeline(self, llm: str) -> Pipeline:
        """The pipeline that a language model makes of it; the model goes by its short name."""
        return Pipeline(re.sub(r"[\s+,\"']+", "-", short_name(llm)), self.retriever, self.icl)


class Answered(NamedTuple):
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
    """A file that goes out as it is."""
    return (files("ragexam.exchange") / "templates" / name).read_text(encoding="utf-8")
