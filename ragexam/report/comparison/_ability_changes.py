"""Changes of ability between two runs, on the scale of the first: the fits are linked by their common questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

from irt import Link, link
from ragexam.report._fitted_model import FittedModel
from ragexam.report._level_draws import INTERVAL, LevelDraws
from ragexam.report._response_scores import bound_of
from ragexam.report.comparison._paired_runs import PairedRuns

_REACH = float(ndtri((1 + INTERVAL) / 2))


@dataclass(frozen=True)
class AbilityChanges:
    """The link, and what changed on the scale of the first run (90 % intervals, the fits taken as independent).

    `pipelines` has `student,before,after,estimate,low,high`; `levels` has `facet,level,estimate,low,high`: by how much
    a level's lead over the mean of the common levels one could choose has grown.
    """

    link: Link
    pipelines: pd.DataFrame
    levels: pd.DataFrame


def ability_changes(pair: PairedRuns) -> AbilityChanges | str:
    """The change of abilities, or one sentence on why the scales cannot be linked."""
    a, b = pair.a.model, pair.b.model
    if a is None or b is None:
        which = _who(pair, a is None, b is None)
        return f"Abilities are not compared: {which} no fitted measurement model."
    held = set(a.fit.data.items) & set(b.fit.data.items)
    try:
        found = link(a.fit, b.fit, anchors=[item for item in pair.questions if item in held])
    except ValueError as refusal:
        return f"Abilities are not compared, because the two scales cannot be linked: {refusal}."
    return AbilityChanges(found, _pipelines(pair, a, found), _levels(pair, a, b, found))


def _who(pair: PairedRuns, first: bool, second: bool) -> str:
    """`A has`, `B has` or `both runs have`."""
    return "both runs have" if first and second else f"{pair.name_a if first else pair.name_b} has"


def _pipelines(pair: PairedRuns, a: FittedModel, found: Link) -> pd.DataFrame:
    before = a.fit.abilities.set_index("student")
    after = found.abilities.set_index("student")
    names = [name for name in pair.pipelines if name in before.index and name in after.index]
    change = after.loc[names, "theta"] - before.loc[names, "theta"]
    error = np.sqrt(after.loc[names, "theta_sd"] ** 2 + before.loc[names, "theta_sd"] ** 2)
    return pd.DataFrame(
        {
            "student": names,
            "before": before.loc[names, "theta"].to_numpy(float),
            "after": after.loc[names, "theta"].to_numpy(float),
            "estimate": change.to_numpy(float),
            "low": (change - _REACH * error).to_numpy(float),
            "high": (change + _REACH * error).to_numpy(float),
        }
    )


def _levels(pair: PairedRuns, a: FittedModel, b: FittedModel, found: Link) -> pd.DataFrame:
    first, second = ({one.facet: one for one in model.draws} for model in (a, b))
    rows = []
    for facet, levels in pair.levels.items():
        common = [one for one in levels if bound_of(one) is None]
        if facet not in first or facet not in second or len(common) < 2:
            continue
        if not set(common) <= set(first[facet].levels) & set(second[facet].levels):
            continue
        change = _grown(first[facet], second[facet], common, found)
        low, high = np.quantile(change, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2], axis=0)
        rows += [(facet, *row) for row in zip(common, change.mean(axis=0), low, high, strict=True)]
    return pd.DataFrame(rows, columns=["facet", "level", "estimate", "low", "high"])


def _grown(a: LevelDraws, b: LevelDraws, levels: list[str], found: Link) -> np.ndarray:
    """Draws `[D, L]` of how much each level's lead has grown; B's along draws of the line's slope."""
    count = min(len(a.draws), len(b.draws))
    rng = np.random.default_rng(0)
    leads = []
    for one in (a, b):
        # The fits are independent: any pairing of their draws is a draw of both.
        draws = one.of(levels)[rng.permutation(len(one.draws))[:count]]
        leads.append(draws - draws.mean(axis=1, keepdims=True))
    slope = found.slope.estimate * np.exp(rng.normal(0, found.slope.sd / found.slope.estimate, count))
    return np.asarray(slope[:, None] * leads[1] - leads[0])
