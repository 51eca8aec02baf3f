"""Pictures of what a fit predicts beside what was seen."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from irt.plots._style import COLOURS, FAINT, INK, grid, legend_below, records, shorten

_MOST_STUDENTS_NAMED = 30
"""Names that fit beside one another."""


def predicted_students(ax: Axes, table: pd.DataFrame) -> None:
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


def score_distribution(ax: Axes, table: pd.DataFrame) -> None:
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
