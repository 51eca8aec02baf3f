"""The model of `irt._model` in pymc: a second implementation of the same posterior, sampled by pymc's own NUTS.

Names and priors are those of `irt.fitting._numpyro_model`; the likelihood is pymc's Binomial over the cells that
were asked. Chains run one after the other in this process: processes must not be forked once jax runs.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from irt._fit_settings import FitSettings
from irt._model import Problem, report_scale
from irt.fitting._chains import MAX_DEPTH, Enough, Sampled
from irt.fitting._estimation_outcome import Progress, tell
from irt.fitting._numpyro_model import raw_draws


def sample(
    problem: Problem, settings: FitSettings, progress: Progress | None = None, enough: Enough | None = None
) -> Sampled:
    """Run pymc's NUTS for all `settings.draws`; `enough` is not asked, since pymc's chains cannot be paused."""
    del enough
    import pymc

    begin, counter = time.perf_counter(), _Counter(progress, settings)
    with _quiet():
        model = pymc_model(problem)
        names = [variable.name for variable in [*model.free_RVs, *model.deterministics]]
        with model:
            step = pymc.NUTS(target_accept=settings.target_accept, max_treedepth=MAX_DEPTH)
        compile_seconds = time.perf_counter() - begin
        with model, counter.whole():
            trace = pymc.sample(
                draws=settings.draws,
                tune=settings.warmup,
                chains=settings.chains,
                cores=1,
                step=step,
                random_seed=np.random.SeedSequence(settings.seed).generate_state(settings.chains).tolist(),
                progressbar=False,
                compute_convergence_checks=False,
                return_inferencedata=False,
                callback=counter,
            )
    values = {name: np.asarray(trace.get_values(name), dtype=np.float64) for name in names}
    return Sampled(
        values=report_scale(raw_draws(problem, values), problem.design),
        chains=settings.chains,
        divergences=int(np.sum(trace.get_sampler_stats("diverging"))),
        saturated=int(np.sum(trace.get_sampler_stats("reached_max_treedepth"))),
        leapfrogs=float(np.mean(trace.get_sampler_stats("tree_size"))),
        compile_seconds=compile_seconds,
    )


def pymc_model(problem: Problem) -> Any:
    """The `pymc.Model` of a problem."""
    import pymc

    priors, items = problem.priors, problem.attempts.shape[1]
    with pymc.Model() as model:
        theta = _ability(problem)
        log_a: Any = np.zeros(items)
        if problem.free_a:
            spread = pymc.HalfNormal("spread_a", priors.spread_a)
            log_a = _zero_sum("log_a", spread, (items,))
        centre = pymc.Normal("centre_b", 0.0, priors.centre_b)
        spread_b = pymc.HalfNormal("spread_b", priors.spread_b)
        b = centre + _zero_sum("b", spread_b, (items,))
        student, item = np.nonzero(problem.attempts)
        x = pymc.math.exp(log_a)[item] * (theta[student] - b[item])
        for index, name in enumerate(problem.design.item_facets):
            term = problem.design.term(name)
            scale = pymc.HalfNormal(f"item_effect_scale_{index}", priors.item_effect_scale)
            unit = pymc.Normal(f"unit_item_effect_{index}", 0.0, 1.0, shape=(items, len(term.levels)))
            x = x + (scale * unit)[item, term.level_of[student]]
        if problem.design.item_covariates is not None:
            x = x + _explained(problem)[item, student]
        counts = {"n": problem.attempts[student, item].astype(int), "observed": problem.successes[student, item]}
        if not problem.guessing:
            pymc.Binomial("answers", logit_p=x, **counts)
            return model
        weight, centre = priors.guessing_weight, problem.guessing_centre
        c = pymc.Beta("c", weight * centre, weight * (1 - centre)) + np.zeros(items)
        delta: Any = np.ones(items)
        if problem.slipping:
            weight, upper = priors.upper_weight, priors.upper
            delta = pymc.Beta("delta", weight * upper, weight * (1 - upper), shape=items)
        pymc.Binomial("answers", p=c[item] + ((1 - c) * delta)[item] * pymc.math.sigmoid(x), **counts)
    return model


def _explained(problem: Problem) -> Any:
    """What item covariates bring to the logits `[I, S]`."""
    import pymc

    design, width = problem.design, problem.priors.item_covariate_scale
    assert design.item_covariates is not None
    known = design.item_covariates.standard
    slopes = pymc.Normal("item_covariate", 0.0, width, shape=known.shape[1])[:, None]
    for index, name in enumerate(design.item_facets):
        shape = (known.shape[1], len(design.term(name).levels))
        each = pymc.ZeroSumNormal(f"item_covariate_{index}", width, shape=shape, n_zerosum_axes=1)
        slopes = slopes + each[:, design.term(name).level_of]
    return pymc.math.dot(known, slopes)


def _ability(problem: Problem) -> Any:
    import pymc

    priors, design = problem.priors, problem.design
    theta: Any = np.zeros(design.students)
    for index, term in enumerate(design.terms):
        scale = pymc.HalfNormal(f"scale_{index}", priors.term_scale)
        effects = _zero_sum(f"effect_{index}", scale, term.shape)
        theta = theta + (term.root @ effects.flatten())[term.level_of]
    if not design.residual:
        return theta
    if design.terms:
        tau = pymc.HalfNormal("residual_scale", priors.residual_scale)
    else:
        tau = pymc.LogNormal("residual_scale", 0.0, priors.common_a)
    return theta + _zero_sum("residual", tau, (design.students,))


def _zero_sum(name: str, scale: Any, shape: tuple[int, ...]) -> Any:
    """A zero-sum group in the non-centred form that pymc's own sampler gets along with."""
    import pymc

    unit = pymc.ZeroSumNormal(f"unit_{name}", 1.0, shape=shape, n_zerosum_axes=len(shape))
    return pymc.Deterministic(name, scale * unit)


class _Counter:
    """pymc's callback, told as iterations done of all.

    pymc ends an interrupted chain in silence and begins the next one, which is then interrupted here.
    """

    def __init__(self, progress: Progress | None, settings: FitSettings) -> None:
        self.progress, self.done, self.each = progress, 0, settings.warmup + settings.draws
        self.total = settings.chains * self.each

    def __call__(self, trace: Any, draw: Any) -> None:  # noqa: ARG002  pymc passes both
        if self.done < draw.chain * self.each:
            raise KeyboardInterrupt
        self.done += 1
        if self.done % 50 == 0:
            tell(self.progress, self.done, self.total)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """KeyboardInterrupt unless all iterations are done; pymc would return those it has, or complain of none."""
        try:
            yield
        except ValueError as error:
            if self.done in (0, self.total):
                raise
            raise KeyboardInterrupt from error
        if self.done < self.total:
            raise KeyboardInterrupt


@contextmanager
def _quiet() -> Iterator[None]:
    """No log and no warnings (of a missing BLAS): what went wrong is in the statistics, and the gate says it."""
    logger, level = logging.getLogger("pymc"), logging.getLogger("pymc").level
    logger.setLevel(logging.CRITICAL)
    with warnings.catch_warnings(), ExitStack() as stack:
        stack.callback(logger.setLevel, level)
        warnings.simplefilter("ignore")
        yield
