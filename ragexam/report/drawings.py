"""The figures of a run: which are drawn, from what table, with what caption."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from irt import plots
from ragexam.report.accuracy import accuracy_table, axes_of
from ragexam.report.figures import Picture, picture
from ragexam.report.gather import Evidence
from ragexam.report.words import level_name


@dataclass(frozen=True)
class Drawings:
    """The figures that could be drawn, and the tables that words are written from."""

    components: Picture | None = None
    information: Picture | None = None
    curve: pd.DataFrame | None = None
    kinds: tuple[Picture, ...] = ()
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    pruning: Picture | None = None


def draw(evidence: Evidence) -> Drawings:
    """Draw every figure that the run folder has the files for, and write them to its `figures/`."""
    folder = evidence.folder.path / "figures"
    _accuracy(evidence, folder)
    return Drawings()


def _accuracy(evidence: Evidence, folder: Path) -> None:
    """The heat map as files only: in the page it is a table."""
    row, column, _ = axes_of(evidence.scores)
    table = accuracy_table(evidence.scores, row, column)
    named = table.assign(
        row=[level_name(row, str(name)) for name in table["row"]],
        column=[level_name(column, str(name)) for name in table["column"]],
    )
    height = 0.7 + 0.5 * table["row"].nunique()
    picture(folder, "accuracy", "Accuracy", "", table, lambda ax, _: plots.heat_map(ax, named), height)
