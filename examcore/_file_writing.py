"""Writing files whole or not at all, and JSON lines that carry the version of their format."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from examcore._jsonl import JsonRecord, read_json_lines, shown_json

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
        failure = OSError(f"{target}: cannot be written ({error.strerror}); wanted room and the right to write")
        failure.errno = error.errno
        raise failure from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def read_records(path: str | Path) -> Iterator[JsonRecord]:
    """The objects of a JSON-lines file of a version these readers understand."""
    for record in read_json_lines(Path(path)):
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
    return json.dumps(_plain({"format": FORMAT, **fields}), ensure_ascii=False, allow_nan=False) + "\n"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _plain(value: object) -> object:
    """The value in JSON's types; numpy arrays and numbers know their plain form (`tolist`)."""
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [_plain(one) for one in (sorted(value) if isinstance(value, set | frozenset) else value)]
    convert: Callable[[], object] | None = getattr(value, "tolist", None)
    if convert is None:
        raise ValueError(f"metadata: found a {type(value).__name__}; wanted strings, numbers, lists and mappings")
    return _plain(convert())
