"""Log priors of item coordinates, for marginal estimates a posteriori."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from irt.kernels import sigmoid
from irt.model import Problem
from irt.responses import Floats

SMALLEST = 1e-6


@dataclass(frozen=True)
class Penalty:
    """Log priors of coordinates `[K, I]` (slope, intercept, logits of asymptotes); zeros where there are none.

    Normal for the logarithm of the slope's size and for the intercept: `-precision (y - centre)^2 / 2`. In `pooled`
    rows (row, precision of the mean) the centre is that of the items' population, Normal(0, 1/precision) itself and at
    its best: priors on many items must not move the scale of ability. Beta(`low`, `high`) of the sigmoid of the rest:
    `low log s(x) + high log s(-x)`.
    """

    centre: Floats
    precision: Floats
    low: Floats
    high: Floats
    pooled: tuple[tuple[int, float], ...] = ()

    @staticmethod
    def none(shape: tuple[int, ...]) -> Penalty:
        """No priors: maximum likelihood."""
        zero = np.zeros(shape)
        return Penalty(zero, zero, zero, zero)

    def value(self, x: Floats) -> float:
        """The log prior, up to a constant."""
        away, means = self._deviation(x)
        normal = -0.5 * self.precision[:2] * away**2
        hyper = -0.5 * sum(weight * mean**2 for (_, weight), mean in zip(self.pooled, means, strict=True))
        beta = -self.low * np.logaddexp(0.0, -x) - self.high * np.logaddexp(0.0, x)
        return float(np.sum(normal) + np.sum(beta)) + hyper

    def gradient(self, x: Floats) -> Floats:
        """First derivatives `[K, I]`."""
        share = sigmoid(x)
        gradient = self.low * (1 - share) - self.high * share
        gradient[:2] -= self.precision[:2] * self._deviation(x)[0] * self._by_x(x)
        return np.asarray(gradient)

    def information(self, x: Floats, observed: bool = False) -> Floats:
        """Minus the second derivatives `[K, I]`, centres held; at least their expected form unless `observed`."""
        share, deviation = sigmoid(x), self._deviation(x)[0][0]
        information = (self.low + self.high) * share * (1 - share)
        information[:2] += self.precision[:2] * self._by_x(x) ** 2
        bend = -deviation if observed else np.maximum(-deviation, 0.0)
        information[0] += self.precision[0] * bend * self._by_x(x)[0] ** 2
        return np.asarray(information)

    def released(self, x: Floats) -> Floats:
        """Rows `[N, K, I]` whose squares are the information that estimating the centres takes back."""
        rows = np.zeros((len(self.pooled), *x.shape))
        for row, (which, hyper) in zip(rows, self.pooled, strict=True):
            weight = self.precision[which]
            row[which] = weight * self._by_x(x)[which] / np.sqrt(float(weight.sum()) + hyper)
        return rows

    def _deviation(self, x: Floats) -> tuple[Floats, list[float]]:
        """Log slope and intercept `[2, I]` less their centres, and the pooled centres."""
        y = np.stack([np.log(np.maximum(np.abs(x[0]), SMALLEST)), x[1]])
        away, means = y - self.centre[:2], []
        for which, hyper in self.pooled:
            weight = self.precision[which]
            means.append(float(weight @ y[which]) / (float(weight.sum()) + hyper))
            away[which] = y[which] - means[-1]
        return np.asarray(away), means

    def _by_x(self, x: Floats) -> Floats:
        """Derivatives `[2, I]` of log slope and intercept by the coordinates."""
        size = np.maximum(np.abs(x[0]), SMALLEST)
        return np.stack([np.where(x[0] < 0, -1.0, 1.0) / size, np.ones_like(size)])


def penalty_of(problem: Problem, on: NDArray[np.bool_], unit: float, given: bool) -> Penalty:
    """The log priors of a problem's coordinates where `on` `[K, I]`; `unit` is a typical slope.

    `given` priors treat all items as a population; else they hold single items among others that have none.
    """
    priors, (width, items) = problem.priors, on.shape
    centre, precision, low, high = (np.zeros(on.shape) for _ in range(4))
    if problem.free_a:
        centre[0], precision[0] = np.log(unit), 1.0 / (priors.spread_a * (1 if given else 2)) ** 2
    else:
        precision[0] = 1.0 / (items * (2 * priors.common_a) ** 2)
    precision[1] = 1.0 / (priors.spread_b**2 + (0.0 if given else priors.centre_b**2))
    if width > 2:
        # A guessing parameter that all items share takes one prior, not one from every item.
        weight = priors.guessing_weight / (items if problem.shared_guessing else 1)
        low[2], high[2] = weight * problem.chance, weight * (1 - problem.chance)
    if width > 3:
        low[3], high[3] = priors.upper_weight * priors.upper, priors.upper_weight * (1 - priors.upper)
    means = ((0, 1.0 / (2 * priors.common_a) ** 2), (1, 1.0 / priors.centre_b**2))
    pooled = () if not given else means if problem.free_a else means[1:]
    return Penalty(centre, precision * on, low * on, high * on, pooled)
