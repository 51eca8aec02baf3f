"""The No-U-Turn sampler on numpyro: draws from the exact posterior, several chains at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from irt.kernels import sigmoid
from irt.model import Problem, RawDraws
from irt.responses import Floats

MAX_DEPTH = 10


@dataclass(frozen=True)
class Settings:
    """How to sample."""

    warmup: int = 1000
    draws: int = 1500
    chains: int = 2
    target_accept: float = 0.9
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
    from numpyro.infer import MCMC, NUTS

    begin, compiled = time.perf_counter(), _compile_seconds()
    start = _start(problem)
    kernel = NUTS(
        _numpyro_model(problem, start.centring),
        target_accept_prob=settings.target_accept,
        max_tree_depth=MAX_DEPTH,
        init_strategy=_scattered(start.values),
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
        progress(0, 1)
    mcmc.run(jax.random.PRNGKey(settings.seed), extra_fields=("diverging", "num_steps"))
    values = {name: np.asarray(value, dtype=np.float64) for name, value in mcmc.get_samples().items()}
    extra = {name: np.asarray(value) for name, value in mcmc.get_extra_fields().items()}
    if progress is not None:
        progress(1, 1)
    saturated = int(np.sum(extra["num_steps"] >= 2**MAX_DEPTH - 1))
    raw = _to_raw(problem, values, start.centring)
    compiling = _compile_seconds() - compiled
    elapsed = time.perf_counter() - begin
    return Sampled(raw, settings.chains, int(extra["diverging"].sum()), saturated, compiling, elapsed - compiling)


_COMPILED: list[float] = []


def _compile_seconds() -> float:
    """Seconds this process has spent tracing and compiling, as jax reports them (counted from the first call on)."""
    import jax

    if not _COMPILED:
        _COMPILED.append(0.0)

        def listen(event: str, duration_secs: float, **_: str | int) -> None:
            if "/compile/" in event:
                _COMPILED[0] += duration_secs

        jax.monitoring.register_event_duration_secs_listener(listen)
    return _COMPILED[0]


class Centring(NamedTuple):
    """How far each group is centred, from 0 (unit scale times scale) to 1 (on its own scale).

    Groups the answers determine well are sampled on their own scale, groups they leave to the prior on the unit scale:
    either way the geometry stays nearly round (Papaspiliopoulos, Roberts & Skold 2007).
    """

    terms: tuple[float, ...]
    residual: float
    a: float
    b: float


class _Start(NamedTuple):
    centring: Centring
    values: dict[str, Any]


def _numpyro_model(problem: Problem, centring: Centring) -> Callable[[], None]:
    """The model of `irt.model`; every zero-sum group lives in its own subspace, so nothing is held by a soft prior."""
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    priors, design = problem.priors, problem.design
    items = problem.attempts.shape[1]
    cells = _cell_likelihood(problem)
    level_of = [jnp.asarray(term.level_of) for term in design.terms]
    chance = jnp.asarray(problem.chance)

    def zero_sum(name: str, scale: Any, share: float, shape: tuple[int, ...]) -> Any:
        raw = numpyro.sample(name, dist.ZeroSumNormal(scale**share, shape))
        return scale ** (1 - share) * raw

    def ability() -> Any:
        theta = jnp.zeros(design.students)
        for index, term in enumerate(design.terms):
            scale = numpyro.sample(f"scale_{index}", dist.HalfNormal(priors.term_scale))
            effects = zero_sum(f"effect_{index}", scale, centring.terms[index], term.shape)
            theta = theta + effects.reshape(-1)[level_of[index]]
        if not design.residual:
            return theta
        prior = dist.HalfNormal(priors.residual_scale) if design.terms else dist.LogNormal(0.0, priors.common_a)
        tau = numpyro.sample("residual_scale", prior)
        return theta + zero_sum("residual", tau, centring.residual, (design.students,))

    def model() -> None:
        theta = ability()
        log_a = jnp.zeros(items)
        if problem.free_a:
            spread = numpyro.sample("spread_a", dist.HalfNormal(priors.spread_a))
            log_a = zero_sum("log_a", spread, centring.a, (items,))
        centre = numpyro.sample("centre_b", dist.Normal(0, priors.centre_b))
        spread_b = numpyro.sample("spread_b", dist.HalfNormal(priors.spread_b))
        b = centre + zero_sum("b", spread_b, centring.b, (items,))
        c, delta = jnp.zeros(items), jnp.ones(items)
        if problem.guessing:
            weight = priors.guessing_weight
            c = numpyro.sample("c", dist.Beta(weight * chance, weight * (1 - chance)).to_event(1))
        if problem.slipping:
            weight = priors.upper_weight
            upper = dist.Beta(weight * priors.upper, weight * (1 - priors.upper))
            delta = numpyro.sample("delta", upper.expand([items]).to_event(1))
        numpyro.factor("answers", cells(theta, log_a, b, c, delta))

    return model


def _cell_likelihood(problem: Problem) -> Callable[..., Any]:
    """Log-likelihood of all cells with its closed-form gradient: one pass over the table, not autodiff's several."""
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


def _start(problem: Problem) -> _Start:
    """Centring and starting values from the approximate mode."""
    from irt import laplace

    fit = laplace.climb(problem)
    variance = np.diag(fit.curvature.w_cov)
    item_variance = laplace.item_variances(fit.curvature)
    shares, start = [], 0
    values: dict[str, Any] = {"centre_b": fit.scales.centre_b, "spread_b": fit.scales.spread_b}
    for index, (scale, term) in enumerate(zip(fit.scales.terms, problem.design.terms, strict=True)):
        block = slice(start, start + len(term.levels))
        start = block.stop
        # Directions the centring removes have prior variance 1 and cancel here.
        freedom = max(term.freedom, 1)
        known = (len(term.levels) - variance[block].sum()) / freedom
        shares.append(float(np.clip(known, 0, 1)))
        values[f"scale_{index}"] = scale
        effect = scale ** shares[-1] * (term.centring @ fit.point.w[block])
        values[f"effect_{index}"] = effect.reshape(term.shape)
    residual = 0.0
    if problem.design.residual:
        u = fit.point.w[start:]
        residual = float(np.clip((len(u) - variance[start:].sum()) / (len(u) - 1), 0, 1)) ** 2
        values["residual_scale"] = fit.scales.residual
        values["residual"] = fit.scales.residual**residual * (u - u.mean())
    rows = iter(range(len(fit.point.x)))
    share_a = 0.0
    if problem.free_a:
        row = next(rows)
        share_a = float(np.clip(1 - item_variance[row].mean(), 0, 1)) ** 2
        values["spread_a"] = fit.scales.spread_a
        values["log_a"] = fit.scales.spread_a**share_a * (fit.point.x[row] - fit.point.x[row].mean())
    row = next(rows)
    share_b = float(np.clip(1 - item_variance[row].mean(), 0, 1)) ** 2
    values["b"] = fit.scales.spread_b**share_b * (fit.point.x[row] - fit.point.x[row].mean())
    for name, present in (("c", problem.guessing), ("delta", problem.slipping)):
        if present:
            values[name] = sigmoid(fit.point.x[next(rows)])
    return _Start(Centring(tuple(shares), residual, share_a, share_b), values)


def _scattered(values: dict[str, Any]) -> Callable[..., Any]:
    """Start each chain near the mode but apart from the others, inside every parameter's support."""
    import jax
    import jax.numpy as jnp

    def strategy(site: dict[str, Any]) -> Any:
        if site["type"] != "sample" or site["is_observed"] or site["name"] not in values:
            return None
        name, value = site["name"], jnp.asarray(values[site["name"]])
        noise = 0.3 * jax.random.normal(site["kwargs"]["rng_key"], value.shape)
        if name.startswith(("scale_", "spread_", "residual_scale")):
            return value * jnp.exp(noise)
        if name in ("c", "delta"):
            inside = jnp.clip(value, 1e-3, 1 - 1e-3)
            return jax.nn.sigmoid(jnp.log(inside / (1 - inside)) + noise)
        if name == "centre_b":
            return value + noise
        spread = jnp.sqrt(jnp.mean(value**2)) * noise
        for axis in range(value.ndim):
            spread = spread - spread.mean(axis=axis, keepdims=True)
        return value + spread

    return partial(strategy)


def _to_raw(problem: Problem, values: dict[str, Floats], centring: Centring) -> RawDraws:
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
