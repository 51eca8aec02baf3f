"""Marginal likelihood climbed by accelerated EM (Bock & Aitkin 1981; Lange 1995).

Every iteration has one pass over the answers: posteriors of ability on nodes shared by all students, and the counts
expected at each node, both matrix products. By Fisher's identity the counts also give the exact gradient of the
marginal log-likelihood. A Newton step of the M-step is then the complete-data information applied to that gradient (EM
gradient algorithm, Lange 1995 a); limited-memory quasi-Newton updates on top of it learn the information that is
missing (Lange 1995 b), which cures EM's slow linear rate. The first steps also rescale ability to the Normal(0, 1)
population (parameter expansion, Liu, Rubin & Wu 1998), along which long tests would creep. A step must raise the
objective.

Lange (1995 a) JRSS B 57, 425; (1995 b) Statistica Sinica 5, 1.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt._quadrature import BOUND, Posterior, bound_for, nodes_for, weigh
from irt._responses import Floats
from irt.fitting._coordinates import Curves, curves, gradient_and_information, to_items
from irt.fitting._estimation_outcome import Progress, tell
from irt.fitting._item_blocks import ItemBlocks
from irt.fitting._item_priors import Prior
from irt.kernels import RUNAWAY

ITERATIONS = 500
"""At most; climbs that settle take a few dozen."""
EXPANSIONS = 6
"""First steps that rescale ability: later ones find nothing left to rescale."""
MEMORY = 20
"""Steps that a quasi-Newton step remembers."""
NEGLIGIBLE = (1e-7, 1e-5)
"""Gain of the objective and largest move of a coordinate at which a climb ends."""
CELLS = 2**18
"""Students times nodes in one pass, so that posteriors stay in the processor's cache."""
STEPS_PER_SD = 1.0
"""Nodes in a standard deviation of the narrowest posterior: the trapezoid rule is then exact to 1e-8."""
LONGEST_STEP = np.array([1.0, 2.0, 1.5, 1.5])
"""Most a slope, an intercept and the logits of asymptotes move in a step: beyond, the curvature tells little."""
FLATTEST = np.array([1e-6, 1e-6, 0.02, 0.02])
"""Least information per coordinate a step assumes: an asymptote at its bound has next to none."""
EDGE = 11.0
"""Logits of asymptotes stay within this bound: c below 2e-5 is 0 to the likelihood."""
FAR = 7.0
"""Logit beyond which an asymptote without prior is at its bound."""


class Population(NamedTuple):
    """Means and standard deviations `[R]` of the populations that the students of each row come from."""

    mean: Floats
    sd: Floats

    @property
    def reach(self) -> float:
        """Ability beyond which nobody is."""
        return float(np.max(np.abs(self.mean) + BOUND * self.sd))


@dataclass(frozen=True)
class AnswerPatterns:
    """Answers with repeated rows counted once.

    `successes` `[R, I]` of the distinct rows, `counts` `[R]` how often each occurs, `row_of` `[S]` each student's row.
    `attempts` is `[R, I]`, or None when all students had the same `trials` `[I]` (the most of each item otherwise).
    `population` is that of each row, None where all are Normal(0, 1).
    """

    successes: Floats
    attempts: Floats | None
    trials: Floats
    counts: Floats
    row_of: NDArray[np.int64]
    population: Population | None = None

    def weighed(self, joint: Floats, nodes: Floats, rows: slice | NDArray[np.int64]) -> Posterior:
        """Posteriors of `rows` from their log-likelihoods at the nodes, which are overwritten."""
        if self.population is None:
            return weigh(joint, nodes)
        return weigh(joint, nodes, *(part[rows] for part in self.population))

    def standardised(self, mean: Floats, sd: Floats) -> tuple[Floats, Floats]:
        """Moments of ability `[R]` in standard deviations from the mean of each row's population."""
        if self.population is None:
            return mean, sd
        return (mean - self.population.mean) / self.population.sd, sd / self.population.sd


class Expectation(NamedTuple):
    """Curves, marginal log-likelihood, expected right answers and trials at each node `[Q, I]`, EAP and sd `[R]`."""

    at: Curves
    log_likelihood: float
    right: Floats
    asked: Floats
    mean: Floats
    sd: Floats


class ClimbState(NamedTuple):
    """A point with its objective (log-likelihood plus log prior), gradient `[K, I]` and complete-data information."""

    x: Floats
    value: float
    log_likelihood: float
    gradient: Floats
    blocks: ItemBlocks
    mean: Floats
    sd: Floats


class Climb(NamedTuple):
    """Where a climb ended; `values` are the objective after each iteration, `renewed` where nodes were chosen anew."""

    state: ClimbState
    nodes: Floats
    values: tuple[float, ...]
    renewed: tuple[int, ...]
    settled: bool


def compress(successes: Floats, attempts: Floats, described: Floats | None = None) -> AnswerPatterns:
    """The table, with repeated rows joined where that saves a fifth of the work or more.

    Rows repeat where what the students are `described` by `[S, P]` does so, too.
    """
    tables = (successes, attempts) if described is None else (successes, attempts, described)
    rng = np.random.default_rng(0)
    key = np.sum([table @ rng.random(table.shape[1]) for table in tables], axis=0)
    _, first, row_of, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    # Equal rows have equal keys; two different ones share a key too rarely, but not never, to be trusted unseen.
    worth = len(first) <= 0.8 * len(successes)
    if not (worth and all(np.array_equal(table[first][row_of], table) for table in tables)):
        first = row_of = np.arange(len(successes))
        counts = np.ones(len(successes), dtype=np.int64)
    asked = None if np.all(attempts == attempts[0]) else attempts[first]
    rows = np.ascontiguousarray(successes[first])
    return AnswerPatterns(rows, asked, attempts.max(axis=0), counts.astype(np.float64), row_of)


def expect(table: AnswerPatterns, x: Floats, nodes: Floats) -> Expectation:
    """One pass over the answers at coordinates `x`: the E-step."""
    at = curves(x, nodes)
    same, total = table.attempts is None, 0.0
    right, asked = np.zeros_like(at.p), np.zeros((len(nodes), 1 if same else at.p.shape[1]))
    mean, sd = np.empty(len(table.counts)), np.empty(len(table.counts))
    base = at.log_wrong @ table.trials
    for part in chunks(len(table.counts), len(nodes)):
        successes, counts = table.successes[part], table.counts[part]
        joint = successes @ at.log_odds.T
        joint += base if table.attempts is None else table.attempts[part] @ at.log_wrong.T
        found = table.weighed(joint, nodes, part)
        total += float(counts @ found.log_marginal)
        mean[part], sd[part] = found.mean, found.sd
        weights = found.weights
        weights *= counts[:, None]
        right += weights.T @ successes
        asked += weights.sum(axis=0)[:, None] if table.attempts is None else weights.T @ table.attempts[part]
    return Expectation(at, total, right, asked * table.trials if same else asked, mean, sd)


def chunks(rows: int, nodes: int) -> list[slice]:
    """Slices of rows that keep rows times nodes near `CELLS`."""
    size = max(CELLS // nodes, 64)
    return [slice(start, start + size) for start in range(0, rows, size)]


def climb(
    table: AnswerPatterns,
    start: Floats,
    shared: tuple[bool, ...],
    penalty: Prior,
    progress: Progress | None = None,
    expansions: int = EXPANSIONS,
    enough: tuple[float, float] = NEGLIGIBLE,
) -> Climb:
    """Climb from coordinates `start` `[K, I]` until the gain a step promises and the step are small `enough`.

    It also ends, unsettled, when a slope without prior passes `RUNAWAY`. The first `expansions` steps rescale ability.
    """
    nodes = nodes_of(table, start)
    state = evaluate(table, start, nodes, shared, penalty)
    memory: deque[tuple[Floats, Floats]] = deque(maxlen=MEMORY)
    values, renewed, settled, next_look = [state.value], [0], False, 1
    for iteration in range(1, ITERATIONS + 1):
        if iteration == next_look or settled:
            better = nodes_of(table, state.x, state, nodes)
            if better is not nodes:
                nodes, settled = better, False
                state = evaluate(table, state.x, nodes, shared, penalty)
                memory.clear()
                renewed.append(iteration)
                values.append(state.value)
            next_look = 2 * iteration
        if settled or np.any((np.abs(state.x[0]) > RUNAWAY) & ~penalty.holds(0)):
            break
        new = _expansion(table, state, nodes, shared, penalty) if iteration <= expansions else None
        if new is None:
            new, direction = _ascend(table, state, nodes, shared, penalty, memory)
            gain = float(np.sum(direction * held(state)))
            settled = new is state or (gain < enough[0] and float(np.max(np.abs(direction))) < enough[1])
        state = new
        values.append(state.value)
        tell(progress, iteration, ITERATIONS)
    return Climb(state, nodes, tuple(values), tuple(renewed), settled)


def evaluate(table: AnswerPatterns, x: Floats, nodes: Floats, shared: tuple[bool, ...], penalty: Prior) -> ClimbState:
    """Objective, exact gradient and complete-data information at `x`."""
    found = expect(table, x, nodes)
    gradient, information = gradient_and_information(found.at, found.right, found.asked)
    gradient += penalty.gradient(x)
    information += penalty.information(x) + np.diag(FLATTEST[: len(x)])
    value = found.log_likelihood + penalty.value(x)
    return ClimbState(x, value, found.log_likelihood, gradient, ItemBlocks(information, shared), found.mean, found.sd)


def held(state: ClimbState) -> Floats:
    """The gradient, 0 for asymptotes that would leave their bounds."""
    gradient = state.gradient.copy()
    out = (np.abs(state.x[2:]) >= EDGE) & (np.sign(gradient[2:]) == np.sign(state.x[2:]))
    gradient[2:][out] = 0.0
    return gradient


def nodes_of(
    table: AnswerPatterns, x: Floats, state: ClimbState | None = None, current: Floats | None = None
) -> Floats:
    """Nodes for the posteriors at `x`; the current ones when they are fine and wide enough and not far too many."""
    people = table.population
    most, least_sd = (BOUND, 1.0) if people is None else (people.reach, float(people.sd.min()))
    if state is None or current is None:
        return nodes_for(to_items(x), table.trials, most, STEPS_PER_SD, least_sd)
    wanted, bound = bound_for(state.mean, state.sd, most), float(current[-1])
    if not 0.8 * bound <= wanted <= bound:
        bound = 1.15 * wanted if wanted > most else min(1.15 * wanted, most)
    nodes = nodes_for(to_items(x), table.trials, bound, STEPS_PER_SD, least_sd)
    fits = bound == float(current[-1]) and 0.6 * len(current) <= len(nodes) <= len(current)
    return current if fits else nodes


def _expansion(
    table: AnswerPatterns, state: ClimbState, nodes: Floats, shared: tuple[bool, ...], penalty: Prior
) -> ClimbState | None:
    """An EM step with ability's mean and spread estimated too, then absorbed by the items; None if it does not pay."""
    x = state.x + shortened(state.blocks.solve(held(state)))
    total, (mean, sd) = float(table.counts.sum()), table.standardised(state.mean, state.sd)
    centre = float(table.counts @ mean) / total
    spread = float(np.sqrt(table.counts @ (sd**2 + (mean - centre) ** 2) / total))
    x[1] += centre * x[0]
    x[0] *= spread
    new = evaluate(table, within(x), nodes, shared, penalty)
    return new if new.value > state.value else None


def _ascend(
    table: AnswerPatterns,
    state: ClimbState,
    nodes: Floats,
    shared: tuple[bool, ...],
    penalty: Prior,
    memory: deque[tuple[Floats, Floats]],
) -> tuple[ClimbState, Floats]:
    """A quasi-Newton step that raises the objective, and its direction; the same state when none can be found."""
    gradient = held(state)
    direction = shortened(_quasi_newton(state.blocks, gradient, memory))
    if np.sum(direction * gradient) <= 0.0:
        memory.clear()
        direction = shortened(state.blocks.solve(gradient))
    length = 1.0
    for attempt in range(12):
        new = evaluate(table, within(state.x + length * direction), nodes, shared, penalty)
        if new.value > state.value:
            break
        length *= 0.3
        if attempt == 2 and memory:
            memory.clear()
            direction, length = shortened(state.blocks.solve(gradient)), 1.0
    else:
        return state, direction
    moved, bent = new.x - state.x, state.gradient - new.gradient
    if np.sum(moved * bent) > 1e-12:
        memory.append((moved, bent))
    return new, direction


def _quasi_newton(blocks: ItemBlocks, gradient: Floats, memory: deque[tuple[Floats, Floats]]) -> Floats:
    """Two-loop recursion (Nocedal & Wright 2006, algorithm 7.4) around the complete-data information."""
    work, shares = gradient.copy(), []
    for moved, bent in reversed(memory):
        shares.append(float(np.sum(moved * work)) / float(np.sum(moved * bent)))
        work -= shares[-1] * bent
    step = blocks.solve(work)
    for (moved, bent), share in zip(memory, reversed(shares), strict=True):
        step += (share - float(np.sum(bent * step)) / float(np.sum(moved * bent))) * moved
    return step


def shortened(step: Floats) -> Floats:
    """The step with no item moving farther than `LONGEST_STEP`; a shared row keeps one value."""
    shrink = 1.0 / np.maximum(np.max(np.abs(step) / LONGEST_STEP[: len(step), None], axis=0), 1.0)
    return np.asarray(step * (shrink.min() if np.ptp(step[0]) == 0.0 else shrink))


def within(x: Floats) -> Floats:
    """The coordinates, their asymptotes put back (in place) inside `EDGE`."""
    x[2:] = np.clip(x[2:], -EDGE, EDGE)
    return x
