"""The model (`irt._model`) in numpyro, with its data as arguments, so that one compiled program serves every table of a
size. It is the model of all samplers and of the variational approximation, for right and wrong answers and for ratings.

Right and wrong answers are sampled in the coordinates of `irt.fitting._whitening`, where the model is written as it
reads: groups centred, in logits. Ratings (and mean-field approximations) are not whitened: each group is written
between its unit scale and its own (`Centring`).

An item of ratings is an item of the 2pl with its mean threshold as difficulty; the gaps between neighbouring thresholds
are lognormal around a mean per step that all items share (so that items borrow from each other what a scale's steps are
worth). In logits

log gap_ik = step_k + spread_gap gamma_ik,   step_k, gamma_ik ~ Normal(0, 1),   spread_gap ~ HalfNormal(0.5)

The cumulative curves make the likelihood one of right and wrong answers: score k reached threshold k and fell short of
k + 1, each a 2pl answer to an item (i, k); what remains is a term of the gaps alone, `counts log(1 - exp(-a gap))`.
Steps of partial credit are free to descend: around an item's difficulty they are the scale's mean steps and its own

b_ik = b_i + step_k + spread_gap gamma_ik (less its mean over k),   step_k ~ Normal(0, 2),   spread_gap ~ HalfNormal(1)

Without facets ratings are sampled in units of these students' own spread `r`, and with the common slope
`r residual_scale` in its place: where answers leave the overall steepness uncertain, only that slope grows, not
abilities and thresholds too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from irt import _graded as graded
from irt import _prior_densities as prior_densities
from irt._model import ItemModel, Priors, Problem, Ratings, RawDraws
from irt._responses import Floats
from irt.fitting._whitening import Layout, WhitenedPosition, Whitening, place

OWN = "own_"
"""Begins the names of coordinates that are not the quantities they stand for."""


class Centring(NamedTuple):
    """From 0 (a group on its unit scale) to 1 (on its own): answers that tell much about a group want 1."""

    terms: tuple[float, ...]
    residual: float = 1.0
    a: float = 1.0
    gap: float = 1.0
    item_effects: float = 1.0


@dataclass(frozen=True)
class ModelStructure(ItemModel):
    """What a compiled program depends on: the model, sizes, priors, how far groups are centred, and, of ratings, the
    highest score of each item and which terms have effects on items.
    """

    model: str
    students: int
    items: int
    shapes: tuple[tuple[int, ...], ...]
    residual: bool
    priors: Priors
    centring: Centring
    top: tuple[int, ...] = ()
    item_terms: tuple[int, ...] = ()

    @property
    def layout(self) -> Layout:
        """The scales' names and places."""
        return Layout(self.model, self.shapes, self.residual)


class ModelInputs(NamedTuple):
    """What a compiled program is given: counts `[S, I]` (of ratings: thresholds reached and fallen short of
    `[S, I K]`; by partial credit: points got and missed), levels `[S]` and root `[L, W]` per term, the centre of
    guessing `[I]` (`[1]` where it is shared), and what only some have: answers per inner category of ratings
    `[I, K - 1]` (by partial credit: answers that reached each step `[I, K]`), the rows `[B]` of the students whose
    answers stand for all, and standardised covariates of items `[I, C]`.
    """

    successes: Any
    failures: Any
    level_of: tuple[Any, ...]
    roots: tuple[Any, ...]
    guessing_centre: Any
    inner: Any = None
    rows: Any = None
    covariates: Any = None


def structure_of(problem: Problem, centring: Centring | None = None) -> ModelStructure:
    """The structure of a problem, all groups centred where nothing else is said."""
    shapes, design = tuple(term.shape for term in problem.design.terms), problem.design
    centring = centring or Centring((1.0,) * len(shapes))
    top = () if problem.ratings is None else tuple(problem.ratings.top.tolist())
    sizes = problem.answers.shape
    item_terms = tuple(index for index, term in enumerate(design.terms) if top and term.name in design.item_facets)
    return ModelStructure(problem.model, *sizes, shapes, design.residual, problem.priors, centring, top, item_terms)


def inputs_of(problem: Problem) -> ModelInputs:
    """The inputs of a problem."""
    terms = problem.design.terms
    level_of, roots = tuple(term.level_of for term in terms), tuple(term.root for term in terms)
    known = problem.design.item_covariates
    covariates = None if known is None else known.standard
    if problem.ratings is not None and not problem.partial_credit:
        reached, short, inner = _steps(problem.ratings)
        return ModelInputs(reached, short, level_of, roots, problem.guessing_centre, inner, None, covariates)
    counts = problem.successes, problem.attempts - problem.successes
    credited = None if problem.ratings is None else _reached(problem.ratings)
    return ModelInputs(*counts, level_of, roots, problem.guessing_centre, credited, None, covariates)


def _steps(ratings: Ratings) -> tuple[Floats, Floats, Floats]:
    """Thresholds reached and fallen short of `[S, I K]`, and answers per inner category `[I, K - 1]`."""
    scores, top = ratings
    k = np.arange(1, int(top.max()) + 1)
    real = k <= top[:, None]
    reached, short = (scores[:, :, None] == k) & real, (scores[:, :, None] == k - 1) & real
    inner = np.stack([(scores == value).sum(axis=0) for value in k[:-1]] or [np.zeros(0)], axis=-1)
    inner = np.where(real[:, 1:], inner, 0) if len(k) > 1 else np.zeros((len(top), 0))
    return *(each.reshape(len(scores), -1).astype(np.float64) for each in (reached, short)), inner.astype(np.float64)


def _reached(ratings: Ratings) -> Floats:
    """Answers that reached each step `[I, K]`."""
    scores, top = ratings
    return np.asarray((scores[:, :, None] >= np.arange(1, int(top.max()) + 1)).sum(axis=0), dtype=np.float64)


def numpyro_model(structure: ModelStructure) -> Callable[[ModelInputs], None]:
    """Every zero-sum group lives in its own subspace, so nothing is held by a soft prior."""
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    priors, items = structure.priors, structure.items

    def model(inputs: ModelInputs) -> None:
        theta, slope = _ability(structure, inputs)
        log_a = jnp.zeros(items)
        if structure.free_a:
            spread = numpyro.sample("spread_a", prior_densities.spread_a(priors).distribution())
            log_a = _zero_sum("log_a", spread, (items,), structure.centring.a)
        centre = numpyro.sample("centre_b", dist.Normal(0, priors.centre_b / slope))
        spread_b = numpyro.sample("spread_b", dist.HalfNormal(priors.spread_b / slope))
        b = centre + _zero_sum("b", spread_b, (items,))
        if structure.top:
            _rated(structure, inputs, theta, slope, log_a, b)
        else:
            _answered(structure, inputs, theta, log_a, b)

    return model


def _zero_sum(name: str, scale: Any, shape: tuple[int, ...], centred: float = 1.0) -> Any:
    """A zero-sum group of this scale, written between its unit scale and its own."""
    import numpyro
    import numpyro.distributions as dist

    if centred == 1:
        return numpyro.sample(name, dist.ZeroSumNormal(scale, shape))
    return scale ** (1 - centred) * numpyro.sample(name, dist.ZeroSumNormal(scale**centred, shape))


def _ability(structure: ModelStructure, inputs: ModelInputs) -> tuple[Any, Any]:
    """Abilities `[S]`, and the slope that turns them into logits (1 where they are)."""
    import jax.numpy as jnp
    import numpyro

    priors, centring = structure.priors, structure.centring
    if structure.top and not structure.shapes:
        return _ability_in_own_units(structure)
    theta = jnp.zeros(structure.students)
    for index, shape in enumerate(structure.shapes):
        scale = numpyro.sample(f"scale_{index}", prior_densities.term_scale(priors).distribution())
        effects = _zero_sum(f"effect_{index}", scale, shape, centring.terms[index])
        theta = theta + (inputs.roots[index] @ effects.reshape(-1))[inputs.level_of[index]]
    if structure.residual:
        prior = prior_densities.residual_scale(priors, bool(structure.shapes))
        tau = numpyro.sample("residual_scale", prior.distribution())
        theta = theta + _zero_sum("residual", tau, (structure.students,), centring.residual)
    return theta, 1.0


def _ability_in_own_units(structure: ModelStructure) -> tuple[Any, Any]:
    """Abilities `[S]` in units of their own spread, and the common slope."""
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    raw = numpyro.sample("residual", dist.ZeroSumNormal(1.0, (structure.students,)))
    spread = jnp.sqrt(jnp.mean(raw**2))
    slope = numpyro.sample("slope", dist.LogNormal(jnp.log(spread), structure.priors.common_a))
    numpyro.deterministic("residual_scale", slope / spread)
    return raw / spread, slope


def _answered(structure: ModelStructure, inputs: ModelInputs, theta: Any, log_a: Any, b: Any) -> None:
    """Asymptotes, and the likelihood of right and wrong answers; those of some students stand for all."""
    import jax.numpy as jnp
    import numpyro

    priors, items = structure.priors, structure.items
    c, delta = jnp.zeros(items), jnp.ones(items)
    if structure.guessing:
        c = c + numpyro.sample("c", prior_densities.guessing(priors, inputs.guessing_centre).distribution())
    if structure.slipping:
        delta = numpyro.sample("delta", prior_densities.upper_share(priors, items).distribution())
    cells = _cell_likelihood(inputs.successes, inputs.failures, not structure.guessing and not structure.slipping)
    if inputs.rows is None:
        numpyro.factor("answers", cells(theta, log_a, b, c, delta))
        return
    with numpyro.handlers.scale(scale=structure.students / len(inputs.rows)):
        numpyro.factor("answers", cells(theta[inputs.rows], log_a, b, c, delta))


def _rated(structure: ModelStructure, inputs: ModelInputs, theta: Any, slope: Any, log_a: Any, b: Any) -> None:
    """Thresholds and the likelihood of ratings; results are recorded in logits."""
    import jax.numpy as jnp
    import numpyro

    thresholds = _thresholds(structure, b, slope)
    most = thresholds.shape[1]
    for name, value in (("a", jnp.exp(log_a)), ("thresholds", slope * thresholds), ("theta", slope * theta)):
        numpyro.deterministic(name, value)
    steep, flat = log_a + jnp.log(slope), thresholds.reshape(-1)
    ability = theta[:, None] + _on_items(structure, inputs) / jnp.exp(steep) if structure.item_terms else theta
    if structure.partial_credit:
        numpyro.factor("answers", _credited(structure, inputs, ability, jnp.exp(steep), thresholds))
        return
    cells = _cell_likelihood(inputs.successes, inputs.failures, True)
    if structure.item_terms:
        ability = jnp.repeat(ability, most, axis=1)
    none, all_ = jnp.zeros_like(flat), jnp.ones_like(flat)
    numpyro.factor("answers", cells(ability, jnp.repeat(steep, most), flat, none, all_))
    if most > 1:
        real = graded.real_thresholds(np.array(structure.top))
        gap = jnp.where(real[:, 1:], jnp.exp(steep)[:, None] * (thresholds[:, 1:] - thresholds[:, :-1]), 1.0)
        numpyro.factor("between", (inputs.inner * jnp.log(jnp.maximum(-jnp.expm1(-gap), graded.TINY))).sum())


def _on_items(structure: ModelStructure, inputs: ModelInputs) -> Any:
    """What effects of levels on items, and item covariates, bring to the logits `[S, I]`."""
    import numpyro
    import numpyro.distributions as dist

    total, priors, share = 0.0, structure.priors, structure.centring.item_effects
    if inputs.covariates is not None:
        width, count = priors.item_covariate_scale, inputs.covariates.shape[1]
        slopes = numpyro.sample("item_covariate", dist.Normal(0, width).expand([count]))[:, None]
        total = (inputs.covariates @ slopes).T
    for number, index in enumerate(structure.item_terms):
        levels, level_of = structure.shapes[index][0], inputs.level_of[index]
        scale = numpyro.sample(f"item_effect_scale_{number}", prior_densities.item_effect_scale(priors).distribution())
        effects = dist.Normal(0, scale**share).expand([levels, structure.items])
        own = scale ** (1 - share) * numpyro.sample(f"{OWN}item_effect_{number}", effects)
        if inputs.covariates is not None:
            raw = numpyro.sample(f"{OWN}item_covariate_{number}", dist.Normal(0, width).expand([count, levels]))
            slopes = numpyro.deterministic(f"item_covariate_{number}", raw - raw.mean(axis=1, keepdims=True))
            own = own + slopes.T @ inputs.covariates.T
        total = total + numpyro.deterministic(f"item_effect_{number}", own)[level_of]
    return total


def _thresholds(structure: ModelStructure, b: Any, slope: Any) -> Any:
    """Thresholds (or steps) `[I, K]` around the difficulties `b` `[I]`, all in logits over `slope`."""
    import jax.numpy as jnp

    top = np.array(structure.top)
    most = int(top.max())
    if most == 1:
        return b[:, None]
    real = graded.real_thresholds(top)
    if structure.partial_credit:
        ladder = _steps_of_items(structure, most, 0.0, slope)
    else:
        log_gap = _steps_of_items(structure, most - 1, -jnp.log(slope), 1.0)
        gaps = jnp.where(real[:, 1:], jnp.exp(log_gap), 0.0)
        ladder = jnp.concatenate([jnp.zeros((len(top), 1)), jnp.cumsum(gaps, axis=1)], axis=1)
    middle = jnp.where(real, ladder, 0.0).sum(axis=1) / top
    return b[:, None] + ladder - middle[:, None]


def _steps_of_items(structure: ModelStructure, width: int, mean: Any, unit: Any) -> Any:
    """A value per item and step `[I, width]`, in units of so many, around one per step that the items share."""
    import numpyro
    import numpyro.distributions as dist

    share = structure.centring.gap
    of_scale, of_items = (scale / unit for scale in prior_densities.STEP_SCALES[structure.partial_credit])
    step = numpyro.sample("step", dist.Normal(mean, of_scale).expand([width]))
    spread = numpyro.sample("spread_gap", dist.HalfNormal(of_items))
    gamma = numpyro.sample("gamma", dist.Normal(step * share, spread**share).expand([structure.items, width]))
    return step * (1 - share) + spread ** (1 - share) * gamma


def _credited(structure: ModelStructure, inputs: ModelInputs, theta: Any, a: Any, steps: Any) -> Any:
    """Log-likelihood of ratings by partial credit: the heights of the scores got, less what they sum to; abilities
    `[S]`, or of each answer `[S, I]`.
    """
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp

    real = graded.real_thresholds(np.array(structure.top))
    cost = jnp.concatenate([jnp.zeros((len(real), 1)), jnp.cumsum(jnp.where(real, steps, 0.0), axis=1)], axis=1)
    score = np.arange(real.shape[1] + 1)
    below = jnp.where(np.insert(real, 0, True, axis=1), -a[:, None] * cost, -jnp.inf)
    logits = (theta if theta.ndim > 1 else theta[:, None]) * a
    total = logsumexp(score * logits[:, :, None] + below, axis=2)
    asked = inputs.successes + inputs.failures > 0
    points = theta @ inputs.successes if theta.ndim == 1 else (theta * inputs.successes).sum(axis=0)
    got = points @ a - (a[:, None] * jnp.where(real, steps, 0.0) * inputs.inner).sum()
    return got - jnp.where(asked, total, 0.0).sum()


def energy(structure: ModelStructure) -> Callable[[Any, ModelInputs, Whitening], Any]:
    """Minus the log posterior of a whitened position, up to a constant.

    The discriminations have one coordinate more than their zero-sum group: the surplus mean is given a standard normal
    density of its own, which leaves everything else as it is and lets every item keep its own small block.
    """
    from numpyro.infer.util import potential_energy

    model, layout = numpyro_model(structure), structure.layout

    def potential(position: Any, inputs: ModelInputs, given: Whitening) -> Any:
        placed = place(position, given, layout)
        values = unconstrained(structure, placed)
        return potential_energy(model, (inputs,), {}, values) + 0.5 * placed.surplus**2 - placed.jacobian

    return potential


def unconstrained(structure: ModelStructure, placed: WhitenedPosition) -> dict[str, Any]:
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
    if structure.shared_guessing:
        return values | {"c": placed.scales[-1:]}
    return values | dict(zip(["c"] * structure.guessing + ["delta"] * structure.slipping, rows, strict=True))


def _cell_likelihood(k: Any, failures: Any, plain: bool) -> Callable[..., Any]:
    """Log-likelihood of all cells with its closed-form gradient: one pass over the table, not autodiff's several.

    Abilities are those of students `[S]`, or of each answer `[S, I]`.
    """
    import jax
    import jax.numpy as jnp

    def both(theta: Any, log_a: Any, b: Any, c: Any, delta: Any) -> tuple[Any, tuple[Any, ...]]:
        a = jnp.exp(log_a)
        distance = (theta if theta.ndim > 1 else theta[:, None]) - b
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
        by_theta = by_x * a if theta.ndim > 1 else by_x @ a
        return value, (by_theta, jnp.sum(by_x * x, axis=0), -by_items * a, by_c, by_delta)

    @jax.custom_vjp
    def cells(theta: Any, log_a: Any, b: Any, c: Any, delta: Any) -> Any:
        return both(theta, log_a, b, c, delta)[0]

    def backward(gradients: tuple[Any, ...], outer: Any) -> tuple[Any, ...]:
        return tuple(outer * gradient for gradient in gradients)

    cells.defvjp(both, backward)
    return cells


def model_values(structure: ModelStructure, position: Any, inputs: ModelInputs, given: Whitening) -> dict[str, Any]:
    """The model's own values by name at a whitened position, zero-sum groups in full."""
    from numpyro.infer.util import constrain_fn

    values = unconstrained(structure, place(position, given, structure.layout))
    found: dict[str, Any] = constrain_fn(numpyro_model(structure), (inputs,), {}, values)
    return found


def raw_draws(problem: Problem, values: dict[str, Floats]) -> RawDraws:
    """Draws in logits from the model's own values by name, zero-sum groups in full."""
    count, items = values["b"].shape
    terms = problem.design.terms
    effects = tuple(values[f"effect_{index}"].reshape(count, -1) @ term.root.T for index, term in enumerate(terms))
    theta = np.zeros((count, problem.design.students))
    for term, each in zip(terms, effects, strict=True):
        theta += each[:, term.level_of]
    if problem.design.residual:
        theta += values["residual"]
    c = values.get("c", np.zeros(1)) + np.zeros((count, items))
    delta = values.get("delta", np.ones((count, items)))
    return RawDraws(
        a=np.exp(values["log_a"]) if problem.free_a else np.ones((count, items)),
        b=values["centre_b"][:, None] + values["b"],
        c=c,
        d=c + (1 - c) * delta,
        theta=theta,
        effects=effects,
        scales=tuple(values[f"scale_{index}"] for index in range(len(terms))),
        residual_scale=values.get("residual_scale", np.zeros(count)),
        spread_a=values.get("spread_a", np.zeros(count)),
        spread_b=values["spread_b"],
        centre_b=values["centre_b"],
        item_effect_scales=tuple(
            values[f"item_effect_scale_{index}"] for index in range(len(problem.design.item_facets))
        ),
        covariate_effects=covariate_effects(problem, values),
    )


def covariate_effects(problem: Problem, values: Mapping[str, Floats]) -> tuple[Floats, ...]:
    """Effects of a unit of each item covariate, in the order of `RawDraws`; empty without them."""
    known = problem.design.item_covariates
    if known is None:
        return ()
    of_levels = [values[f"item_covariate_{index}"] for index in range(len(problem.design.item_facets))]
    levels = [each.transpose(0, 2, 1) / known.unit for each in of_levels]
    return values["item_covariate"] / known.unit, *levels
