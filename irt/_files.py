"""Files: whether a path is one, and writing one whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def require_file(path: Path, wanted: str) -> None:
    """FileNotFoundError, or IsADirectoryError, unless `path` is a file; `wanted` says of what kind."""
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a folder; wanted {wanted}")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; wanted {wanted}")


def require_folder(path: Path, wanted: str) -> None:
    """NotADirectoryError when `path` is there and is no folder; `wanted` says of what kind."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path}: is a file; wanted {wanted}")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
