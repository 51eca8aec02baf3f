"""Figures 8 to 11: the item response model of each task in four panels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from irt import kernels, plots
from irt.plots import grid, group_places, legend_below
from paper_figs import _cached_fits as fits
from paper_figs._command_line import script
from paper_figs._figure_files import FigurePanel, PaperFigure
from paper_figs._grouped_information import SCALE, THETA, information
from paper_figs._question_resampling import INTERVAL
from paper_figs._task_results import TaskResults
from taxonomy import FORMS, LEVELS

CAPTION = (
    "Top left: probability of a right answer to each question (thin) and, with its 90 % band, to a question on "
    "average. Top right: information of each question (thin) and the mean over questions, with its 90 % band, on a "
    "logarithmic scale. Bottom: information of the exam by question word and by level of Bloom's taxonomy, each "
    "with its 90 % band; in brackets the number of questions. Marks on the axis: abilities of the pipelines. "
    "Information is per unit of ability squared. "
)
_TAILS = [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2]
_LEAST = 0.01
"""Information at which the logarithmic scale ends."""


def compute(run: TaskResults) -> pd.DataFrame:
    """`task, panel, group, questions, theta, value, low, high`.

    `panel` is curve or information (one group per question, and `mean`), word, bloom, or pipeline (abilities alone).
    """
    fit = fits.item_fit(run)
    found = fit.information(THETA)
    draws = fit.thinned(400)
    # [draws, items, theta], a piece at a time.
    curves = np.stack([kernels.probability(THETA, *(draws[name][:, one, None] for name in "abcd"))
                       for one in range(len(fit.data.items))], axis=1)  # fmt: skip
    low, high = np.quantile(curves.mean(axis=1), _TAILS, axis=0)
    n = len(fit.data.items)
    frames = [
        _per_item("curve", fit.data.items, curves.mean(axis=0)),
        _frame("curve", "mean", n, curves.mean(axis=(0, 1)), low, high),
        _per_item("information", fit.data.items, found.mean),
        _frame("information", "mean", n, found.total / n, found.total_low / n, found.total_high / n),
        _grouped(run, "word", "form", FORMS),
        _grouped(run, "bloom", "bloom", LEVELS),
        pd.DataFrame({"panel": "pipeline", "group": fit.abilities["student"], "theta": fit.abilities["theta"],
                      "low": fit.abilities["theta_low"], "high": fit.abilities["theta_high"]}),
    ]  # fmt: skip
    table = pd.concat(frames, ignore_index=True)
    table.insert(0, "task", run.task)
    return table


def draw_curves(ax: Axes, table: pd.DataFrame) -> None:
    """Item characteristic curves and their mean."""
    _thin(ax, _panel(table, "curve"))
    ax.set_ylim(-0.06, 1.02)
    ax.set_ylabel("Probability correct")
    _finish(ax, table)


def draw_information(ax: Axes, table: pd.DataFrame) -> None:
    """Information of items and its mean, on a logarithmic scale."""
    rows = _panel(table, "information")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    _thin(ax, rows)
    ax.set_ylim(_LEAST, 2 * float(rows["value"].max()))
    ax.set_ylabel("Information of a question")
    _finish(ax, table)


def draw_groups(ax: Axes, table: pd.DataFrame, panel: str, order: Sequence[str]) -> None:
    """Information of the exam by the groups of one panel."""
    rows = _panel(table, panel)
    peak = rows.groupby("group", sort=False)["value"].max().sort_values(ascending=False)
    places = group_places(peak.index, order)
    for group in peak.index:
        part, place = rows[rows["group"] == group], places[group]
        colour, dash = plots.COLOURS[place % len(plots.COLOURS)], plots.DASHES[place % len(plots.DASHES)]
        ax.fill_between(part["theta"], part["low"], part["high"], color=colour, alpha=0.13, linewidth=0)
        label = f"{plots.shorten(str(group), 18)} ({int(part['questions'].iloc[0])})"
        ax.plot(part["theta"], part["value"], color=colour, linestyle=dash, linewidth=1.4, label=label)
    top = min(float(rows["high"].max()), 2.5 * float(rows["value"].max()))
    ax.set_ylim(-0.06 * top, 1.05 * top)
    ax.set_ylabel("Information of the exam")
    _finish(ax, table)


def build(runs: Sequence[TaskResults]) -> list[PaperFigure]:
    """One plate of four panels per task."""
    plates = []
    for run in runs:
        table = compute(run)
        panels = (
            FigurePanel(table, draw_curves, "Characteristic curves", 2.6),
            FigurePanel(table, draw_information, "Information of questions", 2.6),
            FigurePanel(table, partial(draw_groups, panel="word", order=FORMS), "By question word", 2.8),
            FigurePanel(table, partial(draw_groups, panel="bloom", order=LEVELS), "By level of Bloom's taxonomy", 2.8),
        )
        plates.append(PaperFigure(f"irt_plate-{run.slug}", f"Item response model: {run.task}", CAPTION + SCALE, panels))
    return plates


def _per_item(panel: str, items: Sequence[str], values: np.ndarray) -> pd.DataFrame:
    size = len(THETA)
    names = np.repeat(np.array(items, dtype=object), size)
    return pd.DataFrame({"panel": panel, "group": names, "questions": 1, "theta": np.tile(THETA, len(items)),
                         "value": values.ravel()})  # fmt: skip


def _frame(panel: str, group: str, n: int, value: np.ndarray, low: np.ndarray, high: np.ndarray) -> pd.DataFrame:
    columns = {"theta": THETA, "value": value, "low": low, "high": high}
    return pd.DataFrame({"panel": panel, "group": group, "questions": n, **columns})


def _grouped(run: TaskResults, panel: str, kind: str, order: Sequence[str]) -> pd.DataFrame:
    table = information(run, kind, order)
    names = {"n_items": "questions", "total": "value", "total_low": "low", "total_high": "high"}
    return table.rename(columns=names)[["group", "questions", "theta", "value", "low", "high"]].assign(panel=panel)


def _panel(table: pd.DataFrame, name: str) -> pd.DataFrame:
    return table[table["panel"] == name]


def _thin(ax: Axes, rows: pd.DataFrame) -> None:
    """A thin line per question and the mean with its band."""
    mean = rows["low"].notna()
    wide = rows[~mean].pivot(index="theta", columns="group", values="value")
    ax.plot(wide.index, wide.to_numpy(), color=plots.FAINT, linewidth=0.5, alpha=0.55)
    ax.plot([], [], color=plots.FAINT, linewidth=0.9, label=f"each of {len(wide.columns)} questions")
    part = rows[mean]
    ax.fill_between(part["theta"], part["low"], part["high"], color=plots.COLOURS[0], alpha=0.3, linewidth=0)
    ax.plot(part["theta"], part["value"], color=plots.COLOURS[0], linewidth=1.8, label="mean of all")


def _finish(ax: Axes, table: pd.DataFrame) -> None:
    """Marks of the pipelines, scale and legend."""
    marks = _panel(table, "pipeline")["theta"].to_numpy(float)
    inside = marks[(marks >= THETA[0]) & (marks <= THETA[-1])]
    ax.plot(inside, np.full(len(inside), 0.025), "|", color=plots.COLOURS[1], markersize=5, markeredgewidth=0.7,
            transform=ax.get_xaxis_transform(), label=f"{len(marks)} pipelines")  # fmt: skip
    ax.set_xlim(THETA[0], THETA[-1])
    ax.set_xlabel("Ability")
    grid(ax)
    legend_below(ax, columns=3)


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
