"""The model of `irt.model` in numpyro, with its data as arguments, so that one compiled program serves every table of a
size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from irt.fitting import laplace
from irt.kernels import sigmoid
from irt.model import Named, Priors, Problem, RawDraws
from irt.responses import Floats


@dataclass(frozen=True)
class Structure(Named):
    """What a compiled program depends on: the model, sizes, and priors."""

    model: str
    students: int
    items: int
    shapes: tuple[tuple[int, ...], ...]
    residual: bool
    priors: Priors


POWER = 4.0


class Centring(NamedTuple):
    """How far each group is centred, from 0 (unit scale times scale) to 1 (on its own scale).

    Groups the answers determine well are sampled on their own scale, groups they leave to the prior on the unit scale:
    either way the geometry stays nearly round (Papaspiliopoulos, Roberts & Skold 2007).
    """

    terms: tuple[float, ...]
    residual: float
    a: float
    b: float


class Inputs(NamedTuple):
    """What a compiled program is given: counts `[S, I]`, levels per term `[S]`, chance `[I]`, centring."""

    successes: Any
    failures: Any
    level_of: tuple[Any, ...]
    chance: Any
    centring: Centring


def structure_of(problem: Problem) -> Structure:
    """The structure of a problem."""
    students, items = problem.attempts.shape
    shapes = tuple(term.shape for term in problem.design.terms)
    return Structure(problem.model, students, items, shapes, problem.design.residual, problem.priors)


def inputs_of(problem: Problem, centring: Centring) -> Inputs:
    """The inputs of a problem."""
    level_of = tuple(term.level_of for term in problem.design.terms)
    return Inputs(problem.successes, problem.attempts - problem.successes, level_of, problem.chance, centring)


def numpyro_model(structure: Structure) -> Callable[[Inputs], None]:
    """Every zero-sum group lives in its own subspace, so nothing is held by a soft prior."""
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    priors, items = structure.priors, structure.items
    plain = not structure.guessing and not structure.slipping

    def zero_sum(name: str, scale: Any, share: Any, shape: tuple[int, ...]) -> Any:
        raw = numpyro.sample(name, dist.ZeroSumNormal(scale**share, shape))
        return scale ** (1 - share) * raw

    def ability(inputs: Inputs) -> Any:
        theta = jnp.zeros(structure.students)
        for index, shape in enumerate(structure.shapes):
            scale = numpyro.sample(f"scale_{index}", dist.HalfNormal(priors.term_scale))
            effects = zero_sum(f"effect_{index}", scale, inputs.centring.terms[index], shape)
            theta = theta + effects.reshape(-1)[inputs.level_of[index]]
        if not structure.residual:
            return theta
        prior = dist.HalfNormal(priors.residual_scale) if structure.shapes else dist.LogNormal(0.0, priors.common_a)
        tau = numpyro.sample("residual_scale", prior)
        return theta + zero_sum("residual", tau, inputs.centring.residual, (structure.students,))

    def model(inputs: Inputs) -> None:
        theta = ability(inputs)
        log_a = jnp.zeros(items)
        if structure.free_a:
            spread = numpyro.sample("spread_a", dist.HalfNormal(priors.spread_a))
            log_a = zero_sum("log_a", spread, inputs.centring.a, (items,))
        centre = numpyro.sample("centre_b", dist.Normal(0, priors.centre_b))
        spread_b = numpyro.sample("spread_b", dist.HalfNormal(priors.spread_b))
        b = centre + zero_sum("b", spread_b, inputs.centring.b, (items,))
        c, delta = jnp.zeros(items), jnp.ones(items)
        if structure.guessing:
            weight = priors.guessing_weight
            c = numpyro.sample("c", dist.Beta(weight * inputs.chance, weight * (1 - inputs.chance)).to_event(1))
        if structure.slipping:
            weight = priors.upper_weight
            upper = dist.Beta(weight * priors.upper, weight * (1 - priors.upper))
            delta = numpyro.sample("delta", upper.expand([items]).to_event(1))
        cells = _cell_likelihood(inputs.successes, inputs.failures, plain)
        numpyro.factor("answers", cells(theta, log_a, b, c, delta))

    return model


def _cell_likelihood(k: Any, failures: Any, plain: bool) -> Callable[..., Any]:
    """Log-likelihood of all cells with its closed-form gradient: one pass over the table, not autodiff's several."""
    import jax
    import jax.numpy as jnp

    def both(theta: Any, log_a: Any, b: Any, c: Any, delta: Any) -> tuple[Any, tuple[Any, ...]]:
        a = jnp.exp(log_a)
        distance = theta[:, None] - b
        x = a * distance
        small = jnp.exp(-jnp.abs(x))
        up = jnp.where(x >= 0, 1.0, small) / (1.0 + small)
        if plain:
            value = jnp.sum(k * jnp.minimum(x, 0) - failures * jnp.maximum(x, 0) - (k + failures) * jnp.log1p(small))
            by_x = k - (k + failures) * up
            by_c = by_delta = jnp.zeros_like(b)
        else:
            down = jnp.where(x >= 0, small, 1.0) / (1.0 + small)
            p = jnp.maximum(c + (1 - c) * delta * up, 1e-300)
            q = jnp.maximum((1 - c) * ((1 - delta) + delta * down), 1e-300)
            value = jnp.sum(k * jnp.log(p) + failures * jnp.log(q))
            by_p = k / p - failures / q
            by_x = by_p * ((1 - c) * delta) * up * down
            by_c = jnp.sum(by_p * (1 - delta * up), axis=0)
            by_delta = jnp.sum(by_p * (1 - c) * up, axis=0)
        by_items = jnp.sum(by_x, axis=0)
        return value, (by_x @ a, jnp.sum(by_x * x, axis=0), -by_items * a, by_c, by_delta)

    @jax.custom_vjp
    def cells(theta: Any, log_a: Any, b: Any, c: Any, delta: Any) -> Any:
        return both(theta, log_a, b, c, delta)[0]

    def backward(gradients: tuple[Any, ...], outer: Any) -> tuple[Any, ...]:
        return tuple(outer * gradient for gradient in gradients)

    cells.defvjp(both, backward)
    return cells


def starting_point(problem: Problem, fit: laplace.LaplaceFit) -> tuple[Centring, dict[str, Floats]]:
    """Centring and unconstrained starting values from the approximate mode."""
    variance, scales, x = laplace.w_variances(fit.curvature), fit.scales, fit.point.x
    item_variance = laplace.item_variances(fit.curvature)
    shares, start = [], 0
    values: dict[str, Floats] = {}
    for index, (scale, term) in enumerate(zip(scales.terms, problem.design.terms, strict=True)):
        block = slice(start, start + len(term.levels))
        start = block.stop
        shares.append(_known(variance[block], term.freedom) ** POWER)
        values[f"scale_{index}"] = np.log(scale)
        effects = scale ** shares[-1] * (term.root @ fit.point.w[block])
        values[f"effect_{index}"] = _free(effects.reshape(term.shape))
    residual = 0.0
    if problem.design.residual:
        residual = _known(variance[start:], problem.design.students - 1) ** POWER
        values["residual_scale"] = np.log(scales.residual)
        values["residual"] = _free(scales.residual**residual * _centred(fit.point.w[start:]))
    rows = iter(range(len(x)))
    share_a = 0.0
    if problem.free_a:
        row = next(rows)
        share_a = _known(item_variance[row], len(x[row])) ** POWER
        values["spread_a"] = np.log(scales.spread_a)
        values["log_a"] = _free(scales.spread_a**share_a * _centred(x[row]))
    row = next(rows)
    share_b = _known(item_variance[row], len(x[row])) ** POWER
    values["spread_b"], values["centre_b"] = np.log(scales.spread_b), np.asarray(scales.centre_b)
    values["b"] = _free(scales.spread_b**share_b * _centred(x[row]))
    for name, present in (("c", problem.guessing), ("delta", problem.slipping)):
        if present:
            values[name] = x[next(rows)]
    return Centring(tuple(shares), residual, share_a, share_b), values


def _known(variance: Floats, freedom: int) -> float:
    """Share of a unit-scale group that the answers determine; directions that centring removes have variance 1."""
    return float(np.clip((len(variance) - variance.sum()) / max(freedom, 1), 0.0, 1.0))


def _centred(values: Floats) -> Floats:
    return np.asarray(values - values.mean())


def _free(values: Floats) -> Floats:
    """Unconstrained coordinates of a zero-sum array."""
    from numpyro.distributions.transforms import ZeroSumTransform

    return np.asarray(ZeroSumTransform(values.ndim).inv(values), dtype=np.float64)


def constrained(structure: Structure, values: dict[str, Any]) -> dict[str, Floats]:
    """Unconstrained draws `[D, ...]` to the model's own coordinates."""
    import jax
    from numpyro.distributions.transforms import ZeroSumTransform

    zero_sum = {"residual": 1, "log_a": 1, "b": 1}
    zero_sum |= {f"effect_{index}": len(shape) for index, shape in enumerate(structure.shapes)}
    result = {}
    for name, value in values.items():
        if name in zero_sum:
            result[name] = np.asarray(jax.vmap(ZeroSumTransform(zero_sum[name]))(value), dtype=np.float64)
        elif name in ("c", "delta"):
            result[name] = sigmoid(np.asarray(value))
        else:
            result[name] = np.asarray(value) if name == "centre_b" else np.exp(np.asarray(value))
    return result


def raw_draws(problem: Problem, values: dict[str, Floats], centring: Centring) -> RawDraws:
    """Draws on the model's scale from its own coordinates."""
    count, items = values["b"].shape
    design = problem.design
    theta = np.zeros((count, design.students))
    effects, scales = [], []
    for index, term in enumerate(design.terms):
        scales.append(values[f"scale_{index}"])
        raw = values[f"effect_{index}"].reshape(count, -1)
        effects.append(scales[-1][:, None] ** (1 - centring.terms[index]) * raw)
        theta += effects[-1][:, term.level_of]
    tau = values.get("residual_scale", np.zeros(count))
    if design.residual:
        theta += tau[:, None] ** (1 - centring.residual) * values["residual"]
    a = np.ones((count, items))
    if problem.free_a:
        a = np.exp(values["spread_a"][:, None] ** (1 - centring.a) * values["log_a"])
    c = values.get("c", np.zeros((count, items)))
    delta = values.get("delta", np.ones((count, items)))
    return RawDraws(
        a=a,
        b=values["centre_b"][:, None] + values["spread_b"][:, None] ** (1 - centring.b) * values["b"],
        c=c,
        d=c + (1 - c) * delta,
        theta=theta,
        effects=tuple(effects),
        scales=tuple(scales),
        residual_scale=tau,
        spread_a=values.get("spread_a", np.zeros(count)),
        spread_b=values["spread_b"],
        centre_b=values["centre_b"],
    )
