"""Figures of one or several panels, each written in print size and in screen size beside the data it was drawn from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from irt import plots

Draw = Callable[[Axes, pd.DataFrame], object]


@dataclass(frozen=True)
class FigureSize:
    """Widths in inches of a column and of a page, text in points, dots per inch of the PNG, what its files end on."""

    column: float
    page: float
    font: float
    dpi: int
    suffix: str


PRINT = FigureSize(column=3.3, page=7.0, font=7.6, dpi=300, suffix="")
"""A column or a page of a two-column paper; no text is below 7 points."""
SCREEN = FigureSize(column=5.4, page=10.5, font=9.8, dpi=144, suffix="-screen")
SIZES = (PRINT, SCREEN)


@dataclass(frozen=True)
class FigurePanel:
    """A table and how it is drawn on an axes; `height` is that of the panel in inches at print size."""

    table: pd.DataFrame
    draw: Draw
    title: str = ""
    height: float = 2.6
    polar: bool = False


@dataclass(frozen=True)
class PaperFigure:
    """A figure: panels in rows of `columns`, as wide as a column each, and what is written below it.

    `across` panels have the page for themselves. The file `name` has the data of all panels under one another.
    """

    name: str
    title: str
    caption: str
    panels: tuple[FigurePanel, ...]
    columns: int = 2
    across: bool = False

    @property
    def table(self) -> pd.DataFrame:
        """The data of all panels; tables that several panels draw stand once."""
        tables = {id(panel.table): panel.table for panel in self.panels}
        return pd.concat(list(tables.values()), ignore_index=True)

    def save(self, folder: Path) -> list[Path]:
        """Write `NAME.csv`, `NAME.pdf` and `.png` for print, `NAME-screen.svg` and `.png`; same data, same files."""
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / f"{self.name}.csv"]
        self.table.to_csv(written[0], index=False, float_format="%.6g")
        for size in SIZES:
            vector = "pdf" if size is PRINT else "svg"
            with drawn(self, size) as figure, plots.marked_names(figure, folder / f"{self.name}.names.csv"):
                for kind in (vector, "png"):
                    path = folder / f"{self.name}{size.suffix}.{kind}"
                    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": None}[kind]
                    figure.savefig(path, dpi=size.dpi, facecolor="white", metadata=metadata)
                    written.append(path)
        return written


@contextmanager
def drawn(plate: PaperFigure, size: FigureSize) -> Iterator[Figure]:
    """The plate as a figure of that size, in the style of `irt.plots`."""
    rows = [plate.panels[start : start + plate.columns] for start in range(0, len(plate.panels), plate.columns)]
    single = len(plate.panels) == 1 and not plate.across
    width = size.column if single else size.page
    scale = size.column / PRINT.column if single else size.page / PRINT.page
    heights = [max(panel.height for panel in row) for row in rows]
    with mpl.rc_context(_style(size)):
        figure = Figure(figsize=(width, sum(heights) * math.sqrt(scale)), layout="constrained")
        bands = figure.subfigures(len(rows), 1, height_ratios=heights, squeeze=False)[:, 0]
        for band, row in zip(bands, rows, strict=True):
            across = 1 if single else len(row) if plate.across else plate.columns
            for place, panel in zip(band.subfigures(1, across, squeeze=False)[0], row, strict=False):
                ax = place.add_subplot(projection="polar" if panel.polar else None)
                panel.draw(ax, panel.table)
                title = plots.shorten(panel.title, 44)
                look: dict[str, Any] = {"fontsize": "medium", "weight": "bold"}
                if panel.polar and title:  # its labels stand where the title of an axes does
                    place.suptitle(title, x=0.02, ha="left", **look)
                elif title:
                    ax.set_title(title, loc="left", **look)
        yield figure


def _style(size: FigureSize) -> dict[Any, Any]:
    small = max(7.0, size.font - 0.6)
    texts = {"font.size": size.font, "legend.fontsize": small, "xtick.labelsize": small, "ytick.labelsize": small}
    # Outlines instead of letters: the picture looks the same wherever it is opened.
    return {**plots.STYLE, **texts, "axes.labelsize": size.font, "svg.fonttype": "path"}
