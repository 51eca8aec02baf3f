"""Which questions a bank has for each query, whatever tool wrote it: all that a score's denominator needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from examcore import shown_json
from grading.formats import _fields as fields
from grading.formats._bank_files import ID, QUESTION, bank_rows, own_or_made_id, text_of

ALL = "all"
"""The query of a bank that names none, as of an exam about one corpus."""


def read_bank_questions(
    path: str | Path, graded: Mapping[str, Sequence[str]] | None = None
) -> dict[str, dict[str, str]]:
    """Query -> question id -> text (empty where the bank has none); `read_bank` gives the same ids.

    It reads what `read_bank` reads, and looser files: a question may lack its text, and where any lacks its query, as
    in `exam.jsonl` without topics, all belong to the query `all`. A question without an id whose text is among the
    names that `graded` has for its query goes by its text. Raises `ValueError` (file:line, found, wanted) for a
    question that occurs twice in a query, and for one with neither id nor text.
    """
    rows = list(bank_rows(Path(path)))
    if not rows:
        raise ValueError(f"{path}: the bank is empty; wanted at least one question")
    has_queries = all(text_of(row, fields.QUERY, "") for row in rows)
    bank: dict[str, dict[str, str]] = {}
    for row in rows:
        query = text_of(row, fields.QUERY) if has_queries else ALL
        text = text_of(row, QUESTION, "")
        asked = bank.setdefault(query, {})
        if not text:
            name = text_of(row, (*ID, *QUESTION))
        elif text in (graded or {}).get(query, ()) and not text_of(row, ID, ""):
            name = text
        else:
            name = own_or_made_id(row, query, text, asked)
        if name in asked:
            raise ValueError(
                f"{row.place}: question {shown_json(name)} stands twice for query {shown_json(query)}; wanted once"
            )
        asked[name] = text
    return bank
