"""The scores of systems by topic that a command writes beside its result."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from examcore import write_text

Scores = Annotated[
    Path | None,
    typer.Option("--scores", metavar="FILE", help="Write system,topic,score, which leaderboard and power read."),
]


def write_scores(path: Path | None, what: str, table: Mapping[str, Mapping[str, float | None]]) -> None:
    """Write `system,topic,score` as CSV where a path is given, and say so; undefined scores get no line."""
    if path is None:
        return
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
