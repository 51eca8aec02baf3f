"""Method `svi`: a mean-field approximation of the posterior from mini-batches of students, by numpyro's own SVI.

The model is that of the samplers (`irt.fitting._numpyro_model`), its facet effects written as unit weights. Every
unconstrained parameter has a normal distribution of its own; their means and spreads maximise the evidence lower bound
by stochastic gradients (Kucukelbir et al. 2017), each step on some students, whose answers stand for all (Hoffman et
al. 2013). A product of normals knows no correlation, so its intervals are too narrow.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from irt._fit_settings import FitSettings
from irt._model import Problem, RawDraws, report_scale
from irt._responses import Floats
from irt.fitting import _likelihood_passes as fused
from irt.fitting._compiled_programs import compiled
from irt.fitting._estimation_outcome import EstimationOutcome, Progress, draws_for, tell
from irt.fitting._numpyro_model import (
    Centring,
    ModelInputs,
    ModelStructure,
    inputs_of,
    numpyro_model,
    raw_draws,
    structure_of,
)
from irt.kernels import ItemParameters, smoothed_logit

CELLS_A_STEP = 200_000
"""Answers in a batch, about: enough for a gradient that leads uphill, few enough for the cache."""
BLOCK = 50
"""Steps compiled together."""
STEPS = (1500, 1000, 1000)
RATES = (0.05, 0.01, 0.002)
"""Steps of Adam, and their sizes, one after the other."""
PATIENCE = 10
"""Blocks over which the bound is compared with those before: it has settled where it no longer rises."""
START_SPREAD = np.exp(-2.0)
"""Of every normal distribution at the start: narrow, so that the first gradients are those at the start."""

Values = dict[str, Any]


def find_variational(problem: Problem, settings: FitSettings, progress: Progress | None) -> EstimationOutcome:
    """Maximise the bound and draw from the approximation."""
    import jax

    structure = structure_of(problem, Centring((0.0,) * len(problem.design.terms)))
    with jax.enable_x64(True):
        guide, parameters, bounds, compile_seconds = _maximised(problem, structure, settings.seed, progress)
        key = jax.random.PRNGKey(settings.seed)
        drawn = guide.sample_posterior(key, parameters, sample_shape=(draws_for(*problem.answers.shape),))
        middle = {name: value[None] for name, value in guide.median(parameters).items()}
        draws = report_scale(_raw(problem, drawn), problem.design)
        at = _raw(problem, middle)
    items = ItemParameters(*(getattr(at, name)[0] for name in "abcd"))
    recent, before = np.array(bounds[-PATIENCE:]), np.array(bounds[-2 * PATIENCE : -PATIENCE])
    settled = bool(recent.mean() <= before.mean() + 2 * np.sqrt((recent.var() + before.var()) / PATIENCE))
    warnings = [
        "Variational approximation: a product of normals, whose intervals are too narrow; conclude with 'nuts'."
    ]
    if not settled:
        warnings.append(f"The evidence lower bound still rose after {sum(STEPS)} steps.")
    return EstimationOutcome(
        draws=draws,
        point={name: values.mean(axis=0) for name, values in draws.items()},
        log_likelihood=float(fused.gradient(problem.answers, at.theta[0], items).value.sum()),
        converged=settled,
        diagnostics={"steps": len(bounds) * BLOCK, "evidence_lower_bound": float(recent.mean())},
        warnings=tuple(warnings),
        compile_seconds=compile_seconds,
    )


def _maximised(
    problem: Problem, structure: ModelStructure, seed: int, progress: Progress | None
) -> tuple[Any, Values, list[float], float]:
    """The guide, its parameters, the bound after each block of steps, and seconds compiling."""
    import jax
    import jax.numpy as jnp
    from numpyro.infer import SVI, init_to_value
    from numpyro.infer.autoguide import AutoNormal
    from numpyro.optim import Adam

    def rate(step: Any) -> Any:
        return jnp.asarray(RATES)[jnp.searchsorted(jnp.cumsum(jnp.asarray(STEPS))[:-1], step, side="right")]

    model = numpyro_model(structure)
    guide = AutoNormal(model, init_loc_fn=init_to_value(values=_start(problem)), init_scale=START_SPREAD)
    svi = SVI(model, guide, Adam(rate), _bound())
    answers, inputs = problem.answers, inputs_of(problem)
    right, wrong = answers.successes, answers.failures
    if answers.codes is not None:  # small integers take less memory
        right, wrong = (answers.codes > 0).astype(np.int8), (answers.codes < 0).astype(np.int8)
    inputs = inputs._replace(successes=jnp.asarray(right), failures=jnp.asarray(wrong))
    first, *keys = jax.random.split(jax.random.PRNGKey(seed), 1 + sum(STEPS) // BLOCK)
    clock = time.perf_counter()
    start = (first, _batch(inputs, jax.numpy.arange(min(2, structure.students))))
    state = compiled(svi.init, *start)(*start)
    block = compiled(_block(svi, structure), state, keys[0], inputs)
    compile_seconds = time.perf_counter() - clock
    bounds: list[float] = []
    for number, key in enumerate(keys, start=1):
        state, loss = block(state, key, inputs)
        bounds.append(-float(loss))
        tell(progress, number, len(keys))
    return guide, svi.get_params(state), bounds, compile_seconds


def _bound() -> Any:
    """The evidence lower bound. numpyro's own adds its parts in the order of a set, another one in every process."""
    import jax
    from numpyro.handlers import replay, seed
    from numpyro.infer.elbo import ELBO
    from numpyro.infer.util import log_density

    class Bound(ELBO):  # type: ignore[misc]
        def loss(self, rng_key: Any, param_map: Values, model: Any, guide: Any, *given: Any, **named: Any) -> Any:
            model_key, guide_key = jax.random.split(rng_key)
            found, trace = log_density(seed(guide, guide_key), given, named, param_map)
            wanted, _ = log_density(replay(seed(model, model_key), trace), given, named, param_map)
            return found - wanted

    return Bound()


def _block(svi: Any, structure: ModelStructure) -> Callable[..., Any]:
    """`BLOCK` steps on batches of students, and the mean of the loss over them."""
    import jax

    students = structure.students
    batch = int(np.clip(CELLS_A_STEP // structure.items, min(16, students), students))

    def run(state: Any, key: Any, inputs: ModelInputs) -> Any:
        def step(state: Any, key: Any) -> Any:
            if batch == students:
                return svi.update(state, inputs)
            rows = jax.random.choice(key, students, (batch,), replace=False)
            return svi.update(state, _batch(inputs, rows))

        state, losses = jax.lax.scan(step, state, jax.random.split(key, BLOCK))
        return state, losses.mean()

    return run


def _batch(inputs: ModelInputs, rows: Any) -> ModelInputs:
    """The inputs with the answers of these students only, which stand for all."""
    return inputs._replace(successes=inputs.successes[rows], failures=inputs.failures[rows], rows=rows)


def _start(problem: Problem) -> Values:
    """The model's values to start from: smoothed logits of the proportions right, and typical scales."""
    (right, wrong), design, priors = problem.answers.by_item, problem.design, problem.priors
    b = -smoothed_logit(right, wrong)
    values: Values = {"spread_b": max(float(b.std()), 0.3), "centre_b": float(b.mean()), "b": b - b.mean()}
    for index, term in enumerate(design.terms):
        values |= {f"scale_{index}": 0.5, f"effect_{index}": np.zeros(term.shape)}
    if design.residual:
        right, wrong = problem.answers.by_student
        theta = smoothed_logit(right, wrong)
        values |= {"residual": theta - theta.mean(), "residual_scale": max(float(theta.std()), 0.1)}
    if problem.free_a:
        values |= {"spread_a": 0.3, "log_a": np.zeros(len(b))}
    if problem.guessing:
        values["c"] = problem.guessing_centre
    if problem.slipping:
        values["delta"] = np.full(len(b), priors.upper)
    return {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}


def _raw(problem: Problem, values: Values) -> RawDraws:
    """Draws in logits from draws of the model's values, whose facet effects are unit weights."""
    found: dict[str, Floats] = {name: np.asarray(value) for name, value in values.items()}
    for index in range(len(problem.design.terms)):
        found[f"effect_{index}"] = (found[f"effect_{index}"].T * found[f"scale_{index}"]).T
    return raw_draws(problem, found)
