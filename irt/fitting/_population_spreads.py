"""The spreads of the items' population in `mml`, by the evidence: items and abilities integrated (empirical Bayes).

By Fisher's identity the slope of the log evidence by `v = log spread` is

    E[sum of squares around the mean] / spread^2 - (I - 1)

with the expectation over the items' posterior. Given the E-step's counts items are independent, so it is a sum of
integrals over single items, by quadrature (`item_moments`): few answers leave a slope's posterior too skewed for its
mode and curvature. What the counts leave out, that abilities are uncertain, is added in the end for discriminations,
from the observed information (of difficulties it is next to nothing). The half-normal prior of each spread, its density
on the logarithm, keeps it off 0, as in `_scale_estimates`. The root is found by secants, spread by spread: EM would
take dozens of rounds where items say little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from irt import _prior_densities as prior_densities
from irt._model import Problem
from irt._responses import Floats
from irt.fitting._coordinates import SHARED, curvature, curves
from irt.fitting._em import EXPANSIONS, NEGLIGIBLE, AnswerPatterns, Climb, Expectation, climb, expect
from irt.fitting._estimation_outcome import Progress, tell
from irt.fitting._item_priors import PopulationPrior, Spreads, population_of
from irt.fitting._observed_information import observe

START = Spreads(0.3, 1.0)
ROUNDS, NEAR, LONGEST = 25, 0.1, 0.7
"""Rounds at most, the step at which they end in standard deviations of the logarithm, and the longest step."""
ROUGH = (1e-4, 1e-2)
"""Gain and move at which the climb of a round ends."""
TELLING, TRUST, FLATTEST = 0.02, 4.0, 1.0
"""Step that tells the bend of the evidence, by what factor a bend may change in a round (the other spread moves, too),
and the least bend: a logarithm has a standard deviation of 1 at most."""
DIFFERENCE = 1e-4
"""Step of a central difference: its error is of order 1e-8, that of rounding 1e-12."""
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
        tell(progress, number, ROUNDS)
    more = _by_uncertain_abilities(table, problem, at)
    move = more / (bend + 2 * more)  # what is added falls with the square of the spread
    last = _round(table, problem, at.v + np.clip(move, -LONGEST, LONGEST), at.top.state.x, enough=NEGLIGIBLE)
    return Settled(last.top, last.prior, last.moments, 1.0 / np.sqrt(bend), settled)


def _spreads(problem: Problem, v: Floats) -> Spreads:
    """Spreads of their logarithms; that of discriminations is 1 where they have none."""
    return Spreads(*np.exp(v).tolist()) if problem.free_a else Spreads(1.0, float(np.exp(v[0])))


def pulls(problem: Problem, x: Floats, spreads: Spreads) -> Floats:
    """Derivatives `[H, K, I]` of the log prior's gradient at `x` by the logarithms of the spreads."""
    v = _logs(problem, spreads)

    def gradient(v: Floats) -> Floats:
        return population_of(problem, _spreads(problem, v), x.shape).gradient(x)

    steps = DIFFERENCE * np.eye(len(v))
    return np.stack([(gradient(v + step) - gradient(v - step)) / (2 * DIFFERENCE) for step in steps])


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
    items, away = x.shape[1], moments.mean - moments.mean.mean(axis=1, keepdims=True)
    # Expected sums of squares around the items' own means, which take one degree of freedom.
    squares = (away**2).sum(axis=1) + (1 - 1 / items) * moments.variance.sum(axis=1)
    densities = [prior_densities.spread_a(problem.priors), prior_densities.spread_b(problem.priors)][-len(v) :]
    by_hyperprior = np.array([float(density.slope_on_log(each)) for density, each in zip(densities, v, strict=True)])
    slope = squares[-len(v) :] * np.exp(-2 * v) - (items - 1) + by_hyperprior
    return _Round(v, top, prior, moments, slope)


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


POINTS = 5
"""Quadrature points in each of log slope and intercept."""
COARSE = 41
"""Abilities the counts are gathered at: an item's curve is much smoother than a student's posterior."""


class ItemMoments(NamedTuple):
    """Means and variances `[2, I]` of log |slope| and of the difficulty in logits."""

    mean: Floats
    variance: Floats


def item_moments(found: Expectation, x: Floats, prior: PopulationPrior, shared: tuple[bool, ...]) -> ItemMoments:
    """Moments of each item's posterior given the expected counts, at the mode `x` `[K, I]`; asymptotes follow."""
    nodes, right, asked = _gathered(found)
    at, own = prior.place(x), [row for row, common in enumerate(shared) if not common]
    root = _root(x, curvature(curves(x, nodes), right, asked) + prior.information(x, observed=True), own, not shared[0])
    points, weights = _rule(2 - shared[0])
    kept = np.empty((3, len(points), x.shape[1]))
    for number, (z, weight) in enumerate(zip(points, weights, strict=True)):
        move = np.einsum("ikl,l->ki", root[:, :, : len(z)], z)
        moved = x.copy()
        moved[own] += move
        if not shared[0]:
            moved[0] = x[0] * np.exp(move[0])
        logs, b = prior.natural(moved, at.centre)
        curve = curves(moved, nodes)
        value = np.sum(right * curve.log_odds + asked * curve.log_wrong, axis=0) + prior.of_items(logs, b, at)
        kept[:, number] = (
            np.log(weight) + value + prior.rest.of_asymptotes(moved).sum(axis=0) + 0.5 * float(z @ z),
            logs,
            b,
        )
    shares = softmax(kept[0], axis=0)
    mean = np.sum(shares * kept[1:], axis=1)
    return ItemMoments(mean, np.sum(shares * (kept[1:] - mean[:, None]) ** 2, axis=1))


def _gathered(found: Expectation) -> tuple[Floats, Floats, Floats]:
    """Nodes `[Q]`, right answers and trials `[Q, I]`, shared out linearly over `COARSE` nodes where there are more."""
    nodes, right = found.at.nodes, found.right
    asked = np.broadcast_to(found.asked, right.shape)
    if len(nodes) <= COARSE:
        return nodes, right, asked
    few = np.linspace(nodes[0], nodes[-1], COARSE)
    share = np.maximum(1.0 - np.abs(few[:, None] - nodes) / (few[1] - few[0]), 0.0)
    return few, share @ right, share @ asked


def _root(x: Floats, information: Floats, own: list[int], own_slope: bool) -> Floats:
    """Roots `[I, L, L]`, lower triangular, of the covariances of an item's own coordinates, log |slope| the first."""
    information = information[:, own][:, :, own]
    if own_slope:
        information[:, 0] *= x[0][:, None]
        information[:, :, 0] *= x[0][:, None]
    values, vectors = np.linalg.eigh(information)
    covariance = np.einsum("ikl,il,iml->ikm", vectors, 1.0 / np.maximum(values, FLATTEST), vectors)
    return np.asarray(np.linalg.cholesky(covariance))


def _rule(width: int) -> tuple[Floats, Floats]:
    """Points `[P, width]` and weights `[P]` of the product rule for a standard normal."""
    points, weights = np.polynomial.hermite_e.hermegauss(POINTS)
    places = np.indices((POINTS,) * width).reshape(width, -1)
    return points[places].T, np.prod((weights / weights.sum())[places], axis=0)
