"""Options and printing that the grading commands share."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from irt.commands import with_records

Scores = Annotated[
    Path | None,
    typer.Option("--scores", metavar="FILE", help="Write system,topic,score, which leaderboard and power read."),
]
ShownPairs = Annotated[
    Literal["neighbours", "all"], typer.Option("--pairs", help="Pairs of systems to print; --json has all.")
]


def write_scores(path: Path | None, what: str, table: Mapping[str, Mapping[str, float | None]]) -> None:
    """Write `system,topic,score` as CSV where a path is given, and say so; undefined scores get no line."""
    if path is None:
        return
    from examcore import write_text

    known = [
        (system, topic, score)
        for system, scores in table.items()
        for topic, score in scores.items()
        if score is not None and math.isfinite(score)
    ]
    page = io.StringIO()
    csv.writer(page, lineterminator="\n").writerows([("system", "topic", "score"), *known])
    write_text(path, [page.getvalue()])
    undefined = sum(map(len, table.values())) - len(known)
    without = f"; {undefined} undefined scores are left out" if undefined else ""
    print(f"{path}: {what} of {len(table)} systems, {len(known)} scores{without}", file=sys.stderr)


def register(app: typer.Typer, commands: Mapping[str, tuple[Callable[..., None], str]], path: str) -> None:
    """Add commands, each with its example: `name -> (command, example arguments)`; `path` goes before the name."""
    for name, (command, example) in commands.items():
        app.command(name, epilog=f"Example: ragexam {path} {name} {example}")(with_records(command))
