"""How far asymptotes may be from their estimates, by the profile of the marginal likelihood.

The likelihood of an asymptote is far from normal in its logit: it ends at a bound (c at 0, delta at 1), where many
estimates lie or which many reach. Along the profile the asymptote is held at values on both sides of its estimate, and
all else maximised anew: the item's own coordinates, and to first order of their gradient other items and abilities (one
step of the observed information, whose gain, taken near the 95 % limit, is the same share of the fall elsewhere). An
asymptote that all items share takes the whole table along. The profile of delta is that given the item's c, whose own
path moves delta.

A value is outside the one-sided limit of level p when the signed root of twice the fall of the log-likelihood exceeds
the standard normal quantile of p. With the estimate at the bound that is cautious: the fall from the maximum at the
bound is smaller than that from an unconstrained one beyond it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt._responses import Floats
from irt.fitting._asymptote_paths import Knot, Path, path_of
from irt.fitting._coordinates import curves, gradient_and_information
from irt.fitting._em import EDGE, FAR, AnswerPatterns, ClimbState, chunks, evaluate, shortened, within
from irt.fitting._item_alone import ItemAlone, item_alone, log_likelihoods
from irt.fitting._item_priors import Prior
from irt.fitting._observed_information import InverseInformation, observe
from irt.kernels import RUNAWAY

FARTHEST, APART, MOST = 3.3, 0.7, 30
"""Signed root at which a profile ends (no more than 1 in 2,000 draws lies beyond), steps of it, and knots at most."""
LONGEST, FIRST = 0.3, 0.1
"""Longest step of an asymptote, as a share of the way to the other end, and its first step at most."""
AT_BOUND, CLOSEST = 1.0 / (1.0 + np.exp(FAR)), 1.0 / (1.0 + np.exp(EDGE))
"""Distances from it at and beyond which an asymptote is at its bound."""
TYPICAL, MOST_GAINED = 1.645, 0.5
"""Signed root near which the rest's answer is taken, and the largest share of a fall it may take back."""
WIDEST = 0.5
"""Most a slope varies given its asymptote, as a share of it, or as much as at the maximum: some are endless."""
STEPS, NEGLIGIBLE = 20, 0.01
"""Steps with all items at most, and the gain in log-likelihood that ends them, 1/100 of a signed root."""

Mask = NDArray[np.bool_]


class FittedMaximum(NamedTuple):
    """A maximum with all that tells its surroundings; coordinates where `fixed` `[K, I]` are held at their values."""

    table: AnswerPatterns
    state: ClimbState
    nodes: Floats
    shared: tuple[bool, ...]
    penalty: Prior
    curvature: InverseInformation
    ability_slopes: Floats
    fixed: Mask


def with_asymptotes_held(fitted: FittedMaximum) -> FittedMaximum:
    """The same with all asymptotes held that no prior holds: the curvature is of the rest, given these."""
    fixed = fitted.fixed.copy()
    for row in range(2, len(fixed)):
        free = ~fitted.penalty.holds(row)
        fixed[row] |= np.any(free) if fitted.shared[row] else free
    if np.array_equal(fixed, fitted.fixed):
        return fitted
    table, x, nodes = fitted.table, fitted.state.x, fitted.nodes
    seen = observe(table, x, nodes, fitted.shared, fitted.penalty, fixed.astype(np.float64))
    if seen.curvature is None:
        return fitted
    return fitted._replace(curvature=seen.curvature, ability_slopes=seen.ability_slopes, fixed=fixed)


def profiles(fitted: FittedMaximum, given: FittedMaximum, errors: Floats) -> list[Path]:
    """The paths of the asymptotes held in `given` (`with_asymptotes_held`); `errors` `[K, I]` are those of the logits.

    In `fitted` only the asymptotes at their bounds are held, and have errors of 0.
    """
    paths, joint, at = [], None, curves(fitted.state.x, fitted.nodes)
    for row in range(2, len(given.fixed)):
        if fitted.shared[row]:
            if np.any(given.fixed[row]):
                paths.append(_common_path(given, errors[row, 0], row))
            continue
        for item in np.flatnonzero(given.fixed[row]):
            joint = log_likelihoods(fitted.table, at) if joint is None else joint
            alone = item_alone(fitted.table, joint, at, int(item))
            paths.append(_own_path(fitted, given, alone, errors[row, item], row, int(item)))
    return paths


def _own_path(fitted: FittedMaximum, given: FittedMaximum, alone: ItemAlone, error: float, row: int, item: int) -> Path:
    start, free = fitted.state.x[:, item], ~fitted.fixed[:, item]
    free[2 : row + 1] = False
    brief, side = alone.merged(), _side(start[row], row)
    first = brief.seen(start)

    def knot(away: float, before: list[Knot]) -> Knot:
        y = _continued(before, away)[:, 0]
        y[row] = side * np.log((1 - away) / away)
        y, seen = brief.maximum(y, free)
        loose = free & ((np.arange(len(y)) > 0) | (np.abs(y[0]) < RUNAWAY))  # less a slope on its way to infinity
        root = _held_back(_root(seen.information, loose), widest * abs(y[0]))
        return Knot(away, first.value - seen.value, y[:, None], root, nothing, still)

    nothing, still = np.zeros_like(fitted.state.x), np.zeros(len(fitted.table.counts))
    spread = _root(first.information, free)
    widest = max(float(np.linalg.norm(spread[0])) / abs(start[0]), WIDEST)
    begin = Knot(_away(start[row], side), 0.0, start[:, None], spread, nothing, still)
    inward, outward = _traced(begin, _first(begin, error, fitted.state.gradient[row, item]), knot)
    at = min(range(1, len(outward)), key=lambda m: abs(outward[m].root - TYPICAL))
    gain, others, ability = _answered(fitted, given, alone, outward[at].x[:, 0], row, item)
    kept = 1.0 - min(gain / max(outward[at].fall, 1e-9), MOST_GAINED)
    inward, outward = ([each._replace(fall=kept * each.fall) for each in side] for side in (inward, outward))
    outward[at] = outward[at]._replace(others=others, ability=ability)
    return path_of(row, np.array([item]), inward, outward, at)


def _answered(
    fitted: FittedMaximum, given: FittedMaximum, alone: ItemAlone, y: Floats, row: int, item: int
) -> tuple[float, Floats, Floats]:
    """What the rest answers when an item moves to `y`: the gain, other items' moves, and expected abilities' moves."""
    pull, ability = _pulled(fitted, alone, fitted.state.x[:, item], y)
    pull[:, item] = 0.0
    # The step that the pull asks for when the asymptote is held.
    free, tied = fitted.curvature.solve(np.where(fitted.fixed, 0.0, pull)), np.zeros_like(pull)
    if not fitted.fixed[row, item]:
        tied[row, item] = 1.0
        tied = fitted.curvature.solve(tied)
        tied = tied / tied[row, item]
    gain = 0.5 * float(np.sum(np.where(fitted.fixed, 0.0, free - free[row, item] * tied) * pull))
    # Other items' asymptotes are drawn along paths of their own: the rest moves given these.
    others = np.where(given.fixed, 0.0, given.curvature.solve(np.where(given.fixed, 0.0, pull)))
    others[:, item] = 0.0
    ability += given.ability_slopes.reshape(len(ability), -1) @ others.ravel()
    return gain, others, ability


def _pulled(fitted: FittedMaximum, alone: ItemAlone, start: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The gradient `[K, I]` and the moves of expected abilities `[R]` that an item's way from `start` to `y` makes."""
    table, nodes = fitted.table, fitted.nodes
    right, ability = np.zeros((len(nodes), fitted.state.x.shape[1])), np.zeros(len(table.counts))
    asked = np.zeros_like(right)
    for (group, then), (_, now) in zip(alone.posteriors(start), alone.posteriors(y), strict=True):
        change = now - then
        ability[group.rows] = change @ nodes
        change *= group.counts[:, None]
        for part in chunks(len(change), len(nodes)):
            rows, more = group.rows[part], change[part].T
            right += more @ table.successes[rows]
            asked += np.outer(more.sum(axis=1), table.trials) if table.attempts is None else more @ table.attempts[rows]
    return gradient_and_information(curves(fitted.state.x, nodes), right, asked)[0], ability


def _common_path(fitted: FittedMaximum, error: float, row: int) -> Path:
    """The path of an asymptote all items share, every point a maximum over all items."""
    table, state = fitted.table, fitted.state
    side = _side(state.x[row, 0], row)

    def knot(away: float, before: list[Knot]) -> Knot:
        x = _continued(before, away)
        x[row] = side * np.log((1 - away) / away)
        top = _highest(fitted, x)
        return Knot(away, state.value - top.value, top.x, identity, nothing, top.mean - state.mean)

    nothing, identity = np.zeros_like(state.x), np.eye(len(state.x))
    begin = Knot(_away(state.x[row, 0], side), 0.0, state.x, identity, nothing, np.zeros(len(table.counts)))
    inward, outward = _traced(begin, _first(begin, error, state.gradient[row].sum()), knot)
    at = min(range(1, len(outward)), key=lambda m: abs(outward[m].root - TYPICAL))
    return path_of(row, np.arange(state.x.shape[1]), inward, outward, at)


def _highest(fitted: FittedMaximum, x: Floats) -> ClimbState:
    """The maximum over the coordinates not `fixed`, by steps with the curvature of the whole maximum."""
    state = evaluate(fitted.table, x, fitted.nodes, fitted.shared, fitted.penalty)
    for _ in range(STEPS):
        before, pull = state, np.where(fitted.fixed, 0.0, state.gradient)
        step = shortened(np.where(fitted.fixed, 0.0, fitted.curvature.solve(pull)))
        for length in (1.0, 0.3, 0.1, 0.03):
            x = within(before.x + length * step)
            x[0] = np.clip(x[0], -RUNAWAY, RUNAWAY)
            new = evaluate(fitted.table, x, fitted.nodes, fitted.shared, fitted.penalty)
            if new.value > before.value:
                state = new
                break
        if state.value - before.value < NEGLIGIBLE:
            break
    return state


def _traced(begin: Knot, length: float, knot: Callable[[float, list[Knot]], Knot]) -> tuple[list[Knot], list[Knot]]:
    """Knots from the maximum `begin` to the bound, and away from it; `length` is that of the first step.

    The last knot inward is at the bound, unless the fall is too great before.
    """
    if begin.away <= AT_BOUND:
        begin = begin._replace(away=0.0)
    inward, outward, step = [begin], [begin], min(length, 0.5 * begin.away)
    while len(inward) < MOST and inward[-1].root < FARTHEST and inward[-1].away > 0.0:
        there = inward[-1].away <= step + AT_BOUND
        new = knot(CLOSEST if there else inward[-1].away - step, inward)
        step = _next(inward[-1], new)
        inward.append(new._replace(away=0.0) if there else new)
    while len(outward) < MOST and outward[-1].root < FARTHEST:
        away = outward[-1].away
        outward.append(knot(away + min(length, LONGEST * (1 - away)), outward))
        length = _next(*outward[-2:])
    return inward, outward


def _continued(before: list[Knot], away: float) -> Floats:
    """Where the last two knots point to: coordinates `[K, J]` to start the next one from."""
    if len(before) < 3:
        return before[-1].x.copy()
    last, earlier = before[-1], before[-2]
    ahead = (away - last.away) / (last.away - earlier.away)
    return np.asarray(last.x + ahead * (last.x - earlier.x))


def _first(begin: Knot, error: float, gradient: float) -> float:
    """Length of a step that is about `APART` in the signed root, from the logit's error or, at the bound, gradient."""
    if error > 0:
        return float(min(APART * error * begin.away * (1 - begin.away), FIRST))
    return float(min(0.5 * APART**2 * begin.away / max(abs(gradient), 1e-12), FIRST))


def _next(last: Knot, new: Knot) -> float:
    """Length of the step to come, at which the signed root rises by about `APART`."""
    return abs(new.away - last.away) * float(np.clip(APART / max(new.root - last.root, 1e-9), 0.3, 2.0))


def _side(logit: float, row: int) -> float:
    """Sign of the logit at the bound: c is near 0, delta near 1, or a runaway at the end it went to."""
    return float(np.sign(logit)) if abs(logit) > FAR else (-1.0 if row == 2 else 1.0)


def _away(logit: float, side: float) -> float:
    """Distance from the bound at this logit; close to it also the derivative of the asymptote by the logit."""
    return float(1.0 / (1.0 + np.exp(side * logit)))


def _held_back(root: Floats, most: float) -> Floats:
    """The root with a slope that varies no more than `most`, and what follows the slope as much less."""
    size = float(np.linalg.norm(root[0]))
    if size <= most:
        return root
    along = root @ root[0] / size**2  # regression on the slope
    return np.asarray(root - np.outer((1 - most / size) * along, root[0]))


def _root(information: Floats, free: Mask) -> Floats:
    """A root `[K, K]` of the inverse information over the coordinates `free` `[K]`, 0 elsewhere."""
    sizes, axes = np.linalg.eigh(information[np.ix_(free, free)])
    sizes = np.maximum(np.abs(sizes), 1e-6 * np.max(np.abs(sizes)) + 1e-12)
    root = np.zeros_like(information)
    root[np.ix_(free, free)] = (axes / np.sqrt(sizes)) @ axes.T
    return root
