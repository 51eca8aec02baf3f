"""Draws of what the levels of a component are worth, and contrasts between levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from examcore import IntervalEstimate
from irt import Fit
from ragexam.report._response_scores import facets_of

INTERVAL = 0.90
"""The intervals of everything that comes from a fit, and of the gains and contrasts beside it."""
_DRAWS = 4000
"""Bootstrap samples: the limits of a 90 % interval then vary by about 2 % of its width from seed to seed."""


@dataclass(frozen=True)
class LevelDraws:
    """Draws `[D, L]` of what each level of a facet is worth, on the scale that `unit` names: ability or accuracy.

    `fit` is the fit that the draws belong to; None for draws of accuracy, whose estimates are the means of the draws.
    """

    facet: str
    levels: tuple[str, ...]
    draws: NDArray[np.float64]
    unit: str = "ability"
    fit: Fit | None = None

    @property
    def estimates(self) -> NDArray[np.float64]:
        """The point estimate `[L]` of each level: that of the fit, where there is one."""
        if self.fit is None:
            return np.asarray(self.draws.mean(axis=0))
        return np.asarray(self.fit.point[f"effect.{self.facet}"], float)

    def of(self, levels: Sequence[str]) -> NDArray[np.float64]:
        """The draws `[D, K]` of these levels."""
        return self.draws[:, [self.levels.index(level) for level in levels]]

    def contrast(self, level: str, *others: str) -> IntervalEstimate:
        """`level` minus the mean of `others` (90 %).

        Of two levels of a fit it is `Fit.contrast`, so that the page and `ragexam compare` say the same by every
        method.
        """
        if self.fit is None:
            return interval_of(self._difference(self.draws, level, others))
        if len(others) == 1:
            names = self.fit.design.term(self.facet).levels
            found = self.fit.contrast(self.facet, *(names[self.levels.index(one)] for one in (level, *others)))
        else:
            point = self._difference(self.estimates[None], level, others)
            found = self.fit.summary(self._difference(self.draws, level, others), float(point[0]))
        return IntervalEstimate(found.estimate, found.low, found.high)

    def probability_better(self, level: str, *others: str) -> float:
        """The probability that `level` is worth more than the mean of `others`."""
        return float((self._difference(self.draws, level, others) > 0).mean())

    def _difference(self, values: NDArray[np.float64], level: str, others: Sequence[str]) -> NDArray[np.float64]:
        columns = [self.levels.index(one) for one in others]
        return np.asarray(values[:, self.levels.index(level)] - values[:, columns].mean(axis=1))


def accuracy_draws(scores: pd.DataFrame) -> tuple[LevelDraws, ...]:
    """Bootstrap draws over questions of the accuracy of each level: what stands in when no model was fitted."""
    found = (facet_accuracy_draws(scores, facet) for facet in facets_of(scores))
    return tuple(one for one in found if one is not None)


def facet_accuracy_draws(scores: pd.DataFrame, facet: str, *, draws: int = _DRAWS, seed: int = 0) -> LevelDraws | None:
    """The same of one facet; None where no question was answered at all its levels."""
    table = scores.pivot_table(index="item", columns=facet, values="score", aggfunc="mean").dropna()
    n = len(table)
    if n == 0:
        return None
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws)
    return LevelDraws(facet, tuple(map(str, table.columns)), counts @ table.to_numpy(float) / n, "accuracy")


def probabilities_best(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability `[L]` of each column of draws `[D, L]` to be the largest; ties are shared."""
    winners = draws == draws.max(axis=1, keepdims=True)
    return np.asarray((winners / winners.sum(axis=1, keepdims=True)).mean(axis=0))


def interval_of(values: NDArray[np.float64]) -> IntervalEstimate:
    """Mean and 90 % interval of draws `[D]`."""
    low, high = np.quantile(values, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2])
    return IntervalEstimate(float(values.mean()), float(low), float(high))
