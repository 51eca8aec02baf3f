"""Derivatives of partial credit items' likelihoods in slope and intercepts, for the steps of maximum likelihood.

With `d_k = -a b_k` the logit of score k against 0 is `k a theta + d_1 + ... + d_k`, linear in `(a, d)`: the likelihood
is that of multinomial logits, whose curvature is minus a covariance. Coordinates of an item are `[a, d_1, ..., d_K]`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from irt._responses import Floats
from irt.fitting._graded_curvature import LONGEST, CategoryDerivatives


def category_logs(x: Floats, nodes: Floats, real: np.ndarray) -> Floats:
    """log P(score = k) at the nodes, `[I, K + 1, Q]`; 0 where an item has no such category. `x` `[I, 1 + K]`."""
    exists = np.insert(real, 0, True, axis=1)[:, :, None]
    heights = np.cumsum(np.insert(x[:, :1, None] * nodes + x[:, 1:, None], 0, 0.0, axis=1), axis=1)
    logs = log_softmax(np.where(exists, heights, -np.inf), axis=1)
    return np.where(exists, logs, 0.0)


def expected_slopes(x: Floats, nodes: Floats, counts: Floats, real: np.ndarray) -> CategoryDerivatives:
    """Derivatives of `sum counts log P`, counts `[I, K + 1, Q]` of categories at nodes."""
    logs, total = category_logs(x, nodes, real), counts.sum(axis=1)
    reached = _reached(np.where(np.insert(real, 0, True, axis=1)[:, :, None], np.exp(logs), 0.0))
    residual = _reached(counts) - total[:, None] * reached
    steps = np.arange(x.shape[1] - 1)
    # Steps h and g are both reached where the higher of them is.
    both = reached[:, np.maximum(steps[:, None], steps)] - reached[:, :, None] * reached[:, None]
    spread = total[:, None, None] * both
    crossed = np.einsum("ihgq,q->ih", spread, nodes)
    hessian = np.empty((len(x), x.shape[1], x.shape[1]))
    hessian[:, 0, 0] = -np.einsum("ihgq,q->i", spread, nodes**2)
    hessian[:, 0, 1:] = hessian[:, 1:, 0] = -crossed
    hessian[:, 1:, 1:] = -spread.sum(axis=3)
    hessian[:, 1 + steps, 1 + steps] -= np.where(real, 0.0, 1.0)
    gradient = np.concatenate([(residual @ nodes).sum(axis=1)[:, None], residual.sum(axis=2)], axis=1)
    gradient[:, 1:] = np.where(real, gradient[:, 1:], 0.0)
    return CategoryDerivatives((counts * logs).sum(axis=(1, 2)), gradient, hessian)


def room(_x: Floats, move: Floats, _real: np.ndarray) -> Floats:
    """Share `[I]` of a move that is short enough."""
    return np.asarray(LONGEST / np.maximum(np.abs(move).max(axis=1), LONGEST))


def ability_part(x: Floats, node: float, real: np.ndarray) -> Floats:
    """Each category's gradient, `[I, K + 1, 1 + K]`, at one node."""
    exists = np.insert(real, 0, True, axis=1)
    chance = np.where(exists, np.exp(category_logs(x, np.array([node]), real)[:, :, 0]), 0.0)
    reached = _reached(chance[:, :, None])[:, :, 0]
    score = np.arange(x.shape[1])
    steps = np.where(score[:, None] >= score[1:], 1.0, 0.0) - reached[:, None]
    slope = node * (score - (chance @ score)[:, None])
    return np.concatenate([slope[:, :, None], steps], axis=2)


def _reached(counts: Floats) -> Floats:
    """Sums over the scores of at least 1, ..., K, `[I, K, Q]`, of counts `[I, K + 1, Q]`."""
    return np.cumsum(counts[:, :0:-1], axis=1)[:, ::-1]
