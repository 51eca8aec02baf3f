"""Grades of passages from files: tables of one grade a row, files of the rubric workbench, nuggets of passages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

from examcore import json_object, read_text, shown_json
from grading._file_rows import PASSAGE, QUERY, QUESTION, FileRow, column_of, read_rows
from grading._records import Grade
from grading.formats._trec import Qrels
from grading.formats._workbench import DIRECT, is_workbench, read_workbench

GRADE = ("grade", "rating", "self_rating", "score", "correct")
SUPPORT: Mapping[str, float] = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
"""What nuggetizer's labels of support count."""


@dataclass(frozen=True)
class ReadGrades:
    """Grades, one for each query, passage and question, and sentences about how they were read."""

    grades: tuple[Grade, ...]
    notes: tuple[str, ...] = ()

    @property
    def unparsed(self) -> int:
        """How many grades fit no rule."""
        return sum(math.isnan(one.grade) for one in self.grades)

    @property
    def highest(self) -> float:
        """The highest grade; NaN when none was parsed."""
        return max((one.grade for one in self.grades if not math.isnan(one.grade)), default=math.nan)

    @cached_property
    def questions(self) -> Mapping[str, tuple[str, ...]]:
        """Query -> the questions graded for it over all its passages, in order of appearance."""
        found: dict[str, dict[str, None]] = {}
        for one in self.grades:
            found.setdefault(one.query, {})[one.question] = None
        return {query: tuple(questions) for query, questions in found.items()}

    @cached_property
    def by_passage(self) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
        """Query -> passage -> question -> grade."""
        found: dict[str, dict[str, dict[str, float]]] = {}
        for one in self.grades:
            found.setdefault(one.query, {}).setdefault(one.passage, {})[one.question] = one.grade
        return found


def read_grades(path: str | Path, prompt: str | None = None) -> ReadGrades:
    """Grades from JSON lines, CSV or TSV (each optionally .gz), or from a file of the rubric workbench.

    A table has the columns query, passage, question and grade, each under one of its usual names; a blank grade is
    unparsed (NaN). Lines of nuggetizer's assignment to retrieved passages (`qid, docid, nuggets[{text, assignment}]`)
    are read, too: the questions are the nuggets by their text, and a label outside its vocabulary is unparsed. Of a
    workbench file that holds grades by several prompts, `prompt` names the one to read. Raises `ValueError` (file:line,
    found, wanted) for a missing column, a grade that is no number or negative, and a question that is graded twice for
    the same passage and query.
    """
    path = Path(path)
    if is_workbench(read_text(path)):
        placed, notes = read_workbench(path, prompt)
        return ReadGrades(unique(placed), notes)
    if prompt is not None:
        raise ValueError(f"{path}: a table of grades; wanted a file of the rubric workbench for --prompt {prompt}")
    rows = read_rows(path, {})
    if all(isinstance(row.fields.get("nuggets"), list) and row.present(PASSAGE) for row in rows):
        return ReadGrades(unique(pair for row in rows for pair in _assigned(row)))
    column = column_of(rows, GRADE, "a column of grades")
    return ReadGrades(unique((row.place, _grade(row, column)) for row in rows))


def unique(placed: Iterable[tuple[str, Grade]]) -> tuple[Grade, ...]:
    """The grades; `ValueError` names both places where a question is graded twice for a query and passage."""
    places: dict[tuple[str, str, str], str] = {}
    grades: list[Grade] = []
    for place, one in placed:
        key = (one.query, one.passage, one.question)
        if key in places:
            first = places[key].rpartition(":")[2].strip()
            raise ValueError(
                f"{place}: question {shown_json(one.question)} is graded twice for passage {shown_json(one.passage)} "
                f"of query {shown_json(one.query)} (first at {first}); wanted one grade"
            )
        places[key] = place
        grades.append(one)
    return tuple(grades)


def parsed(grades: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """The questions with a grade that is a number."""
    return ((question, grade) for question, grade in grades.items() if not math.isnan(grade))


def qrels_grades(qrels: Qrels) -> ReadGrades:
    """Predicted grades of passages, as RUBRIC's `.qrel` holds them, as grades by one question."""
    return ReadGrades(
        tuple(
            Grade(query, passage, DIRECT, float(grade))
            for query, judged in qrels.items()
            for passage, grade in judged.items()
        )
    )


def _assigned(row: FileRow) -> Iterator[tuple[str, Grade]]:
    query, passage = row.first_text(QUERY), row.first_text(PASSAGE)
    for number, one in enumerate(cast("list[object]", row.fields["nuggets"]), start=1):
        place = f"{row.place}: nugget {number}"
        fields = json_object(one, place)
        text, label = fields.get("text"), fields.get("assignment")
        if not isinstance(text, str) or not isinstance(label, str):
            raise ValueError(f"{place}: text {shown_json(text)}, assignment {shown_json(label)}; wanted texts")
        yield place, Grade(query, passage, text, SUPPORT.get(label, math.nan), reply=label)


def _grade(row: FileRow, column: str) -> Grade:
    return Grade(
        row.first_text(QUERY),
        row.first_text(PASSAGE),
        row.first_text(QUESTION),
        row.grade(column),
        str(row.fields.get("answer", "")),
        str(row.fields.get("reply", "")),
    )
