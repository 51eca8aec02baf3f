"""The likelihood of students' abilities given calibrated items: of right and wrong answers, and of ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from irt import graded, kernels, quadrature
from irt.graded import GradedParameters
from irt.kernels import ItemParameters
from irt.responses import Floats

LEAST = -1e6
"""Log-likelihood of what is impossible: finite, so that its absence costs nothing."""


class Moments(NamedTuple):
    """Per item, of the score about ability: information `sum P'^2 / P`, and Warm's `J = sum P' P'' / P`."""

    information: Floats
    tilt: Floats


class Likelihood(Protocol):
    """What is known of the abilities of `S` students from their answers to `I` items."""

    @property
    def weights(self) -> Floats:
        """Answers that each student gave to each item `[S, I]`."""

    def over(self, nodes: Floats) -> Floats:
        """Log-likelihood `[S, Q]` at the nodes `[Q]`."""

    def slope(self, theta: Floats) -> Floats:
        """Its derivative `[S]` at `theta` `[S]`."""

    def moments(self, theta: Floats) -> Moments:
        """Moments `[N, I]` of one answer at abilities `[N]`."""


@dataclass(frozen=True)
class Counted:
    """Successes among attempts `[S, I]`."""

    successes: Floats
    attempts: Floats
    items: ItemParameters

    @property
    def weights(self) -> Floats:
        """Answers that each student gave to each item `[S, I]`."""
        return self.attempts

    def over(self, nodes: Floats) -> Floats:
        """Log-likelihood `[S, Q]` at the nodes `[Q]`."""
        right, wrong = (np.maximum(each, LEAST) for each in kernels.log_probability(nodes[:, None], *self.items))
        return np.asarray(self.successes @ right.T + (self.attempts - self.successes) @ wrong.T)

    def slope(self, theta: Floats) -> Floats:
        """Its derivative `[S]` at `theta` `[S]`."""
        column = theta[:, None]
        right, wrong = kernels.log_probability(column, *self.items)
        # P' / P and P' / Q from P' = sqrt(I P Q), without dividing by a vanishing P or Q.
        root = np.sqrt(kernels.information(column, *self.items))
        per_right, per_wrong = root * np.exp((wrong - right) / 2), root * np.exp((right - wrong) / 2)
        parts = self.successes * per_right - (self.attempts - self.successes) * per_wrong
        return np.asarray(np.sum(np.sign(self.items.a) * parts, axis=1))

    def moments(self, theta: Floats) -> Moments:
        """Moments `[N, I]` of one answer at abilities `[N]`; J is `sum a (1 - 2 s) I_i`."""
        column = theta[:, None]
        info = kernels.information(column, *self.items)
        return Moments(info, -self.items.a * np.tanh(self.items.a * (column - self.items.b) / 2) * info)


@dataclass(frozen=True)
class Rated:
    """Ratings `[S, I]` from 0 to each item's highest score, NaN where not asked."""

    scores: Floats
    items: GradedParameters

    @property
    def weights(self) -> Floats:
        """Answers that each student gave to each item `[S, I]`."""
        return (~np.isnan(self.scores)).astype(np.float64)

    def over(self, nodes: Floats) -> Floats:
        """Log-likelihood `[S, Q]` at the nodes `[Q]`."""
        logs = np.maximum(graded.log_probability(nodes[:, None], *self.items), LEAST)
        total = np.zeros((len(self.scores), len(nodes)))
        for category in range(logs.shape[2]):
            total += (self.scores == category) @ logs[:, :, category].T
        return total

    def slope(self, theta: Floats) -> Floats:
        """Its derivative `[S]` at `theta` `[S]`."""
        slopes = category_slopes(theta[:, None], self.items)
        own = np.take_along_axis(slopes, self._category[..., None], axis=2)[..., 0]
        return np.asarray(np.where(np.isnan(self.scores), 0.0, own).sum(axis=1))

    def moments(self, theta: Floats) -> Moments:
        """Moments `[N, I]` of one answer at abilities `[N]`."""
        column = theta[:, None]
        p, slopes = graded.probability(column, *self.items), category_slopes(column, self.items)
        bends = _bends(column, self.items)
        # P' = P u and P'' = P (u^2 + u'), u the slope of log P; minus the mean of u' is the information.
        return Moments(-np.sum(p * bends, axis=2), np.sum(p * slopes * (slopes**2 + bends), axis=2))

    @property
    def _category(self) -> NDArray[np.int64]:
        return np.nan_to_num(self.scores).astype(np.int64)


def nodes_of(likelihood: Likelihood, bound: float) -> Floats:
    """Equally spaced abilities from `-bound` to `bound`, fine enough for the most informed student."""
    coarse = np.linspace(-bound, bound, quadrature.FEWEST)
    trials = max(float(likelihood.weights.max(initial=0.0)), 1.0)
    total = likelihood.moments(coarse).information.sum(axis=1) * trials
    return quadrature.spaced(float(total.max()), bound)


def category_slopes(theta: Floats, items: GradedParameters) -> Floats:
    """Derivatives `[..., K + 1]` of log P(score = k): `a (1 - F_k - F_{k+1})`, F_k the chance of k or more."""
    reached = graded.cumulative(theta, *items)
    edge = np.zeros_like(reached[..., :1])
    above, below = np.concatenate([edge + 1, reached], axis=-1), np.concatenate([reached, edge], axis=-1)
    return np.asarray(items.a[:, None] * (1 - above - below))


def _bends(theta: Floats, items: GradedParameters) -> Floats:
    """Second derivatives `[..., K + 1]`: `-a^2 (w_k + w_{k+1})`, `w = F (1 - F)`."""
    reached = graded.cumulative(theta, *items)
    edge, spread = np.zeros_like(reached[..., :1]), reached * (1 - reached)
    both = np.concatenate([edge, spread], axis=-1) + np.concatenate([spread, edge], axis=-1)
    return np.asarray(-(items.a[:, None] ** 2) * both)
