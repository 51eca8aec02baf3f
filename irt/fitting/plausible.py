"""Draws of items and abilities around a maximum of the marginal likelihood.

Item coordinates are drawn from the distribution of the observed information, in which slopes keep the signs of their
estimates (a normal slope would cross 0, and difficulties with it infinity); abilities are plausible values
(Mislevy 1991), from each student's posterior given the items, moved with the items to first order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from irt.fitting.coordinates import normal_draws, signed_draws, to_items
from irt.fitting.em import State, Table, chunks
from irt.fitting.observed_information import Curvature
from irt.quadrature import posterior
from irt.responses import Floats

DRAWS = 2000
FEWEST_DRAWS = 400
CELLS = 12_000_000
"""Most numbers the draws may hold; large tables take fewer draws."""


def draw(
    table: Table,
    state: State,
    nodes: Floats,
    curvature: Curvature,
    covariance: Floats,
    ability_slopes: Floats,
    fixed: NDArray[np.bool_],
    seed: int,
    point: Floats | None = None,
) -> dict[str, Floats]:
    """Draws by name: `a b c d` `[D, I]` and `theta` `[D, S]`.

    `covariance` `[I, K, K]` is that of each item's coordinates, `ability_slopes` `[R, K, I]` are derivatives of
    expected abilities by the coordinates, `fixed` `[K, I]` marks the coordinates at a bound. Items of a population are
    drawn around `point` `[K, I]`, normal in what has the population's prior.
    """
    rng = np.random.default_rng(seed)
    students, items = len(table.row_of), state.x.shape[1]
    count = int(np.clip(CELLS // (4 * items + students), FEWEST_DRAWS, DRAWS))
    shift = curvature.draw(rng, count)
    shift[:, fixed] = 0.0
    if point is not None:
        drawn = normal_draws(point, state.x, shift)
    else:
        drawn = to_items(_asymptotes_at_bounds(state, fixed, signed_draws(state.x, covariance, shift), rng))
    moved = ability_slopes.reshape(len(table.counts), -1) @ shift.reshape(count, -1).T
    theta = np.ascontiguousarray(_plausible(table, state.x, nodes, moved, rng).T)
    return {"theta": theta, **dict(zip("abcd", drawn, strict=True))}


def _asymptotes_at_bounds(state: State, fixed: NDArray[np.bool_], x: Floats, rng: np.random.Generator) -> Floats:
    """Coordinates `[D, K, I]` with asymptotes at a bound drawn beside it.

    A maximum at a bound has half its sampling distribution there (Self & Liang 1987); the other half follows the
    likelihood's exponential fall.
    """
    for row, item in np.argwhere(fixed):
        sign = np.sign(state.x[row, item])
        near = 1.0 / (1.0 + np.exp(np.abs(state.x[row, item])))
        rate = max(abs(state.gradient[row, item]) / near, 2.0)
        away = -np.log1p(-rng.random(len(x)) * -np.expm1(-rate)) / rate
        away = np.where(rng.random(len(x)) < 0.5, 1e-12, np.clip(away, 1e-12, 1 - 1e-12))
        x[:, row, item] = sign * np.log((1 - away) / away)
    return x


def _plausible(table: Table, x: Floats, nodes: Floats, moved: Floats, rng: np.random.Generator) -> Floats:
    """Draws `[S, D]` from the students' posteriors, by inverse distribution functions on the nodes.

    `moved` `[R, D]` is what each draw of the items adds to the expected ability of a row, to first order.
    """
    step = float(nodes[1] - nodes[0])
    edges = np.append(nodes - step / 2, nodes[-1] + step / 2)
    items = to_items(x)
    draws = np.empty((len(table.row_of), moved.shape[1]))
    for part in chunks(len(table.counts), len(nodes)):
        successes = table.successes[part]
        attempts = np.broadcast_to(table.trials, successes.shape) if table.attempts is None else table.attempts[part]
        at = posterior(successes, attempts, items, nodes)
        rises = np.zeros((len(successes), len(edges)))
        np.cumsum(at.weights, axis=1, out=rises[:, 1:])
        # A step is spread evenly, which adds its variance, step^2/12.
        mean, sd = at.mean, at.sd
        shrink = sd / np.sqrt(sd**2 + step**2 / 12)
        for student in np.flatnonzero((table.row_of >= part.start) & (table.row_of < part.stop)):
            row = table.row_of[student] - part.start
            drawn = np.interp(rng.random(moved.shape[1]), rises[row], edges)
            draws[student] = mean[row] + (drawn - mean[row]) * shrink[row] + moved[row + part.start]
    return draws
