"""Tables of documents: JSON lists, JSON lines, CSV and Parquet files, and the fields they may carry."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from exam_gen.corpora._formats import markdown_title, suffix, tidy
from examcore import Document, JsonRecord, decode, json_kind, json_object, read_bytes, read_json_lines

TABLE_SUFFIXES = {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet"}
"""File name endings that are read as one document per record (also with `.gz` after them)."""

ID_FIELDS = ("id", "docs_id", "doc_id", "_id")
TEXT_FIELDS = ("text", "contents", "content")
TOPIC_FIELDS = ("topic", "section", "category")
SOURCE_FIELDS = ("source", "url")
DATE_FIELDS = ("date", "year")
"""Field names in order of preference; the second ones are auto-rag-eval's `docs_id` and `section`."""

_NOTHING = {"", "N/A"}
"""auto-rag-eval writes `N/A` into fields that a corpus does not have."""


TITLE_CHARACTERS = 200
"""A title stands in every passage and prompt of its document; a longer one is cut at a word."""
BLANK = "no text"


class LocatedDocument(NamedTuple):
    """A document and the place it was read from; without one, the reason why the place gave none."""

    place: str
    document: Document | None
    reason: str = ""


def read_table(path: Path) -> list[JsonRecord]:
    """The records of a table file, each with its place."""
    ending = suffix(path)
    if ending in {".jsonl", ".ndjson"}:
        return list(read_json_lines(path))
    if ending == ".json":
        return _json_list(path)
    if ending == ".parquet":
        return _parquet(path)
    return _csv(path, "\t" if ending == ".tsv" else ",")


def documents(records: Iterable[JsonRecord]) -> Iterator[LocatedDocument]:
    """The document of each record, with the record's place.

    Fields: `text` (required), `id` (default: the record's number from 1), `title` (default: the first heading or line
    of the text), `source`, `topic`, `date`; see `ID_FIELDS` and the others for the accepted names. A record whose text
    is blank gives no document. auto-rag-eval's `start_character` goes into the id, as several of its records share a
    `docs_id`.
    """
    for number, record in enumerate(records, start=1):
        yield document(record, number)


def document(record: JsonRecord, number: int) -> LocatedDocument:
    """One record as a document; `ValueError` names the place, the field and what stood there."""
    text = text_field(record, TEXT_FIELDS)
    if not text.strip():
        return LocatedDocument(record.place, None, BLANK)
    found = Document(
        id=id_field(record, number),
        title=shortened(string_field(record, ("title",))) or shortened(markdown_title(text)) or first_line(text),
        text=text,
        source=string_field(record, SOURCE_FIELDS),
        topic=string_field(record, TOPIC_FIELDS),
        date=date_field(record),
    )
    return LocatedDocument(record.place, found)


def shortened(text: str, limit: int = TITLE_CHARACTERS) -> str:
    """The text, cut at a word when longer than `limit` characters."""
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + "…"


def first_line(text: str, limit: int = 100) -> str:
    """The first line that is not blank, cut at a word when longer than `limit` characters."""
    # Only the beginning is looked at: a line may be megabytes long.
    begin = text.lstrip()[: 10 * limit]
    return shortened(" ".join(begin.split("\n", 1)[0].split()), limit)


def text_field(record: JsonRecord, names: tuple[str, ...]) -> str:
    """The first given field as tidy text; `ValueError` when none is given or it is no string."""
    name = next((name for name in names if record.fields.get(name) is not None), None)
    if name is None:
        found = ", ".join(sorted(map(str, record.fields))) or "no field"
        raise ValueError(f"{record.place}: no {names[0]} field (found {found}); wanted {names[0]!r}")
    value = record.fields[name]
    if not isinstance(value, str):
        raise ValueError(f"{record.place}: {name} is of type {json_kind(value)}; wanted a string")
    return tidy(value)


def id_field(record: JsonRecord, number: int, names: tuple[str, ...] = ID_FIELDS) -> str:
    """The first given field as an id, else the record's number."""
    name = next((name for name in names if record.fields.get(name) not in (None, "")), None)
    if name is None:
        return str(number)
    value = record.fields[name]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{record.place}: {name} is of type {json_kind(value)}; wanted a string or a whole number")
    start = record.fields.get("start_character")
    part = f":{start}" if name == "docs_id" and isinstance(start, int | str) and start not in _NOTHING else ""
    return tidy(str(value)).strip() + part


def date_field(record: JsonRecord, names: tuple[str, ...] = DATE_FIELDS) -> str:
    """The first given date: a string, a year as a number, or a date of Python's; empty without one."""
    for name in names:
        value = record.fields.get(name)
        if isinstance(value, str) and value.strip() not in _NOTHING:
            return " ".join(value.split())[:40]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if (written := getattr(value, "isoformat", None)) is not None:
            return str(written())
    return ""


def string_field(record: JsonRecord, names: tuple[str, ...]) -> str:
    """The first given field as a string; of a list of strings (tags, addresses) the first."""
    for name in names:
        value = record.fields.get(name)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            value = value[0] if value else None
        if value is None:
            continue
        if not isinstance(value, str):
            raise ValueError(f"{record.place}: {name} is of type {json_kind(value)}; wanted a string")
        if value.strip() not in _NOTHING:
            return " ".join(tidy(value).split())
    return ""


def _json_list(path: Path) -> list[JsonRecord]:
    text = decode(read_bytes(path), path)
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line, problem = 1, "too deep"
        if isinstance(error, json.JSONDecodeError):
            line, problem = error.lineno, f"{error.msg} at column {error.colno}"
        raise ValueError(f"{path}:{line}: malformed JSON ({problem}); wanted a list of objects") from None
    if not isinstance(value, list):
        kind = json_kind(value)
        raise ValueError(f"{path}:1: found JSON {kind}; wanted a list of objects (JSON lines end in .jsonl)")
    places = [f"{path}: record {number}" for number in range(1, len(value) + 1)]
    return [JsonRecord(place, json_object(one, place)) for place, one in zip(places, value, strict=True)]


def _csv(path: Path, delimiter: str) -> list[JsonRecord]:
    text = decode(read_bytes(path), path)
    limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    records = []
    line = 1
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        names = reader.fieldnames or []
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{path}:1: column {twice!r} stands twice; wanted distinct column names")
        line = reader.line_num + 1
        for row in reader:
            place = f"{path}:{line}"
            line = reader.line_num + 1
            if None in row or None in row.values():
                cells = sum(len(cell) if isinstance(cell, list) else cell is not None for cell in row.values())
                raise ValueError(f"{place}: found {cells} cells; wanted {len(names)}")
            records.append(JsonRecord(place, dict(row)))
    except csv.Error as error:
        raise ValueError(f"{path}:{line}: malformed CSV ({error}); wanted quoted comma-separated cells") from None
    finally:
        csv.field_size_limit(limit)
    return records


def _parquet(path: Path) -> list[JsonRecord]:
    import pyarrow
    import pyarrow.parquet

    data = read_bytes(path)
    try:
        rows = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).split("\n")[0]
        raise ValueError(f"{path}: cannot read the table ({reason}); wanted a Parquet file") from None
    return [JsonRecord(f"{path}: record {number}", row) for number, row in enumerate(rows, start=1)]
