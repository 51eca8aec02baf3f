"""Append-only JSON-lines files that several processes write: each line is on the disk before anyone is told so.

A line cut off by a crash was never confirmed to anybody: it is passed over, said, and removed by the next append.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from examcore._file_writing import check_format, line_of
from examcore._jsonl import JsonRecord, decode, parse_json_object


class AppendLog(NamedTuple):
    """The records of a log; `torn` is what a crash left of its last line, else empty."""

    records: list[JsonRecord]
    torn: bytes


def read_log(path: str | Path) -> AppendLog:
    """Read a log; one that does not exist is empty.

    Raises `ValueError` (file:line, found, wanted) for a damaged line other than an unfinished last one.
    """
    path = Path(path)
    if not path.exists():
        return AppendLog([], b"")
    *lines, rest = path.read_bytes().split(b"\n")
    if _is_whole(rest):
        lines, rest = [*lines, rest], b""
    records = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            place = f"{path}:{number}"
            record = JsonRecord(place, parse_json_object(decode(line, place), place))
            check_format(record)
            records.append(record)
    return AppendLog(records, rest)


class LogWriter(NamedTuple):
    """The right to append to a log; `path` names it in errors."""

    path: Path
    file: io.FileIO

    def append(self, fields: Mapping[str, object]) -> None:
        """Write one line and wait until it is on the disk; on failure the file is as before."""
        end = self._mend()
        try:
            rest = line_of(fields).encode("utf-8", "backslashreplace")
            while rest:
                rest = rest[self.file.write(rest) :]
            os.fsync(self.file.fileno())
        except OSError as error:
            os.ftruncate(self.file.fileno(), end)
            failure = OSError(f"{self.path}: cannot be written ({error.strerror}); wanted room and the right to write")
            failure.errno = error.errno
            raise failure from error

    def _mend(self) -> int:
        """End the last line, or cut it off when a crash left it unfinished; returns the length then."""
        self.file.seek(0)
        content = self.file.read()
        rest = content.rpartition(b"\n")[2]
        if rest and _is_whole(rest):
            self.file.write(b"\n")
            return len(content) + 1
        if rest:
            self.file.truncate(len(content) - len(rest))
        return len(content) - len(rest)


@contextmanager
def locked_log(path: str | Path) -> Iterator[LogWriter]:
    """Hold a log for reading and appending; other processes wait, and a dead one holds nothing."""
    path = Path(path)
    with FileLock(path.with_name(f".{path.name}.lock")):
        is_new = not path.exists()
        # Unbuffered, so that a failed write leaves nothing to be flushed later.
        with path.open("a+b", buffering=0) as file:
            if is_new:
                _sync_folder(path.parent)
            yield LogWriter(path, file)


def _is_whole(line: bytes) -> bool:
    """Whether a last line without its newline is complete; a proper part of a JSON object is never one."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _sync_folder(folder: Path) -> None:
    """A new file outlives a power cut only when its folder is on the disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
