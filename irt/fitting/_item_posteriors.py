"""Each item's posterior in log slope and intercept, by Gauss-Hermite quadrature around its mode.

Few answers leave the posterior of a discrimination skewed: it may be next to nothing, hardly twice as large. A mode
with its curvature then tells too little of the item and, summed over many items, of the population they come from.
Given the counts expected at each ability (the E-step) items are independent, and so each is integrated by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt._responses import Floats
from irt.fitting._coordinates import curvature, curves
from irt.fitting._em import Expectation
from irt.fitting._population_prior import PopulationPrior

POINTS = 5
"""Quadrature points in each of log slope and intercept."""
COARSE = 41
"""Abilities the counts are gathered at: an item's curve is much smoother than a student's posterior."""
FLATTEST = 1.0
"""Least information the quadrature spreads its points by."""


class ItemMoments(NamedTuple):
    """Means and variances `[2, I]` of log |slope| and of the difficulty in logits."""

    mean: Floats
    variance: Floats


def item_moments(found: Expectation, x: Floats, prior: PopulationPrior, shared: tuple[bool, ...]) -> ItemMoments:
    """Moments of each item's posterior given the expected counts, at the mode `x` `[K, I]`; asymptotes follow."""
    nodes, right, asked = gathered(found)
    at = prior.place(x)
    root = _root(x, curvature(curves(x, nodes), right, asked) + prior.information(x, observed=True), shared)
    points, weights = _rule(2 - shared[0])
    kept = np.empty((3, len(points), x.shape[1]))
    for number, (z, weight) in enumerate(zip(points, weights, strict=True)):
        move = np.einsum("ikl,l->ki", root[:, :, : len(z)], z)
        moved = _moved(x, move, shared)
        logs, b = prior.natural(moved, at.centre)
        curve = curves(moved, nodes)
        value = np.sum(right * curve.log_odds + asked * curve.log_wrong, axis=0) + prior.of_items(logs, b, at)
        kept[:, number] = np.log(weight) + value + prior.asymptotes(moved) + 0.5 * float(z @ z), logs, b
    shares = np.exp(kept[0] - kept[0].max(axis=0))
    shares /= shares.sum(axis=0)
    mean = np.sum(shares * kept[1:], axis=1)
    return ItemMoments(mean, np.sum(shares * (kept[1:] - mean[:, None]) ** 2, axis=1))


def gathered(found: Expectation) -> tuple[Floats, Floats, Floats]:
    """Nodes `[Q]`, right answers and trials `[Q, I]`, shared out linearly over `COARSE` nodes where there are more."""
    nodes, right = found.at.nodes, found.right
    asked = np.broadcast_to(found.asked, right.shape)
    if len(nodes) <= COARSE:
        return nodes, right, asked
    few = np.linspace(nodes[0], nodes[-1], COARSE)
    share = np.maximum(1.0 - np.abs(few[:, None] - nodes) / (few[1] - few[0]), 0.0)
    return few, share @ right, share @ asked


def _moved(x: Floats, move: Floats, shared: tuple[bool, ...]) -> Floats:
    """Coordinates with their own ones moved `[L, I]`: log |slope|, and the others as they are."""
    moved, own = x.copy(), [row for row, common in enumerate(shared) if not common]
    moved[own] += move
    if not shared[0]:
        moved[0] = x[0] * np.exp(move[0])
    return moved


def _root(x: Floats, information: Floats, shared: tuple[bool, ...]) -> Floats:
    """Roots `[I, L, L]`, lower triangular, of the covariances of an item's own coordinates, log |slope| the first."""
    own = [row for row, common in enumerate(shared) if not common]
    information = information[:, own][:, :, own]
    if not shared[0]:
        information[:, 0] *= x[0][:, None]
        information[:, :, 0] *= x[0][:, None]
    values, vectors = np.linalg.eigh(information)
    covariance = np.einsum("ikl,il,iml->ikm", vectors, 1.0 / np.maximum(values, FLATTEST), vectors)
    return np.asarray(np.linalg.cholesky(covariance))


def _rule(width: int) -> tuple[Floats, Floats]:
    """Points `[P, width]` and weights `[P]` of the product rule for a standard normal."""
    points, weights = np.polynomial.hermite_e.hermegauss(POINTS)
    grid = np.stack(np.meshgrid(*[points] * width, indexing="ij"), axis=-1).reshape(-1, width)
    share = np.prod(np.stack(np.meshgrid(*[weights / weights.sum()] * width, indexing="ij"), axis=-1), axis=-1)
    return grid, share.ravel()
