"""The likelihood of students' abilities given calibrated items: of right and wrong answers, and of ratings.

Scoring and the checks of items and students know only what both kinds of `Likelihood` have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt import _graded as graded
from irt import _quadrature as quadrature
from irt import kernels
from irt._graded import GradedParameters
from irt._quadrature import Posterior
from irt._residuals import MeanSquares, item_mean_squares, mean_squares, mean_squares_of, residuals
from irt._responses import Floats, ResponseMatrix
from irt.kernels import ItemParameters

Items = ItemParameters | GradedParameters

LEAST = -1e6
"""Log-likelihood of what is impossible: finite, so that its absence costs nothing."""
SMALLEST_LOG = -700.0
"""Log-probability of a category at least, so that its inverse is finite."""


class InformationMoments(NamedTuple):
    """Per item, of the score about ability: information `sum P'^2 / P`, and Warm's `J = sum P' P'' / P`."""

    information: Floats
    tilt: Floats


class Categories(NamedTuple):
    """Of every answer at known abilities `[S, I, C]`: chance of each category, its logarithm (0 where an item has no
    such category), and the slope of that logarithm in ability."""

    chance: Floats
    log: Floats
    slope: Floats


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

    def moments(self, theta: Floats) -> InformationMoments:
        """Moments `[N, I]` of one answer at abilities `[N]`; J is `sum a (1 - 2 s) I_i`."""
        column = theta[:, None]
        info = kernels.information(column, *self.items)
        return InformationMoments(info, -self.items.a * np.tanh(self.items.a * (column - self.items.b) / 2) * info)

    @property
    def counts(self) -> Floats:
        """Right and wrong answers `[S, I, 2]`."""
        return np.stack([self.successes, self.attempts - self.successes], axis=2)

    def categories(self, theta: Floats) -> Categories:
        """Right and wrong, at abilities `[S]`."""
        a, b, c, d = self.items
        right, wrong = (np.maximum(each, SMALLEST_LOG) for each in kernels.log_probability(theta[:, None], *self.items))
        up = kernels.sigmoid(a * (theta[:, None] - b))
        steep = a * (d - c) * up * (1 - up)
        logs = np.stack([right, wrong], axis=2)
        return Categories(np.exp(logs), logs, np.stack([steep * np.exp(-right), -steep * np.exp(-wrong)], axis=2))

    def posterior(self) -> Posterior:
        """Posterior of the abilities under a Normal(0, 1) population."""
        return quadrature.posterior(self.successes, self.attempts, self.items)

    def mean_squares(self, theta: Floats, axis: int) -> MeanSquares:
        """Mean squares over students (`axis=0`, per item) or over items (`axis=1`, per student) at `theta` `[S]`."""
        found = residuals(self.successes, self.attempts, self.items, theta)
        return mean_squares(found, self.attempts, axis)

    def redrawn(self, rng: np.random.Generator, theta: Floats) -> Counted:
        """The likelihood of new answers of students of these abilities `[S]` to the same items."""
        return replace(self, successes=self.items.draw(rng, theta, self.attempts))


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
        own = np.take_along_axis(slopes, np.nan_to_num(self.scores).astype(np.int64)[..., None], axis=2)[..., 0]
        return np.asarray(np.where(np.isnan(self.scores), 0.0, own).sum(axis=1))

    def moments(self, theta: Floats) -> InformationMoments:
        """Moments `[N, I]` of one answer at abilities `[N]`."""
        column = theta[:, None]
        p, slopes = graded.probability(column, *self.items), category_slopes(column, self.items)
        bends = _bends(column, self.items)
        # P' = P u and P'' = P (u^2 + u'), u the slope of log P; minus the mean of u' is the information.
        return InformationMoments(-np.sum(p * bends, axis=2), np.sum(p * slopes * (slopes**2 + bends), axis=2))

    @property
    def counts(self) -> Floats:
        """Indicators `[S, I, K + 1]` of the rating given."""
        return np.asarray(self.scores[..., None] == np.arange(self.items.thresholds.shape[1] + 1), dtype=np.float64)

    def categories(self, theta: Floats) -> Categories:
        """The ratings at abilities `[S]`."""
        log = graded.log_probability(theta[:, None], *self.items)
        exists = np.isfinite(log)
        slope = np.where(exists, category_slopes(theta[:, None], self.items), 0.0)
        return Categories(np.where(exists, np.exp(log), 0.0), np.where(exists, log, 0.0), slope)

    def posterior(self) -> Posterior:
        """Posterior of the abilities under a Normal(0, 1) population."""
        nodes = nodes_of(self, quadrature.BOUND)
        return quadrature.weigh(self.over(nodes), nodes)

    def mean_squares(self, theta: Floats, axis: int) -> MeanSquares:
        """Mean squares over students (`axis=0`, per item) or over items (`axis=1`, per student) at `theta` `[S]`."""
        chance = graded.probability(theta[:, None], *self.items)
        value, asked = np.arange(chance.shape[2]), ~np.isnan(self.scores)
        mean = chance @ value
        away = value - mean[..., None]
        variance, fourth = (np.where(asked, np.sum(chance * away**power, axis=2), 0.0) for power in (2, 4))
        return mean_squares_of(np.where(asked, np.nan_to_num(self.scores) - mean, 0.0), variance, fourth, axis)

    def redrawn(self, rng: np.random.Generator, theta: Floats) -> Rated:
        """The likelihood of new ratings of students of these abilities `[S]` on the same items."""
        drawn = self.items.draw(rng, theta, self.weights)
        return replace(self, scores=np.where(np.isnan(self.scores), np.nan, drawn))


Likelihood = Counted | Rated
"""What is known of the abilities of `S` students from their answers to `I` items."""


def likelihood_of(data: ResponseMatrix, items: Items) -> Likelihood:
    """The likelihood of a table's answers to items at these parameters."""
    if isinstance(items, GradedParameters):
        return Rated(data.scores, items)
    return Counted(data.successes, data.attempts, items)


def items_among(values: Mapping[str, Floats], top: NDArray[np.int64] | None) -> Items:
    """The items' parameters among the named values of a fit: its point estimates, one of its draws, or all draws."""
    if "thresholds" in values:
        assert top is not None
        return GradedParameters(np.asarray(values["a"]), np.asarray(values["thresholds"]), top)
    return ItemParameters(*(np.asarray(values[name]) for name in "abcd"))


def expected_mean_squares(data: ResponseMatrix, items: Items) -> MeanSquares:
    """Mean squares `[I]` of a table, each student at the expected ability a posteriori under Normal(0, 1)."""
    if isinstance(items, ItemParameters):
        return item_mean_squares(data, items)
    rated = Rated(data.scores, items)
    return rated.mean_squares(rated.posterior().mean, 0)


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
