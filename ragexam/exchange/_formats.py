"""What the formats have in common: names, lines, and where an answer came from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple, Self

from examcore import Exam, shown_json
from rag import FACTORS, ExamPrompts, Pipeline, short_name


class Origin(NamedTuple):
    """What goes out with every question and comes back with its answer; factors that are not crossed are None."""

    exam: str
    retriever: str
    icl: int
    passages: int | None = None
    budget: int | None = None
    queries: str | None = None

    @classmethod
    def of(cls, given: object, place: str, exam: Exam) -> Self:
        """The origin of an answer; ValueError for one to another exam, or from no exam of ours."""
        fields = given if isinstance(given, Mapping) else {}
        found, retriever, icl = (fields.get(name) for name in ("exam", "retriever", "icl"))
        if not isinstance(found, str) or not isinstance(retriever, str) or not retriever or not _is_count(icl, 0):
            raise ValueError(f"{place}: no exam, retriever and icl; wanted an answer to what ragexam exported")
        if found != exam.hash:
            raise ValueError(f"{place}: answers exam {shown_json(found)}; wanted exam {exam.hash}")
        factors = {name: fields[name] for name in FACTORS if fields.get(name) is not None}
        for name, level in factors.items():
            is_named = name in ("queries", "answers")
            if not (isinstance(level, str) and level if is_named else _is_count(level, 1)):
                wanted = f"a kind of {name}" if is_named else "a whole number from 1"
                raise ValueError(f"{place}: {name} is {shown_json(level)}; wanted {wanted}")
        return cls(found, retriever, icl, **factors)  # type: ignore[arg-type]

    @classmethod
    def out(cls, exam: Exam, asked: ExamPrompts) -> Self:
        """The origin of an answer still to be given."""
        return cls(exam.hash, asked.retriever, len(asked.shots), **asked.factors)  # type: ignore[arg-type]

    @property
    def fields(self) -> dict[str, object]:
        """What goes out."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def pipeline(self, llm: str) -> Pipeline:
        """The pipeline that a language model makes of it; the model goes by its short name."""
        return Pipeline(
            re.sub(r"[\s+,\"']+", "-", short_name(llm)),
            self.retriever,
            self.icl,
            self.passages,
            self.budget,
            self.queries,
        )


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
