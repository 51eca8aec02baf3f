"""What the templates show: figures with their files, tables with filters, sections of sentences."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup, escape
from matplotlib.axes import Axes

from examcore import IntervalEstimate, Language, Question, language_named
from examcore.page import HeatTable, clipped, percent, percent_range, points, signed, signed_range
from irt import plots

LONGEST_OPTION = 60
"""Characters of a filter's option: longer ones widen the menu beyond a narrow screen."""


@dataclass(frozen=True)
class Picture:
    """A drawn figure: its files are `figures/NAME.csv`, `.pdf` and `.png`; `svg` stands in the page."""

    name: str
    title: str
    caption: str
    svg: Markup


def picture(
    folder: Path,
    name: str,
    title: str,
    caption: str,
    table: pd.DataFrame,
    draw: Callable[[Axes, pd.DataFrame], Axes],
    height: float = 2.9,
    *,
    tips: Mapping[str, str] | None = None,
) -> Picture:
    """Write the table and draw it: `folder/name.csv`, `.pdf`, `.png`, and inline SVG.

    `tips` are texts shown where the pointer rests on the parts that were drawn with these group ids.
    """
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    with plots.canvas(height) as (figure, ax):
        draw(ax, table)
        text = io.StringIO()
        with warnings.catch_warnings():
            # The page's own fonts draw the names, whatever is installed here.
            warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
            figure.draw_without_rendering()  # lays it out, once for all its files
            figure.set_layout_engine(None)
            plots.save(figure, folder / name)
            figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return Picture(name, title, caption, inline_svg(text.getvalue(), name, f"{title}. {caption}", tips or {}))


def inline_svg(svg: str, name: str, description: str, tips: Mapping[str, str]) -> Markup:
    """An SVG drawing ready to stand in HTML.

    Its ink becomes `currentColor`, so that it follows light and dark pages; its ids get the figure's name, so that
    two figures do not share one; its fonts are the page's; a screen reader hears the description.
    """
    body = svg[svg.index("<svg") :]
    head, rest = body.split(">", 1)
    rest = re.sub(r"<metadata>.*?</metadata>", "", rest, flags=re.DOTALL)
    # A style element would reach the whole page; the page's own style sets what it said, and the fonts.
    rest = re.sub(r"<style.*?</style>", "", rest, flags=re.DOTALL)
    rest = re.sub(r"font-family: [^;\"]+;? ?", "", rest)
    rest = re.sub(rf"{plots.INK}\b", "currentColor", rest, flags=re.IGNORECASE)
    for group, tip in tips.items():
        rest = rest.replace(f'<g id="{group}">', f'<g id="{group}"><title>{escape(tip)}</title>')
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r"url\(#", f"url(#{name}-", rest)
    rest = re.sub(r'(xlink:)?href="#', lambda found: f'{found[1] or ""}href="#{name}-', rest)
    box = re.search(r'viewBox="([^"]*)"', head)
    view = box[1] if box else "0 0 353 209"
    label = str(escape(" ".join(description.split())))
    # matplotlib escapes text itself: what it wrote is markup of known elements and stands as it is.
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{view}" '
        f'role="img" aria-label="{label}">{rest.strip()}'
    )


@dataclass(frozen=True)
class TableCell:
    """A cell: its text, the value it is sorted by (its text without one), and a link within the page.

    `language` is that of a text that was not written here.
    """

    text: str
    value: str = ""
    link: str = ""
    kind: str = ""
    bar: IntervalBar | None = None
    language: Language | None = None


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


def column_heads(*names: str) -> tuple[ColumnHead, ...]:
    """Heads from names: `#` before makes a column of numbers, `|` one of bars, `~` one of texts, which wrap."""
    kinds = {"#": "number", "|": "span", "~": "words"}
    return tuple(ColumnHead(name.lstrip("#|~"), kinds.get(name[:1], "")) for name in names)


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
    """A difference of accuracies in percentage points; a dash where there is none."""
    return number_cell(points(change) if math.isfinite(change.estimate) else "–", change.estimate)


def share_cell(share: IntervalEstimate) -> TableCell:
    """A share with its interval in percent; a dash where there is none."""
    text = f"{percent(share.estimate)} ({percent_range(share)})" if math.isfinite(share.estimate) else "–"
    return number_cell(text, share.estimate)


def change_cell(change: IntervalEstimate) -> TableCell:
    """A difference with its interval; a dash where there is none."""
    text = f"{signed(change.estimate)} ({signed_range(change)})" if math.isfinite(change.estimate) else "–"
    return number_cell(text, change.estimate)


def effect_cells(row: Mapping[Any, Any]) -> tuple[TableCell, TableCell]:
    """The effect of a row of a fit's table, and its limits `low` and `high`."""
    limits = IntervalEstimate(row["effect"], row["low"], row["high"])
    return number_cell(signed(limits.estimate), limits.estimate), number_cell(signed_range(limits), limits.low)


def question_cell(question: Question, longest: int) -> TableCell:
    """The stem of a question, clipped."""
    return text_cell(clipped(question.stem, longest), question.language)


def interval_cell(low: float, at: float, high: float, reach: float) -> TableCell:
    """An interval drawn on a scale from minus to plus `reach`; an empty cell where it cannot be."""
    if not all(math.isfinite(value) for value in (low, at, high, reach)) or reach <= 0:
        return TableCell("", kind="span")
    left, middle, right = (50 + 50 * max(-1.0, min(1.0, value / reach)) for value in (low, at, high))
    return TableCell(
        "", sort_value(at), kind="span", bar=IntervalBar(round(left, 2), round(right - left, 2), round(middle, 2))
    )


def text_cell(text: str, language: str = "") -> TableCell:
    """A text that wraps; `language` is the code of the language it is in, where it was not written here."""
    return TableCell(text, kind="words", language=language_named(language) if language else None)


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
class ChanceBar:
    """The probability of a level to be best: `share` in whole percent, and as text."""

    name: str
    share: int
    text: str


@dataclass(frozen=True)
class PageCard:
    """A name or a number in large print under a heading, a sentence on it, a remark, and bars of chances."""

    heading: str
    answer: str
    sentence: str
    remark: str = ""
    chances: Sequence[ChanceBar] = ()


@dataclass(frozen=True)
class QuestionCard:
    """A question as the page shows it; `language` is that of its texts and of its passage.

    `stem` is empty where the heading holds it whole, `passage` where it is left out; filters look for the `tokens`.
    """

    number: int
    heading: str
    stem: str
    choices: Sequence[tuple[str, bool]]
    passage: str
    language: Language
    tokens: str = ""
    faults: Sequence[str] = ()
    best: bool = False
    pruned: bool = False
    reasons: Sequence[str] = ()
    facts: Sequence[str] = ()


@dataclass(frozen=True)
class AnswerCard:
    """A free-text answer to read: `claims` are its sentences, each with whether its passages state it and the grounds.

    `passages` are names and texts of what it was given; `note` stands where there are none. `language` is that of the
    question.
    """

    heading: str
    key: str
    reply: str
    pipeline: str
    tags: Sequence[str]
    language: Language
    claims: Sequence[tuple[str, str]]
    passages: Sequence[tuple[str, str]]
    note: str = ""


@dataclass(frozen=True)
class PageSection:
    """A section: sentences, warnings, cards, tables, a figure, named facts, and `folded` tables that open by a click.

    `parts` are sections within it, each under a `title`; one that `is_folded` opens by a click, too. `filters` are
    those of its rows and questions, and `note` stands at its end.
    """

    sentences: Sequence[str] = ()
    warnings: Sequence[str] = ()
    tables: Sequence[PageTable | HeatTable] = ()
    figure: Picture | None = None
    folded: Sequence[PageTable | HeatTable] = ()
    facts: Sequence[tuple[str, str]] = ()
    cards: Sequence[PageCard] = ()
    questions: Sequence[QuestionCard] = ()
    answers: Sequence[AnswerCard] = ()
    parts: Sequence[PageSection] = ()
    filters: TableFilters | None = None
    title: str = ""
    note: str = ""
    is_folded: bool = False


NO_MODEL = PageSection(("Needs a fitted measurement model.",))
"""What a section on the fit says where nothing was fitted."""
