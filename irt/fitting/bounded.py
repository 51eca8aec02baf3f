"""How far an asymptote estimated at its bound may be from it, by the profile of the marginal likelihood.

Along the profile the asymptote is held at values away from its bound (c above 0, delta below 1) and all else maximised
anew: the item's own coordinates exactly, what other items and abilities change with them to first order of their
gradient (one step of the observed information, whose gain counts). An asymptote that all items share takes the whole
table along. The signed root of twice the fall of the log-likelihood tells how far is too far: values whose root exceeds
the standard normal quantile of p are outside the one-sided limit of level p. The limit is cautious: with an
unconstrained estimate beyond the bound the ratio to the maximum at the bound is smaller than that to the maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from irt.fitting.coordinates import Curves, curves, gradient_and_information, signed_draws
from irt.fitting.em import RUNAWAY, State, Table, chunks, evaluate, shortened, within
from irt.fitting.item_alone import ItemAlone, item_alone
from irt.fitting.observed_information import Curvature
from irt.fitting.penalty import SMALLEST, Prior
from irt.responses import Floats

FARTHEST, APART, MOST = 3.3, 0.5, 30
"""Signed root at which a profile ends (no more than 1 in 2,000 draws lies beyond), steps of it, and knots at most."""
LONGEST, FIRST = 0.3, 0.05
"""Longest step of an asymptote, as a share of the way to the other end, and its first step at most."""
LEAST = 1e-3
"""Least rise of the signed root from knot to knot."""
TYPICAL = 1.645
"""Signed root near which the moves of other items and of abilities are taken."""
NOTHING = 1e-12
"""Distance from its bound of an asymptote that is at it."""
STEPS, NEGLIGIBLE = 20, 0.01
"""Steps with all items at most, and the gain in log-likelihood that ends them, 1/100 of a signed root."""

Mask = NDArray[np.bool_]


class Knot(NamedTuple):
    """A point of the profile.

    `away` is the asymptote's distance from its bound, `fall` that of the log-likelihood, `x` `[K, J]` the items whose
    asymptote it is, `spread` `[K, K]` a root of their covariance given the rest, `others` `[K, I]` and `ability` `[R]`
    the moves of other items and of expected abilities.
    """

    away: float
    fall: float
    x: Floats
    spread: Floats
    others: Floats
    ability: Floats


class Path(NamedTuple):
    """The profile of coordinate `row` of `items` `[J]`, as functions of the signed root, 0 at the bound.

    `away` is `[M]` at `roots` `[M]`, `x` `[M, K, J]`, `widening` `[M, K, K]` what multiplies deviations; the rest moves in
    proportion to the root: `others` `[K, I]`, `ability` `[R]`.
    """

    row: int
    items: NDArray[np.int64]
    roots: Floats
    away: Floats
    x: Floats
    widening: Floats
    others: Floats
    ability: Floats


class Fitted(NamedTuple):
    """A maximum with all that tells its surroundings; coordinates where `fixed` `[K, I]` are at a bound."""

    table: Table
    state: State
    nodes: Floats
    shared: tuple[bool, ...]
    penalty: Prior
    curvature: Curvature
    ability_slopes: Floats
    fixed: Mask


def profiles(fitted: Fitted) -> list[Path]:
    """The path of every asymptote at a bound."""
    paths, joint, at = [], None, curves(fitted.state.x, fitted.nodes)
    for row in range(2, len(fitted.fixed)):
        if fitted.shared[row]:
            if np.any(fitted.fixed[row]):
                paths.append(_common_path(fitted, row))
            continue
        for item in np.flatnonzero(fitted.fixed[row]):
            joint = _joint(fitted.table, at) if joint is None else joint
            paths.append(_own_path(fitted, at, item_alone(fitted.table, joint, at, int(item)), row, int(item)))
    return paths


def _joint(table: Table, at: Curves) -> Floats:
    """Log-likelihoods `[R, Q]` of every row's answers at the nodes."""
    if table.attempts is None:
        return np.asarray(table.successes @ at.log_odds.T + at.log_wrong @ table.trials)
    return np.asarray(table.successes @ at.log_odds.T + table.attempts @ at.log_wrong.T)


def _own_path(fitted: Fitted, at: Curves, alone: ItemAlone, row: int, item: int) -> Path:
    start, free = fitted.state.x[:, item], ~fitted.fixed[:, item]
    first = alone.seen(start)
    before = [weights for _, weights in alone.posteriors(start)]

    def knot(away: float, last: Knot) -> Knot:
        y = last.x[:, 0].copy()
        y[row] = _coordinate(start[row], away)
        y, seen = alone.maximum(y, free)
        others, gain, ability = _answered(fitted, at, alone, before, y, item)
        fall = first.value - seen.value
        return Knot(away, fall - gain, y[:, None], _root(seen.information, _loose(y, free)), others, ability)

    nothing = np.zeros_like(fitted.state.x)
    begin = Knot(0.0, 0.0, start[:, None], _root(first.information, free), nothing, np.zeros(len(fitted.table.counts)))
    slope = abs(float(fitted.state.gradient[row, item]))
    return _path(row, np.array([item]), _trace(begin, slope / _near(start[row]), knot))


def _answered(
    fitted: Fitted, at: Curves, alone: ItemAlone, before: list[Floats], y: Floats, item: int
) -> tuple[Floats, float, Floats]:
    """What the rest answers when an item moves to `y`: other items' moves, the gain, and expected abilities' moves."""
    table, nodes = fitted.table, fitted.nodes
    right = np.zeros((len(nodes), fitted.state.x.shape[1]))
    asked = np.zeros_like(right) if table.attempts is not None else np.zeros((len(nodes), 1))
    ability = np.zeros(len(table.counts))
    for (group, now), then in zip(alone.posteriors(y), before, strict=True):
        change = now - then
        ability[group.rows] = change @ nodes
        change *= group.counts[:, None]
        for part in chunks(len(change), len(nodes)):
            rows = group.rows[part]
            right += change[part].T @ table.successes[rows]
            asked += (
                change[part].sum(axis=0)[:, None] if table.attempts is None else change[part].T @ table.attempts[rows]
            )
    pull, _ = gradient_and_information(at, right, asked * table.trials if table.attempts is None else asked)
    pull[:, item] = 0.0
    pull[fitted.fixed] = 0.0
    step = fitted.curvature.solve(pull)
    step[fitted.fixed] = 0.0
    step[:, item] = 0.0
    ability += fitted.ability_slopes.reshape(len(ability), -1) @ step.ravel()
    return step, 0.5 * float(np.sum(step * pull)), ability


def _common_path(fitted: Fitted, row: int) -> Path:
    """The path of an asymptote all items share, every point a maximum over all items."""
    table, state, fixed = fitted.table, fitted.state, fitted.fixed.copy()
    fixed[row] = True

    def knot(away: float, last: Knot) -> Knot:
        x = last.x.copy()
        x[row] = _coordinate(state.x[row, 0], away)
        top = _highest(fitted, x, fixed)
        return Knot(away, state.value - top.value, top.x, identity, nothing, top.mean - state.mean)

    nothing, identity = np.zeros_like(state.x), np.eye(len(state.x))
    begin = Knot(0.0, 0.0, state.x, identity, nothing, np.zeros(len(table.counts)))
    slope = abs(float(state.gradient[row].sum()))
    return _path(row, np.arange(state.x.shape[1]), _trace(begin, slope / _near(state.x[row, 0]), knot))


def _highest(fitted: Fitted, x: Floats, fixed: Mask) -> State:
    """The maximum over the coordinates not `fixed`, by steps with the curvature of the whole maximum."""
    state = evaluate(fitted.table, x, fitted.nodes, fitted.shared, fitted.penalty)
    for _ in range(STEPS):
        state, gain = _stepped(fitted, state, ~fixed)
        if gain < NEGLIGIBLE:
            break
    return state


def _stepped(fitted: Fitted, state: State, moving: Mask) -> tuple[State, float]:
    """A step with the curvature of the whole maximum, over the coordinates `moving`, and what it gained."""
    pull = np.where(moving, state.gradient, 0.0)
    step = shortened(np.where(moving, fitted.curvature.solve(pull), 0.0))
    for length in (1.0, 0.3, 0.1, 0.03):
        x = within(state.x + length * step)
        x[0] = np.clip(x[0], -RUNAWAY, RUNAWAY)
        new = evaluate(fitted.table, x, fitted.nodes, fitted.shared, fitted.penalty)
        if new.value > state.value:
            return new, new.value - state.value
    return state, 0.0


def _trace(begin: Knot, slope: float, knot: Callable[[float, Knot], Knot]) -> list[Knot]:
    """Knots from the bound on, about `APART` in the signed root; `slope` is that of the fall at the bound."""
    knots = [begin]
    length = min(0.5 * APART**2 / max(slope, 1e-9), FIRST)
    while len(knots) < MOST:
        last = knots[-1]
        new = knot(last.away + min(length, LONGEST * (1 - last.away)), last)
        knots.append(new)
        if _signed_root(new) >= FARTHEST:
            break
        rise = max(_signed_root(new) - _signed_root(last), 1e-9)
        length = (new.away - last.away) * float(np.clip(APART / rise, 0.3, 2.0))
    return knots


def _path(row: int, items: NDArray[np.int64], knots: list[Knot]) -> Path:
    """The knots as functions of the signed root, which rises: of several ways to a height the farthest counts."""
    roots = np.minimum.accumulate([_signed_root(each) for each in knots][::-1])[::-1]
    roots = np.maximum(roots, LEAST * np.arange(len(knots)))
    kept = np.append(np.flatnonzero(np.diff(roots) > 0), len(knots) - 1)
    chosen, roots = [knots[m] for m in kept], roots[kept]
    typical = chosen[int(np.argmin(np.abs(roots - TYPICAL)))]
    unit = max(_signed_root(typical), 1e-9)
    narrow = np.linalg.pinv(knots[0].spread)
    return Path(
        row,
        items,
        roots,
        np.array([each.away for each in chosen]),
        np.stack([each.x for each in chosen]),
        np.stack([each.spread @ narrow for each in chosen]),
        typical.others / unit,
        typical.ability / unit,
    )


def _signed_root(knot: Knot) -> float:
    return float(np.sqrt(2 * max(knot.fall, 0.0)))


def _coordinate(bound: float, away: float) -> float:
    """The logit of an asymptote this far from the bound near which its logit is `bound`."""
    return float(np.sign(bound) * np.log((1 - away) / away))


def _near(bound: float) -> float:
    """Distance from the bound at this logit, which is also the derivative of the asymptote by it."""
    return float(1.0 / (1.0 + np.exp(abs(bound))))


def _loose(y: Floats, free: Mask) -> Mask:
    """The coordinates `free` `[K]`, less a slope on its way to infinity."""
    return np.asarray(free & ~((np.arange(len(y)) == 0) & (np.abs(y[0]) >= RUNAWAY)))


def _root(information: Floats, free: Mask) -> Floats:
    """A root `[K, K]` of the inverse information over the coordinates `free` `[K]`, 0 elsewhere."""
    sizes, axes = np.linalg.eigh(information[np.ix_(free, free)])
    sizes = np.maximum(np.abs(sizes), 1e-6 * np.max(np.abs(sizes)) + 1e-12)
    root = np.zeros_like(information)
    root[np.ix_(free, free)] = (axes / np.sqrt(sizes)) @ axes.T
    return root


def followed(paths: list[Path], x: Floats, covariance: Floats, shift: Floats, roots: Floats) -> Floats:
    """Coordinates `[D, K, I]` around `x` `[K, I]`, those of bounded items along their paths at signed `roots` `[P, D]`.

    `shift` `[D, K, I]` are moves given the asymptotes, from Normal(0, covariance); `covariance` is `[I, K, K]`.
    """
    for path, root in zip(paths, roots, strict=True):
        shift += np.multiply.outer(root, path.others)
    drawn = signed_draws(x, covariance, shift)
    for items in sorted({tuple(path.items) for path in paths}):
        where = list(items)
        centre = np.broadcast_to(x[:, where], (len(shift), len(x), len(where))).copy()
        wide = np.broadcast_to(np.eye(len(x)), (len(shift), len(x), len(x)))
        for path, root in zip(paths, roots, strict=True):
            if tuple(path.items) == items:
                _along(path, np.minimum(root, path.roots[-1]), centre)
                wide = PchipInterpolator(path.roots, path.widening)(np.minimum(root, path.roots[-1])) @ wide
        own = wide[:, None] @ covariance[where] @ wide[:, None].swapaxes(-1, -2)
        drawn[:, :, where] = signed_draws(centre, own, wide @ shift[:, :, where])
    return drawn


def _along(path: Path, root: Floats, centre: Floats) -> None:
    """Move the coordinates `centre` `[D, K, J]` by what `path` moves between the bound and the `root` `[D]`."""
    rows = [row for row in range(1, centre.shape[1]) if row != path.row]
    grown = PchipInterpolator(path.roots, np.log(np.maximum(np.abs(path.x[:, 0]), SMALLEST)))
    moved = PchipInterpolator(path.roots, path.x[:, rows])
    centre[:, 0] *= np.exp(grown(root) - grown(0.0))
    centre[:, rows] += moved(root) - moved(0.0)
    away = np.clip(PchipInterpolator(path.roots, path.away)(root), NOTHING, 1 - NOTHING)
    centre[:, path.row] = (np.sign(path.x[0, path.row, 0]) * np.log((1 - away) / away))[:, None]
