"""What the templates show: sections of sentences, warnings, tables with filters, and a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from examcore import IntervalEstimate
from examcore.page import HeatTable, clipped, percent, points
from ragexam.report._figure_files import Picture

LONGEST_OPTION = 60
"""Characters of a filter's option: longer ones widen the menu beyond a narrow screen."""


@dataclass(frozen=True)
class TableCell:
    """A cell: its text, the value it is sorted by (its text without one), and a link within the page."""

    text: str
    value: str = ""
    link: str = ""
    kind: str = ""
    bar: IntervalBar | None = None


@dataclass(frozen=True)
class IntervalBar:
    """An interval as it is drawn in a cell, in percent of the cell's width; None where there is none."""

    left: float
    width: float
    at: float


@dataclass(frozen=True)
class TableRow:
    """A row; `filter_tokens`, divided by blanks, are what filters look for."""

    cells: tuple[TableCell, ...]
    tokens: str = ""


@dataclass(frozen=True)
class ColumnHead:
    """The head of a column; `kind` is `number_cell`, `text_cell` or nothing."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class PageTable:
    """A table with its caption; the first cell of each row heads it when `headed`."""

    caption: str
    heads: tuple[ColumnHead, ...]
    rows: tuple[TableRow, ...]
    sortable: bool = False
    headed: bool = True


@dataclass(frozen=True)
class FilterMenu:
    """A choice that a filter offers: a label and its options, each a token and a text."""

    label: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TableFilters:
    """The filters of the rows within the element of id `target`; `what` names the rows."""

    target: str
    what: str
    choices: tuple[FilterMenu, ...]


def column_heads(*names: str, words: Sequence[str] = ()) -> tuple[ColumnHead, ...]:
    """Heads from names: `#` before makes a column of numbers, `|` one of bars; those in `text_cell` wrap."""
    kinds = {"#": "number", "|": "span"}
    return tuple(ColumnHead(name.lstrip("#|"), kinds.get(name[:1], "words" if name in words else "")) for name in names)


def table_row(*cells: TableCell | str, tokens: str = "") -> TableRow:
    """A row from its cells; a text is a plain cell."""
    return TableRow(tuple(TableCell(one) if isinstance(one, str) else one for one in cells), tokens)


def number_cell(text: str, value: float = math.nan) -> TableCell:
    """A number as it is shown, sorted by its value."""
    return TableCell(text, sort_value(value), kind="number")


def percent_cell(share: float) -> TableCell:
    """A share in percent."""
    return number_cell(percent(share), share)


def points_cell(change: IntervalEstimate) -> TableCell:
    """A difference of accuracies in percentage points."""
    return number_cell(points(change), change.estimate)


def interval_cell(low: float, at: float, high: float, reach: float) -> TableCell:
    """An interval drawn on a scale from minus to plus `reach`; an empty cell where it cannot be."""
    if not all(math.isfinite(value) for value in (low, at, high, reach)) or reach <= 0:
        return TableCell("", kind="span")
    left, middle, right = (50 + 50 * max(-1.0, min(1.0, value / reach)) for value in (low, at, high))
    return TableCell(
        "", sort_value(at), kind="span", bar=IntervalBar(round(left, 2), round(right - left, 2), round(middle, 2))
    )


def text_cell(text: str) -> TableCell:
    """A text that wraps."""
    return TableCell(text, kind="words")


def sort_value(value: float) -> str:
    """What a number is sorted by; empty where there is none."""
    return f"{value:.6g}" if math.isfinite(value) else ""


def filter_tokens(prefix: str, values: Sequence[str]) -> dict[str, str]:
    """A token for each of the values, in their order: `t0`, `t1`, …"""
    return {value: f"{prefix}{place}" for place, value in enumerate(dict.fromkeys(values))}


def filter_menu(label: str, of: dict[str, str], empty: str = "–") -> FilterMenu:
    """A filter by the values of `filter_tokens`."""
    return FilterMenu(label, tuple((token, clipped(value, LONGEST_OPTION) or empty) for value, token in of.items()))


@dataclass(frozen=True)
class PlainTable:
    """A small table of texts: the first cell of a row heads it, the others are numbers."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class PageSection:
    """A section: sentences, warnings, tables, a figure, named facts, and `folded` tables that open by a click."""

    sentences: Sequence[str]
    warnings: Sequence[str] = ()
    tables: Sequence[PageTable | HeatTable | PlainTable] = ()
    figure: Picture | None = None
    folded: Sequence[PageTable | HeatTable] = ()
    facts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class FactList:
    """Names and values under a title; a `long` one is folded away."""

    title: str
    facts: Sequence[tuple[str, str]]
    long: bool = False
