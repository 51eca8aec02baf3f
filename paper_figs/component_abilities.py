"""Table 3: what each component is worth, as contrasts to its average level: in ability and in accuracy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

import irt
from examcore import IntervalEstimate
from paper_figs import _cached_fits as fits
from paper_figs._command_line import script
from paper_figs._question_resampling import interval, shares, weights
from paper_figs._table_files import DASH, PaperRow, PaperTable, heading, name, row, with_limits
from paper_figs._task_results import TaskResults, facet_name, level_name

NOTE = (
    "Contrasts to the average level of a component, with 90 % intervals. Ability: zero-sum effects from the joint "
    "posterior of the hierarchical model, in standard deviations of the pipelines' abilities. Accuracy: percentage "
    "points, over questions resampled jointly for all pipelines. Pipelines that read the same passage or "
    "use the same model answer alike: where the fit finds that, its intervals are as wide as questions differ."
)
ABILITY, ACCURACY = "ability", "accuracy"


def compute(run: TaskResults) -> pd.DataFrame:
    """`task, scale, facet, level, effect, low, high, method`, in ability and in accuracy (0 to 1)."""
    ability = fits.components(run)[["facet", "level", "effect", "low", "high", "method"]].assign(scale=ABILITY)
    table = pd.concat([ability, accuracy_contrasts(run)], ignore_index=True).assign(task=run.task)
    return table[["task", "scale", "facet", "level", "effect", "low", "high", "method"]]


def accuracy_contrasts(run: TaskResults) -> pd.DataFrame:
    """Share right at each level minus the mean over the levels of its facet, bootstrapped over questions."""
    drawn = weights(len(run.data.items))
    rows = []
    for facet in irt.facet_names(run.data):
        levels = run.levels(facet)
        if len(levels) > 1:
            found = np.array([shares(run.data, run.students_at(**{facet: level}), drawn) for level in levels])
            for level, values in zip(levels, found - found.mean(axis=0), strict=True):
                rows.append((ACCURACY, facet, level, *interval(values), "bootstrap"))
    return pd.DataFrame(rows, columns=["scale", "facet", "level", "effect", "low", "high", "method"])


def build(runs: Sequence[TaskResults]) -> list[PaperTable]:
    """Levels by task, first in ability, then in accuracy."""
    data = pd.concat([compute(run) for run in runs], ignore_index=True)
    tasks = [run.task for run in runs]
    rows: list[PaperRow] = []
    for scale, unit in ((ABILITY, "ability, standard deviations"), (ACCURACY, "accuracy, percentage points")):
        part = data[data["scale"] == scale]
        for facet in dict.fromkeys(part["facet"]):
            rows.append(heading(f"{facet_name(facet)}: {unit}"))
            for level in dict.fromkeys(part.loc[part["facet"] == facet, "level"]):
                here = part[(part["facet"] == facet) & (part["level"] == level)].set_index("task")
                rows.append(row(name(level_name(facet, level)), *(_cell(here, task, scale) for task in tasks)))
    heads = ("", *(name(task) for task in tasks))
    return [PaperTable("component_abilities", "What components are worth", NOTE, data, heads, tuple(rows))]


def _cell(here: pd.DataFrame, task: str, scale: str) -> str:
    if task not in here.index:
        return DASH
    found = IntervalEstimate(*(float(here[column].loc[task]) for column in ("effect", "low", "high")))
    return with_limits(found, 2 if scale == ABILITY else 1, scale=1 if scale == ABILITY else 100, sign=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script."""
    return script(build, __doc__, argv)


if __name__ == "__main__":
    raise SystemExit(main())
