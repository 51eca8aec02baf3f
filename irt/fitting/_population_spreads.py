"""The spreads of the items' population in `mml`, by the evidence: items and abilities integrated (empirical Bayes).

By Fisher's identity the slope of the log evidence by `v = log spread` is

    E[sum of squares around the mean] / spread^2 - (I - 1)

with the expectation over the items' posterior. Given the E-step's counts it is a sum of integrals over single items
(`irt.fitting._item_posteriors`); what the counts leave out, that abilities are uncertain, is added in the end for the
discriminations, from the observed information (of difficulties it is next to nothing). The half-normal prior of each
spread, its density on the logarithm, keeps it off 0, as in `_scale_estimates`. The root is found by secants,
spread by spread: EM would take dozens of rounds where items say little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt import _prior_densities as prior_densities
from irt._model import Problem
from irt._responses import Floats
from irt.fitting._coordinates import SHARED
from irt.fitting._em import EXPANSIONS, NEGLIGIBLE, AnswerPatterns, Climb, climb, expect
from irt.fitting._estimation_outcome import Progress
from irt.fitting._item_posteriors import ItemMoments, item_moments
from irt.fitting._observed_information import observe
from irt.fitting._population_prior import PopulationPrior, Spreads, population_of

START = Spreads(0.3, 1.0)
ROUNDS, NEAR, LONGEST = 25, 0.1, 0.7
"""Rounds at most, the step at which they end in standard deviations of the logarithm, and the longest step."""
ROUGH = (1e-4, 1e-2)
"""Gain and move at which the climb of a round ends."""
TELLING, TRUST, FLATTEST = 0.02, 4.0, 1.0
"""Step that tells the bend of the evidence, by what factor a bend may change in a round (the other spread moves, too),
and the least bend: a logarithm has a standard deviation of 1 at most."""
DIFFERENCE = 1e-4
GUESSED = 0.7
"""Bend per item before any is known."""


class Settled(NamedTuple):
    """Where the search ended: mode, prior, moments of the items, and errors `[H]` of the logarithms of the spreads."""

    top: Climb
    prior: PopulationPrior
    moments: ItemMoments
    errors: Floats
    settled: bool

    def items(self) -> tuple[Floats, Floats]:
        """Discriminations, at the means of their logarithms, and mean difficulties `[I]` in units of ability."""
        x = self.top.state.x
        logs, b = self.moments.mean
        return np.where(x[0] < 0, -1.0, 1.0) * np.exp(logs), b / self.prior.unit(x)

    def reported(self) -> dict[str, float]:
        """Centre and spread of the difficulties in units of ability, and the spread of log discriminations."""
        x = self.top.state.x
        unit, spreads = self.prior.unit(x), self.prior.spreads
        found = {"centre_b": self.prior.place(x).mean / unit, "spread_b": spreads.b / abs(unit)}
        return {**found, "spread_a": spreads.a} if self.prior.free_a else found


class _Round(NamedTuple):
    """Logarithms `[H]` of the spreads (`1pl`: of b alone), the mode there, and the slope of the log evidence."""

    v: Floats
    top: Climb
    prior: PopulationPrior
    moments: ItemMoments
    slope: Floats


def settle(table: AnswerPatterns, problem: Problem, start: Floats, progress: Progress | None = None) -> Settled:
    """Spreads at the maximum of the evidence, and the items' mode there, from coordinates `start` `[K, I]`."""
    items = start.shape[1]
    at = _round(table, problem, _logs(problem, START), start, EXPANSIONS)
    bend, settled = np.full(len(at.v), max(GUESSED * items, FLATTEST)), False
    for number in range(1, ROUNDS + 1):
        move = np.clip(at.slope / bend, -LONGEST, LONGEST)
        settled = bool(np.all(np.abs(move) * np.sqrt(bend) < NEAR))
        if settled:
            break
        new = _round(table, problem, at.v + move, at.top.state.x)
        telling = np.abs(move) > TELLING
        found = np.divide(at.slope - new.slope, move, out=bend.copy(), where=telling)
        bend, at = np.maximum(np.clip(found, bend / TRUST, bend * TRUST), FLATTEST), new
        if progress is not None:
            progress(number, ROUNDS)
    more = _by_uncertain_abilities(table, problem, at)
    move = more / (bend + 2 * more)  # what is added falls with the square of the spread
    last = _round(table, problem, at.v + np.clip(move, -LONGEST, LONGEST), at.top.state.x, enough=NEGLIGIBLE)
    return Settled(last.top, last.prior, last.moments, 1.0 / np.sqrt(bend), settled)


def _spreads(problem: Problem, v: Floats) -> Spreads:
    """Spreads of their logarithms; that of discriminations is 1 where they have none."""
    return Spreads(*np.exp(v).tolist()) if problem.free_a else Spreads(1.0, float(np.exp(v[0])))


def _hyperprior_slope(problem: Problem, v: Floats) -> Floats:
    """Derivatives `[H]` of the log priors on the logarithms, Jacobian included."""
    densities = [prior_densities.spread_a(problem.priors), prior_densities.spread_b(problem.priors)][-len(v) :]
    return np.array([float(density.slope_on_log(each)) for density, each in zip(densities, v, strict=True)])


def pulls(problem: Problem, x: Floats, spreads: Spreads) -> Floats:
    """Derivatives `[H, K, I]` of the log prior's gradient at `x` by the logarithms of the spreads."""
    v = _logs(problem, spreads)
    ends = [
        [
            population_of(problem, _spreads(problem, v + side * row), x.shape).gradient(x)
            for side in (DIFFERENCE, -DIFFERENCE)
        ]
        for row in np.eye(len(v))
    ]
    return np.stack([(above - below) / (2 * DIFFERENCE) for above, below in ends])


def _logs(problem: Problem, spreads: Spreads) -> Floats:
    return np.asarray(np.log(np.array(spreads)[0 if problem.free_a else 1 :]))


def _round(
    table: AnswerPatterns,
    problem: Problem,
    v: Floats,
    x: Floats,
    expansions: int = 0,
    enough: tuple[float, float] = ROUGH,
) -> _Round:
    shared = SHARED[problem.model]
    prior = population_of(problem, _spreads(problem, v), x.shape)
    top = climb(table, x, shared, prior, expansions=expansions, enough=enough)
    moments = item_moments(expect(table, top.state.x, top.nodes), top.state.x, prior, shared)
    squares = _squares(moments)[-len(v) :]
    slope = squares * np.exp(-2 * v) - (x.shape[1] - 1) + _hyperprior_slope(problem, v)
    return _Round(v, top, prior, moments, slope)


def _squares(moments: ItemMoments) -> Floats:
    """Expected sums of squares `[2]` around the items' own means, which take one degree of freedom."""
    items = moments.mean.shape[1]
    away = moments.mean - moments.mean.mean(axis=1, keepdims=True)
    return np.asarray((away**2).sum(axis=1) + (1 - 1 / items) * moments.variance.sum(axis=1))


def _by_uncertain_abilities(table: AnswerPatterns, problem: Problem, at: _Round) -> Floats:
    """What the slope `[H]` gains by the variance of log discriminations that is due to uncertain abilities."""
    gain = np.zeros(len(at.v))
    state, shared = at.top.state, SHARED[problem.model]
    if not problem.free_a:
        return gain
    seen = observe(table, state.x, at.top.nodes, shared, at.prior, np.zeros_like(state.x))
    if seen.curvature is None:
        return gain
    items = state.x.shape[1]
    mean = np.zeros_like(state.x)
    mean[0] = 1.0 / (items * state.x[0])
    common = float(np.sum(mean * seen.curvature.solve(mean)))
    own = state.blocks.covariance[:, 0, 0] / state.x[0] ** 2
    whole = seen.curvature.covariance[:, 0, 0] / state.x[0] ** 2
    lost = float(whole.sum()) - items * common - (1 - 1 / items) * float(own.sum())
    gain[0] = max(lost, 0.0) * float(np.exp(-2 * at.v[0]))
    return gain
