"""Draws of items and abilities around a maximum of the marginal likelihood.

Item coordinates are drawn from the distribution of the observed information, in which slopes keep the signs of their
estimates (a normal slope would cross 0, and difficulties with it infinity); abilities are plausible values
(Mislevy 1991), from each student's posterior given the items, moved with the items to first order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt._quadrature import posterior
from irt._responses import Floats
from irt.fitting._asymptote_paths import Path, followed
from irt.fitting._asymptote_profiles import FittedMaximum
from irt.fitting._coordinates import normal_draws, normals, signed_draws, to_items, uniforms
from irt.fitting._em import AnswerPatterns, chunks
from irt.fitting._estimation_outcome import draws_for


class Moves(NamedTuple):
    """Draws of what else is estimated: how they move items' coordinates `[D, K, I]` and expected abilities `[R, D]`."""

    items: Floats
    abilities: Floats


def draw(
    fitted: FittedMaximum,
    covariance: Floats,
    paths: list[Path],
    seed: int,
    point: Floats | None = None,
    moves: Moves | None = None,
) -> dict[str, Floats]:
    """Draws by name: `a b c d` `[D, I]` and `theta` `[D, S]`.

    `covariance` `[I, K, K]` is that of each item's coordinates, `moves` of what is estimated besides included. Those
    held in `fitted`, asymptotes at or near a bound, are drawn along their `paths`. Items of a population are drawn
    around `point` `[K, I]`, normal in what has the population's prior.
    """
    table, state = fitted.table, fitted.state
    rng, count = np.random.default_rng(seed), draws_for(len(table.row_of), len(table.trials))
    shift = fitted.curvature.draw(rng, count)
    shift[:, fitted.fixed] = 0.0
    if moves is not None:
        shift += moves.items
    moved = fitted.ability_slopes.reshape(len(table.counts), -1) @ shift.reshape(count, -1).T
    if moves is not None:
        moved += moves.abilities
    if paths:
        # Roots beyond a bound put the asymptote there.
        roots = np.stack([np.clip(normals(rng, 1, count)[0], path.roots[0], path.roots[-1]) for path in paths])
        moved += np.stack([path.ability for path in paths], axis=1) @ roots
        drawn = to_items(followed(paths, state.x, covariance, shift, roots))
    elif point is not None:
        drawn = normal_draws(point, state.x, shift)
    else:
        drawn = to_items(signed_draws(state.x, covariance, shift))
    theta = np.ascontiguousarray(_plausible(table, state.x, fitted.nodes, moved, rng).T)
    return {"theta": theta, **dict(zip("abcd", drawn, strict=True))}


def _plausible(table: AnswerPatterns, x: Floats, nodes: Floats, moved: Floats, rng: np.random.Generator) -> Floats:
    """Draws `[S, D]` from the students' posteriors, by inverse distribution functions on the nodes.

    `moved` `[R, D]` is what each draw of the items adds to the expected ability of a row, to first order.
    """
    step, items = float(nodes[1] - nodes[0]), to_items(x)
    edges = np.append(nodes - step / 2, nodes[-1] + step / 2)
    draws = np.empty((len(table.row_of), moved.shape[1]))
    for part in chunks(len(table.counts), len(nodes)):
        successes = table.successes[part]
        attempts = np.broadcast_to(table.trials, successes.shape) if table.attempts is None else table.attempts[part]
        population = () if table.population is None else (own[part] for own in table.population)
        at = posterior(successes, attempts, items, nodes, *population)
        rises = np.zeros((len(successes), len(edges)))
        np.cumsum(at.weights, axis=1, out=rises[:, 1:])
        # A step is spread evenly, which adds its variance, step^2/12.
        mean, sd = at.mean, at.sd
        shrink = sd / np.sqrt(sd**2 + step**2 / 12)
        for student in np.flatnonzero((table.row_of >= part.start) & (table.row_of < part.stop)):
            row = table.row_of[student] - part.start
            drawn = np.interp(uniforms(rng, 1, moved.shape[1])[0], rises[row], edges)
            draws[student] = mean[row] + (drawn - mean[row]) * shrink[row] + moved[row + part.start]
    return draws
