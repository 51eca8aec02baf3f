"""Coordinates in which the posterior is nearly a standard normal, so that few steps sample it.

Two changes of variables, both exact (the density of the model is evaluated where the coordinates lead, with the
Jacobian):

1. Given the scales, the Laplace approximation knows the posterior's shape: items are independent given the abilities,
   so its covariance factors into the abilities' block, the items' regression on them, and a small block per item.
   This is the Gaussian case of Hoffman et al. (2019, NeuTra-lizing bad geometry).
2. Every group follows its scale. A value with prior variance v that the answers know with information h has posterior
   mean `k` times what the answers say and variance `k / h`, `k = h v / (1 + h v)`: as v moves, means move by k and
   deviations by its root. Where the answers say much this is the centred form, where they say little the non-centred
   one (Papaspiliopoulos, Roberts & Skold 2007), and in between neither funnel opens.

Abilities are moved as a whole, facet effects given the abilities: an effect and the residuals that could stand in for
it are then no ridge.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from irt._model import ItemModel, Problem
from irt._responses import Floats
from irt.fitting import _laplace as laplace

WIDEST = 1.0
"""Largest standard deviation that the logarithm of a scale is given to start with."""
LEAST = 1e-6
"""Variances and precisions stay above this, so that they can be inverted."""
REACH = 2.0
"""Standard deviations of a scale over which the rest leans on it in proportion; far out it leans no further."""


class Whitening(NamedTuple):
    """The map's numbers: `m` scales, `T = S - 1` abilities about their mean, `p` free effects, `K` rows of `I` items.

    `scales` `[m]` at the centre, `scales_root` `[m, m]`, and how the rest leans on them: `abilities_lean` `[T, m]`,
    `items_lean` `[K, I, m]`. `basis` `[T, S]`: orthonormal, its first p rows span the effects. `abilities` `[T]`, their
    `abilities_root` `[T, T]` and `abilities_known` `[T]` (information); `effects` `[p, p]` upper triangular, free
    effects to abilities, its inverse `effects_back`, `effects_mean` `[p]` to the mean ability. `items` `[K, I]`,
    `items_root` `[I, K, K]`, `items_by_ability` `[K, I, T]`, `items_known` `[1 or 2, I]` (information about log a, b).
    """

    scales: Any
    scales_root: Any
    abilities_lean: Any
    items_lean: Any
    basis: Any
    abilities: Any
    abilities_root: Any
    abilities_known: Any
    effects: Any
    effects_back: Any
    effects_mean: Any
    items: Any
    items_root: Any
    items_by_ability: Any
    items_known: Any


class Layout(ItemModel):
    """Which scales there are (a guessing parameter that all items share is placed among them, by its logit: it too
    moves everything else), and which one each free effect has.
    """

    def __init__(self, model: str, shapes: tuple[tuple[int, ...], ...], residual: bool) -> None:
        self.model, self.residual, self.terms = model, residual, len(shapes)
        free = [int(np.prod([levels - 1 for levels in shape])) for shape in shapes]
        self.term_of = np.repeat(np.arange(len(shapes)), free)
        self.starts = np.concatenate([[0], np.cumsum(free)]).astype(int)
        names = [f"scale_{index}" for index in range(len(shapes))]
        names += ["residual_scale"] if residual else []
        names += ["spread_a"] if self.free_a else []
        names += ["spread_b"]
        self.names = (*names, "c") if self.shared_guessing else tuple(names)


class WhitenedPosition(NamedTuple):
    """Logarithms of the scales `[m]` (logit of a shared c), free effects `[p]`, residuals `[S]`, items `[K, I]` (log a,
    b, logits of c and delta); the surplus coordinate of log a; the log Jacobian."""

    scales: Any
    effects: Any
    residuals: Any
    items: Any
    surplus: Any
    jacobian: Any


def whitening_of(problem: Problem, fit: laplace.LaplaceFit, layout: Layout) -> Whitening:
    """The map from the approximate mode and its curvature; nothing leans on the scales yet."""
    count, row = problem.design.students, int(problem.free_a)
    free = _free_effects(problem)
    basis, effects = _ability_basis(free)
    covariance = basis @ fit.curvature.students.theta_covariance @ basis.T
    covariance = (covariance + covariance.T) / 2 + LEAST * np.eye(count - 1)
    scales = _scales(problem, fit)
    prior = _variances(scales, effects, count - 1, layout, np)
    units = np.ones((len(fit.point.x), 1))
    units[: row + 1, 0] = [fit.scales.spread_a, fit.scales.spread_b][1 - row :]
    items = units * fit.point.x
    items[row] += fit.scales.centre_b - (fit.curvature.loadings @ fit.point.w).mean()
    known = np.maximum(1 / np.maximum(fit.curvature.variances.x[: row + 1], LEAST) - 1, LEAST)
    by_ability = np.einsum("sik,ts->kit", fit.curvature.students.regression, basis, optimize=True)
    return Whitening(
        scales=scales,
        scales_root=0.3 * np.eye(len(scales)),
        abilities_lean=np.zeros((count - 1, len(scales))),
        items_lean=np.zeros((*items.shape, len(scales))),
        basis=basis,
        abilities=basis @ fit.curvature.loadings @ fit.point.w,
        abilities_root=np.linalg.cholesky(covariance),
        abilities_known=np.maximum(1 / np.diag(covariance) - 1 / prior, LEAST),
        effects=effects,
        effects_back=np.linalg.inv(effects),
        effects_mean=free.mean(axis=0),
        items=items,
        items_root=units[:, 0][:, None] * np.linalg.cholesky(fit.curvature.solver.joint.inverse),
        items_by_ability=units[:, :, None] * by_ability,
        items_known=known / units[: row + 1] ** 2,
    )


def place(position: Any, given: Whitening, layout: Layout) -> WhitenedPosition:
    """Where a whitened position lies."""
    import jax.numpy as jnp

    h = position["scales"]
    scales = given.scales + given.scales_root @ h
    near = REACH * jnp.tanh(h / REACH)
    own = position["abilities"] + given.abilities_lean @ near
    now, then = (_variances(each, given.effects, len(own), layout, jnp) for each in (scales, given.scales))
    k = _shrinkage(given.abilities_known, now) / _shrinkage(given.abilities_known, then)
    theta = k * given.abilities + jnp.sqrt(k) * (given.abilities_root @ own)
    jacobian = 0.5 * jnp.log(k).sum()
    effects, residuals, width = _split(position, theta, scales, given, layout)
    jacobian += width
    blocks = jnp.einsum("ikl,li->ki", given.items_root, position["items"] + given.items_lean @ near)
    moved = blocks - given.items_by_ability @ (theta - given.abilities)
    items, surplus = given.items + moved, 0.0
    row = int(layout.free_a)
    if layout.free_a:
        log_a, surplus, width = _discriminations(moved[0], scales, given, layout)
        items, jacobian = items.at[0].set(log_a), jacobian + width
    b, width = _difficulties(moved[row], scales, given, layout)
    items, jacobian = items.at[row].set(b + given.effects_mean @ effects), jacobian + width
    return WhitenedPosition(scales, effects, residuals, items, surplus, jacobian)


def origin(given: Whitening, layout: Layout) -> dict[str, Floats]:
    """The centre of the map."""
    start = {
        "scales": np.zeros(len(given.scales)),
        "abilities": np.zeros(len(given.abilities)),
        "items": np.zeros(given.items.shape),
    }
    return start | ({"effects": np.zeros(len(given.effects))} if layout.terms and layout.residual else {})


def leaning(given: Whitening, layout: Layout, gradient: Any, step: float = 0.05) -> Whitening:
    """Lean the rest on the scales, and shape the scales, by differences of `gradient(position, map)`.

    In whitened coordinates the curvature of all but the scales is nearly the identity, so its cross derivatives with a
    scale are (minus) how the centre moves with that scale, and the Schur complement is the precision of the scales.
    """
    middle, size = origin(given, layout), len(given.scales)
    slopes: dict[str, list[Floats]] = {name: [] for name in middle}
    for index in range(size):
        ends = [gradient(middle | {"scales": sign * step * np.eye(size)[index]}, given) for sign in (1.0, -1.0)]
        for name in middle:
            slopes[name].append(np.asarray(ends[0][name] - ends[1][name]) / (2 * step))
    square = np.stack(slopes["scales"])
    cross = np.concatenate([np.stack(slopes[name]).reshape(size, -1) for name in ("abilities", "items")], axis=1)
    values, vectors = np.linalg.eigh((square + square.T) / 2 - cross @ cross.T)
    root = vectors / np.sqrt(np.maximum(values, (given.scales_root[0, 0] / WIDEST) ** 2))
    return given._replace(
        scales_root=given.scales_root @ root,
        abilities_lean=-np.stack(slopes["abilities"], axis=-1) @ root,
        items_lean=-np.stack(slopes["items"], axis=-1) @ root,
    )


def _split(position: Any, theta: Any, scales: Any, given: Whitening, layout: Layout) -> tuple[Any, Any, Any]:
    """Free effects `[p]` and residuals `[S]` of abilities, and the log Jacobian: an effect given what it explains.

    Exact for a balanced design, where effects are independent given the abilities; elsewhere still a valid map.
    """
    import jax.numpy as jnp

    if not layout.terms:
        return theta[:0], theta @ given.basis, 0.0
    free = len(layout.term_of)
    back = given.effects_back @ theta[:free]
    if not layout.residual:
        return back, jnp.zeros(given.basis.shape[1]), 0.0
    weight = jnp.diagonal(given.effects) ** 2
    term, residual = jnp.exp(2 * scales[layout.term_of]), jnp.exp(2 * scales[layout.terms])
    total = weight * term + residual
    log_sd = 0.5 * jnp.log(term * residual / total)
    effects = weight * term / total * back + jnp.exp(log_sd) * position["effects"]
    left = theta.at[:free].add(-given.effects @ effects)
    return effects, left @ given.basis, log_sd.sum()


def _discriminations(moved: Any, scales: Any, given: Whitening, layout: Layout) -> tuple[Any, Any, Any]:
    """log a `[I]` that follows its spread, its surplus coordinate, and the log Jacobian."""
    import jax.numpy as jnp

    at = layout.names.index("spread_a")
    then = jnp.exp(2 * given.scales[at])
    k = _shrinkage(given.items_known[0], jnp.exp(2 * scales[at])) / _shrinkage(given.items_known[0], then)
    moved = jnp.sqrt(k) * moved
    log_a = k * given.items[0] + moved
    surplus = moved.mean() * jnp.sqrt(len(moved) / (then * k.mean()))
    return log_a - log_a.mean(), surplus, 0.5 * jnp.log(k).sum() - 0.5 * jnp.log(k.mean())


def _difficulties(moved: Any, scales: Any, given: Whitening, layout: Layout) -> tuple[Any, Any]:
    """b `[I]` that follows its spread, and the log Jacobian."""
    import jax.numpy as jnp

    row, at = int(layout.free_a), layout.names.index("spread_b")
    now, then = (_shrinkage(given.items_known[row], jnp.exp(2 * each[at])) for each in (scales, given.scales))
    k, centre = now / then, given.items[row].mean()
    b = centre + k * (given.items[row] - centre) + jnp.sqrt(k) * moved
    return b, 0.5 * jnp.log(k).sum()


def _variances(scales: Any, effects: Any, count: int, layout: Layout, xp: Any) -> Any:
    """Prior variances `[T]` of abilities in the basis."""
    residual = xp.exp(2 * scales[layout.terms]) * np.ones(count) if layout.residual else np.zeros(count)
    if not layout.terms:
        return residual
    weight = xp.diagonal(effects) ** 2
    return residual + xp.concatenate([weight * xp.exp(2 * scales[layout.term_of]), np.zeros(count - len(weight))])


def _shrinkage(known: Any, variance: Any) -> Any:
    return known * variance / (1 + known * variance)


def _free_effects(problem: Problem) -> Floats:
    """`[S, p]`: free effects to abilities."""
    blocks = [term.free_root[term.level_of] for term in problem.design.terms]
    return np.hstack(blocks) if blocks else np.zeros((problem.design.students, 0))


def _ability_basis(free: Floats) -> tuple[Floats, Floats]:
    """Orthonormal rows `[S - 1, S]` about the mean, the effects first, and the effects in them `[p, p]`."""
    students, count = free.shape
    q, r = np.linalg.qr(np.hstack([np.ones((students, 1)), free]), mode="complete")
    if count == 0:
        return q[:, 1:].T, np.zeros((0, 0))
    return q[:, 1:].T, r[1 : count + 1, 1:]


def _scales(problem: Problem, fit: laplace.LaplaceFit) -> Floats:
    values = [*fit.scales.terms]
    values += [fit.scales.residual] if problem.design.residual else []
    values += [fit.scales.spread_a] if problem.free_a else []
    shared = [fit.scales.guessing] if problem.shared_guessing else []
    return np.append(np.log([*values, fit.scales.spread_b]), shared)
