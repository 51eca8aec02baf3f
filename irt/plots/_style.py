"""What all pictures share: colours, canvas, files, and the length of names.

Colours are Okabe and Ito's, told apart by colour-blind readers; curves differ by dashes as well. Text is never read
as mathematics, so that a `$` in a name stays one. Intervals are drawn as given.
"""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

INK = "#1d2129"
"""Colour of text and axes; a page may replace it to follow its own."""
FAINT = "#8a919c"
"""Colour of grids and reference lines, readable on light and dark ground."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F7F")
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)), (0, (8, 2)), (0, (2.5, 1)))
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.8,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "ragexam",
    "pdf.fonttype": 42,
}
WIDTH = 4.4
"""Width of a figure in inches; text keeps a readable size when a phone shrinks it."""
_LONGEST_LABEL = 26
"""Characters of a label that leaves room for the drawing."""


@contextmanager
def canvas(height: float = 2.9, width: float = WIDTH) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one axes in this module's style; it needs no display and no global state."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.add_subplot()


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem.pdf` and `stem.png`, without dates, so that the same data give the same files."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    pdf, png = stem.with_name(stem.name + ".pdf"), stem.with_name(stem.name + ".png")
    figure.savefig(pdf, metadata={"CreationDate": None})
    figure.savefig(png, dpi=200, facecolor="white")
    return [pdf, png]


def shorten(text: str, longest: int = _LONGEST_LABEL) -> str:
    """The text on one line, its middle cut out when it is too long for a label."""
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"


def records(table: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """The rows of a table, one dict each."""
    return table.to_dict("records")


def wrapped(text: str, width: int) -> str:
    """The text in at most three lines of `width` characters."""
    return "\n".join(textwrap.wrap(shorten(text, 3 * width), width)) or text


def grid(ax: Axes, axis: Literal["x", "y", "both"] = "both") -> None:
    """Faint lines behind the drawing."""
    ax.grid(axis=axis, color=FAINT, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def legend_below(ax: Axes, columns: int) -> None:
    """A legend under the axes (of its part of a figure), in as many columns as its names leave room for."""
    handles, labels = ax.get_legend_handles_labels()
    figure = ax.get_figure(root=False)
    width = WIDTH if figure is None else float(figure.bbox.width) / figure.dpi
    target: Figure | SubFigure | Axes = figure if figure is not None else ax
    longest = max((len(label) for label in labels), default=1) + 6
    columns = max(1, min(columns, int(108 * width / mpl.rcParams["legend.fontsize"]) // longest))
    target.legend(handles, labels, loc="outside lower center" if figure is not None else "best", ncols=columns)
