"""Samejima's (1969) graded response model, P(score >= k) = sigmoid(a (theta - b_k)); numpy or jax arrays alike.

Thresholds are `[..., K]` for the item with most categories; `top` `[...]` says how many an item has, its highest score.
Entries beyond it are never read: tables repeat the last threshold there, so that no array holds NaN. Thresholds
ascend where `a > 0` and descend where `a < 0` (a reversed item). All functions broadcast `theta`, `a` and `top`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from irt._responses import Floats
from irt.kernels import Categories, InformationMoments, ItemParameters, log_sigmoid, namespace

TINY = 1e-300
"""Keeps the logarithm of equal thresholds finite; the smallest double is not far below."""


class GradedParameters(NamedTuple):
    """Discrimination `[I]`, thresholds `[I, K]`, and highest score `[I]`."""

    a: Floats
    thresholds: Floats
    top: NDArray[np.int64]

    @property
    def b(self) -> Floats:
        """Mean threshold of each item `[..., I]`: its difficulty."""
        return mean_threshold(self.thresholds, self.top)

    def at(self, places: Any) -> Self:
        """The items at these places (of draws `[D, I]`: in each)."""
        return type(self)(self.a[..., places], self.thresholds[..., places, :], self.top[places])

    def reached(self, theta: Floats) -> Floats:
        """Chances `[..., K]` of scores of at least 1, ..., K; 0 beyond an item's highest."""
        return np.asarray(cumulative(theta, *self))

    def share(self, theta: Floats) -> Floats:
        """Expected share of the highest score; broadcasts `theta` against the items."""
        return np.asarray(self.reached(theta).sum(axis=-1) / self.top)

    def information(self, theta: Floats) -> Floats:
        """Fisher information about ability; broadcasts `theta` against the items."""
        return np.asarray(information(theta, *self))

    def moments(self, theta: Floats) -> InformationMoments:
        """Moments of one answer, broadcast as `information`."""
        p, slopes, reached = probability(theta, *self), self.category_slopes(theta), cumulative(theta, *self)
        edge, spread = np.zeros_like(reached[..., :1]), reached * (1 - reached)
        both = np.concatenate([edge, spread], axis=-1) + np.concatenate([spread, edge], axis=-1)
        bends = -(self.a[..., None] ** 2) * both
        # P' = P u and P'' = P (u^2 + u'), u the slope of log P; minus the mean of u' is the information.
        return InformationMoments(-np.sum(p * bends, axis=-1), np.sum(p * slopes * (slopes**2 + bends), axis=-1))

    def log_categories(self, theta: Floats) -> Floats:
        """Log probabilities `[..., K + 1]` of the scores, -inf beyond an item's highest."""
        return np.asarray(log_probability(theta, *self))

    def category_slopes(self, theta: Floats) -> Floats:
        """Derivatives `[..., K + 1]` of `log_categories`: `a (1 - F_k - F_{k+1})`, F_k the chance of k or more."""
        reached = self.reached(theta)
        edge = np.zeros_like(reached[..., :1])
        above, below = np.concatenate([edge + 1, reached], axis=-1), np.concatenate([reached, edge], axis=-1)
        return np.asarray(self.a[..., None] * (1 - above - below))

    def categories(self, theta: Floats) -> Categories:
        """The ratings."""
        log = self.log_categories(theta)
        exists = np.isfinite(log)
        slope = np.where(exists, self.category_slopes(theta), 0.0)
        return Categories(np.where(exists, np.exp(log), 0.0), np.where(exists, log, 0.0), slope)

    def draw(self, rng: np.random.Generator, theta: Floats, attempts: Floats) -> Floats:
        """Ratings `[S, I]` drawn at abilities `[S]`, 0 where not asked."""
        reached = self.reached(theta[:, None])
        return np.where(attempts > 0, (rng.random(attempts.shape)[:, :, None] < reached).sum(axis=2), 0.0)

    def log_likelihood(self, scores: Floats, theta: Floats) -> Floats:
        """Log-likelihood `[S, I]` of scores `[S, I]` at abilities `[S]` (or of each answer `[S, I]`), 0 where NaN."""
        asked = ~np.isnan(scores)
        category = np.where(asked, scores, 0.0).astype(np.int64)
        logs = self.log_categories(theta if theta.ndim > 1 else theta[:, None])
        logs = np.take_along_axis(logs, category[..., None], axis=-1)[..., 0]
        return np.where(asked, logs, 0.0)


Items = ItemParameters | GradedParameters
"""Items of right and wrong answers, or of ratings: what depends on the kind of answers, both have by the same names."""


def cumulative(theta: Any, a: Any, thresholds: Any, top: Any) -> Any:
    """P(score >= k) for k = 1..K, `[..., K]`; 0 beyond an item's highest score."""
    xp, x, real = _logits(theta, a, thresholds, top)
    return xp.where(real, xp.exp(log_sigmoid(xp, x)), 0.0)


def log_probability(theta: Any, a: Any, thresholds: Any, top: Any) -> Any:
    """log P(score = k) for k = 0..K, `[..., K + 1]`; -inf beyond an item's highest score.

    A difference of sigmoids of `u > v` is `sigmoid(u) sigmoid(-v) (1 - exp(v - u))`: nothing cancels, and the last
    factor does not depend on ability.
    """
    xp, x, real = _logits(theta, a, thresholds, top)
    up = xp.where(real, log_sigmoid(xp, x), -xp.inf)
    down = xp.where(real, log_sigmoid(xp, -x), 0.0)
    inner = real[..., 1:]
    gap = xp.where(inner, x[..., :-1] - x[..., 1:], 1.0)
    between = xp.where(inner, xp.log(xp.maximum(-xp.expm1(-gap), TINY)), 0.0)
    edge = xp.zeros_like(x[..., :1])
    reach, stay = xp.concatenate([edge, up], axis=-1), xp.concatenate([down, edge], axis=-1)
    return reach + stay + xp.concatenate([edge, between, edge], axis=-1)


def probability(theta: Any, a: Any, thresholds: Any, top: Any) -> Any:
    """P(score = k) for k = 0..K, `[..., K + 1]`; 0 beyond an item's highest score."""
    logs = log_probability(theta, a, thresholds, top)
    return namespace(logs).exp(logs)


def information(theta: Any, a: Any, thresholds: Any, top: Any) -> Any:
    """Fisher information about ability: the sum over categories of `P_k'^2 / P_k` (Samejima 1969).

    With `w_k = P*_k (1 - P*_k)` of the cumulative curves the second derivative of `log P_k` is `-a^2 (w_k + w_{k+1})`,
    and information is its mean over the scores, a sum of positive terms.
    """
    xp, x, real = _logits(theta, a, thresholds, top)
    steep = xp.where(real, xp.exp(log_sigmoid(xp, x) + log_sigmoid(xp, -x)), 0.0)
    edge = xp.zeros_like(steep[..., :1])
    pairs = xp.concatenate([edge, steep], axis=-1) + xp.concatenate([steep, edge], axis=-1)
    return xp.asarray(a) ** 2 * (probability(theta, a, thresholds, top) * pairs).sum(axis=-1)


def real_thresholds(top: NDArray[np.int64], most: int | None = None) -> NDArray[np.bool_]:
    """Which of `most` thresholds (by default the most any item has) exist, `[I, K]`."""
    return np.asarray(np.arange(int(top.max()) if most is None else most) < top[:, None])


def mean_threshold(thresholds: Floats, top: NDArray[np.int64]) -> Floats:
    """Mean of an item's own thresholds `[..., I]`: its difficulty."""
    real = real_thresholds(top, thresholds.shape[-1])
    return np.asarray(np.where(real, thresholds, 0.0).sum(axis=-1) / top)


def padded(thresholds: Floats, top: NDArray[np.int64]) -> Floats:
    """The same thresholds `[..., I, K]` with the last real one repeated beyond each item's highest score."""
    place = np.minimum(np.arange(thresholds.shape[-1]), top[:, None] - 1)
    return np.asarray(np.take_along_axis(thresholds, np.broadcast_to(place, thresholds.shape), axis=-1))


def _logits(theta: Any, a: Any, thresholds: Any, top: Any) -> tuple[Any, Any, Any]:
    """The namespace, `a (theta - b_k)` `[..., K]`, and which of these exist."""
    xp = namespace(theta, a, thresholds)
    thresholds = xp.asarray(thresholds)
    real = np.arange(thresholds.shape[-1]) < np.asarray(top)[..., None]
    x = xp.asarray(a)[..., None] * (xp.asarray(theta)[..., None] - thresholds)
    return xp, x, xp.broadcast_to(real, x.shape)
