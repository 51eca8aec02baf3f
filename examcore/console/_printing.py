"""Options and printing that all commands share."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Protocol

import typer

from examcore._file_writing import jsonable

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]

Seed = Annotated[int, typer.Option(min=0, help="Seed of every random choice.")]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]

Interval = Annotated[float, typer.Option(min=0.01, max=0.99, help="The share that intervals cover.")]


def show(result: object, *, as_json: bool, lines: str) -> None:
    """Print a result as JSON (NaN as null) or its lines."""
    print(json.dumps(jsonable(result), indent=2, ensure_ascii=False, allow_nan=False) if as_json else lines)


def interval_text(estimate: tuple[float, float, float]) -> str:
    """`0.312 [0.280, 0.345]`: an estimate and its interval, or `unknown` where the data do not determine it."""
    found, low, high = estimate
    if math.isnan(found):
        return "unknown"
    ends = "interval unknown" if math.isnan(low) or math.isnan(high) else f"{low:.3f}, {high:.3f}"
    return f"{found:.3f} [{ends}]"


SHOWN_COUNTS = 12
"""Entries of a count that are printed; JSON holds all."""


def printable(text: str) -> str:
    """Text without characters that could steer a terminal."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text)


def aligned_rows(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Lines of a name and a value, the values below one another."""
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {value}" for name, value in rows]


def counts_text(counts: Mapping[str, object]) -> str:
    """`topic 3, other 2`: the first entries of a count, and how many more there are."""
    shown = [f"{printable(name) or '(none)'} {count}" for name, count in list(counts.items())[:SHOWN_COUNTS]]
    return ", ".join([*shown, *([f"and {len(counts) - SHOWN_COUNTS} more"] if len(counts) > SHOWN_COUNTS else [])])


class PrintableResult(Protocol):
    """A result that a command shows; JSON has its `record()`, or the fields of a named tuple without one."""

    def lines(self) -> list[str]:
        """The result for a reader."""


def show_result(result: PrintableResult, *, as_json: bool) -> None:
    """Print a result as JSON, or its lines."""
    show(result, as_json=as_json, lines="" if as_json else "\n".join(result.lines()))
