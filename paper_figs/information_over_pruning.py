"""Figures 5 and 12: mean information of a question, round after round of pruning, and what the gain is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from irt import plots
from paper_figs import _cached_fits as fits
from paper_figs._command_line import script
from paper_figs._figure_files import FigurePanel, PaperFigure
from paper_figs._task_results import TaskResults

CAPTION = (
    "Left: mean Fisher information of a question over ability after each round, which leaves out the least "
    "discriminating and fits the rest again. Right: gain per question against the whole exam, claimed by the "
    "pipelines that chose the questions and judged on pipelines held out, with 90 % interval; grey, the middle 90 % "
    "of random prunings to the same length."
)


def curves(run: TaskResults) -> pd.DataFrame:
    """`task, round, n_items, theta, mean`; round 0 is the whole exam."""
    pruned = fits.pruning(run)
    rounds = [
        pd.DataFrame({"task": run.task, "round": row["round"], "n_items": row["n_items"], "theta": pruned["theta"],
                      "mean": row["mean_information"]})
        for row in pruned["trajectory"]
    ]  # fmt: skip
    return pd.concat(rounds, ignore_index=True)


def gains(run: TaskResults) -> pd.DataFrame:
    """`task, round, n_items, claimed, heldout, low, high, random…`: gains as shares of the whole exam's information."""
    rows = [_gain(row) for row in fits.pruning(run)["trajectory"]]
    return pd.DataFrame([{"task": run.task, **row} for row in rows])


def build(runs: Sequence[TaskResults]) -> list[PaperFigure]:
    """Two panels per task."""
    panels: list[FigurePanel] = []
    height = min(2.8, 9.0 / len(runs))  # all on one page
    for run in runs:
        panels += [
            FigurePanel(curves(run), plots.pruning_rounds, run.task, height),
            FigurePanel(gains(run), plots.pruning_gain, f"{run.task}: gain", height),
        ]
    return [PaperFigure("information_over_pruning", "Iterative improvement of the exam", CAPTION, tuple(panels))]


def _gain(row: Mapping[str, Any]) -> dict[str, float]:
    heldout, random = row["heldout_gain"], row["random"]
    return {
        "round": row["round"],
        "n_items": row["n_items"],
        "claimed": row["claimed_gain"],
        "heldout": heldout["estimate"],
        "low": heldout["low"],
        "high": heldout["high"],
        "random": random["mean"],
        "random_low": random["low"],
        "random_high": random["high"],
    }


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
