"""Table 3: what each component is worth, as contrasts to its average level: in ability and in accuracy."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import irt
from examcore import IntervalEstimate
from paper_figs import _cached_fits as fits
from paper_figs._command_line import script
from paper_figs._question_resampling import interval, shares, weights
from paper_figs._table_files import PaperTable, table_by_task, with_limits
from paper_figs._task_results import TaskResults, facet_name, level_name

NOTE = (
    "Contrasts to the average level of a component, with 90 % intervals. Ability: zero-sum effects from the joint "
    "posterior of the hierarchical model, in standard deviations of the pipelines' abilities. Accuracy: percentage "
    "points, over questions resampled jointly for all pipelines. Pipelines that read the same passage or "
    "use the same model answer alike: where the fit finds that, its intervals are as wide as questions differ."
)
ABILITY, ACCURACY = "ability", "accuracy"
_UNITS = {ABILITY: "ability, standard deviations", ACCURACY: "accuracy, percentage points"}


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
    parts = data.sort_values("scale", key=lambda scale: scale != ABILITY, kind="stable")
    named = parts.assign(
        group=parts["facet"].map(facet_name) + ": " + parts["scale"].map(_UNITS),
        attribute=list(map(level_name, parts["facet"], parts["level"])),
    )
    table = table_by_task("component_abilities", "What components are worth", NOTE, named, _cell)
    return [replace(table, data=data)]


def _cell(one: Mapping[Hashable, Any]) -> str:
    found = IntervalEstimate(one["effect"], one["low"], one["high"])
    return with_limits(found, sign=True) if one["scale"] == ABILITY else with_limits(found, 1, scale=100, sign=True)


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
