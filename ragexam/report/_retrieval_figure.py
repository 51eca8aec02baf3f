"""The figure of retrieval beside answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from irt.plots import COLOURS, shorten
from ragexam.report._component_names import level_name
from ragexam.report._figure_files import Picture, picture
from ragexam.report._response_scores import bound_of

NAME = "retrieval_and_answers"
_NEAR = (8.0, 4.0)
"""Points nearer than so many percent along either axis share one label: two labels would overlap."""


def retrieval_figure(found: pd.DataFrame, folder: Path) -> Picture:
    """How often the source was read and the answer right, by retriever, from `reading_table`."""
    caption = (
        "How often the source passage was read, and how often the answer was right, by retriever, with 95 % intervals "
        "over questions."
    )
    return picture(folder, NAME, "Retrieval beside answers", caption, found, _draw, 3.2)


def _labels(table: pd.DataFrame) -> list[tuple[tuple[float, float], str]]:
    """Where names stand: those of retrievers at almost one place (in percent) in one line."""
    found: list[tuple[tuple[float, float], list[str]]] = []
    for row in table.to_dict("records"):
        x, y = 100 * row["found"], 100 * row["accuracy"]
        name = shorten(level_name("retriever", str(row["retriever"])), 18)
        near = next((names for (u, v), names in found if abs(u - x) < _NEAR[0] and abs(v - y) < _NEAR[1]), None)
        if near is None:
            found.append(((x, y), [name]))
        else:
            near.append(name)
    return [(place, ", ".join(names)) for place, names in found]


def _draw(ax: Axes, table: pd.DataFrame) -> None:
    for row in table.to_dict("records"):
        x, y = 100 * row["found"], 100 * row["accuracy"]
        colour = COLOURS[7] if bound_of(str(row["retriever"])) else COLOURS[0]
        ax.plot([100 * row["found_low"], 100 * row["found_high"]], [y, y], color=colour, alpha=0.45, linewidth=1.1)
        ax.plot(
            [x, x], [100 * row["accuracy_low"], 100 * row["accuracy_high"]], color=colour, alpha=0.45, linewidth=1.1
        )
        ax.plot(x, y, "o", color=colour, markersize=5)
    for (x, y), name in _labels(table):
        right = x > 60
        ax.annotate(
            name,
            (x, y),
            (-6 if right else 6, 5),
            textcoords="offset points",
            ha="right" if right else "left",
            fontsize=8,
        )
    ax.set_xlim(-4, 104)
    ax.set_ylim(max(-2.0, 100 * float(np.nanmin(table["accuracy_low"])) - 8), 104)
    ax.set_xlabel("Source passage read, % of answers")
    ax.set_ylabel("Right answers, %")
    ax.grid(color=COLOURS[7], alpha=0.2, linewidth=0.6)
    ax.set_axisbelow(True)
