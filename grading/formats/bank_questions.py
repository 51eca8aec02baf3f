"""Which questions a bank has for each query, whatever tool wrote it: all that a score's denominator needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from exam_gen.lines import shown
from grading.formats import fields
from grading.rows import Row, read_rows

Questions = Mapping[str, Mapping[str, str]]
"""Query -> question id -> the question's text, empty where the bank has none."""

ID = ("question_id", "nugget_id", "id", "item", "question", "nugget", "text")
TEXT = ("question_text", "nugget_text", "question", "nugget", "text", "stem")
ITEMS = ("items", "questions", "nuggets", "nugget_bank")
ALL = "all"
"""The query of a bank that names none, as of an exam about one corpus."""


def read_bank_questions(path: str | Path) -> dict[str, dict[str, str]]:
    """The questions of a bank by query.

    Read are `bank.jsonl` and tables of `query, id, question`; `exam.jsonl`, whose `topic` stands for the query where
    every question has one, else all are of the query `all`; and files of one query a line with a list `items`,
    `questions` or `nuggets`. A query on several lines (facets) gathers them all. Raises `ValueError` (file:line, found,
    wanted) for a question that stands twice in a query, and a row without any.
    """
    rows = read_rows(path, {})
    nameless = any(fields.present(row, fields.QUERY) is None for row in rows)
    bank: dict[str, dict[str, str]] = {}
    for row in rows:
        query = ALL if nameless else fields.text(row, fields.QUERY)
        asked = bank.setdefault(query, {})
        for name, text in _questions(row):
            if name in asked:
                raise ValueError(
                    f"{row.place}: question {shown(name)} stands twice for query {shown(query)}; wanted once"
                )
            asked[name] = text
    return bank


def _questions(row: Row) -> Iterator[tuple[str, str]]:
    listed = next((name for name in ITEMS if isinstance(row.fields.get(name), list)), None)
    if listed is None:
        yield _question(row)
        return
    items = row.fields[listed]
    assert isinstance(items, list)
    if not items:
        raise ValueError(f"{row.place}: {listed} is empty; wanted at least one question")
    for number, item in enumerate(items, start=1):
        place = f"{row.place} ({listed} {number})"
        if not isinstance(item, dict | str):
            raise ValueError(f"{place}: found {shown(item)}; wanted a question")
        yield _question(Row(place, {"text": item} if isinstance(item, str) else item))


def _question(row: Row) -> tuple[str, str]:
    texts = {key: value for key, value in row.fields.items() if isinstance(value, str | int | float)}
    plain = Row(row.place, texts)
    return fields.text(plain, ID), fields.text(plain, TEXT, "")
