"""Pictures of a whole exam: information, groups of questions, components, pruning, accuracy, what a fit predicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from irt.plots._style import COLOURS, DASHES, FAINT, INK, grid, legend_below, records, shorten, wrapped

_MOST_STUDENTS_NAMED = 30
"""Names that fit beside one another."""
_MOST_ROUNDS_NAMED = 8
"""Rounds in a legend of four rows."""


def exam_information(ax: Axes, table: pd.DataFrame, abilities: ArrayLike | None = None) -> Axes:
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
        # In the upper corner that the curve leaves freer.
        half = theta < (theta[0] + theta[-1]) / 2
        left = float(table["total_high"][half].max()) < float(table["total_high"][~half].max())
        x, side = (0.02, "left") if left else (0.98, "right")
        ax.text(x, 0.97, "marks: pipelines", transform=ax.transAxes, color=COLOURS[1], ha=side, va="top")
    ax.set(xlim=(theta[0], theta[-1]), xlabel="Ability", ylabel="Information of the exam")
    grid(ax)
    return ax


def grouped_information(ax: Axes, table: pd.DataFrame, order: Sequence[str] = ()) -> Axes:
    """Mean information of a question over ability, one curve per group, the strongest first in the legend.

    Groups in `order` have the look of their place there, whatever stands in the table: the same in several pictures.
    `table` has `group, n_items, theta, mean`; with `mean_low, mean_high` a bar at each curve's peak shows the interval
    there (a band around every curve would hide the others); bars of one place stand side by side.
    """
    bar = 0.012 * float(np.ptp(table["theta"]))
    taken: Counter[float] = Counter()
    peak = table.groupby("group", sort=False)["mean"].max().sort_values(ascending=False)
    places = group_places(peak.index, order)
    for group in peak.index:
        rows, place = table[table["group"] == group], places[group]
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
        label = f"{shorten(str(group))} ({int(rows['n_items'].iloc[0])})"
        ax.plot(rows["theta"], rows["mean"], color=colour, linestyle=dash, linewidth=1.7, label=label)
        if {"mean_low", "mean_high"} <= set(table.columns):
            top = records(rows.sort_values("mean"))[-1]
            where = top["theta"] + bar * taken[top["theta"]]
            taken[top["theta"]] += 1
            ax.vlines(where, top["mean_low"], top["mean_high"], color=colour, linewidth=1.1, alpha=0.8)
            ax.plot([where] * 2, [top["mean_low"], top["mean_high"]], "_", color=colour, markersize=4, alpha=0.8)
            ax.plot(where, top["mean"], "o", color=colour, markersize=3.5)
    ax.set(xlim=(float(table["theta"].min()), float(table["theta"].max())), ylim=(0, _top(table)), xlabel="Ability")
    ax.set_ylabel("Mean information per question")
    grid(ax)
    legend_below(ax, columns=3)
    return ax


def group_places(groups: Iterable[str], order: Sequence[str]) -> dict[str, int]:
    """The place of each group in the order, those that it lacks behind it; without an order, as they come."""
    return {name: place for place, name in enumerate(dict.fromkeys([*order, *groups]))}


def component_forest(ax: Axes, table: pd.DataFrame) -> Axes:
    """Effect of each level of each facet with its interval, facets apart, the best on top.

    `table` has `facet, level, effect, low, high`.
    """
    y, ticks, labels, colours = 0.0, [], [], []
    for place, (facet, rows) in enumerate(table.groupby("facet", sort=False)):
        ax.text(0.0, y, f"{facet}", transform=ax.get_yaxis_transform(), ha="left", va="center", weight="bold")
        y -= 0.9
        for row in records(rows.sort_values("effect", ascending=False)):
            colour = COLOURS[place % len(COLOURS)]
            ax.plot([row["low"], row["high"]], [y, y], color=colour, linewidth=1.8, solid_capstyle="round")
            ax.plot(row["effect"], y, "o", color=colour, markersize=3.4)
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
    grid(ax, "x")
    return ax


def forest_height(table: pd.DataFrame) -> float:
    """Height in inches that `component_forest` needs."""
    return 0.75 + 0.2 * len(table) + 0.3 * table["facet"].nunique()


def pruning_rounds(ax: Axes, table: pd.DataFrame) -> Axes:
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
    ax.set(xlim=(float(table["theta"].min()), float(table["theta"].max())), ylim=(0, float(table["mean"].max()) * 1.1))
    ax.set(xlabel="Ability", ylabel="Mean information per question")
    grid(ax)
    legend_below(ax, columns=2)
    return ax


def pruning_gain(ax: Axes, table: pd.DataFrame) -> Axes:
    """Gain of a question's information round by round: judged on held-out students, claimed, and by random pruning.

    `table` has `n_items, claimed, heldout, low, high, random, random_low, random_high`, shares of the whole exam's.
    """
    x, percent = table["n_items"], 100 * table.drop(columns=["n_items"])
    ax.fill_between(x, percent["random_low"], percent["random_high"], color=FAINT, alpha=0.3, linewidth=0,
                    label="random pruning")  # fmt: skip
    ax.axhline(0, color=FAINT, linewidth=0.9)
    ax.plot(x, percent["claimed"], color=COLOURS[1], linestyle=DASHES[1], marker="s", markersize=3.5, linewidth=1.4,
            label="claimed")  # fmt: skip
    ax.vlines(x, percent["low"], percent["high"], color=COLOURS[0], linewidth=1.4)
    ax.plot(x, percent["heldout"], color=COLOURS[0], marker="o", markersize=4, linewidth=1.4, label="held out")
    ax.invert_xaxis()
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.set(xlabel="Questions left", ylabel="Gain per question, %")
    grid(ax)
    legend_below(ax, columns=3)
    return ax


def exam_precision(ax: Axes, table: pd.DataFrame) -> Axes:
    """Information of the exam over ability and, on the right-hand scale, the standard error of an ability.

    `table` has `theta, total, total_low, total_high, error, error_low, error_high`.
    """
    exam_information(ax, table)
    ax.yaxis.label.set_color(COLOURS[0])
    right = ax.twinx()
    right.spines["right"].set_visible(True)
    theta = table["theta"].to_numpy(float)
    right.fill_between(theta, table["error_low"], table["error_high"], color=COLOURS[1], alpha=0.18, linewidth=0)
    right.plot(theta, table["error"], color=COLOURS[1], linestyle=DASHES[1], linewidth=1.6)
    # Where the exam says next to nothing the error has no bound: four times the best is shown.
    right.set_ylim(0, min(4 * float(table["error"].min()), 1.1 * float(table["error_high"].max())))
    right.set_ylabel("Standard error (dashed)", color=COLOURS[1])
    return ax


def heat_map(ax: Axes, table: pd.DataFrame) -> Axes:
    """Accuracy by row and column, as colour and as percent with its interval.

    `table` has `row, column, accuracy, low, high`, accuracies from 0 to 1.
    """
    rows, columns = list(dict.fromkeys(table["row"])), list(dict.fromkeys(table["column"]))
    values = table.pivot(index="row", columns="column", values="accuracy").loc[rows, columns].to_numpy(float)
    ax.imshow(values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for cell in records(table):
        ink = "white" if cell["accuracy"] < 0.55 else "black"
        where = (columns.index(cell["column"]), rows.index(cell["row"]))
        text = f"{100 * cell['accuracy']:.0f}\n{100 * cell['low']:.0f} to {100 * cell['high']:.0f}"
        ax.annotate(text, where, ha="center", va="center", color=ink, fontsize=7.5, linespacing=1.4)
    ax.set_xticks(range(len(columns)), [wrapped(name, 12) for name in columns])
    ax.set_yticks(range(len(rows)), [wrapped(name, 16) for name in rows])
    ax.set_xlabel("Percent correct, with its interval")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def predicted_students(ax: Axes, table: pd.DataFrame) -> Axes:
    """Share right of every student, with the interval the fit predicts, the best on top; surprising ones stand out.

    `table` has `student, observed, expected, low, high, surprising`. More than 30 students are drawn unnamed, but for
    the surprising ones.
    """
    rows = table.sort_values("observed", kind="stable", ignore_index=True)
    y = np.arange(len(rows), dtype=np.float64)
    ax.hlines(y, rows["low"], rows["high"], color=COLOURS[0], linewidth=min(2.0, 90 / max(len(rows), 1)), alpha=0.6,
              label="predicted")  # fmt: skip
    size = 3.5 if len(rows) <= _MOST_STUDENTS_NAMED else 1.8
    odd = rows["surprising"].to_numpy(bool)
    ax.plot(rows["observed"][~odd], y[~odd], "o", color=INK, markersize=size, label="observed")
    if odd.any():
        ax.plot(rows["observed"][odd], y[odd], "D", color=COLOURS[1], markersize=4, label="surprising")
    named = _named(rows.assign(y=y))
    ax.set_yticks([row["y"] for row in named], [shorten(str(row["student"])) for row in named])
    ax.tick_params(axis="y", length=0, labelsize=7.5)
    ax.set(ylim=(-1, len(rows)), xlabel="Share right")
    if len(rows) > _MOST_STUDENTS_NAMED:
        ax.set_ylabel(f"{len(rows)} students by share right")
    grid(ax, "x")
    legend_below(ax, columns=3)
    return ax


def _named(rows: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """All of few students; of many the surprising ones, as far as their names do not touch."""
    if len(rows) <= _MOST_STUDENTS_NAMED:
        return records(rows)
    named: list[dict[Hashable, Any]] = []
    for row in records(rows[rows["surprising"]]):
        if not named or row["y"] - named[-1]["y"] > 0.05 * len(rows):
            named.append(row)
    return named


def students_height(table: pd.DataFrame) -> float:
    """Height in inches that `predicted_students` needs."""
    return 3.4 if len(table) > _MOST_STUDENTS_NAMED else 1.0 + 0.16 * len(table)


def score_distribution(ax: Axes, table: pd.DataFrame) -> Axes:
    """How many students got which share right, as bars, and how many the fit predicts, as dots with intervals.

    `table` has `start, end, observed, expected, low, high`.
    """
    middle, width = (table["start"] + table["end"]) / 2, table["end"] - table["start"]
    ax.bar(middle, table["observed"], width=0.92 * width, color=FAINT, alpha=0.5, label="observed")
    ax.vlines(middle, table["low"], table["high"], color=COLOURS[0], linewidth=1.3)
    ax.plot(middle, table["expected"], "o", color=COLOURS[0], markersize=4, label="predicted")
    ax.set_ylim(0, None)
    ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.set(xlabel="Share right", ylabel="Students")
    grid(ax, "y")
    legend_below(ax, columns=2)
    return ax


def _top(table: pd.DataFrame) -> float:
    """Upper limit that shows all curves and, where they are not extreme, their intervals at the peaks."""
    curves = float(table["mean"].max())
    peaks = table.loc[table.groupby("group", sort=False)["mean"].idxmax()]
    bars = float(peaks["mean_high"].max()) if "mean_high" in table.columns else curves
    return 1.05 * max(curves, min(bars, 2.5 * curves)) or 1.0
