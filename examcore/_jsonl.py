"""Bytes and lines of input files, with errors that name file, line and finding; and the JSON in a model's text."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple


class JsonRecord(NamedTuple):
    """One record of a file: `place` is `file:line` (or `file: record n`), for error messages."""

    place: str
    fields: dict[str, object]


class UnreadableError(ValueError):
    """A file whose bytes are not what they should be; `reason` is a short name of the fault, for counts."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


_WIDE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Byte order marks, the longer first: one of UTF-16 begins one of UTF-32."""


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked when its name ends in `.gz`.

    Raises `FileNotFoundError` for a missing file and `ValueError` for a damaged archive.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file; wanted an existing file")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder; wanted a file")
    data = path.read_bytes()
    if path.suffix.lower() != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        message = f"{path}: damaged gzip data ({error}); wanted a complete .gz file"
        raise UnreadableError(message, "damaged gzip data") from None


def decode(data: bytes, name: object) -> str:
    """UTF-8 text, or UTF-16 or UTF-32 that a byte order mark announces; the mark is dropped.

    Raises `UnreadableError` naming line, byte and offset of the first bad byte.
    """
    wide = next((encoding for mark, encoding in _WIDE.items() if data.startswith(mark)), None)
    try:
        return data.decode(wide or "utf-8-sig")
    except UnicodeDecodeError as error:
        if wide:
            message = f"{name}: begins as {wide} and is not, at offset {error.start}; wanted UTF-8 text"
            raise UnreadableError(message, f"damaged {wide}") from None
        # The codec counts offsets after a byte order mark; the reader's editor counts from the file's first byte.
        start = error.start + len(data) - len(error.object)
        line = data.count(b"\n", 0, start) + 1
        message = f"{name}:{line}: byte 0x{data[start]:02x} at offset {start} is not UTF-8; wanted UTF-8 text"
        raise UnreadableError(message, "not UTF-8") from None


def read_text(path: Path) -> str:
    """The UTF-8 text of a (possibly gzipped) file."""
    return decode(read_bytes(path), path)


def read_json_lines(path: Path) -> Iterator[JsonRecord]:
    """The JSON objects of a JSON-lines file, blank lines skipped.

    Only the newline ends a line: JSON strings may hold other line separators unescaped.
    """
    yield from json_records(read_text(path), path)


def json_records(text: str, path: Path) -> Iterator[JsonRecord]:
    """The objects of the lines of a text that stands in a file."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            place = f"{path}:{number}"
            yield JsonRecord(place, parse_json_object(line, place))


def parse_json_object(line: str, place: str) -> dict[str, object]:
    """The object of one JSON line; `ValueError` names the place and what stood there."""
    try:
        value = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        problem = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else "too deep"
        raise ValueError(f"{place}: malformed JSON ({problem}); wanted one JSON object per line") from None
    return json_object(value, place)


def json_object(value: object, place: str) -> dict[str, object]:
    """The value of `place`; `ValueError` where it is no object."""
    if not isinstance(value, dict):
        raise ValueError(f"{place}: found JSON {json_kind(value)}; wanted an object")
    return value


def json_kind(value: object) -> str:
    """The JSON name of a value's type."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "list", dict: "object"}
    return names.get(type(value), type(value).__name__)


def shown_json(value: object) -> str:
    """A JSON value short enough for an error line."""
    if isinstance(value, list | dict):
        return f"a {json_kind(value)}"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


LONE_SURROGATE = "a reply with half a character (a lone surrogate)"
"""Why a reply is lost that no file can hold."""


def has_lone_surrogate(value: object) -> bool:
    """Whether a text, or a text in a JSON value, is no Unicode: JSON's `"\\ud800"` is the first half of a character."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


MAX_REPLY_CHARACTERS = 50_000
"""Ignore the rest of a reply: no question is that long, but a runaway reply may be."""


def repaired_json_object(raw: str) -> dict[str, object] | None:
    """The first JSON object in a text; trailing commas, unquoted line breaks and a cut-off end are repaired.

    None where there is none, and for an object with a lone surrogate.
    """
    text = re.sub(r"```(?:json)?", "", raw[:MAX_REPLY_CHARACTERS])
    start = text.find("{")
    if start < 0:
        return None
    text = text[start:]
    for candidate in (text, _without_commas(text), _closed(_without_commas(text))):
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) and not has_lone_surrogate(value) else None
    return None


def _without_commas(text: str) -> str:
    return re.sub(r",(?=\s*[}\]])", "", text)


def _closed(text: str) -> str:
    """A cut-off text with its open string, lists and objects closed; a member without a value is dropped."""
    open_marks: list[str] = []
    quoted = escaped = False
    for mark in text:
        if quoted:
            quoted = escaped or mark != '"'
            escaped = not escaped and mark == "\\"
        elif mark == '"':
            quoted = True
        elif mark in "{[":
            open_marks.append("}" if mark == "{" else "]")
        elif mark in "}]" and open_marks:
            open_marks.pop()
    text = text[:-1] if escaped else text
    text = (text + ('"' if quoted else "")).rstrip()
    text = re.sub(r"(?:,|[,{]\s*\"[^\"]*\"\s*:|:)$", lambda match: "{" if match.group().startswith("{") else "", text)
    text = re.sub(r"([,{])\s*\"[^\"]*\"$", lambda m: _keep_value(m, open_marks), text)
    return text.rstrip(",") + "".join(reversed(open_marks))


def _keep_value(match: re.Match[str], open_marks: Sequence[str]) -> str:
    """In a list the last string is a value and stays; in an object it is a name without a value."""
    if open_marks and open_marks[-1] == "]":
        return match.group()
    return "{" if match.group(1) == "{" else ""
