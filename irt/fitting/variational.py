"""Method `svi`: a mean-field approximation of the posterior from mini-batches of students.

Every unconstrained parameter of the model of `irt.model` has a normal distribution of its own; their means and spreads
maximise the evidence lower bound by stochastic gradients (Kucukelbir et al. 2017), each step on some students, whose
terms of the bound count for all (Hoffman et al. 2013). The groups are written about their scales, facet effects as unit
weights; the geometric mean of the discriminations is held at 1. A product of normals knows no correlation, so its
intervals are too narrow.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from irt.fit_settings import FitSettings
from irt.fitting import fused
from irt.fitting.mode import draws_for
from irt.fitting.outcome import Outcome, Progress
from irt.kernels import ItemParameters, sigmoid, smoothed_logit
from irt.model import Problem, RawDraws, report_scale

CELLS_A_STEP = 200_000
BLOCK = 50
MOST_BLOCKS = 160
RATES = (0.05, 0.01, 0.002)
"""Step sizes of Adam, each used until the bound no longer rises."""
PATIENCE = 6
START_SPREAD = -2.0

Values = dict[str, Any]


class Family(NamedTuple):
    """Means and logarithms of the spreads, by name."""

    mean: Values
    log_sd: Values


def find_variational(problem: Problem, settings: FitSettings, progress: Progress | None) -> Outcome:
    """Maximise the bound and draw from the approximation."""
    import jax

    begin = time.perf_counter()
    with jax.enable_x64(True):
        family, bounds, compile_seconds, settled = _maximised(problem, settings.seed, progress)
    family = Family(*({name: np.asarray(value) for name, value in part.items()} for part in family))
    rng = np.random.default_rng(settings.seed)
    raw = _drawn(problem, family, draws_for(problem), rng)
    draws = report_scale(raw, problem.design)
    at = _drawn(problem, family._replace(log_sd=dict.fromkeys(family.mean, -np.inf)), 1, rng)
    items = ItemParameters(*(getattr(at, name)[0] for name in "abcd"))
    warnings = [
        "Variational approximation: a product of normals, whose intervals are too narrow; conclude with 'nuts'."
    ]
    if not settled:
        warnings.append(f"The evidence lower bound still rose after {MOST_BLOCKS * BLOCK} steps.")
    return Outcome(
        draws=draws,
        point={name: values.mean(axis=0) for name, values in draws.items()},
        log_likelihood=float(fused.gradient(problem.answers, at.theta[0], items).value.sum()),
        converged=settled,
        diagnostics={"steps": len(bounds) * BLOCK, "evidence_lower_bound": float(np.mean(bounds[-PATIENCE:]))},
        warnings=tuple(warnings),
        seconds={"compile": compile_seconds, "fit": time.perf_counter() - begin - compile_seconds},
    )


def _maximised(problem: Problem, seed: int, progress: Progress | None) -> tuple[Family, list[float], float, bool]:
    """The family, the bound after each block of steps, seconds compiling, and whether the bound settled."""
    import jax

    family = jax.tree.map(np.asarray, _start(problem))
    zeros = jax.tree.map(np.zeros_like, family)
    state = (family, zeros, zeros, np.float64(0), np.float64(RATES[0]))
    data, keys = _data(problem), jax.random.split(jax.random.PRNGKey(seed), MOST_BLOCKS)
    clock = time.perf_counter()
    block = jax.jit(_block(problem)).lower(state, keys[0], data).compile()
    compile_seconds = time.perf_counter() - clock
    bounds: list[float] = []
    since, rates = 0, list(RATES[1:])
    for number in range(MOST_BLOCKS):
        state, value = block(state, keys[number], data)
        bounds.append(float(value))
        if progress is not None:
            progress(number + 1, MOST_BLOCKS)
        if len(bounds) - since < 2 * PATIENCE or _rises(bounds):
            continue
        if not rates:
            return state[0], bounds, compile_seconds, True
        state, since = (*state[:4], np.float64(rates.pop(0))), len(bounds)
    return state[0], bounds, compile_seconds, False


def _rises(bounds: list[float]) -> bool:
    recent, before = np.array(bounds[-PATIENCE:]), np.array(bounds[-2 * PATIENCE : -PATIENCE])
    error = np.sqrt((recent.var() + before.var()) / PATIENCE)
    return bool(recent.mean() > before.mean() + error)


def _block(problem: Problem) -> Callable[..., Any]:
    """`BLOCK` steps of Adam (Kingma & Ba 2015) on mini-batches; the mean of the bound over them."""
    import jax
    import jax.numpy as jnp

    students, items = problem.answers.shape
    batch = int(np.clip(CELLS_A_STEP // items, min(16, students), students))
    bound = _bound(problem, students / batch)

    def step(state: Any, key: Any, data: Any) -> Any:
        family, first, second, count, rate = state
        pick, noise = jax.random.split(key)
        rows = jax.random.choice(pick, students, (batch,), replace=False)
        value, slope = jax.value_and_grad(bound)(family, noise, rows, data)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, slope)
        count = count + 1
        scale = rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        family = jax.tree.map(lambda x, m, v: x + scale * m / (jnp.sqrt(v) + 1e-8), family, first, second)
        return (family, first, second, count, rate), value

    def run(state: Any, key: Any, data: Any) -> Any:
        state, values = jax.lax.scan(lambda s, k: step(s, k, data), state, jax.random.split(key, BLOCK))
        return state, values.mean()

    return run


class _Data(NamedTuple):
    """Successes and failures `[S, I]` in small integers, levels `[T, S]`, roots per term, centre of guessing `[I]`
    (`[1]` where it is shared)."""

    successes: Any
    failures: Any
    level_of: tuple[Any, ...]
    roots: tuple[Any, ...]
    guessing_centre: Any


def _data(problem: Problem) -> _Data:
    answers, terms = problem.answers, problem.design.terms
    right, wrong = answers.successes, answers.failures
    if answers.codes is not None:
        right, wrong = (answers.codes > 0).astype(np.int8), (answers.codes < 0).astype(np.int8)
    levels, roots = tuple(term.level_of for term in terms), tuple(term.root for term in terms)
    return _Data(right, wrong, levels, roots, problem.guessing_centre)


def _start(problem: Problem) -> Family:
    """Means from smoothed logits of the proportions right, narrow spreads."""
    (right, wrong), design = problem.answers.by_item, problem.design
    b = -smoothed_logit(right, right + wrong)
    mean: Values = {"log_spread_b": np.log(max(float(b.std()), 0.3)), "centre_b": float(b.mean()), "b": b}
    for index, term in enumerate(design.terms):
        mean |= {f"log_scale_{index}": np.log(0.5), f"effect_{index}": np.zeros(len(term.levels))}
    if design.residual:
        right, wrong = problem.answers.by_student
        theta = smoothed_logit(right, right + wrong)
        mean |= {"residual": theta - theta.mean(), "log_residual_scale": np.log(max(float(theta.std()), 0.1))}
    if problem.free_a:
        mean |= {"log_spread_a": np.log(0.3), "log_a": np.zeros(len(b))}
    if problem.guessing:
        mean["logit_c"] = np.log(problem.guessing_centre / (1 - problem.guessing_centre))
    if problem.slipping:
        mean["logit_delta"] = np.full(len(b), np.log(problem.priors.upper / (1 - problem.priors.upper)))
    mean = {name: np.asarray(value, dtype=np.float64) for name, value in mean.items()}
    return Family(mean, {name: np.full(value.shape, START_SPREAD) for name, value in mean.items()})


def _bound(problem: Problem, inflate: float) -> Callable[..., Any]:
    """The evidence lower bound by one draw; the drawn students' terms count `inflate` times."""
    import jax
    import jax.numpy as jnp

    from irt.fitting.numpyro_model import _cell_likelihood

    design, plain = problem.design, not problem.guessing and not problem.slipping

    def bound(family: Family, key: Any, rows: Any, data: _Data) -> Any:
        mean, log_sd = dict(family.mean), dict(family.log_sd)
        if design.residual:
            mean["residual"], log_sd["residual"] = mean["residual"][rows], log_sd["residual"][rows]
        keys = dict(zip(mean, jax.random.split(key, len(mean)), strict=True))
        z = {name: at + jnp.exp(log_sd[name]) * jax.random.normal(keys[name], at.shape) for name, at in mean.items()}
        entropy = sum(value.sum() for name, value in log_sd.items() if name != "residual")
        theta = jnp.zeros(len(rows))
        for index in range(len(design.terms)):
            effects = jnp.exp(z[f"log_scale_{index}"]) * (data.roots[index] @ z[f"effect_{index}"])
            theta = theta + effects[data.level_of[index][rows]]
        local = 0.0
        if design.residual:
            theta = theta + z["residual"]
            local = _normal(z["residual"], 0.0, z["log_residual_scale"]) + log_sd["residual"].sum()
        none = jnp.zeros_like(z["b"])
        log_a = z["log_a"] - z["log_a"].mean() if problem.free_a else none
        c = none + jax.nn.sigmoid(z["logit_c"]) if problem.guessing else none
        delta = jax.nn.sigmoid(z["logit_delta"]) if problem.slipping else none + 1.0
        k, f = (table[rows].astype(theta.dtype) for table in (data.successes, data.failures))
        cells = _cell_likelihood(k, f, plain)(theta, log_a, z["b"], c, delta)
        return _log_prior(problem, z, data.guessing_centre) + entropy + inflate * (local + cells)

    return bound


def _log_prior(problem: Problem, z: Values, guessing_centre: Any) -> Any:
    """Of all but the residuals, in unconstrained coordinates, up to a constant."""
    priors, design = problem.priors, problem.design
    total = _normal(z["centre_b"], 0.0, np.log(priors.centre_b)) + _half_normal(z["log_spread_b"], priors.spread_b)
    total += _normal(z["b"], z["centre_b"], z["log_spread_b"])
    for index in range(len(design.terms)):
        total += _half_normal(z[f"log_scale_{index}"], priors.term_scale) + _normal(z[f"effect_{index}"], 0.0, 0.0)
    if design.residual and design.terms:
        total += _half_normal(z["log_residual_scale"], priors.residual_scale)
    elif design.residual:
        total += _normal(z["log_residual_scale"], 0.0, np.log(priors.common_a))
    if problem.free_a:
        total += _half_normal(z["log_spread_a"], priors.spread_a) + _normal(z["log_a"], 0.0, z["log_spread_a"])
    if problem.guessing:
        total += _beta(z["logit_c"], priors.guessing_weight, guessing_centre)
    if problem.slipping:
        total += _beta(z["logit_delta"], priors.upper_weight, priors.upper)
    return total


def _normal(values: Any, centre: Any, log_sd: Any) -> Any:
    import jax.numpy as jnp

    return (-0.5 * ((values - centre) * jnp.exp(-log_sd)) ** 2 - log_sd).sum()


def _half_normal(log_scale: Any, width: float) -> Any:
    """Of a scale, by its logarithm, with the Jacobian."""
    import jax.numpy as jnp

    return log_scale - 0.5 * jnp.exp(2 * log_scale) / width**2


def _beta(logit: Any, weight: float, centre: Any) -> Any:
    """Of shares with a Beta prior of this weight and mean, by their logits, with the Jacobian."""
    import jax.numpy as jnp

    return (-weight * (centre * jnp.logaddexp(0.0, -logit) + (1 - centre) * jnp.logaddexp(0.0, logit))).sum()


def _drawn(problem: Problem, family: Family, count: int, rng: np.random.Generator) -> RawDraws:
    """Draws of the approximation, in logits."""
    z = {
        name: mean + np.exp(family.log_sd[name]) * rng.standard_normal((count, *mean.shape))
        for name, mean in family.mean.items()
    }
    design, shape, nothing = problem.design, z["b"].shape, np.zeros(count)
    theta, effects, scales = np.zeros((count, design.students)), [], []
    for index, term in enumerate(design.terms):
        scales.append(np.exp(z[f"log_scale_{index}"]))
        effects.append(scales[-1][:, None] * (z[f"effect_{index}"] @ term.root.T))
        theta += effects[-1][:, term.level_of]
    if design.residual:
        theta += z["residual"]
    log_a = z["log_a"] - z["log_a"].mean(axis=1, keepdims=True) if problem.free_a else np.zeros(shape)
    c = np.broadcast_to(sigmoid(z["logit_c"]) if problem.guessing else 0.0, shape)
    ones = np.broadcast_to(1.0, shape)
    return RawDraws(
        a=np.exp(log_a),
        b=z["b"],
        c=c,
        d=c + (1 - c) * sigmoid(z["logit_delta"]) if problem.slipping else ones,
        theta=theta,
        effects=tuple(effects),
        scales=tuple(scales),
        residual_scale=np.exp(z["log_residual_scale"]) if design.residual else nothing,
        spread_a=np.exp(z["log_spread_a"]) if problem.free_a else nothing,
        spread_b=np.exp(z["log_spread_b"]),
        centre_b=z["centre_b"],
    )
