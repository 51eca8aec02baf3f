"""Information of groups of questions, for the figures by Bloom's levels and by question word."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from irt import plots
from paper_figs import _cached_fits as fits
from paper_figs._figure_files import FigurePanel, PaperFigure
from paper_figs._task_results import TaskResults

THETA = np.linspace(-3.0, 3.0, 61)
"""Abilities at which curves are drawn."""
SCALE = "Ability is in standard deviations of a Normal population of pipelines."


def information(run: TaskResults, kind: str, order: Sequence[str]) -> pd.DataFrame:
    """`task, group, theta, n_items, total…, mean…` with bands; a question counts under each of its labels."""
    groups = run.labelled(kind)
    if not groups:
        raise ValueError(f"{run.folder}: no question has a label {kind!r}; wanted labels or the exam's text")
    ordered = [*(name for name in order if name in groups), *(name for name in groups if name not in order)]
    table = fits.item_fit(run).information_by({name: groups[name] for name in ordered}, THETA)
    table.insert(0, "task", run.task)
    return table


def plate(
    runs: Sequence[TaskResults], name: str, title: str, caption: str, kind: str, order: Sequence[str]
) -> PaperFigure:
    """One panel per task."""
    draw = partial(plots.grouped_information, order=order)
    panels = tuple(FigurePanel(information(run, kind, order), draw, run.task) for run in runs)
    return PaperFigure(name, title, f"{caption} {SCALE}", panels)
