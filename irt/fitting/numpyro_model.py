"""The model of `irt.model` in numpyro, with its data as arguments, so that one compiled program serves every table of a
size.

The sampler runs in the coordinates of `irt.fitting.whitening`, so the model is written as it reads: centred, in logits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from irt.fitting.whitening import Layout, Placed, Whitening, place
from irt.model import ItemModel, Priors, Problem, RawDraws
from irt.responses import Floats
from irt.smooth import zero_sum_basis


@dataclass(frozen=True)
class Structure(ItemModel):
    """What a compiled program depends on: the model, sizes, and priors."""

    model: str
    students: int
    items: int
    shapes: tuple[tuple[int, ...], ...]
    residual: bool
    priors: Priors

    @property
    def layout(self) -> Layout:
        """The scales' names and places."""
        return Layout(self.model, self.shapes, self.residual)


class Inputs(NamedTuple):
    """What a compiled program is given: counts `[S, I]`, levels `[S]` and root `[L, L]` per term, and the centre of
    guessing `[I]` (`[1]` where it is shared)."""

    successes: Any
    failures: Any
    level_of: tuple[Any, ...]
    roots: tuple[Any, ...]
    guessing_centre: Any


def structure_of(problem: Problem) -> Structure:
    """The structure of a problem."""
    students, items = problem.attempts.shape
    shapes = tuple(term.shape for term in problem.design.terms)
    return Structure(problem.model, students, items, shapes, problem.design.residual, problem.priors)


def inputs_of(problem: Problem) -> Inputs:
    """The inputs of a problem."""
    terms = problem.design.terms
    level_of, roots = tuple(term.level_of for term in terms), tuple(term.root for term in terms)
    return Inputs(problem.successes, problem.attempts - problem.successes, level_of, roots, problem.guessing_centre)


def numpyro_model(structure: Structure) -> Callable[[Inputs], None]:
    """Every zero-sum group lives in its own subspace, so nothing is held by a soft prior."""
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    priors, items = structure.priors, structure.items
    plain = not structure.guessing and not structure.slipping

    def ability(inputs: Inputs) -> Any:
        theta = jnp.zeros(structure.students)
        for index, shape in enumerate(structure.shapes):
            scale = numpyro.sample(f"scale_{index}", dist.HalfNormal(priors.term_scale))
            effects = numpyro.sample(f"effect_{index}", dist.ZeroSumNormal(scale, shape))
            theta = theta + (inputs.roots[index] @ effects.reshape(-1))[inputs.level_of[index]]
        if not structure.residual:
            return theta
        prior = dist.HalfNormal(priors.residual_scale) if structure.shapes else dist.LogNormal(0.0, priors.common_a)
        tau = numpyro.sample("residual_scale", prior)
        return theta + numpyro.sample("residual", dist.ZeroSumNormal(tau, (structure.students,)))

    def model(inputs: Inputs) -> None:
        theta = ability(inputs)
        log_a = jnp.zeros(items)
        if structure.free_a:
            spread = numpyro.sample("spread_a", dist.HalfNormal(priors.spread_a))
            log_a = numpyro.sample("log_a", dist.ZeroSumNormal(spread, (items,)))
        centre = numpyro.sample("centre_b", dist.Normal(0, priors.centre_b))
        spread_b = numpyro.sample("spread_b", dist.HalfNormal(priors.spread_b))
        b = centre + numpyro.sample("b", dist.ZeroSumNormal(spread_b, (items,)))
        c, delta = jnp.zeros(items), jnp.ones(items)
        if structure.guessing:
            weight, middle = priors.guessing_weight, inputs.guessing_centre
            c = c + numpyro.sample("c", dist.Beta(weight * middle, weight * (1 - middle)).to_event(1))
        if structure.slipping:
            weight = priors.upper_weight
            upper = dist.Beta(weight * priors.upper, weight * (1 - priors.upper))
            delta = numpyro.sample("delta", upper.expand([items]).to_event(1))
        cells = _cell_likelihood(inputs.successes, inputs.failures, plain)
        numpyro.factor("answers", cells(theta, log_a, b, c, delta))

    return model


def energy(structure: Structure) -> Callable[[Any, Inputs, Whitening], Any]:
    """Minus the log posterior of a whitened position, up to a constant.

    The discriminations have one coordinate more than their zero-sum group: the surplus mean is given a standard normal
    density of its own, which leaves everything else as it is and lets every item keep its own small block.
    """
    from numpyro.infer.util import potential_energy

    model, layout = numpyro_model(structure), structure.layout

    def potential(position: Any, inputs: Inputs, given: Whitening) -> Any:
        placed = place(position, given, layout)
        values = unconstrained(structure, placed)
        return potential_energy(model, (inputs,), {}, values) + 0.5 * placed.surplus**2 - placed.jacobian

    return potential


def unconstrained(structure: Structure, placed: Placed) -> dict[str, Any]:
    """numpyro's unconstrained values by name."""
    from numpyro.distributions.transforms import ZeroSumTransform

    layout, project, rows = structure.layout, ZeroSumTransform(1).inv, iter(placed.items)
    values = dict(zip(layout.names, placed.scales, strict=True))
    for index, shape in enumerate(structure.shapes):
        block = placed.effects[layout.starts[index] : layout.starts[index + 1]]
        values[f"effect_{index}"] = block.reshape([levels - 1 for levels in shape])
    if structure.residual:
        values["residual"] = project(placed.residuals)
    if structure.free_a:
        values["log_a"] = project(next(rows))
    b = next(rows)
    values["centre_b"], values["b"] = b.mean(), project(b - b.mean())
    return values | _asymptotes(structure, placed)


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


def model_values(structure: Structure, position: Any, given: Whitening) -> dict[str, Any]:
    """The model's own values by name at a whitened position, zero-sum groups in full."""
    import jax.numpy as jnp
    from jax.nn import sigmoid

    layout = structure.layout
    placed = place(position, given, layout)
    rows = iter(placed.items)
    values = {name: jnp.exp(value) for name, value in zip(layout.names, placed.scales, strict=True)}
    for index in range(layout.terms):
        block = placed.effects[layout.starts[index] : layout.starts[index + 1]]
        values[f"effect_{index}"] = block @ zero_sum_basis(structure.shapes[index])
    if structure.residual:
        values["residual"] = placed.residuals
    if structure.free_a:
        values["log_a"] = next(rows)
    b = next(rows)
    values["centre_b"], values["b"] = b.mean(), b - b.mean()
    return values | {name: sigmoid(logit) for name, logit in _asymptotes(structure, placed).items()}


def _asymptotes(structure: Structure, placed: Placed) -> dict[str, Any]:
    """Logits of the asymptotes by name; one that items share is placed with the scales."""
    if structure.shared_guessing:
        return {"c": placed.scales[-1:]}
    names = ["c"] * structure.guessing + ["delta"] * structure.slipping
    return dict(zip(names, placed.items[len(placed.items) - len(names) :], strict=True))


def raw_draws(problem: Problem, values: dict[str, Floats]) -> RawDraws:
    """Draws in logits from the model's own values by name, zero-sum groups in full."""
    count, items = values["b"].shape
    design = problem.design
    theta = np.zeros((count, design.students))
    effects, scales = [], []
    for index, term in enumerate(design.terms):
        scales.append(values[f"scale_{index}"])
        effects.append(values[f"effect_{index}"].reshape(count, -1) @ term.root.T)
        theta += effects[-1][:, term.level_of]
    if design.residual:
        theta += values["residual"]
    c = values.get("c", np.zeros(1)) + np.zeros((count, items))
    delta = values.get("delta", np.ones((count, items)))
    return RawDraws(
        a=np.exp(values["log_a"]) if problem.free_a else np.ones((count, items)),
        b=values["centre_b"][:, None] + values["b"],
        c=c,
        d=c + (1 - c) * delta,
        theta=theta,
        effects=tuple(effects),
        scales=tuple(scales),
        residual_scale=values.get("residual_scale", np.zeros(count)),
        spread_a=values.get("spread_a", np.zeros(count)),
        spread_b=values["spread_b"],
        centre_b=values["centre_b"],
    )
