"""The figure of quality and cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from irt.plots import COLOURS
from ragexam.report._cost_frontier import CostFrontier
from ragexam.report._figure_files import Picture, picture

NAME = "quality_and_cost"


def cost_figure(found: CostFrontier, names: Mapping[str, str], folder: Path) -> Picture:
    """Accuracy against cost, the frontier numbered as in its table; `names` are shown where the pointer rests."""
    table = found.pipelines.assign(mark=[found.marks.get(str(name), "") for name in found.pipelines["student"]])
    caption = (
        f"Accuracy against {found.unit}. Each dot is a pipeline one could choose; the numbered ones are the frontier "
        "of the table."
    )
    tips = {f"tip-{NAME}-{place}": names[str(name)] for place, name in enumerate(table["student"])}
    return picture(
        folder, NAME, "Quality and cost", caption, table, lambda ax, rows: _draw(ax, rows, found.unit), 3.2, tips=tips
    )


def _draw(ax: Axes, table: pd.DataFrame, unit: str) -> None:
    x, y = table["x"].to_numpy(float), 100 * table["accuracy"].to_numpy(float)
    on = table["on"].to_numpy(bool)
    ax.step(x[on], y[on], where="post", color=COLOURS[0], linewidth=1.3, alpha=0.7)
    for place, (left, height, best) in enumerate(zip(x, y, on, strict=True)):
        colour = COLOURS[0] if best else COLOURS[7]
        (dot,) = ax.plot(left, height, "o", color=colour, markersize=6 if best else 4, alpha=1 if best else 0.6)
        dot.set_gid(f"tip-{NAME}-{place}")
    _mark(ax, x[on], y[on])
    if x.min() > 0 and x.max() / x.min() > 4:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel(unit[:1].upper() + unit[1:])
    ax.set_ylabel("Right answers, %")
    ax.grid(color=COLOURS[7], alpha=0.2, linewidth=0.6)
    ax.set_axisbelow(True)


def _mark(ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Numbers above and left of the frontier's dots, where its line never runs."""
    for place, (left, height) in enumerate(zip(x, y, strict=True), start=1):
        ax.annotate(f"{place}", (left, height), (-4, 4), textcoords="offset points", ha="right", fontsize=8)
