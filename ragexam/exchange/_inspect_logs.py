"""The logs of Inspect as files: `.json`, and `.eval`, a zip of JSON files that newer versions pack with zstandard."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from examcore import shown_json

ZSTANDARD = 93
"""The number of this compression in a zip; Python reads it from 3.14 on."""

LOCAL_HEADER = 30
"""Bytes before the name of an entry, which ends with the lengths of the name and of what follows it."""


class Log(NamedTuple):
    """The model that an evaluation names, and its samples."""

    model: str
    samples: Sequence[dict[str, Any]]


def read_log_file(path: Path) -> Log:
    """Read a log; ValueError in one line for a file that is none or is damaged."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file; wanted a log of Inspect")
    try:
        header, samples = _packed(path) if path.suffix == ".eval" else _plain(path)
        model = header["eval"]["model"]
        if not isinstance(model, str) or not model:
            raise ValueError(f"its model is {shown_json(model)}")
        if not isinstance(samples, list) or not all(isinstance(one, dict) for one in samples):
            raise ValueError("its samples are no objects")
        return Log(model, samples)
    except (KeyError, TypeError) as error:
        lacking = f"no {error}" if isinstance(error, KeyError) else "fields of other kinds"
        raise ValueError(f"{path}: cannot be read ({lacking}); wanted a log of Inspect") from None
    except (ValueError, EOFError, struct.error, zipfile.BadZipFile, zstandard.ZstdError) as error:
        reason = " ".join(str(error).split())[:80] or type(error).__name__
        raise ValueError(f"{path}: cannot be read ({reason}); wanted a log of Inspect") from None


def _plain(path: Path) -> tuple[Any, Any]:
    log = json.loads(path.read_text(encoding="utf-8"))
    return log, log["samples"] or []


def _packed(path: Path) -> tuple[Any, Any]:
    """Header and samples; an evaluation that was broken off has no header, but says in its journal what it was."""
    data = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        # Where a name stands twice the last entry counts, which is what this mapping holds.
        entries = archive.NameToInfo
        start = "header.json" if "header.json" in entries else "_journal/start.json"
        samples = [name for name in entries if name.startswith("samples/") and name.endswith(".json")]
        return _entry(data, archive, start), [_entry(data, archive, name) for name in samples]


def _entry(data: bytes, archive: zipfile.ZipFile, name: str) -> Any:
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD:
        return json.loads(archive.read(info))
    name_length, extra_length = struct.unpack_from("<HH", data, info.header_offset + LOCAL_HEADER - 4)
    start = info.header_offset + LOCAL_HEADER + name_length + extra_length
    packed = io.BytesIO(data[start : start + info.compress_size])
    with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
        return json.loads(reader.read())
