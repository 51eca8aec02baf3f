"""Whether a shorter exam puts students into the same order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from irt._quadrature import posterior
from irt._responses import Floats, ResponseMatrix
from irt._result import Fit

RESAMPLES = 1000
"""Enough for ends of a 90 % interval that move by a few hundredths of its width."""
FEWEST_RESAMPLED = 10
"""Students; of fewer, resampling shows too few orders."""
TIE_DECIMALS = 9
"""Abilities that differ by less are the same: sums in another order differ by 1e-15 times their size."""


class RankAgreement(NamedTuple):
    """Kendall's tau between two orders of the same students, with its interval."""

    estimate: float
    low: float
    high: float


def scored(data: ResponseMatrix, fit: Fit) -> Floats:
    """Expected abilities a posteriori `[S]` of students on the fit's items at their estimates, Normal(0, 1) before."""
    part = data.select(fit.data.items)
    return posterior(part.successes, part.attempts, fit.parameters).mean


def agreement(first: Floats, second: Floats, interval: float, seed: int) -> RankAgreement:
    """Kendall's tau-b of two abilities `[S]` per student.

    The interval resamples students, copies of one student not being compared (bootstrap percentiles). Under 10 students
    resampling knows nothing of the orders it has not seen; the bound `2 (1 - tau^2) / S` on the variance of tau
    (Kendall 1970, ch. 4) is turned into an interval instead, as Wilson's for a proportion.
    """
    first, second = (np.sign(np.round(each[:, None] - each, TIE_DECIMALS)) for each in (first, second))
    estimate = float(_tau(np.ones((1, len(first))), first, second)[0])
    if len(first) < FEWEST_RESAMPLED:
        return RankAgreement(estimate, *_bounded(estimate, len(first), interval))
    counts = np.random.default_rng([seed, 5]).multinomial(len(first), np.full(len(first), 1 / len(first)), RESAMPLES)
    found = _tau(counts.astype(np.float64), first, second)
    low, high = np.quantile(found, [(1 - interval) / 2, (1 + interval) / 2])
    return RankAgreement(estimate, float(low), float(high))


def _tau(counts: Floats, first: Floats, second: Floats) -> Floats:
    """Tau-b `[R]` of orders `[S, S]` (signs of differences), student s present `counts[r, s]` times; 0 if all tie."""
    total, one, two = (
        np.einsum("rs,st,rt->r", counts, pairs, counts, optimize=True)
        for pairs in (first * second, np.abs(first), np.abs(second))
    )
    norm = np.sqrt(one * two)
    return np.asarray(np.divide(total, norm, out=np.zeros_like(total), where=norm > 0))


def _bounded(tau: float, students: int, interval: float) -> tuple[float, float]:
    width = 2 * float(ndtri((1 + interval) / 2)) ** 2 / students
    root = np.sqrt(max(width * (1 + width - tau**2), 0.0))
    return max(-1.0, float((tau - root) / (1 + width))), min(1.0, float((tau + root) / (1 + width)))
