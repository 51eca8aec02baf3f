"""Options and printing that the grading commands share."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of every random choice.")]
Scores = Annotated[
    Path | None,
    typer.Option("--scores", metavar="FILE", help="Write system,topic,score, which leaderboard and power read."),
]
ShownPairs = Annotated[
    Literal["neighbours", "all"], typer.Option("--pairs", help="Pairs of systems to print; --json has all.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
Interval = Annotated[float, typer.Option(min=0.01, max=0.99, help="The share that intervals cover.")]


def show(result: Mapping[str, Any], *, as_json: bool, lines: str) -> None:
    """Print a result as JSON (NaN as null) or its lines."""
    print(json.dumps(plain(result), indent=2, ensure_ascii=False, allow_nan=False) if as_json else lines)


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
        app.command(name, epilog=f"Example: ragexam {path} {name} {example}")(command)


def in_words(estimate: Mapping[str, float | None], digits: int = 3) -> str:
    """`0.312 [0.280, 0.345]`, or `unknown` where the data cannot say it."""
    found = [estimate.get(name) for name in ("estimate", "low", "high")]
    if found[0] is None:
        return "unknown"
    if found[1] is None or found[2] is None:
        return f"{found[0]:.{digits}f} [interval unknown]"
    return f"{found[0]:.{digits}f} [{found[1]:.{digits}f}, {found[2]:.{digits}f}]"


def plain(value: Any) -> Any:
    """A result as JSON can hold it: names as text, null for what is not finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
