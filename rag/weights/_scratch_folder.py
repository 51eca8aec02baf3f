"""Scratch folders beside the final place of their content, so that it can be moved there in one step."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

PREFIX = ".partial-"


@contextlib.contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """A new folder inside `folder`, removed afterwards; leftovers of killed processes are removed first."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{PREFIX}*"):
        owner = left.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f"{PREFIX}{os.getpid()}-", ignore_cleanup_errors=True) as made:
        yield Path(made)
