"""Method `mml`: marginal maximum likelihood over a Normal(0, 1) population (Bock & Aitkin 1981).

Slopes and intercepts are estimated by maximum likelihood with errors from the observed information, as long as the
answers hold all items. A prior comes in where they cannot: on items that all or none solved, on items whose estimates
run off to infinity, and on all items when such run off again and again, when priors are asked for by name or when
asymptotes are to be estimated from few students (marginal a posteriori):

    all items       log |slope| ~ Normal(their mean, spread_a), intercept ~ Normal(their mean, spread_b)
    their means     Normal(0, 2 common_a), Normal(0, centre_b)
    single items    log |slope| ~ Normal(log median, 2 spread_a), intercept ~ Normal(0, hypot(centre_b, spread_b))
    slope of 1pl    log slope ~ Normal(0, 2 common_a)
    asymptotes      c and delta ~ Beta as in `irt.model`

The sign of a slope under a prior is that of the item's association with the score.

An asymptote whose maximum lies at 0 (or 1) stays there; the errors of the rest are given that, and its own interval is
one-sided, from the slope of the likelihood at the bound.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt.fitting.coordinates import SHARED, item_errors, to_items
from irt.fitting.em import Climb, State, Table, climb, compress, evaluate, held
from irt.fitting.observed_information import Curvature, observe
from irt.fitting.outcome import Outcome, Progress, Settings
from irt.fitting.penalty import Penalty, penalty_of
from irt.fitting.plausible import draw
from irt.kernels import smoothed_logit
from irt.model import Problem
from irt.responses import Floats

FEW_STUDENTS = 500
"""With fewer, models with asymptotes take priors: maximum likelihood would send them anywhere."""
ALL_AT_ONCE, RESCUES = 8, 11
"""Climbs after which every item gets priors, and climbs in all."""
POLISH = 6
STEEP = 8.0
AT_BOUND = 7.0
NAMED = 3

Mask = NDArray[np.bool_]


class Estimate(NamedTuple):
    """Maximum, curvature, coordinates at a bound `[K, I]`, and what is left: gain in log-likelihood, largest step."""

    climb: Climb
    curvature: Curvature
    ability_slopes: Floats
    fixed: Mask
    gain_left: float
    step_left: float
    rescued: Mask

    @property
    def converged(self) -> bool:
        """Log-likelihood within 1e-3 of its maximum and parameters within 1e-4 (or a thousandth of their errors)."""
        return self.gain_left < 1e-3 and self.step_left < 1e-4


def find_marginal(problem: Problem, settings: Settings, progress: Progress | None) -> Outcome:
    """Maximise the marginal likelihood; draw items from its curvature and abilities from their posteriors."""
    begin = time.perf_counter()
    table = compress(problem.successes, problem.attempts)
    own = problem.guessing and not SHARED[problem.model][2]
    few = own and len(problem.attempts) < FEW_STUDENTS
    found = estimate(table, problem, settings.given_priors or few, progress)
    x, state = found.climb.state.x, found.climb.state
    covariance = _freed(found)
    items, errors = to_items(x), item_errors(x, covariance)
    nodes, fixed = found.climb.nodes, found.fixed
    draws = draw(table, state, nodes, found.curvature, covariance, found.ability_slopes, fixed, settings.seed)
    parameters = x.size - sum(SHARED[problem.model]) * (x.shape[1] - 1)
    rows = {"theta": state.mean[table.row_of]}
    spread = {"theta": state.sd[table.row_of]}
    for name, point, error in zip("abcd", items, errors, strict=True):
        rows[name] = point
        spread[name] = np.where(_bounded(found, name), draws[name].std(axis=0), error)
    students = len(problem.attempts)
    held_items = x.shape[1] if settings.given_priors or few else int(found.rescued.sum())
    return Outcome(
        draws=draws,
        point=rows,
        errors=spread,
        log_likelihood=state.log_likelihood,
        converged=found.converged,
        diagnostics={
            "iterations": len(found.climb.values) - len(found.climb.renewed),
            "nodes": len(found.climb.nodes),
            "gain_left": found.gain_left,
            "step_left": found.step_left,
            "parameters": parameters,
            "aic": 2 * parameters - 2 * state.log_likelihood,
            "bic": float(np.log(students)) * parameters - 2 * state.log_likelihood,
            "log_posterior": state.value,
            "items_held_by_priors": held_items,
        },
        notes=tuple(_notes(problem, settings, found, few)),
        seconds={"compile": 0.0, "fit": time.perf_counter() - begin},
    )


def estimate(table: Table, problem: Problem, given_priors: bool, progress: Progress | None = None) -> Estimate:
    """Climb, judge by the exact information, and rescue by priors what the answers cannot hold."""
    start = starting_point(problem)
    shared = SHARED[problem.model]
    with_prior = _priors_from_the_start(problem, start, given_priors)
    rescued = np.zeros(start.shape[1], dtype=np.bool_)
    x, unit = start, _typical_slope(start, rescued)
    best = None
    for attempt in range(RESCUES):
        penalty = penalty_of(problem, with_prior, unit, given_priors)
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
        raise ValueError(f"no stable estimates of {problem.model} from this table; a simpler model was wanted")
    return best


def starting_point(problem: Problem) -> Floats:
    """Slopes from regressing answers on the students' standardised logits, intercepts from the proportions right."""
    k, n = problem.successes, problem.attempts
    score = smoothed_logit(k.sum(axis=1), (n - k).sum(axis=1))
    score = (score - score.mean()) / max(float(score.std()), 1e-6)
    share = (k.sum(axis=0) + 0.5) / (n.sum(axis=0) + 1.0)
    slope = (score @ k - share * (score @ n)) / ((score**2 @ n) * share * (1 - share) + 1e-12)
    slope = np.where(_constant(problem), 1.0, np.clip(slope, -2.0, 2.5))
    chance = problem.chance
    above = np.clip((share - chance) / (1 - chance), 0.05, 0.95) if problem.guessing else share
    rows = [np.full_like(slope, slope.mean()) if not problem.free_a else slope, np.log(above / (1 - above))]
    if problem.guessing:
        rows.append(np.log(chance / (1 - chance)))
    if problem.slipping:
        rows.append(np.full_like(slope, np.log(problem.priors.upper / (1 - problem.priors.upper))))
    return np.stack(rows)


def _typical_slope(x: Floats, rescued: Mask) -> float:
    """Median size of the slopes not rescued."""
    kept = np.abs(x[0])[~rescued]
    return float(np.clip(np.median(kept), 0.2, 8.0)) if len(kept) else 1.0


def _priors_from_the_start(problem: Problem, start: Floats, given: bool) -> Mask:
    """Everywhere when `given`; else where no maximum can exist without: all coordinates of constant items."""
    on = np.full(start.shape, given) | _constant(problem)
    if not problem.free_a and not given:
        on[0] = False
    return np.asarray(on)


def _judge(
    table: Table, top: Climb, shared: tuple[bool, ...], penalty: Penalty, rescued: Mask
) -> tuple[Estimate | None, NDArray[np.int64]]:
    """The estimate, after Newton steps by the exact information where the climb left some way; or the culprits."""
    state, nodes = top.state, top.nodes
    for _ in range(POLISH):
        fixed = np.zeros(state.x.shape, dtype=np.bool_)
        fixed[2:] = (np.abs(state.x[2:]) > AT_BOUND) & (penalty.low[2:] == 0)
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
        result = Estimate(
            top._replace(state=state), seen.curvature, seen.ability_slopes, fixed, gain, length, rescued.copy()
        )
        if result.converged:
            break
        better = _stepped(table, state, step, nodes, shared, penalty)
        if better is None:
            break
        state = better
    return result, worst


def _stepped(
    table: Table, state: State, step: Floats, nodes: Floats, shared: tuple[bool, ...], penalty: Penalty
) -> State | None:
    for length in (1.0, 0.3, 0.1, 0.03, 0.003):
        new = evaluate(table, state.x + length * step, nodes, shared, penalty)
        if new.value > state.value:
            return new
    return None


def _freed(found: Estimate) -> Floats:
    """Covariance `[I, K, K]` with nothing for coordinates at a bound."""
    free = 1.0 - found.fixed.T
    return np.asarray(found.curvature.covariance * free[:, :, None] * free[:, None, :])


def _bounded(found: Estimate, name: str) -> Mask:
    """Items whose asymptote `c` or `d` is at its bound."""
    row = {"c": 2, "d": 3}.get(name, len(found.fixed))
    return found.fixed[row] if row < len(found.fixed) else np.zeros(found.fixed.shape[1], dtype=np.bool_)


def _notes(problem: Problem, settings: Settings, found: Estimate, few: bool) -> list[str]:
    notes = []
    if settings.given_priors:
        notes.append("Priors were given, so these are marginal a posteriori estimates, not maximum likelihood.")
    elif few:
        notes.append(
            f"{len(problem.attempts)} students are too few for maximum likelihood of {problem.model}: these are "
            "marginal a posteriori estimates, with priors on all items."
        )
    constant = _constant(problem)
    rescued = np.flatnonzero(found.rescued & ~constant)
    if len(rescued):
        notes.append(
            f"Maximum likelihood has no finite or no stable estimates for {_listed(problem, rescued)}: a weak prior "
            "holds them."
        )
    if settings.given_priors or few or len(rescued):
        notes.append(
            "The log-likelihood of estimates held by priors is not a maximum: it, AIC and BIC do not compare this fit "
            "with others."
        )
    for row, word, value in ((2, "Guessing", 0), (3, "The upper asymptote", 1)):
        at_bound = np.flatnonzero(found.fixed[row]) if row < len(found.fixed) else np.zeros(0, dtype=np.int64)
        if len(at_bound):
            notes.append(
                f"{word} is estimated as {value} for {_listed(problem, at_bound)}: its interval is one-sided and the "
                "errors of these items' other parameters take it as known."
            )
    if not found.converged:
        notes.append(
            f"Not converged: a log-likelihood {found.gain_left:.2g} higher and steps of {found.step_left:.2g} are left "
            f"after {len(found.climb.values)} iterations."
        )
    return notes


def _constant(problem: Problem) -> Mask:
    """Items that every student solved, or none."""
    right, asked = problem.successes.sum(axis=0), problem.attempts.sum(axis=0)
    return np.asarray((right == 0) | (right == asked))


def _listed(problem: Problem, which: NDArray[np.int64]) -> str:
    names = [f"'{problem.items[index]}'" if problem.items else f"number {index + 1}" for index in which[:NAMED]]
    more = f" and {len(which) - NAMED} more" if len(which) > NAMED else ""
    return f"item{'s' if len(which) > 1 else ''} {', '.join(names)}{more}"
