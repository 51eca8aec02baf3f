"""Tables and filters as the templates show them: cells with the values they are sorted by, rows with filter tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from examcore.page import clipped

LONGEST_OPTION = 60


@dataclass(frozen=True)
class Entry:
    """A cell: its text, the value it is sorted by (its text without one), and a link within the page."""

    text: str
    value: str = ""
    link: str = ""
    kind: str = ""
    bar: Bar | None = None


@dataclass(frozen=True)
class Bar:
    """An interval as it is drawn in a cell, in percent of the cell's width; None where there is none."""

    left: float
    width: float
    at: float


@dataclass(frozen=True)
class Line:
    """A row; `tokens`, divided by blanks, are what filters look for."""

    cells: tuple[Entry, ...]
    tokens: str = ""


@dataclass(frozen=True)
class Head:
    """The head of a column; `kind` is `number`, `words` or nothing."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """A table with its caption; the first cell of each row heads it when `headed`."""

    caption: str
    heads: tuple[Head, ...]
    rows: tuple[Line, ...]
    sortable: bool = False
    headed: bool = True


@dataclass(frozen=True)
class Choice:
    """A choice that a filter offers: a label and its options, each a token and a text."""

    label: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Filters:
    """The filters of the rows within the element of id `target`; `what` names the rows."""

    target: str
    what: str
    choices: tuple[Choice, ...]


def heads(*names: str, words: Sequence[str] = ()) -> tuple[Head, ...]:
    """Heads from names: `#` before makes a column of numbers, `|` one of bars; those in `words` wrap."""
    kinds = {"#": "number", "|": "span"}
    return tuple(Head(name.lstrip("#|"), kinds.get(name[:1], "words" if name in words else "")) for name in names)


def number(text: str, value: float = math.nan) -> Entry:
    """A number as it is shown, sorted by its value."""
    return Entry(text, sort_value(value), kind="number")


def bar(low: float, at: float, high: float, reach: float) -> Entry:
    """An interval drawn on a scale from minus to plus `reach`; an empty cell where it cannot be."""
    if not all(math.isfinite(value) for value in (low, at, high, reach)) or reach <= 0:
        return Entry("", kind="span")
    left, middle, right = (50 + 50 * max(-1.0, min(1.0, value / reach)) for value in (low, at, high))
    return Entry("", sort_value(at), kind="span", bar=Bar(round(left, 2), round(right - left, 2), round(middle, 2)))


def words(text: str) -> Entry:
    """A text that wraps."""
    return Entry(text, kind="words")


def sort_value(value: float) -> str:
    """What a number is sorted by; empty where there is none."""
    return f"{value:.6g}" if math.isfinite(value) else ""


def tokens(prefix: str, values: Sequence[str]) -> dict[str, str]:
    """A token for each of the values, in their order: `t0`, `t1`, …"""
    return {value: f"{prefix}{place}" for place, value in enumerate(dict.fromkeys(values))}


def choice(label: str, of: dict[str, str], empty: str = "–") -> Choice:
    """A filter by the values of `tokens`."""
    return Choice(label, tuple((token, clipped(value, LONGEST_OPTION) or empty) for value, token in of.items()))
