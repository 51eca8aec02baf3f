"""Rank correlations of two score vectors, ties and all, in batches: Spearman, Kendall, tau_AP.

Scores are arrays `[..., n]`, greater is better. `weights` `[..., n]` say how often each system stands in a bootstrap
resample: copies of one system are not a pair, so a resample's coefficient has no ties that the scores have not.
Each coefficient is `[...]`, NaN where it is undefined: fewer than two systems, or all of them tied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RankCorrelation = Callable[[Floats, Floats, Floats], Floats]


def spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson's correlation of the mid-ranks (Spearman 1904)."""
    covariance, variance_x, variance_y = _rank_moments(x, y, weights)
    return _ratio(covariance, np.sqrt(variance_x * variance_y))


def spearman_random_ties(x: Floats, y: Floats, weights: Floats) -> Floats:
    """The expectation of Spearman's coefficient when ties are broken at random, independently in `x` and `y`.

    Mid-ranks are the expected ranks and the variance of n distinct ranks is (n^2 - 1)/12, so it needs no draws.
    """
    covariance, *_ = _rank_moments(x, y, weights)
    size = weights.sum(-1)
    return _ratio(covariance, (size**3 - (weights**3).sum(-1)) / (12 * size))


def kendall(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Kendall's tau-b (Kendall 1945): concordant less discordant pairs over the geometric mean of untied pairs."""
    first, second = _signs(x), _signs(y)
    return _ratio(
        _pairs(first * second, weights), np.sqrt(_pairs(np.abs(first), weights) * _pairs(np.abs(second), weights))
    )


def kendall_random_ties(x: Floats, y: Floats, weights: Floats) -> Floats:
    """The expectation of Kendall's coefficient when ties are broken at random: tau-a, a tied pair counting zero."""
    signs = _signs(x) * _signs(y)
    return _ratio(_pairs(signs, weights), _pairs(_others(x), weights))


def tau_ap(x: Floats, y: Floats, weights: Floats) -> Floats:
    """AP correlation of the estimated scores `y` with the true scores `x` (Yilmaz, Aslam and Robertson 2008).

    2/(n - 1) times the sum, over all but the first system of `y`'s ranking, of the share of systems above it that
    are truly better, less 1: mistakes near the top cost most. Ties are broken at random, of which this is the
    expectation: a system among t others tied in `y` and below `a` has k of them above it with probability 1/(t + 1)
    each; with ties in `y` alone it is tau_AP,a of Urbano and Marrero (2017).
    """
    order, better = _signs(y), (_signs(x) + 1) / 2
    above, tied = order > 0, (order == 0) * _others(y)
    a, correct = _sum(above, weights), _sum(above * better, weights)
    t, tied_correct = _sum(tied, weights), _sum(tied * better, weights)
    share = np.nan_to_num(_ratio(tied_correct, t))
    inverse = _harmonic(a + t) - _harmonic(a - 1)
    terms = (share * (t + (a > 0)) + (correct - share * a) * inverse) / (t + 1)
    ranked = 1 - (a == 0) / (t + 1)
    return _ratio(2 * (weights * terms).sum(-1), (weights * ranked).sum(-1)) - 1


def tau_ap_b(x: Floats, y: Floats, weights: Floats) -> Floats:
    """tau_AP,b of Urbano and Marrero (2017): ties are ties; the mean of either ranking as the truth."""
    return (_tau_ap_ties(x, y, weights) + _tau_ap_ties(y, x, weights)) / 2


RANK_CORRELATIONS: dict[str, RankCorrelation] = {
    "spearman": spearman,
    "kendall": kendall,
    "tau_ap": tau_ap,
    "tau_ap_b": tau_ap_b,
}
RANDOM_TIES: dict[str, RankCorrelation] = {
    "spearman": spearman_random_ties,
    "kendall": kendall_random_ties,
    "tau_ap": tau_ap,
}


class TieBreaks(NamedTuple):
    """A coefficient over random orders of the tied: its mean and standard deviation."""

    mean: float
    sd: float


def break_ties(coefficient: RankCorrelation, x: Floats, y: Floats, *, draws: int = 1000, seed: int = 0) -> TieBreaks:
    """Mean and spread of a coefficient of `x` and `y` `[n]` over `draws` random breaks of their ties.

    The mean converges to `RANDOM_TIES`; the standard deviation says how much the order of the tied matters.
    """
    rng = np.random.default_rng(seed)
    first, second = (_randomly_ranked(scores, draws, rng) for scores in (x, y))
    values = in_batches(coefficient, first, second, np.ones_like(first))
    return TieBreaks(float(values.mean()), float(values.std()))


def in_batches(coefficient: RankCorrelation, x: Floats, y: Floats, weights: Floats) -> Floats:
    """The coefficient of `x`, `y` and `weights` `[draws, n]` (or `[n]` for all draws), some draws at a time."""
    draws = max(len(one) if one.ndim == 2 else 1 for one in (x, y, weights))
    size = x.shape[-1]
    step = max(1, 2_000_000 // size**2)
    parts = [
        coefficient(*(one[start : start + step] if one.ndim == 2 else one for one in (x, y, weights)))
        for start in range(0, draws, step)
    ]
    return np.concatenate([np.atleast_1d(part) for part in parts])


def _signs(scores: Floats) -> Floats:
    """`[..., i, j]`: 1 where j is better than i, -1 where worse, 0 where tied."""
    return np.sign(scores[..., None, :] - scores[..., :, None])


def _others(scores: Floats) -> Floats:
    """`[n, n]`: 1 but on the diagonal: a system and its copies are no pair."""
    return 1 - np.eye(scores.shape[-1])


def _sum(relation: NDArray[np.generic], weights: Floats) -> Floats:
    """For each system `[..., i]` the weight of the systems j in the relation `[..., i, j]`."""
    return np.asarray(np.matmul(relation, weights[..., None])[..., 0], dtype=float)


def _pairs(relation: Floats, weights: Floats) -> Floats:
    return np.asarray((weights * _sum(relation, weights)).sum(-1))


def _rank_moments(x: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Covariance and variances `[...]` of the mid-ranks."""
    size = weights.sum(-1, keepdims=True)
    first, second = (_sum((1 - _signs(scores)) / 2, weights) - size / 2 for scores in (x, y))
    products = (first * second, first**2, second**2)
    covariance, variance_x, variance_y = ((weights * one).sum(-1) / size[..., 0] for one in products)
    return covariance, variance_x, variance_y


def _tau_ap_ties(x: Floats, y: Floats, weights: Floats) -> Floats:
    """As `tau_ap`, without `y`'s first group of tied; who is tied with a system is not above it."""
    above = _signs(y) > 0
    a, correct = _sum(above, weights), _sum(above & (_signs(x) > 0), weights)
    share = np.nan_to_num(_ratio(correct, a))
    return _ratio(2 * (weights * share).sum(-1), (weights * (a > 0)).sum(-1)) - 1


def _harmonic(number: Floats) -> Floats:
    """1 + 1/2 + … + 1/n of whole numbers, 0 where n is below 1."""
    whole = np.maximum(np.rint(number), 0).astype(np.intp)
    sums = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, int(whole.max(initial=0)) + 1))])
    return np.asarray(sums[whole])


def _ratio(above: Floats, below: Floats) -> Floats:
    above, below = np.broadcast_arrays(np.asarray(above, dtype=float), np.asarray(below, dtype=float))
    ratio: Floats = np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 1e-12)
    return ratio


def _randomly_ranked(scores: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Ranks `[draws, n]` of `scores` `[n]`, 0 the least, the tied in random order."""
    tied = np.unique(scores, return_inverse=True)[1]
    order = np.argsort(tied + rng.random((draws, len(scores))) * 0.5, axis=-1)
    return np.argsort(order, axis=-1).astype(float)
