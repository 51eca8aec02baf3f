"""Sittings in another process, to be killed: the command, and how far it has got."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def command(grid_path: Path, exam: Path, out: Path) -> dict[str, Any]:
    """`ragexam sit` as the arguments of a new process."""
    words = ["sit", str(exam), "--pipelines", str(grid_path), "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return {"args": [sys.executable, "-m", "ragexam", *words], "cwd": ROOT, "env": environment}


def stored(out: Path, table: str = "answers") -> int:
    """How many rows of a table of its answer store another process has written so far."""
    try:
        with closing(sqlite3.connect(f"file:{out / 'answers.sqlite'}?mode=ro", uri=True)) as store:
            return int(store.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
