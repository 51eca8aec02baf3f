"""The maximum of the marginal likelihood, judged by the exact information and held by priors where it must be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt._model import Problem
from irt._responses import Floats
from irt.fitting._coordinates import SHARED
from irt.fitting._em import FAR, AnswerPatterns, Climb, climb, evaluate, held
from irt.fitting._estimation_outcome import Progress
from irt.fitting._item_priors import Prior, penalty_of
from irt.fitting._observed_information import InverseInformation, Widened, observe
from irt.fitting._population_spreads import Settled, pulls, settle
from irt.kernels import smoothed_logit

ALL_AT_ONCE, RESCUES = 8, 11
"""Climbs after which every item gets priors, and climbs in all."""
POLISH = 6
"""Newton steps by the exact information after a climb, at most."""
STEEP = 8.0
"""Slope, in typical ones, from which an item is taken to run off."""
CLEAR, LEAST_SLOPE = 3.0, 0.3
"""Errors by which a negative association is clear, and the least slope items of a population start from, as a share of
the median."""

Mask = NDArray[np.bool_]


class MarginalMaximum(NamedTuple):
    """Maximum, curvature, coordinates at a bound `[K, I]`, and what is left: gain in log-likelihood, largest step.

    `population` is there when the items have a population's prior; their spreads' uncertainty is in the curvature.
    """

    climb: Climb
    curvature: InverseInformation
    ability_slopes: Floats
    fixed: Mask
    gain_left: float
    step_left: float
    rescued: Mask
    penalty: Prior
    population: Settled | None = None

    @property
    def converged(self) -> bool:
        """Log-likelihood within 1e-3 of its maximum and parameters within 1e-4 (or a thousandth of their errors)."""
        settled = self.population is None or self.population.settled
        return settled and self.gain_left < 1e-3 and self.step_left < 1e-4


def estimate(
    table: AnswerPatterns, problem: Problem, progress: Progress | None = None, near: Floats | None = None
) -> MarginalMaximum:
    """Climb, judge by the exact information, and rescue by priors what the answers cannot hold.

    The climb begins at coordinates `near` `[K, I]`, where they are known.
    """
    start, shared = starting_point(problem), SHARED[problem.model]
    # Constant items have no maximum without a prior.
    with_prior = np.full(start.shape, False) | constant(problem)
    with_prior[0] &= problem.free_a
    rescued = np.zeros(start.shape[1], dtype=np.bool_)
    x = start if near is None else near
    unit, best = _typical_slope(x, rescued), None
    for attempt in range(RESCUES):
        penalty = penalty_of(problem, with_prior, unit)
        top = climb(table, x, shared, penalty, progress)
        unit = _typical_slope(top.state.x, rescued)
        poor = (np.abs(top.state.x[0]) > STEEP * max(unit, 1.0)) & ~with_prior[0]
        if not np.any(poor):
            result, culprits = _judge(table, top, shared, penalty, rescued)
            if result is not None and (result.converged or (np.all(with_prior) and best is not None)):
                return result
            poor[culprits] = True
            best = result or best
        if np.all(with_prior) and attempt > ALL_AT_ONCE:
            break
        if attempt >= ALL_AT_ONCE or any(shared):
            poor[:] = True
        x = np.where(poor & ~with_prior[0], start, top.state.x if best is None else best.climb.state.x)
        rescued |= poor & ~with_prior[0]
        with_prior = with_prior | rescued
    if best is None:
        raise ValueError(f"no stable estimates of {problem.model} from this table; wanted a simpler model")
    return best


def estimate_population(
    table: AnswerPatterns, problem: Problem, progress: Progress | None = None, near: Floats | None = None
) -> MarginalMaximum:
    """The mode of items that are a population, at its estimated spreads, whose uncertainty is in the curvature."""
    found = settle(table, problem, _upright(problem, starting_point(problem) if near is None else near), progress)
    rescued = np.zeros(found.top.state.x.shape[1], dtype=np.bool_)
    result, _ = _judge(table, found.top, SHARED[problem.model], found.prior, rescued)
    if result is None:
        raise ValueError(f"no stable estimates of {problem.model} from this table; wanted a simpler model")
    moves = [result.curvature.solve(pull) for pull in pulls(problem, result.climb.state.x, found.prior.spreads)]
    rows = np.stack(moves) * found.errors[:, None, None]
    return result._replace(curvature=Widened(result.curvature, rows), population=found)


def starting_point(problem: Problem) -> Floats:
    """Slopes from regressing answers on the students' standardised logits, intercepts from the proportions right."""
    slope, _, share = _association(problem)
    slope = np.where(constant(problem), 1.0, np.clip(slope, -2.0, 2.5))
    chance = problem.chance
    above = np.clip((share - chance) / (1 - chance), 0.05, 0.95) if problem.guessing else share
    rows = [slope if problem.free_a else np.full_like(slope, slope.mean()), np.log(above / (1 - above))]
    rows += [np.log(chance / (1 - chance))] * problem.guessing
    upper = problem.priors.upper
    rows += [np.full_like(slope, np.log(upper / (1 - upper)))] * problem.slipping
    return np.stack(rows)


def _association(problem: Problem) -> tuple[Floats, Floats, Floats]:
    """Regression slopes of answers on standardised logits `[I]`, their errors, and the proportions right."""
    k, n = problem.successes, problem.attempts
    score = smoothed_logit(k.sum(axis=1), (n - k).sum(axis=1))
    score = (score - score.mean()) / max(float(score.std()), 1e-6)
    share = (k.sum(axis=0) + 0.5) / (n.sum(axis=0) + 1.0)
    information = (score**2 @ n) * share * (1 - share) + 1e-12
    return (score @ k - share * (score @ n)) / information, 1.0 / np.sqrt(information), share


def _upright(problem: Problem, x: Floats) -> Floats:
    """Slopes of a population: positive, but for items whose association with the score is clearly negative.

    The prior of a slope's logarithm has no way from one sign to the other, and noise makes many signs.
    """
    slope, error, _ = _association(problem)
    typical = max(float(np.median(x[0])), LEAST_SLOPE)
    upright = x.copy()
    upright[0] = np.where(
        slope < -CLEAR * error, np.minimum(x[0], -LEAST_SLOPE * typical), np.maximum(x[0], LEAST_SLOPE * typical)
    )
    if not problem.free_a:
        upright[0] = upright[0].mean()
    return upright


def _typical_slope(x: Floats, rescued: Mask) -> float:
    """Median size of the slopes not rescued."""
    kept = np.abs(x[0])[~rescued]
    return float(np.clip(np.median(kept), 0.2, 8.0)) if len(kept) else 1.0


def _judge(
    table: AnswerPatterns, top: Climb, shared: tuple[bool, ...], penalty: Prior, rescued: Mask
) -> tuple[MarginalMaximum | None, NDArray[np.int64]]:
    """The estimate, after Newton steps by the exact information where the climb left some way; or the culprits."""
    state, nodes = top.state, top.nodes
    for _ in range(POLISH):
        fixed = np.zeros(state.x.shape, dtype=np.bool_)
        fixed[2:] = (np.abs(state.x[2:]) > FAR) & ~np.stack([penalty.holds(row) for row in range(len(state.x))])[2:]
        seen = observe(table, state.x, nodes, shared, penalty, fixed.astype(np.float64))
        if seen.curvature is None:
            return None, seen.culprits
        gradient = np.where(fixed, 0.0, state.gradient)
        step = np.where(fixed, 0.0, seen.curvature.solve(gradient))
        rest = float(np.sum(np.abs(np.where(fixed, held(state), 0.0))))
        gain = 0.5 * float(np.sum(step * gradient)) + rest
        error = np.sqrt(np.einsum("ikk->ki", seen.curvature.covariance))
        length = float(np.max(np.abs(step) / np.maximum(1.0, 10 * error)))
        worst = np.argmax(np.max(np.abs(step) / (1e-12 + error), axis=0), keepdims=True)
        result = MarginalMaximum(
            top._replace(state=state), seen.curvature, seen.ability_slopes, fixed, gain, length, rescued.copy(), penalty
        )
        if result.converged:
            break
        for share in (1.0, 0.3, 0.1, 0.03, 0.003):
            new = evaluate(table, state.x + share * step, nodes, shared, penalty)
            if new.value > state.value:
                break
        else:
            break
        state = new
    return result, worst


def constant(problem: Problem) -> Mask:
    """Items that every student solved, or none."""
    right, asked = problem.successes.sum(axis=0), problem.attempts.sum(axis=0)
    return np.asarray((right == 0) | (right == asked))
