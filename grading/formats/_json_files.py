"""JSON input files: an object, a list of objects, or JSON lines; every record with its place for error messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from examcore import json_kind, parse_json_object, read_text
from grading._table_rows import FileRow
from grading.formats._file_faults import Fault


def is_json(path: Path) -> bool:
    """Whether a file's name says that it holds JSON."""
    return path.name.lower().removesuffix(".gz").endswith((".json", ".jsonl"))


def read_json_object(path: Path) -> dict[str, object]:
    """The object of a file that holds one; `ValueError` (file:line, found, wanted) for anything else."""
    return _object(_parsed(read_text(path), path, "one JSON object"), str(path))


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
            yield from _record(_object, one, f"{path}: record {number}", faults)
    else:
        if text.lstrip().startswith("[") and faults is None:
            _parsed(text, path, "a list of objects")
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield from _record(parse_json_object, line, f"{path}:{number}", faults)


def _record(
    read: Callable[[Any, str], dict[str, object]], value: object, place: str, faults: list[Fault] | None
) -> Iterator[FileRow]:
    try:
        yield FileRow(place, read(value, place))
    except ValueError as error:
        if faults is None:
            raise
        faults.append(Fault(place, "malformed line", str(error).removeprefix(f"{place}: ")))


def _object(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{place}: found JSON {json_kind(value)}; wanted an object")
    return value


def _parsed(text: str, path: Path, wanted: str) -> object:
    try:
        found: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}:{error.lineno}: malformed JSON ({error.msg}); wanted {wanted}") from None
    except RecursionError:
        raise ValueError(f"{path}: malformed JSON (too deep); wanted {wanted}") from None
    return found
