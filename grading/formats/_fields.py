"""Columns of tables from several tools: one meaning, several names, an id before a text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from examcore import shown_json
from grading._table_rows import FileRow

QUERY = ("query_id", "qid", "topic_id", "request_id", "query", "topic")
PASSAGE = (
    *("passage_id", "paragraph_id", "docid", "doc_id", "document_id", "docno"),
    *("passage", "paragraph", "doc", "document"),
    *("system", "run_id", "run", "article"),
)
QUESTION = ("question_id", "nugget_id", "item", "question", "nugget")
SYSTEM = ("system", "system_id", "run_id", "run", "student", "pipeline", "method")
"""Names of a column; where a table has several (an id and its text), the first one counts."""

UNPARSED = frozenset({"", "nan", "null", "none", "na", "n/a", "unparsed"})
YES, NO = frozenset({"true", "yes"}), frozenset({"false", "no"})


def present(row: FileRow, names: Sequence[str]) -> str | None:
    """The first of the names that the row has a value under."""
    return next((one for one in names if row.fields.get(one) not in (None, "")), None)


def text(row: FileRow, names: Sequence[str], default: str | None = None) -> str:
    """The text under the first of the names; `ValueError` (place, found, wanted) without one and without a default."""
    name = present(row, names)
    if name is not None:
        return row.text(name)
    if default is None:
        found = ", ".join(one for one, value in row.fields.items() if value not in (None, "", [])) or "nothing"
        raise ValueError(f"{row.place}: found {found}; wanted {' or '.join(dict.fromkeys(names))}")
    return default


def number(row: FileRow, name: str | None) -> float:
    """A number of at least 0, true or false as 1 or 0; NaN for a blank, `null` or `nan`."""
    value = row.fields.get(name) if name is not None else None
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return math.nan
    if isinstance(value, str):
        word = value.strip().lower()
        if word in UNPARSED:
            return math.nan
        if word in YES | NO:
            return float(word in YES)
    found = row.number(str(name))
    if found < 0:
        raise ValueError(f"{row.place}: {name} {shown_json(value)}; wanted 0 or more")
    return found


def right(row: FileRow, name: str | None) -> bool | None:
    """Whether an answer is right: 1 or true; None for a blank, an unanswered question."""
    found = number(row, name)
    if math.isnan(found):
        return None
    if found not in (0.0, 1.0):
        raise ValueError(
            f"{row.place}: {name} {shown_json(row.fields.get(str(name)))}; wanted 0, 1, true, false or nothing"
        )
    return found == 1.0
