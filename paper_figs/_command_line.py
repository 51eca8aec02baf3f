"""The command line that every script here has."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from paper_figs._figure_files import PaperFigure
from paper_figs._table_files import PaperTable
from paper_figs._task_results import TaskResults, read_run

Build = Callable[[Sequence[TaskResults]], Sequence[PaperFigure | PaperTable]]
CACHE = Path(".cache/paper_figs")
"""Where fits are kept."""


def script(build: Build, doc: str | None, argv: Sequence[str] | None = None) -> int:
    """Run one script: `RUN [RUN ...] --out DIR` writes its figure or table and prints the paths.

    Returns the exit status: 0, or 2 with one line on standard error when a run lacks what is needed.
    """
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run folder or released answers, or TASK=FOLDER")
    parser.add_argument("--out", type=Path, default=Path("figures"), help="folder to write to (default: figures)")
    parser.add_argument("--cache", type=Path, default=CACHE, help=f"folder of fits that were made (default: {CACHE})")
    arguments = parser.parse_args(argv)
    try:
        runs = [read_run(one, arguments.cache) for one in arguments.runs]
        for made in build(distinct(runs)):
            for path in made.save(arguments.out):
                print(path)
    except (ValueError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    return 0


def distinct(runs: Sequence[TaskResults]) -> Sequence[TaskResults]:
    """The runs; ValueError where two would be called the same."""
    seen: dict[str, TaskResults] = {}
    for run in runs:
        other = seen.setdefault(run.slug, run)
        if other is not run:
            raise ValueError(
                f"{run.folder}: called {run.task!r}, as {other.folder} is; wanted TASK=FOLDER to tell them"
            )
    return runs
