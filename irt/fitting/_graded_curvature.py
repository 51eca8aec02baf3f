"""Derivatives of graded items' likelihoods in slope and intercepts, for the steps of maximum likelihood.

With `x_k = a theta + d_k`, `d_k = -a b_k`, the log-probability of a category is
`log sigmoid(x_k) + log sigmoid(-x_{k+1}) + log(1 - exp(d_{k+1} - d_k))`: jointly concave in `(a, d)`, so that an item's
expected log-likelihood has one maximum, reached by Newton steps that keep the intercepts in descending order.
Coordinates of an item are `[a, d_1, ..., d_K]`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt._responses import Floats
from irt.kernels import sigmoid

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


def room(x: Floats, move: Floats, real: np.ndarray) -> Floats:
    """Share `[I]` of a move that is short enough and leaves every gap between intercepts a fifth of its width."""
    gap, inner = _gaps(x, real)
    shrink = np.where(inner, move[:, 2:] - move[:, 1:-1], 0.0)
    far = LONGEST / np.maximum(np.abs(move).max(axis=1), LONGEST)
    return np.asarray(np.minimum(far, np.min(0.8 * gap / np.maximum(shrink, 1e-12), axis=1, initial=1.0)))


def ability_part(x: Floats, node: float, real: np.ndarray) -> Floats:
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
