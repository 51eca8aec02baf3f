"""The models of ratings as maximum likelihood sees them: each item's slope and intercepts, and their derivatives.

Coordinates of an item are `[a, d_1, ..., d_K]`, `d_k = -a b_k`; in all of the models an item's expected log-likelihood
is concave in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from irt._graded import GradedParameters
from irt._partial_credit import PartialCreditParameters
from irt._quadrature import Posterior
from irt._responses import Floats
from irt.fitting import _graded_curvature as graded
from irt.fitting import _partial_credit_curvature as partial_credit
from irt.fitting._graded_curvature import CategoryDerivatives

NEGLIGIBLE = 1e-9
"""Weight of a node below which a student is left out there."""
RIDGE = 1e-9
"""Added to curvatures, so that a category nobody is expected in leaves them invertible."""


class RatingModel(NamedTuple):
    """A model's functions of coordinates, the kind of its items, whether all have one slope, and whether intercepts
    descend."""

    items: type[GradedParameters]
    category_logs: Callable[[Floats, Floats, np.ndarray], Floats]
    expected_slopes: Callable[[Floats, Floats, Floats, np.ndarray], CategoryDerivatives]
    ability_part: Callable[[Floats, float, np.ndarray], Floats]
    room: Callable[[Floats, Floats, np.ndarray], Floats]
    common: bool = False
    ordered: bool = False


PARTIAL_CREDIT = RatingModel(
    PartialCreditParameters,
    partial_credit.category_logs,
    partial_credit.expected_slopes,
    partial_credit.ability_part,
    partial_credit.room,
)
"""The generalised partial credit model."""

RATING_MODELS: Mapping[str, RatingModel] = {
    "grm": RatingModel(
        GradedParameters, graded.category_logs, graded.expected_slopes, graded.ability_part, graded.room, ordered=True
    ),
    "gpcm": PARTIAL_CREDIT,
    "pcm": PARTIAL_CREDIT._replace(common=True),
}
"""By name."""


def maximise(model: RatingModel, x: Floats, nodes: Floats, counts: Floats, real: np.ndarray, steps: int = 3) -> Floats:
    """Some damped Newton steps towards the maximum of `sum counts log P`, counts `[I, K + 1, Q]`; no item's value falls
    (with a common slope: not the sum of all).
    """
    here = model.expected_slopes(x, nodes, counts, real)
    for _ in range(steps):
        move = _newton_move(model, here)
        share = model.room(x, move, real)
        if model.common:
            share = np.full_like(share, share.min())
        for _ in range(20):
            there = model.expected_slopes(x + share[:, None] * move, nodes, counts, real)
            worse = _falls(model, here.value, there.value)
            if not worse.any():
                break
            share = np.where(worse, share / 2, share)
        x, here = x + share[:, None] * move, there
    return x


def _newton_move(model: RatingModel, at: CategoryDerivatives) -> Floats:
    """Newton's move `[I, 1 + K]` of each item, or of all with one slope (by the Schur complement of the intercepts)."""
    curvature = RIDGE * np.eye(at.gradient.shape[1]) - at.hessian
    if not model.common:
        return np.asarray(np.linalg.solve(curvature, at.gradient[:, :, None])[:, :, 0], dtype=np.float64)
    crossed = np.stack([at.gradient[:, 1:], curvature[:, 1:, 0]], axis=2)
    pushed, pulled = np.moveaxis(np.linalg.solve(curvature[:, 1:, 1:], crossed), 2, 0)
    bend = np.sum(curvature[:, 0, 0] - np.sum(curvature[:, 1:, 0] * pulled, axis=1))
    slope = np.sum(at.gradient[:, 0] - np.sum(curvature[:, 1:, 0] * pushed, axis=1)) / bend
    return np.concatenate([np.full((len(pushed), 1), slope), pushed - slope * pulled], axis=1)


def _falls(model: RatingModel, before: Floats, after: Floats) -> np.ndarray:
    """Which items' values fall beyond rounding `[I]`: all or none with a common slope."""
    if model.common:
        before, after = (np.broadcast_to(value.sum(), value.shape) for value in (before, after))
    return np.asarray(after < before - 1e-9 * np.abs(before))


def shared_uncertainty(model: RatingModel, x: Floats, posterior: Posterior, scores: Floats, real: np.ndarray) -> Floats:
    """What not knowing abilities costs: the sum over students of the posterior covariance of their gradients.

    `[P, P]` over the real coordinates, item by item; the observed information is the expected one of the complete data
    minus this (Louis 1982). `scores` `[S, I]` hold NaN where not asked.
    """
    mean = np.zeros((len(scores), len(x) + int(real.sum())))
    total = np.zeros((mean.shape[1], mean.shape[1]))
    for _, seen, weight, gradient in _at_nodes(model, x, posterior, scores, real):
        mean[seen] += gradient * weight
        rows = gradient * np.sqrt(weight)
        total += rows.T @ rows
    return np.asarray(total - mean.T @ mean)


def ability_response(model: RatingModel, x: Floats, posterior: Posterior, scores: Floats, real: np.ndarray) -> Floats:
    """How each expected ability moves with each real coordinate of the items, `[S, P]`.

    It is the posterior covariance of ability with the student's gradient.
    """
    response = np.zeros((len(scores), len(x) + int(real.sum())))
    for node, seen, weight, gradient in _at_nodes(model, x, posterior, scores, real):
        response[seen] += gradient * weight * (node - posterior.mean[seen, None])
    return response


def _at_nodes(
    model: RatingModel, x: Floats, posterior: Posterior, scores: Floats, real: np.ndarray
) -> Iterator[tuple[float, np.ndarray, Floats, Floats]]:
    """Per node: ability, the students `[s]` it matters to, its weights `[s, 1]`, and their gradients `[s, P]`."""
    own, asked = np.insert(real, 0, True, axis=1), ~np.isnan(scores)
    category = np.where(asked, scores, 0.0).astype(np.int64)
    for node, weight in zip(posterior.nodes, posterior.weights.T, strict=True):
        seen = np.flatnonzero(weight > NEGLIGIBLE)
        table = model.ability_part(x, float(node), real)
        rows = table[np.arange(len(x)), category[seen]] * asked[seen, :, None]
        yield float(node), seen, weight[seen, None], rows[:, own]
