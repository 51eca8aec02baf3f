"""Which questions a bank has for each query, whatever tool wrote it: all that a score's denominator needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from examcore import JsonRecord, shown_json
from grading.formats import _fields as fields
from grading.formats._bank_files import ID, QUESTION, SUBTOPIC, bank_records, made_id, text_of

Questions = Mapping[str, Mapping[str, str]]
"""Query -> question id -> the question's text, empty where the bank has none."""

ALL = "all"
"""The query of a bank that names none, as of an exam about one corpus."""


def read_bank_questions(
    path: str | Path, graded: Mapping[str, Sequence[str]] | None = None
) -> dict[str, dict[str, str]]:
    """The questions of a bank by query, by their ids; `read_bank` names those without one alike.

    Read are the files that `read_bank` reads, and looser ones: a question may lack its words, and where any lacks its
    query, as of `exam.jsonl` without topics, all are of the query `all`. A question without an id that `graded` (query
    to question names) knows by its words goes by them. Raises `ValueError` (file:line, found, wanted) for a question
    that stands twice in a query, and one with neither id nor words.
    """
    records = list(bank_records(Path(path)))
    if not records:
        raise ValueError(f"{path}: the bank is empty; wanted at least one question")
    nameless = any(not text_of(record, fields.QUERY, "") for record in records)
    bank: dict[str, dict[str, str]] = {}
    for record in records:
        query = ALL if nameless else text_of(record, fields.QUERY)
        asked = bank.setdefault(query, {})
        words = text_of(record, QUESTION, "")
        name = text_of(record, ID, "") or _named(record, query, words, asked, (graded or {}).get(query, ()))
        if name in asked:
            raise ValueError(
                f"{record.place}: question {shown_json(name)} stands twice for query {shown_json(query)}; wanted once"
            )
        asked[name] = words
    return bank


def _named(record: JsonRecord, query: str, words: str, asked: Mapping[str, str], graded: Sequence[str]) -> str:
    """The name of a question without an id: its words where grades know it by them, else the id made of it."""
    if not words:
        found = ", ".join(record.fields) or "nothing"
        raise ValueError(f"{record.place}: found {found}; wanted a question with {' or '.join((*ID, *QUESTION))}")
    if words in graded:
        return words
    made = made_id(query, text_of(record, SUBTOPIC, ""), words)
    number = sum(one == made or one.startswith(f"{made}-") for one in asked)
    return f"{made}-{number + 1}" if number else made
