"""The No-U-Turn sampler on numpyro: draws from the exact posterior, several chains at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from irt.model import Problem, RawDraws
from irt.responses import Floats

MAX_DEPTH = 10


@dataclass(frozen=True)
class Settings:
    """How to sample."""

    warmup: int = 700
    draws: int = 1000
    chains: int = 2
    target_accept: float = 0.85
    seed: int = 0


@dataclass(frozen=True)
class Sampled:
    """Draws (chains in order along the first axis), sampler statistics, and seconds compiling and sampling."""

    raw: RawDraws
    chains: int
    divergences: int
    saturated: int
    compile_seconds: float
    sample_seconds: float


def sample(problem: Problem, settings: Settings, progress: Callable[[int, int], None] | None = None) -> Sampled:
    """Run NUTS in double precision; chains advance together in one compiled program."""
    import jax

    with jax.enable_x64(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _run(problem, settings, progress)


def _run(problem: Problem, settings: Settings, progress: Callable[[int, int], None] | None) -> Sampled:
    import jax
    from numpyro.infer import MCMC, NUTS, init_to_value

    begin = time.perf_counter()
    kernel = NUTS(
        _numpyro_model(problem),
        target_accept_prob=settings.target_accept,
        max_tree_depth=MAX_DEPTH,
        init_strategy=init_to_value(values=_starting_values(problem)),
    )
    mcmc = MCMC(
        kernel,
        num_warmup=settings.warmup,
        num_samples=settings.draws,
        num_chains=settings.chains,
        chain_method="vectorized",
        progress_bar=False,
    )
    if progress is not None:
        progress(0, 2)
    fields = ("diverging", "num_steps")
    mcmc.warmup(jax.random.PRNGKey(settings.seed), extra_fields=fields)
    middle = time.perf_counter()
    if progress is not None:
        progress(1, 2)
    mcmc.run(jax.random.PRNGKey(settings.seed + 1), extra_fields=fields)
    values = {name: np.asarray(value, dtype=np.float64) for name, value in mcmc.get_samples().items()}
    extra = {name: np.asarray(value) for name, value in mcmc.get_extra_fields().items()}
    end = time.perf_counter()
    if progress is not None:
        progress(2, 2)
    saturated = int(np.sum(extra["num_steps"] >= 2**MAX_DEPTH - 1))
    raw = _to_raw(problem, values)
    return Sampled(raw, settings.chains, int(extra["diverging"].sum()), saturated, middle - begin, end - middle)


def _numpyro_model(problem: Problem) -> Callable[[], None]:
    """The model of `irt.model` with every group on its unit scale (non-centred)."""
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    priors, design = problem.priors, problem.design
    items = problem.attempts.shape[1]
    cells = _cell_likelihood(problem)
    terms = [(term, jnp.asarray(term.matrix)) for term in design.terms]
    chance = jnp.asarray(problem.chance)

    def model() -> None:
        theta = jnp.zeros(design.students)
        for index, (term, matrix) in enumerate(terms):
            scale = numpyro.sample(f"scale_{index}", dist.HalfNormal(priors.term_scale))
            z = numpyro.sample(f"z_{index}", dist.Normal(0, 1).expand([len(term.levels)]).to_event(1))
            theta = theta + scale * (matrix @ z)
        if design.residual:
            prior = dist.HalfNormal(priors.residual_scale) if terms else dist.LogNormal(0.0, priors.common_a)
            tau = numpyro.sample("residual_scale", prior)
            u = numpyro.sample("u", dist.Normal(0, 1).expand([design.students]).to_event(1))
            theta = theta + tau * (u - u.mean() if terms else u)
        log_a = jnp.zeros(items)
        if problem.free_a:
            spread = numpyro.sample("spread_a", dist.HalfNormal(priors.spread_a))
            alpha = numpyro.sample("alpha", dist.Normal(0, 1).expand([items]).to_event(1))
            log_a = spread * (alpha - alpha.mean())
        centre = numpyro.sample("centre_b", dist.Normal(0, priors.centre_b))
        spread_b = numpyro.sample("spread_b", dist.HalfNormal(priors.spread_b))
        beta = numpyro.sample("beta", dist.Normal(0, 1).expand([items]).to_event(1))
        c, delta = jnp.zeros(items), jnp.ones(items)
        if problem.guessing:
            weight = priors.guessing_weight
            c = numpyro.sample("c", dist.Beta(weight * chance, weight * (1 - chance)).to_event(1))
        if problem.slipping:
            weight = priors.upper_weight
            upper = dist.Beta(weight * priors.upper, weight * (1 - priors.upper))
            delta = numpyro.sample("delta", upper.expand([items]).to_event(1))
        numpyro.factor("answers", cells(theta, log_a, centre + spread_b * beta, c, delta))

    return model


def _cell_likelihood(problem: Problem) -> Callable[..., Any]:
    """Log-likelihood of all cells with its closed-form gradient: one pass over the table instead of autodiff's several."""
    import jax
    import jax.numpy as jnp

    k = jnp.asarray(problem.successes)
    failures = jnp.asarray(problem.attempts - problem.successes)
    plain = not problem.guessing and not problem.slipping

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


def _starting_values(problem: Problem) -> dict[str, Floats | float]:
    """Near the mode, so that warm-up is short; the sampler's own jitter is not needed with a proper posterior."""
    from irt.laplace import climb

    fit = climb(problem)
    values: dict[str, Any] = {"centre_b": fit.scales.centre_b, "spread_b": fit.scales.spread_b}
    start = 0
    for index, (scale, term) in enumerate(zip(fit.scales.terms, problem.design.terms, strict=True)):
        values[f"scale_{index}"] = scale
        values[f"z_{index}"] = fit.point.w[start : start + len(term.levels)]
        start += len(term.levels)
    if problem.design.residual:
        values["residual_scale"] = fit.scales.residual
        values["u"] = fit.point.w[start:]
    rows = iter(fit.point.x)
    if problem.free_a:
        values["spread_a"] = fit.scales.spread_a
        values["alpha"] = next(rows)
    values["beta"] = next(rows)
    for name, present in (("c", problem.guessing), ("delta", problem.slipping)):
        if present:
            values[name] = np.clip(1 / (1 + np.exp(-next(rows))), 1e-3, 1 - 1e-3)
    return values


def _to_raw(problem: Problem, values: dict[str, Floats]) -> RawDraws:
    count, items = values["beta"].shape
    design = problem.design
    theta = np.zeros((count, design.students))
    effects, scales = [], []
    for index, term in enumerate(design.terms):
        scales.append(values[f"scale_{index}"])
        effect = scales[-1][:, None] * values[f"z_{index}"] @ term.centring
        effects.append(effect)
        theta += effect[:, term.level_of]
    tau = values.get("residual_scale", np.zeros(count))
    if design.residual:
        u = values["u"]
        theta += tau[:, None] * (u - u.mean(axis=1, keepdims=True) if design.terms else u)
    a = np.ones((count, items))
    if problem.free_a:
        alpha = values["alpha"]
        a = np.exp(values["spread_a"][:, None] * (alpha - alpha.mean(axis=1, keepdims=True)))
    c = values.get("c", np.zeros((count, items)))
    delta = values.get("delta", np.ones((count, items)))
    return RawDraws(
        a=a,
        b=values["centre_b"][:, None] + values["spread_b"][:, None] * values["beta"],
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
