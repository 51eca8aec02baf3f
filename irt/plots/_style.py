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
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine

from irt.plots._fonts import font_families, marked_names

INK = "#1d2129"
"""Colour of text and axes; a page may replace it to follow its own."""
FAINT = "#8a919c"
"""Colour of grids and reference lines, readable on light and dark ground."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F7F")
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)), (0, (8, 2)), (0, (2.5, 1)))
STYLE: dict[Any, Any] = {
    "font.family": font_families(),
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
_UNDER_LABELS = -0.2
"""Height of a legend's upper edge, in heights of the axes: under the ticks and the label of the x-axis."""


@contextmanager
def canvas(height: float = 2.9, width: float = WIDTH) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one axes in this module's style; it needs no display and no global state."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.add_subplot()


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem.pdf` and `stem.png`, without dates, so that the same data give the same files.

    Names that no installed font can draw are numbered in both; `stem.names.csv` then says what each number stands for.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    pdf, png = stem.with_name(stem.name + ".pdf"), stem.with_name(stem.name + ".png")
    with marked_names(figure, stem.with_name(stem.name + ".names.csv")):
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
    """A legend under the axes, in as many columns as its names leave room for.

    It is one of the figure (or part of a figure) where that makes room for it: with a constrained layout, of one axes.
    """
    handles, labels = ax.get_legend_handles_labels()
    figure = ax.get_figure(root=False)
    assert figure is not None
    alone = len(figure.axes) == 1 and isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine)
    width = float((figure if alone else ax).bbox.width) / figure.dpi
    longest = max((len(label) for label in labels), default=1) + 6
    size = FontProperties(size=mpl.rcParams["legend.fontsize"]).get_size_in_points()
    columns = max(1, min(columns, int(108 * width / size) // longest))
    if alone:
        figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    else:
        ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, _UNDER_LABELS), ncols=columns)
