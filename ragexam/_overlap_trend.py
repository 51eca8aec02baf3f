"""How far the difference of two retrievers depends on queries being in the passages' own words.

Lexical retrieval gains with every word that a query shares with its passage. So an exam whose queries share more or
fewer of them than people's questions do is read at the overlap that people's have: differences of nDCG are a straight
line over the overlap, fitted by least squares, every question counting once. That is known without any answer,
and nDCG is no right or wrong; what answers depend on are the item covariates of a fit (`irt.Fit.covariate_effects`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from examcore import IntervalEstimate, bootstrap_of_sums

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Of sums `[D, 5]` over questions."""
TENTH = 0.1
"""Of overlap: what slopes are given for."""


@dataclass(frozen=True)
class OverlapTrend:
    """nDCG `[R, Q]` of some retrievers for queries with these `overlaps` `[Q]`, of the questions `asked` `[Q]`."""

    values: Floats
    overlaps: Floats
    asked: Sequence[str]

    def slope(self, first: int, second: int) -> IntervalEstimate:
        """How the first retriever's lead over the second changes with each tenth of overlap, over questions."""
        return self._interval(first, second, lambda sums: TENTH * _slopes(sums))

    def difference(self, first: int, second: int, overlap: float) -> IntervalEstimate:
        """The first minus the second for queries of this overlap, over questions."""

        def at(sums: Floats) -> Floats:
            return np.asarray(sums[:, 2] / sums[:, 0] + _slopes(sums) * (overlap - sums[:, 1] / sums[:, 0]))

        return self._interval(first, second, at)

    @cached_property
    def _questions(self) -> tuple[NDArray[np.intp], Floats]:
        """The question of each query `[Q]` by number, and the query's weight: every question counts once."""
        _, question, queries = np.unique(list(self.asked), return_inverse=True, return_counts=True)
        return question, 1 / queries[question]

    def _interval(self, first: int, second: int, statistic: Statistic) -> IntervalEstimate:
        lead, x = self.values[first] - self.values[second], self.overlaps
        question, weight = self._questions
        parts = np.zeros((question.max() + 1, 5))
        products = np.column_stack([weight, weight * x, weight * lead, weight * x * x, weight * x * lead])
        np.add.at(parts, question, products)
        return bootstrap_of_sums(statistic, parts)


def _slopes(sums: Floats) -> Floats:
    """Of lines through points with these sums of weights, x, y, x², xy `[D, 5]`; NaN where all x are one."""
    total, x, y, square, product = sums.T
    spread = square - x * x / total
    found = np.divide(product - x * y / total, spread, out=np.full(len(sums), np.nan), where=spread > 1e-9 * total)
    return np.asarray(found)
