"""Table 5: the fit of the item response model: accuracy, error on answers held out, and its parameters."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from examcore import IntervalEstimate
from paper_figs import _cached_fits as fits
from paper_figs import held_out
from paper_figs._command_line import script
from paper_figs._question_resampling import interval, posterior, shares, weights
from paper_figs._table_files import PaperTable, table_by_task, with_limits
from paper_figs._task_results import TaskResults

IN_SAMPLE = "2PL on the answers it was fitted to"
GAIN = f"2PL against {held_out.BASELINE}"
NOTE = (
    "Accuracy: percent correct over all pipelines with 90 % interval over questions, and the standard deviation "
    "over pipelines. Error: root mean squared error of the probability of a right answer, held out in "
    f"{held_out.FOLDS} turns of cells spread evenly over pipelines and questions, with 90 % interval over questions; "
    "gain: baseline minus 2PL on the same cells, above 0 where the model is better; last, the error that flatters. "
    "Parameters of the 2PL (guessing: of the 3PL) over the exam's questions, and abilities over the pipelines, with "
    "90 % intervals of the posterior."
)


def compute(run: TaskResults) -> pd.DataFrame:
    """`task, group, attribute, value, low, high`."""
    rows: list[tuple[str, str, IntervalEstimate]] = [*_accuracy(run), *_errors(run), *_parameters(run)]
    found = [(run.task, group, attribute, *values) for group, attribute, values in rows]
    return pd.DataFrame(found, columns=["task", "group", "attribute", "value", "low", "high"])


def build(runs: Sequence[TaskResults]) -> list[PaperTable]:
    """Attributes by task."""
    data = pd.concat([compute(run) for run in runs], ignore_index=True)
    return [table_by_task("model_fit", "Fit of the item response model", NOTE, data, _cell)]


def _cell(one: Mapping[Hashable, Any]) -> str:
    found = IntervalEstimate(one["value"], one["low"], one["high"])
    if "%" in one["group"]:
        return with_limits(found, 1, scale=100)
    return with_limits(found, 3 if one["group"].startswith("Error") else 2)


def _accuracy(run: TaskResults) -> list[tuple[str, str, IntervalEstimate]]:
    drawn = weights(len(run.data.items))
    each = np.array([shares(run.data, [one], drawn) for one in range(len(run.data.students))])
    group = "Accuracy, %"
    return [
        (group, "mean over pipelines", interval(each.mean(axis=0))),
        (group, "standard deviation over pipelines", interval(each.std(axis=0, ddof=1))),
    ]


def _errors(run: TaskResults) -> list[tuple[str, str, IntervalEstimate]]:
    group = "Error (RMSE) on answers held out"
    found = {
        label: held_out.rmse(run.data, held_out.predictions(run.data, method))
        for label, method in held_out.METHODS.items()
    }
    flattering = held_out.rmse(run.data, fits.item_fit(run).expected)
    return [
        *((group, label, interval(values)) for label, values in found.items()),
        ("Error (RMSE), gain", GAIN, interval(found[held_out.BASELINE] - found["2PL"])),
        ("Error (RMSE), in sample", IN_SAMPLE, interval(flattering)),
    ]


def _parameters(run: TaskResults) -> list[tuple[str, str, IntervalEstimate]]:
    fit, guessing = fits.item_fit(run), fits.item_fit(run, "3pl")
    quantities = {
        "discrimination a": fit.draws["a"],
        "difficulty b": fit.draws["b"],
        "guessing c (3PL)": guessing.draws["c"],
        "ability θ": fit.draws["theta"],
    }
    found: list[tuple[str, str, IntervalEstimate]] = []
    for label, draws in quantities.items():
        found.append(("Parameters", f"{label}: mean", posterior(draws.mean(axis=1))))
        found.append(("Parameters", f"{label}: standard deviation", posterior(draws.std(axis=1, ddof=1))))
    return found


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
