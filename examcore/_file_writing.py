"""Writing files whole or not at all, JSON lines that carry the version of their format, and logs of such lines.

Several processes may append to a log; an append returns when its line is on the disk. A line cut off by a crash was
never confirmed: readers skip and report it, and the next append removes it.
"""

from __future__ import annotations

import io
import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from examcore._jsonl import JsonRecord, decode, json_records, read_json_lines, shown_json

FORMAT = 1
"""The version these writers write and the newest these readers understand."""


def write_lines(path: str | Path, objects: Iterable[Mapping[str, object]]) -> None:
    """Write one JSON object per line, whole or not at all; on failure the earlier file stays.

    NaN and infinite numbers become null, numpy values plain ones.
    """
    write_text(path, map(line_of, objects))


def write_text(path: str | Path, parts: Iterable[str]) -> None:
    """Write a UTF-8 file whole or not at all; `OSError` names the path (a full disk, a read-only folder)."""
    target = Path(path)
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            # A lone surrogate has no UTF-8 form; as a JSON escape it comes back as it was.
            file.writelines(part.encode("utf-8", "backslashreplace") for part in parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def read_records(path: str | Path) -> Iterator[JsonRecord]:
    """The objects of a JSON-lines file of a version these readers understand."""
    return _checked(read_json_lines(Path(path)))


def _checked(records: Iterable[JsonRecord]) -> Iterator[JsonRecord]:
    for record in records:
        check_format(record)
        yield record


def check_format(record: JsonRecord) -> None:
    """Refuse a record of a newer version than these readers understand."""
    version = record.fields.get("format", FORMAT)
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= FORMAT:
        raise ValueError(
            f"{record.place}: format is {shown_json(version)}; wanted at most {FORMAT}, written by this release"
        )


def line_of(fields: Mapping[str, object]) -> str:
    """The line of an object: its version, then its fields; NaN becomes null, numpy values plain ones."""
    return json.dumps(jsonable({"format": FORMAT, **fields}), ensure_ascii=False, allow_nan=False) + "\n"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def jsonable(value: Any) -> Any:
    """The value in JSON's types, null for what is not finite.

    A result is its `record()`, a named tuple or data class the object of its fields, a path its text; numpy's values
    know their form (`tolist`).
    """
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): jsonable(one) for name, one in value.items()}
    if isinstance(value, Path):
        return str(value)
    form = next((one for one in ("record", "_asdict", "tolist") if hasattr(value, one)), None)
    if form is not None:
        return jsonable(getattr(value, form)())
    if isinstance(value, Sequence | set | frozenset):
        return [jsonable(one) for one in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if is_dataclass(value):
        return jsonable(vars(value))
    raise ValueError(f"metadata: found a {type(value).__name__}; wanted strings, numbers, lists and mappings")


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
    return AppendLog(list(_checked(json_records(decode(b"\n".join(lines), path), path))), rest)


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
            raise _unwritable(self.path, error) from error

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


def _unwritable(path: Path, error: OSError) -> OSError:
    failure = OSError(f"{path}: cannot be written ({error.strerror}); wanted room and the right to write")
    failure.errno = error.errno
    return failure
