"""Options and printing that all commands share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol

import typer

from examcore._file_writing import jsonable

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]

Seed = Annotated[int, typer.Option(min=0, help="Seed of every random choice.")]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]

Interval = Annotated[float, typer.Option(min=0.01, max=0.99, help="The share that intervals cover.")]


def show(result: Mapping[str, Any], *, as_json: bool, lines: str) -> None:
    """Print a result as JSON (NaN as null) or its lines."""
    print(json.dumps(jsonable(result), indent=2, ensure_ascii=False, allow_nan=False) if as_json else lines)


def interval_text(estimate: Mapping[str, float | None], digits: int = 3) -> str:
    """`0.312 [0.280, 0.345]`, or `unknown` where the data do not determine it."""
    found = [estimate.get(name) for name in ("estimate", "low", "high")]
    if found[0] is None:
        return "unknown"
    if found[1] is None or found[2] is None:
        return f"{found[0]:.{digits}f} [interval unknown]"
    return f"{found[0]:.{digits}f} [{found[1]:.{digits}f}, {found[2]:.{digits}f}]"


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
    """A result that a command shows."""

    def record(self) -> Mapping[str, Any]:
        """The result as JSON can hold it."""

    def lines(self) -> list[str]:
        """The result for a reader."""


def show_result(result: PrintableResult, *, as_json: bool) -> None:
    """Print a result as JSON, or its lines."""
    show(result.record() if as_json else {}, as_json=as_json, lines="" if as_json else "\n".join(result.lines()))
