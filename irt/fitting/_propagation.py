"""Expectation propagation (Minka 2001) of a model with effects of levels on items, at given scales.

Given discriminations and asymptotes every answer depends on one logit, linear in normal coordinates. A normal site
stands in for its likelihood; sites are chosen so that replacing any of them by the likelihood leaves mean and variance
of its logit as they are. For such models means, variances and evidence are nearly exact (Hall et al. 2020), also where
all answers that tell an effect were right: its mode then lies far below its mean. Discriminations and asymptotes that
items have of their own are at the maximum of that evidence times their prior, and are integrated by Laplace's
approximation there; guessing that items share is given, like a scale.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from irt._graded import GradedParameters
from irt._model import Problem
from irt._prior_densities import BetaShare, guessing, upper_share
from irt._responses import Floats
from irt.fitting import _crossed_kernels as kernels
from irt.fitting._crossed_gaussian import CrossedGaussian, Directions, Sites
from irt.fitting._crossed_moves import CrossedTable
from irt.fitting._rating_curvature import RATING_MODELS
from irt.fitting._rating_steps import ItemSteps, StepCurvature, StepDerivatives, StepScale
from irt.fitting._tilted import spaced, tilt, tilt_ratings

ROUNDS, NEAR = 200, 0.01
"""Of propagation at most, and the change of means of logits and of coordinates at which it ends: the evidence is at its
maximum over them.
"""
PROBE = 0.3
"""How far log discriminations are moved to see their information, or as many of their spreads if that is less."""
DAMPED = 0.7
"""Share of a change that is taken: all sites change at once, and whole changes may swing."""
LEAST = 1e-6
"""Least variance of a logit, and precision of a site that may not be negative: it then keeps the mean alone."""
CONVEX = 0.5
"""How negative the precision of a site may be, as a share of the precision that the rest gives its logit: a right
answer that may be guessed says little of logits far below, so that it makes them less sure.
"""
LONGEST = 1.0
"""Largest change of a discrimination's coordinate and of the logit of an asymptote in a round."""


Covariances = tuple[Floats, Floats, Floats]
"""Of every answer: variances of its logit and of ability less difficulty, and their covariance, each `[I, S]`."""


class CrossedScales(NamedTuple):
    """Scales of the terms `[T]`, of the residuals, log discriminations and difficulties (0: not in the model), and of
    the effects on items `[F]`; of use where the model has them: the logit of the guessing that items share, the spread
    of steps between ratings.
    """

    terms: Floats
    tau: float
    spread_a: float
    spread_b: float
    effects: Floats
    guessing: float
    gap: float = 1.0


class PropagationState(NamedTuple):
    """Sites, log discriminations in units of their spread `[I]`, logits of the asymptotes c and delta `[I]`, and steps
    between ratings.
    """

    sites: Sites
    alpha: Floats
    low: Floats
    high: Floats
    steps: ItemSteps


@dataclass(frozen=True)
class Propagated:
    """Where propagation ended: the Gaussian, discriminations given, the information about the logits of the asymptotes
    `[2, I]` (infinite where one is held), what is known of thresholds (None: right and wrong answers), the log
    evidence and prior of discriminations, asymptotes and thresholds, the latter two integrated, and its slope by the
    logit of the guessing that items share.
    """

    state: PropagationState
    gaussian: CrossedGaussian
    information: Floats
    thresholds: StepCurvature | None
    log_evidence: float
    guessing_slope: float


class PropagatedDraws(NamedTuple):
    """Draws, in units of their scales, of `v` `[D, B]` (abilities, mean difficulty, item covariates), difficulties and
    effects on items `[D, I, K]` and log discriminations `[D, I]`; of asymptotes c and delta `[D, I]`; of thresholds
    less their mean `[D, I, K]`, in logits of ability (None: right and wrong answers).
    """

    v: Floats
    x: Floats
    alpha: Floats
    c: Floats
    delta: Floats
    ladders: Floats | None


@dataclass(frozen=True)
class Propagation:
    """A problem at given scales."""

    problem: Problem
    table: CrossedTable
    scales: CrossedScales
    loadings: Floats
    parts: tuple[slice, ...]
    levels: Floats
    prior: Floats

    @staticmethod
    def of(problem: Problem, table: CrossedTable, scales: CrossedScales) -> Propagation:
        """With weights to abilities less the mean difficulty, then for each item covariate to what it brings `[S, B]`,
        and each student's levels `[S, J]`, scaled.
        """
        students = len(table.design)
        parts = [table.design * scales.terms[table.term]]
        if table.residual:
            parts.append(scales.tau * (np.eye(students) - 1 / students))
        ability = np.hstack([*parts, np.full((students, 1), -1.0)])
        loadings = np.hstack([ability, *[table.carriers] * table.covariates.shape[1]])
        ends = range(ability.shape[1], loadings.shape[1] + 1, table.carriers.shape[1])
        levels = np.zeros((students, len(table.facet)))
        for column in table.column:
            levels[np.arange(students), column] = 1.0
        prior = np.ones(loadings.shape[1])
        prior[ability.shape[1] - 1] = table.widths["centre_b"] ** -2
        of_parts = tuple(slice(begin, end) for begin, end in itertools.pairwise([0, *ends]))
        return Propagation(problem, table, scales, loadings, of_parts, levels * scales.effects[table.facet], prior)

    def start(self) -> PropagationState:
        """Sites as of answers at even odds, all else at the middle of its prior."""
        right, trials = self.table.answers
        items = len(right)
        low = np.broadcast_to(logit(self.problem.guessing_centre), items) if self.table.guessing else np.zeros(items)
        high = np.full(items, logit(self.problem.priors.upper) if self.table.slipping else 0.0)
        steps = ItemSteps(np.zeros((items, 0)), np.zeros(0)) if self.thresholds is None else self.thresholds.start()
        return PropagationState(Sites(trials / 8, (right - trials / 2) / 2), np.zeros(items), low.copy(), high, steps)

    @cached_property
    def thresholds(self) -> StepScale | None:
        """The thresholds of ratings."""
        ratings = self.problem.ratings
        return None if ratings is None else StepScale(ratings, self.problem.partial_credit, self.scales.gap)

    def run(self, state: PropagationState, frozen: bool = False) -> Propagated:
        """Propagate from `state` until nothing moves, discriminations `frozen` or not.

        With sites of negative precision, unless what they add up to is no Gaussian. Raises LinAlgError where it breaks
        down or does not settle.
        """
        if self.table.guessing or self.table.slipping:
            with suppress(np.linalg.LinAlgError):
                return self._settled(state, frozen, CONVEX)
        return self._settled(state, frozen, 0.0)

    @np.errstate(all="ignore")  # what breaks down is seen by what is not finite
    def _settled(self, state: PropagationState, frozen: bool, convex: float) -> Propagated:
        if self.table.shared_guessing:
            state = state._replace(low=np.full_like(state.low, self.scales.guessing))
        for _ in range(ROUNDS):
            a = np.exp(self.scales.spread_a * state.alpha)
            gaussian = CrossedGaussian(self._directions(a), state.sites, self.prior)
            covariances = gaussian.covariances(self._ahead_slopes)
            along = np.maximum(covariances[0], LEAST)
            ratio, mean, variance, by_item, thresholds = self._tilted(state, gaussian, along)
            sites = self._moved(state.sites, gaussian.logits, along, mean, variance, convex)
            low, high, information = self._asymptotes(state, by_item)
            alpha = state.alpha if frozen else self._alpha(state, gaussian, covariances, thresholds)
            steps = self._steps(state, thresholds, alpha)
            pairs = [(mean, gaussian.logits), (alpha, state.alpha), (low, state.low), (high, state.high)]
            pairs += zip(steps, state.steps, strict=True)
            change = float(np.max([np.abs(one - other).max(initial=0.0) for one, other in pairs]))
            if not np.isfinite(change):
                raise np.linalg.LinAlgError("propagation broke down")
            if change < NEAR:
                evidence = gaussian.log_evidence + float(ratio.sum()) - 0.5 * float(np.sum(state.alpha**2))
                evidence += self._of_asymptotes(state, information)
                evidence += 0.0 if thresholds is None else thresholds.log_evidence()
                return Propagated(state, gaussian, information, thresholds, evidence, float(by_item[:, 0].sum()))
            state = PropagationState(sites, alpha, low, high, steps)
        raise np.linalg.LinAlgError(f"propagation did not settle in {ROUNDS} rounds")

    def known(self, found: Propagated) -> Floats:
        """Information about each log discrimination `[I]`, less that of its prior: how the slope changes when half of
        them move up, half down, and the rest adapts; or, where this does not settle, stays. Empty where the model has
        no discriminations.
        """
        if not self.table.free_a:
            return np.zeros(0)
        items, step = len(found.state.alpha), PROBE / max(self.scales.spread_a, 1.0)
        moves = np.where(np.random.default_rng(items).permutation(items) % 2, step, -step)
        before, information = self._slope_of(found)
        try:
            moved = self.run(found.state._replace(alpha=found.state.alpha + moves), frozen=True)
        except np.linalg.LinAlgError:
            # More than there is, which makes the evidence of such scales too low rather than too high.
            return (information - 1) / self.scales.spread_a**2
        change = (self._slope_of(moved)[0] - before) / moves
        return np.asarray(np.maximum(-change - 1, 0.0) / self.scales.spread_a**2)

    def _slope_of(self, found: Propagated) -> tuple[Floats, Floats]:
        covariances = found.gaussian.covariances(self._ahead_slopes)
        return self._slope(found.state, found.gaussian, covariances, found.thresholds)

    def sample(self, found: Propagated, known: Floats, rng: np.random.Generator, count: int) -> PropagatedDraws:
        """Draws of all coordinates, where it is `known` what the answers tell of the discriminations."""
        mean, state, gaussian = found.gaussian.mean, found.state, found.gaussian
        if self.table.free_a:
            directions = gaussian.directions
            own = self.scales.spread_a * directions.factor[:, :1] * self._ahead(gaussian)
            slopes = np.concatenate([own[:, :, None], directions.slopes], axis=2)
            gaussian = CrossedGaussian(directions._replace(slopes=slopes), state.sites, self.prior)
        v, x = gaussian.sample(rng, count, self.table.free_a)
        alpha = np.broadcast_to(state.alpha, (count, len(state.alpha)))
        if self.table.free_a:
            # Linear as it is, the Gaussian makes discriminations a bit too sure.
            variances = 1 / (1 + self.scales.spread_a**2 * known)
            alpha, x = alpha + x[:, :, 0] * np.sqrt(variances / gaussian.variances.x[:, 0]), x[:, :, 1:]
        noise = rng.standard_normal((2, count, len(state.low))) / np.sqrt(found.information)[:, None]
        c, delta = self.bounds(state.low + noise[0], state.high + noise[1])
        ladders = None
        if found.thresholds is not None and self.thresholds is not None:
            own, along = found.thresholds.sample(rng, self.scales.spread_a * (alpha - state.alpha))
            ladders, v, x = self.thresholds.ladder(own), v + along.v, x + along.x
        return PropagatedDraws(mean.v + v, mean.x + x, alpha, c, delta, ladders)

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Asymptotes c and delta of their logits; 0 and 1 where the model has none."""
        c = expit(low) if self.table.guessing else np.zeros_like(low)
        return c, expit(high) if self.table.slipping else np.ones_like(high)

    def chances(self, found: Propagated) -> Floats:
        """Probabilities of right answers, or expected shares of the points `[I, S]`, over the Gaussians of logits."""
        c, delta = (value[:, None] for value in self.bounds(found.state.low, found.state.high))
        width = np.sqrt(found.gaussian.covariances(self._ahead_slopes)[0])
        step, side = spaced(width.max())
        places = step * np.arange(-side, side + 1)
        shares = step * np.exp(-(places**2) / 2) / np.sqrt(2 * np.pi)
        curve = expit if self.thresholds is None else self._items(found).share
        logits = found.gaussian.logits
        up = sum(share * curve((logits + at * width).T).T for at, share in zip(places, shares, strict=True))
        return np.asarray(c + (1 - c) * delta * up)

    def log_likelihood(self, found: Propagated) -> float:
        """Of all answers at the means of their logits."""
        if self.problem.ratings is not None:
            return float(self._items(found).log_likelihood(self.problem.ratings.scores, found.gaussian.logits.T).sum())
        bounds = self.bounds(found.state.low, found.state.high)
        return float(kernels.log_likelihood(self.table.answers, bounds, found.gaussian.logits))

    def _items(self, found: Propagated) -> GradedParameters:
        """Items of ratings that answer to logits."""
        assert self.thresholds is not None
        assert self.problem.ratings is not None
        a = np.exp(self.scales.spread_a * found.state.alpha)
        ladder = a[:, None] * self.thresholds.ladder(found.state.steps.own)
        return RATING_MODELS[self.problem.model].items(np.ones_like(a), ladder, self.problem.ratings.top)

    @property
    def _ahead_slopes(self) -> Floats:
        """Derivatives of ability less difficulty by an item's coordinates `[K]`."""
        return np.append(-self.scales.spread_b, np.zeros(self.levels.shape[1]))

    def _directions(self, a: Floats) -> Directions:
        """The logits by the coordinates, discriminations given."""
        slopes = np.empty((len(a), len(self.levels), 1 + self.levels.shape[1]))
        slopes[:, :, 0] = -self.scales.spread_b * a[:, None]
        slopes[:, :, 1:] = self.levels
        return Directions(slopes, np.column_stack([a, self.table.covariates]), self.loadings, self.parts)

    def _ahead(self, gaussian: CrossedGaussian) -> Floats:
        """Means of ability less difficulty `[I, S]`."""
        ability = self.loadings[:, self.parts[0]] @ gaussian.mean.v[self.parts[0]]
        return np.asarray(ability - self.scales.spread_b * gaussian.mean.x[:, :1])

    def _tilted(
        self, state: PropagationState, gaussian: CrossedGaussian, variances: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, StepCurvature | None]:
        """Log ratio of likelihood to site, mean and variance of every logit `[I, S]`, sums by item `[I, 4]`, and what
        ratings tell of thresholds.
        """
        logits, steps = (gaussian.logits, np.sqrt(variances)), self.thresholds
        found = tuple(np.empty_like(variances) for _ in range(3))
        by_item = np.zeros((len(variances), 4))
        if steps is None:
            bounds = self.bounds(state.low, state.high)
            tilt(self.table.answers, bounds, logits, tuple(state.sites), found, by_item)
            return found[0], found[1], found[2], by_item, None
        a = np.exp(self.scales.spread_a * state.alpha)
        ladder = a[:, None] * steps.ladder(state.steps.own)
        items, most = ladder.shape
        seen = StepDerivatives(*map(np.empty, ((items, most), (items, most, most), (*variances.shape, most))))
        tilt_ratings(self.table.answers, (ladder, steps.partial), logits, tuple(state.sites), found, tuple(seen))
        return found[0], found[1], found[2], by_item, StepCurvature(steps, state.steps, a, seen, gaussian)

    def _moved(
        self, sites: Sites, logits: Floats, variances: Floats, mean: Floats, variance: Floats, convex: float
    ) -> Sites:
        """The sites a part of the way to those that leave the moments as the likelihood does."""
        asked = self.table.answers[1] > 0
        others = 1 / variances - sites.precision
        precision = np.maximum(1 / variance - others, -convex * others if convex else LEAST)
        linear = mean * (others + precision) - (logits / variances - sites.linear)
        return Sites(
            np.where(asked, sites.precision + DAMPED * (precision - sites.precision), 0.0),
            np.where(asked, sites.linear + DAMPED * (linear - sites.linear), 0.0),
        )

    def _alpha(
        self,
        state: PropagationState,
        gaussian: CrossedGaussian,
        covariances: Covariances,
        thresholds: StepCurvature | None,
    ) -> Floats:
        """Log discriminations a step further, summing to zero."""
        if not self.table.free_a:
            return state.alpha
        moved = state.alpha + _step(*self._slope(state, gaussian, covariances, thresholds))
        return np.asarray(moved - moved.mean())

    def _steps(self, state: PropagationState, thresholds: StepCurvature | None, alpha: Floats) -> ItemSteps:
        """Steps between ratings a step further, when log discriminations move to `alpha`."""
        if thresholds is None:
            return state.steps
        moves = thresholds.step(self.scales.spread_a * (alpha - state.alpha))
        return ItemSteps(*(at + _step(move, np.ones(1)) for at, move in zip(state.steps, moves, strict=True)))

    def _slope(
        self,
        state: PropagationState,
        gaussian: CrossedGaussian,
        covariances: Covariances,
        thresholds: StepCurvature | None,
    ) -> tuple[Floats, Floats]:
        """By each log discrimination, the slope of the log evidence and prior, and their information if abilities,
        difficulties and effects were known. Logits vary along with these.
        """
        precision, linear = state.sites
        _, across, between = covariances
        ahead, factor = self._ahead(gaussian), self.scales.spread_a * gaussian.directions.factor[:, 0]
        pull = (linear - precision * gaussian.logits) * ahead - precision * between
        slope = factor * pull.sum(axis=1) - state.alpha
        known = 1 + factor**2 * np.sum(precision * (ahead**2 + across), axis=1)
        if thresholds is None:
            return slope, known
        more, sure = thresholds.of_log_a()
        return slope + self.scales.spread_a * more, known + self.scales.spread_a**2 * sure

    def _asymptotes(self, state: PropagationState, by_item: Floats) -> tuple[Floats, Floats, Floats]:
        """Logits of the asymptotes a step further, and the information about them `[2, I]`."""
        logits, information = [state.low, state.high], np.full((2, len(by_item)), np.inf)
        for row, prior in self._priors:
            score, expected = by_item[:, 2 * row : 2 * row + 2].T
            slope, known = prior.slope_and_information(logits[row])
            information[row] = expected + known
            logits[row] = logits[row] + _step(score + slope, information[row])
        return logits[0], logits[1], information

    @property
    def _priors(self) -> list[tuple[int, BetaShare]]:
        """Of the asymptotes that items have of their own: the lower one 0, the upper one 1."""
        priors, problem = self.problem.priors, self.problem
        own = self.table.guessing and not self.table.shared_guessing
        found = [(0, guessing(priors, problem.guessing_centre))] if own else []
        return [*found, (1, upper_share(priors, len(problem.chance)))] if self.table.slipping else found

    def _of_asymptotes(self, state: PropagationState, information: Floats) -> float:
        """The part of the asymptotes in the log evidence, their information giving their volume."""
        total = 0.0
        for row, prior in self._priors:
            total += prior.on_logit((state.low, state.high)[row]) - 0.5 * np.log(information[row]).sum()
        return float(total)


def _step(slope: Floats, information: Floats) -> Floats:
    """A damped step of Fisher scoring, not too long."""
    return np.asarray(DAMPED * np.clip(slope / information, -LONGEST, LONGEST))
