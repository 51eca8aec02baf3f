"""What item covariates explain of a fit: slopes of levels, and the fit's values at another mix of questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from irt._design import Design
from irt._model import ITEM_COVARIATE
from irt._responses import Floats

ITEM = "item"
"""In the place of a facet: what a covariate does to all answers."""


def covariate_contrasts(design: Design) -> Iterator[tuple[tuple[str, str, str], Floats]]:
    """(facet, level, other) with the weights of the slopes that tell them apart: of all answers, then of each pair."""
    yield (ITEM, "", ""), np.ones(1)
    for name in design.item_facets:
        levels = design.term(name).levels
        for first, second in combinations(range(len(levels)), 2):
            yield (name, levels[first], levels[second]), np.eye(len(levels))[first] - np.eye(len(levels))[second]


def weighted_slopes(values: Mapping[str, Floats], facet: str, weights: Floats, covariate: int) -> Floats:
    """The weighted sum of a facet's slopes `[..., L, K]` by a covariate; for `item` its effect on all answers."""
    if facet == ITEM:
        return np.asarray(values[ITEM_COVARIATE][..., covariate])
    return np.asarray(values[f"{ITEM_COVARIATE}.{facet}"][..., covariate] @ weights)


def moved_to(values: Mapping[str, Floats], design: Design, away: Floats) -> dict[str, Floats]:
    """Draws, or point estimates, at questions so far `away` `[D or 1, K]` from the items on average."""
    single = values["theta"].ndim == 1
    found, theta = dict(values), values["theta"]
    for name in design.item_facets:
        slopes = values[f"{ITEM_COVARIATE}.{name}"]
        moved = np.einsum("dlk,dk->dl", slopes[None] if single else slopes, away)
        moved = moved[0] if single else moved
        found[f"effect.{name}"] = values[f"effect.{name}"] + moved
        theta = theta + moved[..., design.term(name).level_of]
    easier = np.sum(values[ITEM_COVARIATE] * (away[0] if single else away), axis=-1, keepdims=True)
    return {**found, "theta": theta, "b": values["b"] - easier * _ability_per_unit(values)}


def _ability_per_unit(values: Mapping[str, Floats]) -> Floats:
    """By what an item's difficulty moves for a unit of ability on a typical item `[..., I]`."""
    a = values["a"]
    return np.asarray(np.exp(np.log(a).mean(axis=-1, keepdims=True)) / a)
