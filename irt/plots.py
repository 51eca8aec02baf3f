"""Pictures of a fit, each drawn on a given `ax` from a plain table.

Colours are Okabe and Ito's, told apart by colour-blind readers; curves differ by dashes as well. Text is never read
as mathematics, so that a `$` in a name stays one. Intervals are drawn as given.
"""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

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
_MOST_ROUNDS_NAMED = 8


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


def exam_information(ax: Axes, table: pd.DataFrame, abilities: ArrayLike | None = None) -> None:
    """The exam's information over ability with its band; a mark below for each ability.

    `table` has `theta, total, total_low, total_high`.
    """
    theta = table["theta"].to_numpy(float)
    ax.fill_between(theta, table["total_low"], table["total_high"], color=COLOURS[0], alpha=0.22, linewidth=0)
    ax.plot(theta, table["total"], color=COLOURS[0], linewidth=1.8)
    top = float(np.nanmax(table["total_high"])) * 1.05
    ax.set_ylim(0, top)
    if abilities is not None:
        marks = np.asarray(abilities, float)
        ax.vlines(marks, 0, top * 0.07, color=COLOURS[1], linewidth=1.1)
        ax.text(float(marks.mean()), top * 0.085, "pipelines", color=COLOURS[1], ha="center", va="bottom")
    ax.set_xlim(theta[0], theta[-1])
    ax.set_xlabel("Ability")
    ax.set_ylabel("Information of the exam")
    _grid(ax)


def grouped_information(ax: Axes, table: pd.DataFrame) -> None:
    """Mean information of a question over ability, one curve per group, the strongest first in the legend.

    `table` has `group, n_items, theta, mean`; with `mean_low, mean_high` a bar at each curve's peak shows the interval
    there (a band around every curve would hide the others).
    """
    peak = table.groupby("group", sort=False)["mean"].max().sort_values(ascending=False)
    for place, group in enumerate(peak.index):
        rows = table[table["group"] == group]
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
        label = f"{shorten(str(group))} ({int(rows['n_items'].iloc[0])})"
        ax.plot(rows["theta"], rows["mean"], color=colour, linestyle=dash, linewidth=1.7, label=label)
        if {"mean_low", "mean_high"} <= set(table.columns):
            top = _records(rows.sort_values("mean"))[-1]
            ax.vlines(top["theta"], top["mean_low"], top["mean_high"], color=colour, linewidth=1.1, alpha=0.8)
            ax.plot([top["theta"]] * 2, [top["mean_low"], top["mean_high"]], "_", color=colour, markersize=5, alpha=0.8)
            ax.plot(top["theta"], top["mean"], "o", color=colour, markersize=3.5)
    ax.set_xlim(float(table["theta"].min()), float(table["theta"].max()))
    ax.set_ylim(0, _top(table))
    ax.set_xlabel("Ability")
    ax.set_ylabel("Mean information per question")
    _grid(ax)
    _legend_below(ax, columns=3)


def component_forest(ax: Axes, table: pd.DataFrame) -> None:
    """Effect of each level of each facet with its interval, facets apart, the best on top.

    `table` has `facet, level, effect, low, high`.
    """
    y, ticks, labels, colours = 0.0, [], [], []
    for place, (facet, rows) in enumerate(table.groupby("facet", sort=False)):
        ax.text(0.0, y, f"{facet}", transform=ax.get_yaxis_transform(), ha="left", va="center", weight="bold")
        y -= 0.9
        for row in _records(rows.sort_values("effect", ascending=False)):
            colour = COLOURS[place % len(COLOURS)]
            ax.plot([row["low"], row["high"]], [y, y], color=colour, linewidth=1.8, solid_capstyle="round")
            ax.plot(row["effect"], y, "o", color=colour, markersize=5)
            ticks.append(y)
            labels.append(shorten(str(row["level"])))
            colours.append(colour)
            y -= 0.8
        y -= 0.25
    ax.axvline(0, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)))
    ax.set_yticks(ticks, labels)
    ax.set_ylim(y + 0.5, 0.7)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("Effect on ability (0: average level)")
    _grid(ax, "x")


def forest_height(table: pd.DataFrame) -> float:
    """Height in inches that `component_forest` needs."""
    return 0.75 + 0.2 * len(table) + 0.3 * table["facet"].nunique()


def pruning_rounds(ax: Axes, table: pd.DataFrame) -> None:
    """Mean information of a question over ability after each pruning round, from blue (all questions) to green.

    `table` has `round, n_items, theta, mean`.
    """
    rounds = sorted(table["round"].unique())
    shades = mpl.colormaps["viridis"](np.linspace(0.3, 0.78, len(rounds)))
    for shade, number in zip(shades, rounds, strict=True):
        rows = table[table["round"] == number]
        ends = number in (rounds[0], rounds[-1])
        start = "all" if number == rounds[0] else f"round {number}:"
        named = ends or len(rounds) <= _MOST_ROUNDS_NAMED
        label = f"{start} {int(rows['n_items'].iloc[0])} questions" if named else "_"
        ax.plot(
            rows["theta"],
            rows["mean"],
            color=shade,
            linewidth=2.0 if ends else 1.2,
            linestyle="-" if ends else DASHES[1],
            label=label,
        )
    ax.set_xlim(float(table["theta"].min()), float(table["theta"].max()))
    ax.set_ylim(0, float(table["mean"].max()) * 1.1)
    ax.set_xlabel("Ability")
    ax.set_ylabel("Mean information per question")
    _grid(ax)
    _legend_below(ax, columns=2)


def heat_map(ax: Axes, table: pd.DataFrame) -> None:
    """Accuracy by row and column, as colour and as percent with its interval.

    `table` has `row, column, accuracy, low, high`, accuracies from 0 to 1.
    """
    rows, columns = list(dict.fromkeys(table["row"])), list(dict.fromkeys(table["column"]))
    values = table.pivot(index="row", columns="column", values="accuracy").loc[rows, columns].to_numpy(float)
    ax.imshow(values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for cell in _records(table):
        ink = "white" if cell["accuracy"] < 0.55 else "black"
        where = (columns.index(cell["column"]), rows.index(cell["row"]))
        text = f"{100 * cell['accuracy']:.0f}\n{100 * cell['low']:.0f} to {100 * cell['high']:.0f}"
        ax.annotate(text, where, ha="center", va="center", color=ink, fontsize=7.5, linespacing=1.4)
    ax.set_xticks(range(len(columns)), [_wrapped(name, 12) for name in columns])
    ax.set_yticks(range(len(rows)), [_wrapped(name, 16) for name in rows])
    ax.set_xlabel("Percent correct, with its interval")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def shorten(text: str, longest: int = _LONGEST_LABEL) -> str:
    """The text on one line, its middle cut out when it is too long for a label."""
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"


def _top(table: pd.DataFrame) -> float:
    """Upper limit that shows all curves and, where they are not extreme, their intervals at the peaks."""
    curves = float(table["mean"].max())
    peaks = table.loc[table.groupby("group", sort=False)["mean"].idxmax()]
    bars = float(peaks["mean_high"].max()) if "mean_high" in table.columns else curves
    return 1.05 * max(curves, min(bars, 2.5 * curves)) or 1.0


def _records(table: pd.DataFrame) -> list[dict[Hashable, Any]]:
    return table.to_dict("records")


def _wrapped(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(shorten(text, 3 * width), width)) or text


def _grid(ax: Axes, axis: str = "both") -> None:
    ax.grid(axis="x" if axis == "x" else "y" if axis == "y" else "both", color=FAINT, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def _legend_below(ax: Axes, columns: int) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure = ax.get_figure(root=True)
    target: Figure | Axes = figure if figure is not None else ax
    columns = min(columns, _columns_that_fit(labels, columns))
    target.legend(handles, labels, loc="outside lower center" if figure is not None else "best", ncols=columns)


def _columns_that_fit(labels: Sequence[str], most: int, characters: int = 58) -> int:
    longest = max((len(label) for label in labels), default=1) + 6
    return max(1, min(most, characters // longest))
