"""Log priors of item coordinates, for marginal estimates a posteriori: of single items, or of a population of items.

A population has the prior of `irt._model`:

    log |slope_i| ~ Normal(centre, spread_a)             centre ~ Normal(0, 2 common_a)
    B_i ~ Normal(mean, spread_b)                         mean ~ Normal(0, centre_b)
    B_i = -intercept_i e^centre / slope_i                (1pl: -intercept_i, log slope ~ Normal(0, 2 common_a))

`B` is the difficulty in logits, not in units of ability: the answers fix it however uncertain the unit is (a prior of
`-intercept/slope` would favour a large unit, which makes all difficulties small). The density is that of log slopes and
intercepts. Centre and mean are at their best given the items; the Gaussian approximation integrates them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import wrightomega

from irt._model import Priors, Problem
from irt._responses import Floats
from irt.kernels import sigmoid

SMALLEST = 1e-6
"""Least size of a slope in a prior, whose logarithm has no value at 0."""


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

    def value(self, x: Floats) -> float:
        """The log prior, up to a constant."""
        return float(np.sum(-0.5 * self.precision[:2] * self._deviation(x) ** 2) + np.sum(self.of_asymptotes(x)))

    def of_asymptotes(self, x: Floats) -> Floats:
        """Log prior `[K, I]` of each asymptote, 0 in the first two rows."""
        return np.asarray(-self.low * np.logaddexp(0.0, -x) - self.high * np.logaddexp(0.0, x))

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


class Spreads(NamedTuple):
    """Standard deviations of log discriminations and of difficulties in logits."""

    a: float
    b: float


class PopulationPosition(NamedTuple):
    """Items among their population: log slopes and difficulties less their centres, difficulties, and the centres."""

    log_a: Floats
    away_b: Floats
    b: Floats
    centre: float
    mean: float


@dataclass(frozen=True)
class PopulationPrior:
    """The log prior at given spreads; `rest` holds what is no population: asymptotes, and the slope of `1pl`."""

    spreads: Spreads
    priors: Priors
    free_a: bool
    rest: Penalty

    def value(self, x: Floats) -> float:
        """The log prior, up to a constant."""
        at = self.place(x)
        hyper = (at.centre * self._hyper_a) ** 2 * self.free_a + (at.mean / self.priors.centre_b) ** 2
        items = np.sum((at.away_b / self.spreads.b) ** 2)
        if self.free_a:
            items += np.sum((at.log_a / self.spreads.a) ** 2) + 2 * np.sum(at.log_a)
        return self.rest.value(x) - 0.5 * float(items + hyper)

    def gradient(self, x: Floats) -> Floats:
        """First derivatives `[K, I]`."""
        at, slope = self.place(x), self._slope(x)
        pull = np.stack([at.log_a * self._weights[0] + self.free_a, at.away_b * self._weights[1]])
        gradient = self.rest.gradient(x)
        gradient[:2] -= np.einsum("yi,yki->ki", pull, slope)
        return gradient

    def information(self, x: Floats, observed: bool = False) -> Floats:
        """Minus the second derivatives `[I, K, K]`, centres held; at least their expected form unless `observed`."""
        at, slope, weights = self.place(x), self._slope(x), self._weights
        information = self.rest.information(x, observed)
        information[:, :2, :2] += np.einsum("yki,y,yli->ikl", slope, weights, slope)
        if not self.free_a:
            return information
        bend = -weights[0] * at.log_a - 1.0
        information[:, 0, 0] += (bend if observed else np.maximum(bend, 0.0)) / apart(x[0]) ** 2
        if observed:
            pull = weights[1] * at.away_b / apart(x[0]) ** 2
            information[:, 0, 0] += 2 * pull * at.b
            information[:, 0, 1] += pull * np.exp(at.centre)
            information[:, 1, 0] += pull * np.exp(at.centre)
        return information

    def released(self, x: Floats) -> Floats:
        """Rows `[N, K, I]` whose squares are the information that estimating the centres takes back."""
        at, weights, rows = self.place(x), self._weights, np.zeros((1 + self.free_a, *x.shape))
        by_a, by_b = self._slope(x)
        rows[-1, :2] = -weights[1] * by_b
        if self.free_a:
            rows[0, :2] = weights[1] * (at.b + at.away_b) * by_b - weights[0] * by_a
        chol = np.linalg.cholesky(self._centre_information(at))
        return np.asarray(solve_triangular(chol, rows.reshape(len(rows), -1), lower=True).reshape(rows.shape))

    def holds(self, row: int) -> NDArray[np.bool_]:
        """Items whose coordinate `row` has a prior: all."""
        return np.ones_like(self.rest.holds(row))

    def unit(self, x: Floats) -> float:
        """Logits in a standard deviation of ability, by which difficulties in logits are divided to be reported."""
        return float(np.exp(self.place(x).centre) if self.free_a else apart(x[0])[0])

    def natural(self, x: Floats, centre: float) -> Floats:
        """Log |slope| and difficulty in logits `[2, I]`."""
        slope = apart(x[0])
        return np.stack([np.log(np.abs(slope)), -x[1] * (np.exp(centre) / slope if self.free_a else 1.0)])

    def of_items(self, logs: Floats, b: Floats, at: PopulationPosition) -> Floats:
        """Log prior of items at log slopes and difficulties in logits, the centres held; asymptotes left out."""
        by_a, by_b = self._weights
        own = by_a * (logs - at.centre) ** 2 + 2 * self.free_a * logs
        return np.asarray(-0.5 * (own + by_b * (b - at.mean) ** 2))

    @property
    def _hyper_a(self) -> float:
        return 1.0 / (2 * self.priors.common_a)

    @property
    def _weights(self) -> Floats:
        """Precisions of log slopes (0 where they are not free) and of difficulties."""
        return np.array([self.free_a / self.spreads.a**2, 1.0 / self.spreads.b**2])

    def place(self, x: Floats) -> PopulationPosition:
        """Where the items are in the population, its centres at their best."""
        by_a, by_b = self._weights
        hyper, count = self.priors.centre_b**-2.0, x.shape[1]
        share = by_b / (count * by_b + hyper)
        if not self.free_a:
            mean = share * float(-x[1].sum())
            return PopulationPosition(np.zeros(count), -x[1] - mean, -x[1], 0.0, mean)
        logs, b = self.natural(x, 0.0)
        # The mean at its best leaves -(weight c^2 - 2 pull c + spread e^(2c)) / 2 of the centre c, whose maximum is
        # Wright's function.
        weight, pull = count * by_a + self._hyper_a**2, by_a * float(logs.sum()) + count
        spread = by_b * float(b @ b - share * b.sum() ** 2)
        best = pull / weight
        centre = best - 0.5 * float(wrightomega(np.log(max(2 * spread / weight, 1e-300)) + 2 * best))
        b *= np.exp(centre)
        mean = share * float(b.sum())
        return PopulationPosition(logs - centre, b - mean, b, centre, mean)

    def _slope(self, x: Floats) -> Floats:
        """Derivatives `[2, 2, I]` of log slope and difficulty by slope and intercept, the centre held."""
        one, zero = np.ones_like(x[0]), np.zeros_like(x[0])
        if not self.free_a:
            return np.array([[zero, zero], [zero, -one]])
        slope, unit = apart(x[0]), np.exp(self.place(x).centre)
        return np.array([[1.0 / slope, zero], [x[1] * unit / slope**2, -unit / slope]])

    def _centre_information(self, at: PopulationPosition) -> Floats:
        """Minus the second derivatives of the log prior by the centres."""
        (by_a, by_b), count = self._weights, len(at.b)
        second = count * by_b + self.priors.centre_b**-2.0
        if not self.free_a:
            return np.array([[second]])
        first = count * by_a + self._hyper_a**2 + by_b * float(at.b @ (at.b + at.away_b))
        cross = -by_b * float(at.b.sum())
        return np.array([[first, cross], [cross, second]])


def population_of(problem: Problem, spreads: Spreads, shape: tuple[int, ...]) -> PopulationPrior:
    """The log prior of a problem's items, coordinates `[K, I]` of this `shape`, as a population of these spreads."""
    alone = penalty_of(problem, np.ones(shape, dtype=np.bool_), 1.0)
    precision = np.zeros(shape)
    precision[0] = 0.0 if problem.free_a else alone.precision[0]
    return PopulationPrior(spreads, problem.priors, problem.free_a, replace(alone, precision=precision))


Prior = Penalty | PopulationPrior
"""A log density of coordinates `[K, I]`, up to a constant, with its derivatives."""
