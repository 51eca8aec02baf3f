"""Records of input files (CSV, TSV, JSON, each optionally .gz), each with its place for error messages.

A column has one meaning and several names, since several tools write tables.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from examcore import JsonRecord, json_object, parse_json_object, read_json_lines, read_text, shown_json
from grading.formats._file_faults import Fault

Columns = Mapping[str, Sequence[str]]
"""For each name the code uses, the names it may have in a file, the usual one first."""

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


class FileRow(JsonRecord):
    """One record of a file: `place` is `file:line`; an empty or missing field of a table is absent."""

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

    def present(self, names: Sequence[str]) -> str | None:
        """The first of the names that the record has a value under."""
        return next((one for one in names if self.fields.get(one) not in (None, "")), None)

    def first_text(self, names: Sequence[str], default: str | None = None) -> str:
        """The text under the first of the names; `ValueError` (place, found, wanted) for none without a default."""
        name = self.present(names)
        if name is not None:
            return self.text(name)
        if default is None:
            found = ", ".join(one for one, value in self.fields.items() if value not in (None, "", [])) or "nothing"
            raise ValueError(f"{self.place}: found {found}; wanted {' or '.join(dict.fromkeys(names))}")
        return default

    def grade(self, name: str | None) -> float:
        """A number of at least 0, true or false as 1 or 0; NaN for a blank, `null` or `nan`."""
        value = self.fields.get(name) if name is not None else None
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return math.nan
        if isinstance(value, str):
            word = value.strip().lower()
            if word in UNPARSED:
                return math.nan
            if word in YES | NO:
                return float(word in YES)
        found = self.number(str(name))
        if found < 0:
            raise ValueError(f"{self.place}: {name} {shown_json(value)}; wanted 0 or more")
        return found


def read_rows(path: str | Path, columns: Columns, optional: Columns | None = None) -> list[FileRow]:
    """The rows of a table with at least the wanted columns, under the code's names; other columns keep their own.

    What `holds_json` is read as JSON lines or a list of objects; else the header's tabs or commas divide. Raises
    `ValueError` (file:line, found, wanted) for a missing column, a row of another width, malformed JSON and a table
    without rows.
    """
    path = Path(path)
    rows = _json_rows(path) if holds_json(path) else _divided_rows(path)
    if not rows:
        raise ValueError(f"{path}: has no rows; wanted at least one")
    return [_renamed(row, columns, optional or {}) for row in rows]


def column_of(rows: Sequence[FileRow], names: Sequence[str], wanted: str) -> str:
    """The first of the names that any row has; `ValueError` where none does."""
    found = next((name for name in names if any(name in row.fields for row in rows)), None)
    if found is None:
        raise ValueError(f"{rows[0].place}: no {' or '.join(names)} with a value in any row; wanted {wanted}")
    return found


def has_suffix(path: str | Path, *suffixes: str) -> bool:
    """Whether a file's name, without `.gz`, ends in one of the suffixes, in upper or lower case."""
    return Path(path).name.lower().removesuffix(".gz").endswith(suffixes)


def holds_json(path: str | Path) -> bool:
    """Whether a file holds JSON: its name ends in `.jsonl` or `.json`, or its text begins with a brace or a bracket."""
    return has_suffix(path, ".json", ".jsonl") or _first_mark(Path(path)) in ("{", "[")


def read_json_object(path: Path) -> dict[str, object]:
    """The object of a file that holds one; `ValueError` (file:line, found, wanted) for anything else."""
    return json_object(_parsed(read_text(path), path, "one JSON object"), str(path))


def first_record(path: Path) -> FileRow | None:
    """The first object of a file, if it holds JSON and one that is not malformed."""
    return next(read_json_records(path, []), None) if path.is_file() and holds_json(path) else None


def read_json_records(path: Path, faults: list[Fault] | None = None) -> Iterator[FileRow]:
    """The objects of a file that is a JSON object, a list of objects, or JSON lines; each may be gzipped.

    What is malformed raises `ValueError` (file:line, found, wanted); where `faults` is given, it is added there and
    left out.
    """
    text = read_text(path)
    try:
        whole = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        yield FileRow(f"{path}:1", whole)
    elif isinstance(whole, list):
        for number, one in enumerate(whole, start=1):
            yield from _record(json_object, one, f"{path}: record {number}", faults)
    else:
        if text.lstrip().startswith("[") and faults is None:
            _parsed(text, path, "a list of objects")
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield from _record(parse_json_object, line, f"{path}:{number}", faults)


def _first_mark(path: Path) -> str:
    return read_text(path).lstrip()[:1]


def _json_rows(path: Path) -> list[FileRow]:
    records = read_json_records(path) if _first_mark(path) == "[" else read_json_lines(path)
    return [
        FileRow(one.place, {key: value for key, value in one.fields.items() if value is not None}) for one in records
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


def _record(
    read: Callable[[Any, str], dict[str, object]], value: object, place: str, faults: list[Fault] | None
) -> Iterator[FileRow]:
    try:
        yield FileRow(place, read(value, place))
    except ValueError as error:
        if faults is None:
            raise
        faults.append(Fault(place, "malformed line", str(error).removeprefix(f"{place}: ")))


def _parsed(text: str, path: Path, wanted: str) -> object:
    try:
        found: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}:{error.lineno}: malformed JSON ({error.msg}); wanted {wanted}") from None
    except RecursionError:
        raise ValueError(f"{path}: malformed JSON (too deep); wanted {wanted}") from None
    return found
