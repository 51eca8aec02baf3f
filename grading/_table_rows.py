"""Rows of input tables (CSV, TSV, JSON lines, each optionally .gz), each with its place for error messages."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from examcore import read_json_lines, read_text, shown_json

Columns = Mapping[str, Sequence[str]]
"""For each name the code uses, the names it may have in a file, the usual one first."""


class FileRow(NamedTuple):
    """One record of a table: `place` is `file:line`; an empty or missing field is absent."""

    place: str
    fields: Mapping[str, object]

    def text(self, name: str, default: str | None = None) -> str:
        """A field as text; `ValueError` when it is absent and there is no default."""
        value = self.fields.get(name, default)
        if value is None:
            raise ValueError(f"{self.place}: no {name!r}; wanted text")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(f"{self.place}: {name} {shown_json(value)}; wanted text")
        return str(value)

    def number(self, name: str, default: float | None = None) -> float:
        """A field as a finite number; `ValueError` for anything else, and when it is absent without a default."""
        value = self.fields.get(name, default)
        if value is None:
            raise ValueError(f"{self.place}: no {name!r}; wanted a number")
        if isinstance(value, bool):
            return float(value)
        try:
            found = float(value) if isinstance(value, str | int | float) else math.nan
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            raise ValueError(f"{self.place}: {name} {shown_json(value)}; wanted a number")
        return found


def read_rows(path: str | Path, columns: Columns, optional: Columns | None = None) -> list[FileRow]:
    """The rows of a table with at least the wanted columns, under the code's names; other columns keep their own.

    A name that ends in `.jsonl` or `.json` (before `.gz`) is read as JSON lines; else the header's tabs or commas
    divide. Raises `ValueError` (file:line, found, wanted) for a missing column, a row of another width, malformed JSON
    and a table without rows.
    """
    path = Path(path)
    rows = _json_rows(path) if has_suffix(path, ".jsonl", ".json") else _divided_rows(path)
    if not rows:
        raise ValueError(f"{path}: has no rows; wanted at least one")
    return [_renamed(row, columns, optional or {}) for row in rows]


def has_suffix(path: str | Path, *suffixes: str) -> bool:
    """Whether a file's name, without `.gz`, ends in one of the suffixes, in upper or lower case."""
    return Path(path).name.lower().removesuffix(".gz").endswith(suffixes)


def _json_rows(path: Path) -> list[FileRow]:
    return [
        FileRow(one.place, {key: value for key, value in one.fields.items() if value is not None})
        for one in read_json_lines(path)
    ]


def _divided_rows(path: Path) -> list[FileRow]:
    text = read_text(path)
    header_line = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in header_line else ",", strict=True)
    rows: list[FileRow] = []
    header: list[str] = []
    try:
        for found in reader:
            place = f"{path}:{reader.line_num}"
            if not header:
                header = _header(found, place)
            elif any(found):
                if len(found) != len(header):
                    raise ValueError(f"{place}: {len(found)} fields; wanted {len(header)}: {', '.join(header)}")
                rows.append(FileRow(place, {key: one for key, one in zip(header, found, strict=True) if one != ""}))
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: {error}; wanted a table with one row a line") from None
    return rows


def _header(found: Sequence[str], place: str) -> list[str]:
    names = [one.strip() for one in found]
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice is not None:
        raise ValueError(f"{place}: column {twice!r} stands twice; wanted distinct columns")
    return names


def _renamed(row: FileRow, columns: Columns, optional: Columns) -> FileRow:
    fields = dict(row.fields)
    for name, names in {**columns, **optional}.items():
        present = [one for one in (name, *names) if one in fields]
        if len(set(present)) > 1:
            raise ValueError(f"{row.place}: both {present[0]!r} and {present[1]!r}; wanted one of them")
        if present:
            fields[name] = fields.pop(present[0])
        elif name in columns:
            known = ", ".join(fields) or "nothing"
            raise ValueError(f"{row.place}: no {' or '.join(dict.fromkeys((name, *names)))}; found {known}")
    return FileRow(row.place, fields)
