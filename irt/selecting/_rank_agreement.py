"""Whether a shorter exam puts students into the same order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt._quadrature import posterior
from irt._responses import Floats, ResponseMatrix
from irt._result import Fit

RESAMPLES = 1000
FEWEST_RESAMPLED = 10


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
    concordant = np.sign(first[:, None] - first) * np.sign(second[:, None] - second)
    untied = np.abs(np.sign(first[:, None] - first)), np.abs(np.sign(second[:, None] - second))
    once = np.ones((1, len(first)))
    estimate = float(_tau(once, concordant, untied)[0])
    if len(first) < FEWEST_RESAMPLED:
        return RankAgreement(estimate, *_bounded(estimate, len(first), interval))
    counts = np.random.default_rng([seed, 5]).multinomial(len(first), np.full(len(first), 1 / len(first)), RESAMPLES)
    found = _tau(counts.astype(np.float64), concordant, untied)
    low, high = np.quantile(found, [(1 - interval) / 2, (1 + interval) / 2])
    return RankAgreement(estimate, float(low), float(high))


def _tau(counts: Floats, concordant: Floats, untied: tuple[Floats, Floats]) -> Floats:
    """Tau-b `[R]` when student s is present `counts[r, s]` times; 0 where one order is all ties."""
    total = np.einsum("rs,st,rt->r", counts, concordant, counts, optimize=True)
    sizes = [np.einsum("rs,st,rt->r", counts, pairs, counts, optimize=True) for pairs in untied]
    norm = np.sqrt(sizes[0] * sizes[1])
    return np.asarray(np.divide(total, norm, out=np.zeros_like(total), where=norm > 0))


def _bounded(tau: float, students: int, interval: float) -> tuple[float, float]:
    from scipy.special import ndtri

    width = 2 * float(ndtri((1 + interval) / 2)) ** 2 / students
    root = np.sqrt(max(width * (1 + width - tau**2), 0.0))
    return max(-1.0, float((tau - root) / (1 + width))), min(1.0, float((tau + root) / (1 + width)))
