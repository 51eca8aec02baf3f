"""Exam files of the rubric workbench (EXAM++ and RUBRIC): one query a line, its passages with grades by prompt.

A line is `[query, [{paragraph_id, text, exam_grades: [{correctAnswered, wrongAnswered, self_ratings, answers, llm,
prompt_info: {prompt_class}}], grades: […]}]]`; `grades` holds direct relevance prompts, read as one question. Ratings
count where a prompt has them, else right (1) and wrong (0) answers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from examcore import json_kind, read_text, shown_json
from grading._records import Grade

DIRECT = "direct"
"""The question that a prompt for relevance itself answers."""

_Object = Mapping[str, object]


class _Entry(NamedTuple):
    """One prompt's grades of a passage."""

    place: str
    query: str
    passage: str
    fields: _Object

    @property
    def prompt(self) -> str:
        info = self.fields.get("prompt_info")
        named = info.get("prompt_class") if isinstance(info, dict) else None
        return str(named or self.fields.get("prompt_type") or "unnamed")

    @property
    def llm(self) -> str:
        return str(self.fields.get("llm") or "unnamed")


def is_workbench(text: str) -> bool:
    """Whether a file begins as one of the workbench's: with a list that begins with no object."""
    return re.match(r"\s*\[\s*[^\s{]", text) is not None


def read_workbench(path: Path, prompt: str | None = None) -> tuple[list[tuple[str, Grade]], tuple[str, ...]]:
    """The grades by one prompt, each with its place, and sentences about what was left out.

    `prompt` is a prompt class, or `class:llm`. Raises `ValueError` when several prompts graded and none is named, when
    the named one graded nothing, and for a line of another shape.
    """
    by_passage = [_of_passage(*one) for one in _passages(path)]
    entries = [one for found in by_passage for one in found]
    ungraded = sum(not found for found in by_passage)
    kinds = list(dict.fromkeys((one.prompt, one.llm) for one in entries))
    chosen = [pair for pair in kinds if prompt in (None, pair[0], ":".join(pair))]
    names = ", ".join(":".join(pair) for pair in kinds) or "none"
    if not chosen:
        raise ValueError(f"{path}: no grades by prompt {prompt or '(any)'}; found {names}")
    if len(chosen) > 1:
        raise ValueError(f"{path}: grades by {len(chosen)} prompts ({names}); wanted --prompt with one of them")
    placed = [pair for one in entries if (one.prompt, one.llm) == chosen[0] for pair in _grades(one)]
    notes = []
    if len(kinds) > 1:
        notes.append(f"{path}: read the grades by {':'.join(chosen[0])}; others are there by {names}.")
    if ungraded:
        notes.append(f"{path}: {ungraded} passages have no exam grades and count as not graded.")
    return placed, tuple(notes)


def _passages(path: Path) -> Iterator[tuple[str, str, object]]:
    """The place, the query and the record of each passage."""
    wanted = "wanted a list of a query and its passages"
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            value = json.loads(line)
        except (json.JSONDecodeError, RecursionError):
            raise ValueError(f"{place}: malformed JSON; {wanted}") from None
        match value:
            case [str(query), [*passages]]:
                yield from ((f"{place} (passage {at})", query, one) for at, one in enumerate(passages, start=1))
            case _:
                raise ValueError(f"{place}: found JSON {json_kind(value)}; {wanted}")


def _of_passage(place: str, query: str, passage: object) -> list[_Entry]:
    if not isinstance(passage, dict) or not isinstance(passage.get("paragraph_id"), str):
        raise ValueError(f"{place}: found {shown_json(passage)}; wanted an object with a paragraph_id")
    entries = []
    for name in ("exam_grades", "grades"):
        grades = passage.get(name) or []
        if not isinstance(grades, list) or not all(isinstance(one, dict) for one in grades):
            raise ValueError(f"{place}: {name} {shown_json(grades)}; wanted a list of objects")
        asked = grades if name == "exam_grades" else [_direct(one) for one in grades]
        entries += [_Entry(place, query, passage["paragraph_id"], one) for one in asked]
    return entries


def _direct(grades: _Object) -> _Object:
    """A direct relevance grade as that of one question."""
    right, rating = grades.get("correctAnswered"), grades.get("self_ratings")
    failed = {DIRECT: grades["llm_response_error"]} if grades.get("llm_response_error") else {}
    return {
        **grades,
        "correctAnswered": [DIRECT] if right else [],
        "wrongAnswered": [] if right else [DIRECT],
        "self_ratings": None if rating is None else [{"question_id": DIRECT, "self_rating": rating}],
        "llm_response_errors": failed,
        "answers": [[DIRECT, grades.get("answer", "")]],
    }


def _grades(entry: _Entry) -> Iterator[tuple[str, Grade]]:
    answers = _answers(entry)
    failed = entry.fields.get("llm_response_errors") or {}
    ratings = entry.fields.get("self_ratings")
    found = _answered(entry) if ratings is None else _ratings(entry, ratings)
    for question, grade in found:
        unparsed = isinstance(failed, dict) and question in failed
        value = math.nan if unparsed else grade
        yield entry.place, Grade(entry.query, entry.passage, question, value, answers.get(question, ""))


def _ratings(entry: _Entry, ratings: object) -> Iterator[tuple[str, float]]:
    if not isinstance(ratings, list):
        raise ValueError(f"{entry.place}: self_ratings {shown_json(ratings)}; wanted a list")
    for one in ratings:
        question = (one.get("question_id") or one.get("nugget_id")) if isinstance(one, dict) else None
        if not isinstance(question, str):
            raise ValueError(f"{entry.place}: self-rating {shown_json(one)}; wanted a question_id or nugget_id")
        rating = one.get("self_rating")
        if rating is not None and (isinstance(rating, bool) or not isinstance(rating, int | float) or rating < 0):
            raise ValueError(f"{entry.place}: self_rating {shown_json(rating)} of {question}; wanted a number from 0")
        yield question, math.nan if rating is None else float(rating)


def _answered(entry: _Entry) -> Iterator[tuple[str, float]]:
    for name, grade in (("correctAnswered", 1.0), ("wrongAnswered", 0.0)):
        questions = entry.fields.get(name) or []
        # A text here would be read letter by letter.
        if not isinstance(questions, list) or not all(isinstance(one, str) for one in questions):
            raise ValueError(f"{entry.place}: {name} {shown_json(questions)}; wanted a list of question ids")
        for question in questions:
            yield question, grade


def _answers(entry: _Entry) -> dict[str, str]:
    pairs = entry.fields.get("answers")
    pairs = pairs if isinstance(pairs, list) else []
    return {str(pair[0]): str(pair[1]) for pair in pairs if isinstance(pair, list) and len(pair) == 2}
