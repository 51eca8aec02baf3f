"""Leave-one-out predictive accuracy by Pareto-smoothed importance sampling (Vehtari, Gelman & Gabry 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from irt._likelihoods import LEAST, items_among, likelihood
from irt._responses import Floats, ResponseMatrix, blocks

TIE = 1e-9
"""Difference of log ratios below which two draws have one weight; rounding moves them by some 1e-13."""
SMALLEST = 1e-280
"""Weights below this are left as they are: their sum would lose its digits."""


class Loo(NamedTuple):
    """Expected log predictive density over answered cells, per cell `[N]`, its standard error, and shape k `[N]`."""

    elpd: float
    se: float
    pointwise: Floats
    k: Floats


def loo(data: ResponseMatrix, draws: Mapping[str, Floats]) -> Loo:
    """PSIS-LOO over the answered (student, item) cells, row by row of the table."""
    rows, columns = (np.asarray(axis, dtype=np.intp) for axis in np.nonzero(data.asked))
    items, scores, attempts = items_among(draws, data.top), data.successes, data.attempts

    def log_likelihood(part: slice) -> Floats:
        """Of some cells, `[D, N]`."""
        where, at = (rows[part], columns[part]), items.at(columns[part])
        answers = likelihood(scores[where], attempts[where], at).answers
        logs = np.maximum(at.log_categories(draws["theta"][:, rows[part]]), LEAST)
        return np.asarray((answers * logs).sum(axis=-1))

    size = items[1][:, 0].size  # difficulties, or thresholds
    parts = [smoothed_loo(log_likelihood(part)) for part in blocks(len(rows), size)]
    pointwise, k = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Loo(float(pointwise.sum()), float(np.sqrt(len(pointwise) * pointwise.var())), pointwise, k)


def smoothed_loo(log_likelihood: Floats) -> tuple[Floats, Floats]:
    """`(elpd, k)` per column of log-likelihoods `[D, N]`."""
    weight, k = smoothed(-log_likelihood)
    return logsumexp(weight + log_likelihood, axis=0) - logsumexp(weight, axis=0), k


def smoothed(ratios: Floats) -> tuple[Floats, Floats]:
    """Log importance ratios `[D, N]` with their largest replaced by Pareto quantiles, and its shape k per column."""
    ratios = ratios - ratios.max(axis=0)
    draws = len(ratios)
    tail = int(np.ceil(min(0.2 * draws, 3 * np.sqrt(draws))))
    order = np.argsort(ratios, axis=0)
    largest = order[-tail:]
    cutoff = np.take_along_axis(ratios, order[-tail - 1 : draws - tail], axis=0)
    above = np.exp(np.take_along_axis(ratios, largest, axis=0)) - np.exp(cutoff)
    k, sigma = _pareto_fit(np.maximum(above, 1e-30))
    quantiles = (np.arange(tail) + 0.5)[:, None] / tail
    small = np.abs(k) < 1e-6
    shape = np.where(small, 1.0, k)
    exceed = np.where(small, -sigma * np.log1p(-quantiles), sigma * np.expm1(-shape * np.log1p(-quantiles)) / shape)
    replaced = np.minimum(np.log(np.exp(cutoff) + exceed), 0.0)
    flat = np.ptp(above, axis=0) < 1e-12
    replaced = np.where(flat, np.take_along_axis(ratios, largest, axis=0), replaced)
    ranked = np.take_along_axis(ratios, order, axis=0)
    smooth = np.concatenate([ranked[:-tail], replaced])
    np.put_along_axis(ratios, order, _averaged_over_ties(smooth, ranked), axis=0)
    return ratios, np.where(flat, 0.0, k)


def _averaged_over_ties(smooth: Floats, ranked: Floats) -> Floats:
    """Log weights `[D, N]` whose mean weight is shared by draws of one ratio: rounding alone decided their ranks."""
    differ = np.diff(ranked, axis=0) > TIE
    for column in np.flatnonzero(~differ.all(axis=0)):
        group = np.concatenate([[0], np.cumsum(differ[:, column])])
        counts = np.bincount(group)
        mean = np.bincount(group, np.exp(smooth[:, column])) / counts
        shared = (counts > 1) & (mean > SMALLEST)
        log_mean = np.log(np.where(shared, mean, 1.0))[group]
        smooth[:, column] = np.where(shared[group], log_mean, smooth[:, column])
    return smooth


def _pareto_fit(x: Floats) -> tuple[Floats, Floats]:
    """Generalised Pareto shape and scale per column of sorted exceedances `[T, N]` (Zhang & Stephens 2009)."""
    count = len(x)
    grid = 30 + int(np.sqrt(count))
    quarter = x[int(count / 4 + 0.5) - 1]
    steps = np.arange(1, grid + 1)[:, None]
    theta = 1 / x[-1] + (1 - np.sqrt(grid / (steps - 0.5))) / (3 * quarter)
    shapes = np.stack([np.log1p(-row * x).mean(axis=0) for row in theta])
    profile = count * (np.log(-theta / shapes) - shapes - 1)
    best = (theta * softmax(profile, axis=0)).sum(axis=0)
    k = np.log1p(-best * x).mean(axis=0)
    sigma = -k / best
    return (count * k + 5.0) / (count + 10.0), sigma
