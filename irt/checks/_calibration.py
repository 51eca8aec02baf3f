"""Simulation-based calibration: are the truth's ranks among posterior draws uniform (Talts et al. 2018)?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt._responses import Floats

SIMULATIONS = 4000


class Uniformity(NamedTuple):
    """Per quantity: largest standardised distance of the ranks' distribution from the uniform and its p-value, mean of
    the ranks (in units of their range; .5 where uniform) and their spread (1 where uniform)."""

    distance: Floats
    p_value: Floats
    mean: Floats
    spread: Floats


def rank_of(truth: Floats, draws: Floats, kept: int) -> Floats:
    """Ranks `[Q]` from 0 to `kept` of `truth` `[Q]` among `kept` evenly spaced rows of `draws` `[D, Q]`."""
    rows = np.linspace(0, len(draws) - 1, kept).round().astype(int)
    return np.asarray(np.sum(draws[rows] < truth, axis=0), dtype=np.float64)


def uniformity(ranks: Floats, kept: int, seed: int = 0) -> Uniformity:
    """Test ranks `[N, Q]` from 0 to `kept` against the discrete uniform distribution, quantity by quantity.

    The statistic is the simultaneous band of the empirical distribution function (Säilynoja, Bürkner & Vehtari 2022):
    its largest distance from the uniform in pointwise standard deviations; its null distribution is simulated.
    """
    count = len(ranks)
    reference = np.sort(_null(count, kept, seed))
    found = _distance(ranks, kept)
    above = SIMULATIONS - np.searchsorted(reference, found, side="left")
    share = (ranks + 0.5) / (kept + 1)
    spread = np.sqrt(12 * np.mean((share - 0.5) ** 2, axis=0))
    return Uniformity(found, (above + 1) / (SIMULATIONS + 1), share.mean(axis=0), spread)


def band(count: int, kept: int, level: float = 0.05, seed: int = 0) -> float:
    """Half-width, in pointwise deviations, of the band that `count` uniform ranks leave with chance `level`."""
    return float(np.quantile(_null(count, kept, seed), 1 - level))


def _null(count: int, kept: int, seed: int) -> Floats:
    """Distances of simulated uniform ranks."""
    ranks = np.random.default_rng(seed).integers(0, kept + 1, (count, SIMULATIONS))
    return _distance(ranks.astype(np.float64), kept)


def _distance(ranks: Floats, kept: int) -> Floats:
    """Largest distance per column `[Q]`, over twenty evenly spaced points."""
    points = np.unique(np.linspace(0, kept - 1, 20).round())
    wanted = (points + 1) / (kept + 1)
    found = np.stack([(ranks <= point).mean(axis=0) for point in points])
    error = np.sqrt(wanted * (1 - wanted) / len(ranks))
    return np.asarray(np.max(np.abs(found - wanted[:, None]) / error[:, None], axis=0))
