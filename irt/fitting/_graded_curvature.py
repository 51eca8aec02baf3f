"""Derivatives of graded items' likelihoods in slope and intercepts, for the steps of maximum likelihood.

With `x_k = a theta + d_k`, `d_k = -a b_k`, the log-probability of a category is
`log sigmoid(x_k) + log sigmoid(-x_{k+1}) + log(1 - exp(d_{k+1} - d_k))`: jointly concave in `(a, d)`, so that an item's
expected log-likelihood has one maximum, reached by Newton steps that keep the intercepts in descending order.
Coordinates of an item are `[a, d_1, ..., d_K]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from irt._quadrature import Posterior
from irt._responses import Floats
from irt.kernels import sigmoid

NEGLIGIBLE = 1e-9
"""Weight of a node below which a student is left out there."""
RIDGE = 1e-9
"""Added to curvatures, so that a category nobody is expected in leaves them invertible."""
LONGEST = 3.0
"""The farthest a coordinate moves in one step, in logits."""


class CategoryDerivatives(NamedTuple):
    """Value `[I]`, gradient `[I, 1 + K]` and second derivatives `[I, 1 + K, 1 + K]` of a concave function per item."""

    value: Floats
    gradient: Floats
    hessian: Floats


def category_logs(x: Floats, nodes: Floats, real: np.ndarray) -> Floats:
    """log P(score = k) at the nodes, `[I, K + 1, Q]`; 0 where an item has no such category. `x` `[I, 1 + K]`."""
    logits = x[:, :1, None] * nodes + x[:, 1:, None]
    up = np.where(real[:, :, None], -np.logaddexp(0.0, -logits), 0.0)
    down = np.where(real[:, :, None], -np.logaddexp(0.0, logits), 0.0)
    logs = np.zeros((len(x), x.shape[1], len(nodes)))
    logs[:, 1:] += up
    logs[:, :-1] += down
    gap, inner = _gaps(x, real)
    logs[:, 1:-1] += np.where(inner, np.log(-np.expm1(-gap)), 0.0)[:, :, None]
    beyond = np.concatenate([np.zeros((len(x), 1), dtype=bool), ~real], axis=1)
    logs[beyond] = 0.0
    return logs


def expected_slopes(x: Floats, nodes: Floats, counts: Floats, real: np.ndarray) -> CategoryDerivatives:
    """Derivatives of `sum counts log P`, counts `[I, K + 1, Q]` of categories at nodes."""
    mask = real[:, :, None]
    p = np.where(mask, sigmoid(x[:, :1, None] * nodes + x[:, 1:, None]), 0.0)
    reached, short = np.where(mask, counts[:, 1:], 0.0), np.where(mask, counts[:, :-1], 0.0)
    residual = reached * (1 - p) - short * p
    weight = (reached + short) * p * (1 - p)
    gap, inner = _gaps(x, real)
    push = np.where(inner, counts[:, 1:-1].sum(axis=2) / np.expm1(gap), 0.0)
    stiff = np.where(inner, push / -np.expm1(-gap), 0.0)
    gradient = np.empty_like(x)
    gradient[:, 0] = (residual @ nodes).sum(axis=1)
    gradient[:, 1:] = residual.sum(axis=2)
    gradient[:, 1:-1] += push
    gradient[:, 2:] -= push
    hessian = np.zeros((len(x), x.shape[1], x.shape[1]))
    hessian[:, 0, 0] = -(weight @ nodes**2).sum(axis=1)
    hessian[:, 0, 1:] = hessian[:, 1:, 0] = -(weight @ nodes)
    place = np.arange(1, x.shape[1])
    hessian[:, place, place] = -np.where(real, weight.sum(axis=2), 1.0)
    hessian[:, place[:-1], place[:-1]] -= stiff
    hessian[:, place[1:], place[1:]] -= stiff
    hessian[:, place[:-1], place[1:]] += stiff
    hessian[:, place[1:], place[:-1]] += stiff
    return CategoryDerivatives((counts * category_logs(x, nodes, real)).sum(axis=(1, 2)), gradient, hessian)


def maximise(x: Floats, nodes: Floats, counts: Floats, real: np.ndarray, steps: int = 3) -> Floats:
    """Some damped Newton steps per item towards the maximum of `sum counts log P`; no item's value falls."""
    here = expected_slopes(x, nodes, counts, real)
    for _ in range(steps):
        curvature = RIDGE * np.eye(x.shape[1]) - here.hessian
        move = np.asarray(np.linalg.solve(curvature, here.gradient[:, :, None])[:, :, 0], dtype=np.float64)
        share = room(x, move, real)
        for _ in range(20):
            there = expected_slopes(x + share[:, None] * move, nodes, counts, real)
            worse = there.value < here.value - 1e-9 * np.abs(here.value)
            if not worse.any():
                break
            share = np.where(worse, share / 2, share)
        x, here = x + share[:, None] * move, there
    return x


def room(x: Floats, move: Floats, real: np.ndarray) -> Floats:
    """Share `[I]` of a move that is short enough and leaves every gap between intercepts a fifth of its width."""
    gap, inner = _gaps(x, real)
    shrink = np.where(inner, move[:, 2:] - move[:, 1:-1], 0.0)
    far = LONGEST / np.maximum(np.abs(move).max(axis=1), LONGEST)
    return np.asarray(np.minimum(far, np.min(0.8 * gap / np.maximum(shrink, 1e-12), axis=1, initial=1.0)))


def shared_uncertainty(x: Floats, posterior: Posterior, scores: Floats, real: np.ndarray) -> Floats:
    """What not knowing abilities costs: the sum over students of the posterior covariance of their gradients.

    `[P, P]` over the real coordinates, item by item; the observed information is the expected one of the complete data
    minus this (Louis 1982). `scores` `[S, I]` hold NaN where not asked.
    """
    mean = np.zeros((len(scores), len(x) + int(real.sum())))
    total = np.zeros((mean.shape[1], mean.shape[1]))
    for _, seen, weight, gradient in _at_nodes(x, posterior, scores, real):
        mean[seen] += gradient * weight
        rows = gradient * np.sqrt(weight)
        total += rows.T @ rows
    return np.asarray(total - mean.T @ mean)


def ability_response(x: Floats, posterior: Posterior, scores: Floats, real: np.ndarray) -> Floats:
    """How each expected ability moves with each real coordinate of the items, `[S, P]`.

    It is the posterior covariance of ability with the student's gradient.
    """
    response = np.zeros((len(scores), len(x) + int(real.sum())))
    for node, seen, weight, gradient in _at_nodes(x, posterior, scores, real):
        response[seen] += gradient * weight * (node - posterior.mean[seen, None])
    return response


def _at_nodes(
    x: Floats, posterior: Posterior, scores: Floats, real: np.ndarray
) -> Iterator[tuple[float, np.ndarray, Floats, Floats]]:
    """Per node: ability, the students `[s]` it matters to, its weights `[s, 1]`, and their gradients `[s, P]`."""
    own, asked = np.insert(real, 0, True, axis=1), ~np.isnan(scores)
    category = np.where(asked, scores, 0.0).astype(np.int64)
    for node, weight in zip(posterior.nodes, posterior.weights.T, strict=True):
        seen = np.flatnonzero(weight > NEGLIGIBLE)
        table = _ability_part(x, float(node), real)
        rows = table[np.arange(len(x)), category[seen]] * asked[seen, :, None]
        yield float(node), seen, weight[seen, None], rows[:, own]


def _ability_part(x: Floats, node: float, real: np.ndarray) -> Floats:
    """The part of each category's gradient that depends on ability, `[I, K + 1, 1 + K]`, at one node."""
    items, width = x.shape
    p = np.where(real, sigmoid(x[:, :1] * node + x[:, 1:]), 0.0)
    table = np.zeros((items, width, width))
    place = np.arange(1, width)
    table[:, 1:, 0] -= p * node
    table[:, :-1, 0] -= p * node
    table[:, place, place] = -p
    table[:, place - 1, place] = -p
    table[:, :, 0] += node
    # The lowest category has no sigmoid of its own to reach: it alone lacks the term `node`.
    table[:, 0, 0] -= node
    return table


def _gaps(x: Floats, real: np.ndarray) -> tuple[Floats, np.ndarray]:
    """Gaps between neighbouring intercepts `[I, K - 1]`, 1 where there is none, and where there is one."""
    inner = real[:, 1:]
    return np.where(inner, x[:, 1:-1] - x[:, 2:], 1.0), inner
