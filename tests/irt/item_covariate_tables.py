"""Tables whose difficulties and effects of levels on items depend on a covariate of the items, with the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

import irt

FACETS = {"llm": 3, "retriever": 4}
NAME = "overlap"


@dataclass(frozen=True)
class ExplainedTable:
    """Answers, the covariate of each item, and the slopes in logits per unit of it: of all answers, and by facet."""

    data: irt.ResponseMatrix
    covariate: irt.Floats
    main: float
    slopes: Mapping[str, irt.Floats]
    difficulty: irt.Floats
    """What the covariate explains included."""

    @property
    def known(self) -> dict[str, dict[str, float]]:
        """As `irt.fit` takes it."""
        return {NAME: dict(zip(self.data.items, self.covariate.tolist(), strict=True))}


def explained_table(seed: int, items: int = 40, slope_sd: float = 0.5, left_sd: float = 1.0) -> ExplainedTable:
    """Levels' slopes and that of all answers are normal of `slope_sd`, what they leave of the effects of `left_sd`."""
    rng = np.random.default_rng([seed, 9])
    made = irt.simulate(items=items, facets=FACETS, seed=seed, effect_sd=0.5, residual_sd=0.2)
    assert made.data.facets is not None
    x = rng.standard_normal(items)
    main, truth = slope_sd * rng.standard_normal(), made.truth
    logits = truth.a * (truth.theta[:, None] - truth.b) + main * (x - x.mean())
    slopes = {}
    for name, count in FACETS.items():
        slope = slope_sd * rng.standard_normal(count)
        slopes[name] = slope - slope.mean()
        level_of = np.unique(made.data.facets[name], return_inverse=True)[1]
        left = left_sd * rng.standard_normal((count, items))
        logits += (np.outer(slopes[name], x - x.mean()) + left)[level_of]
    answers = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
    difficulty = truth.b - main * (x - x.mean()) / truth.a
    return ExplainedTable(replace(made.data, scores=answers), x, main, slopes, difficulty)
