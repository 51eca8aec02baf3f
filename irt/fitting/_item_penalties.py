"""Log priors of item coordinates, for marginal estimates a posteriori."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from irt._model import Problem
from irt._responses import Floats
from irt.kernels import sigmoid

SMALLEST = 1e-6


class Prior(Protocol):
    """A log density of coordinates `[K, I]`, up to a constant, with its derivatives."""

    def value(self, x: Floats) -> float:
        """The log prior."""

    def gradient(self, x: Floats) -> Floats:
        """First derivatives `[K, I]`."""

    def information(self, x: Floats, observed: bool = False) -> Floats:
        """Minus the second derivatives `[I, K, K]` of each item; positive definite unless `observed`."""

    def released(self, x: Floats) -> Floats:
        """Rows `[N, K, I]` whose squares are to be taken off the information: what items have in common."""

    def holds(self, row: int) -> NDArray[np.bool_]:
        """Items whose coordinate `row` has a prior."""


@dataclass(frozen=True)
class Penalty:
    """Log priors of single items' coordinates (slope, intercept, logits of asymptotes); zeros where there are none.

    Normal for the logarithm of the slope's size and for the intercept: `-precision (y - centre)^2 / 2`. Beta(`low`,
    `high`) of the sigmoid of the rest: `low log s(x) + high log s(-x)`.
    """

    centre: Floats
    precision: Floats
    low: Floats
    high: Floats

    @staticmethod
    def none(shape: tuple[int, ...]) -> Penalty:
        """No priors: maximum likelihood."""
        zero = np.zeros(shape)
        return Penalty(zero, zero, zero, zero)

    def value(self, x: Floats) -> float:
        """The log prior, up to a constant."""
        normal = -0.5 * self.precision[:2] * self._deviation(x) ** 2
        beta = -self.low * np.logaddexp(0.0, -x) - self.high * np.logaddexp(0.0, x)
        return float(np.sum(normal) + np.sum(beta))

    def gradient(self, x: Floats) -> Floats:
        """First derivatives `[K, I]`."""
        share = sigmoid(x)
        gradient = self.low * (1 - share) - self.high * share
        gradient[:2] -= self.precision[:2] * self._deviation(x) * _by_x(x)
        return np.asarray(gradient)

    def information(self, x: Floats, observed: bool = False) -> Floats:
        """Minus the second derivatives `[I, K, K]`; at least their expected form unless `observed`."""
        share, deviation = sigmoid(x), self._deviation(x)[0]
        diagonal = (self.low + self.high) * share * (1 - share)
        diagonal[:2] += self.precision[:2] * _by_x(x) ** 2
        bend = -deviation if observed else np.maximum(-deviation, 0.0)
        diagonal[0] += self.precision[0] * bend * _by_x(x)[0] ** 2
        information = np.zeros((x.shape[1], len(x), len(x)))
        information[:, range(len(x)), range(len(x))] = diagonal.T
        return information

    def released(self, x: Floats) -> Floats:
        """None: items are on their own."""
        return np.zeros((0, *x.shape))

    def holds(self, row: int) -> NDArray[np.bool_]:
        """Items whose coordinate `row` has a prior."""
        return np.asarray((self.precision[row] > 0) | (self.low[row] > 0))

    def _deviation(self, x: Floats) -> Floats:
        """Log slope and intercept `[2, I]` less their centres."""
        return np.stack([np.log(np.maximum(np.abs(x[0]), SMALLEST)), x[1]]) - self.centre[:2]


def apart(slope: Floats) -> Floats:
    """Slopes, kept off 0."""
    return np.asarray(np.where(slope < 0, -1.0, 1.0) * np.maximum(np.abs(slope), SMALLEST))


def _by_x(x: Floats) -> Floats:
    """Derivatives `[2, I]` of log slope and intercept by the coordinates."""
    return np.stack([1.0 / apart(x[0]), np.ones_like(x[0])])


def penalty_of(problem: Problem, on: NDArray[np.bool_], unit: float) -> Penalty:
    """Log priors where `on` `[K, I]`, of items held among others that have none; `unit` is a typical slope."""
    priors, (width, items) = problem.priors, on.shape
    centre, precision, low, high = (np.zeros(on.shape) for _ in range(4))
    if problem.free_a:
        centre[0], precision[0] = np.log(unit), 1.0 / (2 * priors.spread_a) ** 2
    else:
        precision[0] = 1.0 / (items * (2 * priors.common_a) ** 2)
    precision[1] = 1.0 / (priors.spread_b**2 + priors.centre_b**2)
    if width > 2:
        # A guessing parameter that all items share takes one prior, not one from every item.
        weight = priors.guessing_weight / (items if problem.shared_guessing else 1)
        low[2], high[2] = weight * problem.chance, weight * (1 - problem.chance)
    if width > 3:
        low[3], high[3] = priors.upper_weight * priors.upper, priors.upper_weight * (1 - priors.upper)
    return Penalty(centre, precision * on, low * on, high * on)
