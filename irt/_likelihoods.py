"""The likelihood of students' abilities given calibrated items, of right and wrong answers as of ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from irt._graded import GradedParameters, Items
from irt._partial_credit import RATED_ITEMS
from irt._quadrature import BOUND, Posterior, nodes_for, weigh
from irt._residuals import MeanSquares, counts, mean_squares
from irt._responses import Floats, ResponseMatrix, blocks
from irt.kernels import ItemParameters

LEAST = -1e6
"""Log-likelihood of what is impossible: finite, so that its absence costs nothing."""


@dataclass(frozen=True)
class Likelihood:
    """What is known of the abilities of `S` students from their answers to `I` items.

    `answers` `[S, I, C]` counts those in each category: right and wrong, or the ratings from 0 on.
    """

    answers: Floats
    items: Items

    @cached_property
    def weights(self) -> Floats:
        """Answers that each student gave to each item `[S, I]`."""
        return np.asarray(self.answers.sum(axis=2))

    def nodes(self, bound: float = BOUND) -> Floats:
        """Equally spaced abilities from `-bound` to `bound`, fine enough for the most informed student."""
        return nodes_for(self.items, np.maximum(self.weights.max(axis=0, initial=0.0), 1.0), bound)

    def over(self, nodes: Floats) -> Floats:
        """Log-likelihood `[S, Q]` at the nodes `[Q]`."""
        logs = np.maximum(self.items.log_categories(nodes[:, None]), LEAST)
        return np.asarray(self.answers.reshape(len(self.answers), -1) @ logs.reshape(len(nodes), -1).T)

    def slope(self, theta: Floats) -> Floats:
        """Its derivative `[S]` at `theta` `[S]`."""
        return np.asarray((self.answers * self.items.category_slopes(theta[:, None])).sum(axis=2).sum(axis=1))

    def posterior(self) -> Posterior:
        """Posterior of the abilities under a Normal(0, 1) population."""
        nodes = self.nodes()
        return weigh(self.over(nodes), nodes)

    def mean_squares(self, theta: Floats, axis: int) -> MeanSquares:
        """Mean squares over students (`axis=0`, per item) or over items (`axis=1`, per student) at `theta` `[S]`."""
        chance, asked = np.exp(self.items.log_categories(theta[:, None])), self.weights
        score = np.arange(chance.shape[2])  # of right and wrong turned round, which changes no square
        mean = chance @ score
        square = (score - mean[..., None]) ** 2
        variance = np.sum(chance * square, axis=2)
        # The fourth central moment of a sum of as many independent answers.
        fourth = asked * np.sum(chance * square**2, axis=2) + 3 * asked * (asked - 1) * variance**2
        return mean_squares(self.answers @ score - asked * mean, asked * variance, fourth, axis)

    def redrawn(self, rng: np.random.Generator, theta: Floats) -> Likelihood:
        """The likelihood of new answers of students of these abilities `[S]` to the same items."""
        return likelihood(self.items.draw(rng, theta, self.weights), self.weights, self.items)


def likelihood(scores: Floats, attempts: Floats, items: Items) -> Likelihood:
    """The likelihood of scores `[S, I]`: successes among attempts, or ratings where there are attempts."""
    if isinstance(items, GradedParameters):
        rated = scores[..., None] == np.arange(items.thresholds.shape[-1] + 1)
        return Likelihood((rated & (attempts > 0)[..., None]).astype(np.float64), items)
    return Likelihood(np.stack([scores, attempts - scores], axis=-1), items)


def likelihood_of(data: ResponseMatrix, items: Items) -> Likelihood:
    """The likelihood of a table's answers to items at these parameters."""
    return likelihood(data.successes, data.attempts, items)


def items_among(values: Mapping[str, Floats], top: NDArray[np.int64] | None) -> Items:
    """The items' parameters among the named values of a fit: its point estimates, one of its draws, or all draws."""
    for name, kind in RATED_ITEMS.items():
        if name in values:
            assert top is not None
            return kind(np.asarray(values["a"]), np.asarray(values[name]), top)
    return ItemParameters(*(np.asarray(values[name]) for name in "abcd"))


def expected_mean_squares(data: ResponseMatrix, items: Items) -> MeanSquares:
    """Mean squares `[I]` of a table at the items' point estimates.

    Each student is placed at the expected ability a posteriori (EAP) under a Normal(0, 1) population, as in mirt's
    `itemfit`. Large tables are worked on in blocks.
    """
    theta = expected_abilities(data, items)
    parts = [
        likelihood(*counts(data, slice(None), columns), items.at(columns)).mean_squares(theta, 0)
        for columns in blocks(len(data.items), len(data.students))
    ]
    return MeanSquares(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def expected_abilities(data: ResponseMatrix, items: Items, without: int | None = None) -> Floats:
    """Expected abilities a posteriori `[S]` under Normal(0, 1) at the items' parameters.

    `without` leaves out the answers to the item in that place.
    """
    most = 1.0 if data.trials is None else np.nanmax(np.where(data.asked, data.trials, 1.0), axis=0)
    nodes = nodes_for(items, most)
    found = []
    for row in blocks(len(data.students), max(len(data.items), len(nodes))):
        successes, attempts = counts(data, row, slice(None))
        if without is not None:
            successes[:, without] = attempts[:, without] = 0.0
        found.append(weigh(likelihood(successes, attempts, items).over(nodes), nodes).mean)
    return np.concatenate(found)
