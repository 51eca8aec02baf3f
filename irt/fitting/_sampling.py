"""Method `nuts`: the posterior by the No-U-Turn sampler, behind a convergence gate.

A run ends as soon as the gate passes, or when more transitions have diverged than it lets pass. That looks at R-hat,
effective sample sizes and the sampler's own account, never at an estimate, so it decides how precisely the posterior is
known, not what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from irt import kernels
from irt._fit_settings import FitSettings
from irt._graded import GradedParameters
from irt._likelihoods import items_among
from irt._model import Problem
from irt._responses import Floats
from irt.checks._convergence import mixing
from irt.fitting import _nuts as nuts
from irt.fitting import _pymc_model as pymc_model
from irt.fitting._chains import Enough, Sampled, some_of
from irt.fitting._estimation_outcome import EstimationOutcome, Progress

DIVERGENT_SHARE = 0.001
"""Transitions that may diverge in the repeated run, which is then said; in the first run none may."""
CAREFUL = 0.99
"""Acceptance aimed at in the repeated run: abilities between two very steep items stand between cliffs."""
FEW = 50
"""Quantities with fewer columns are looked at first between blocks of draws: they mix most slowly."""


def _by_gibbs(problem: Problem, settings: FitSettings, progress: Progress | None, enough: Enough | None) -> Sampled:
    from irt.fitting import _crossed as crossed  # loads numba

    return crossed.sample(problem, settings, progress, enough)


SAMPLERS: Mapping[str, Callable[..., Sampled]] = {
    "numpyro": nuts.sample,
    "gibbs": _by_gibbs,
    "pymc": pymc_model.sample,
}
"""Of right and wrong answers, by backend."""


def sample_posterior(problem: Problem, settings: FitSettings, progress: Progress | None) -> EstimationOutcome:
    """The posterior of a table of answers or ratings.

    It is sampled once more, with more draws and smaller steps, when the gate refuses the first run; by Gibbs sampling,
    which has no steps, it is not.
    """
    sampler = SAMPLERS[settings.chosen_backend] if problem.ratings is None else nuts.sample_ratings
    warnings, notes = [], []
    sampled = sampler(problem, settings, progress, _enough(settings, 0.0))
    compile_seconds = sampled.compile_seconds
    diagnostics, failures = gate(sampled)
    if failures and settings.chosen_backend != "gibbs":
        again = replace(
            settings,
            warmup=2 * settings.warmup,
            draws=2 * settings.draws,
            target_accept=max(settings.target_accept, CAREFUL),
            seed=settings.seed + 1000,
        )
        # A divergence ends the run, so that the rest of the gate would judge a stump.
        reason = failures if not sampled.divergences else [f"{sampled.divergences} divergent transitions"]
        notes.append(
            f"The first run did not pass the convergence gate ({'; '.join(reason)}); it was repeated with "
            f"up to {again.draws} draws per chain and a target acceptance of {again.target_accept:g}."
        )
        sampled = sampler(problem, again, progress, _enough(again, DIVERGENT_SHARE))
        compile_seconds += sampled.compile_seconds
        diagnostics, failures = gate(sampled, DIVERGENT_SHARE)
    if sampled.divergences and not failures:
        warnings.append(
            f"{sampled.divergences} of {sampled.draws} transitions diverged in the repeated run, no more than 1 "
            "in 1000: the tails of the steepest items may be cut a little short."
        )
    if failures:
        warnings.append(f"Not converged: {'; '.join(failures)}. Do not rely on the intervals.")
    likelihood = sampled.log_likelihood
    if likelihood is None:
        likelihood = _mean_log_likelihood(problem, sampled)
    return EstimationOutcome(
        draws=sampled.values,
        point={name: values.mean(axis=0) for name, values in sampled.values.items()},
        log_likelihood=likelihood,
        converged=not failures,
        diagnostics=diagnostics,
        warnings=tuple(warnings),
        notes=tuple(notes),
        compile_seconds=compile_seconds,
        chains=sampled.chains,
        item_effects=sampled.item_effects,
    )


def _mean_log_likelihood(problem: Problem, sampled: Sampled) -> float:
    """Log-likelihood of all answers, averaged over some draws."""
    some = some_of(sampled.draws)
    each = ({name: values[draw] for name, values in sampled.values.items()} for draw in some)
    return float(np.mean([_log_likelihood(problem, draw) for draw in each]))


def _log_likelihood(problem: Problem, draw: Mapping[str, Floats]) -> float:
    """Log-likelihood of all answers given the values of one draw."""
    if problem.ratings is None:
        values = (draw[name] for name in ("theta", *"abcd"))
        return float(kernels.log_likelihood(problem.successes, problem.attempts, *values).sum())
    items = items_among(draw, problem.ratings.top)
    assert isinstance(items, GradedParameters)
    return float(items.log_likelihood(problem.ratings.scores, draw["theta"]).sum())


def _enough(settings: FitSettings, divergent_share: float) -> Enough:
    """Whether a run may end: the gate passes, or more transitions have diverged than it lets pass."""

    def decided(sampled: Sampled) -> bool:
        if sampled.divergences > divergent_share * settings.draws * settings.chains:
            return True
        few = {name: values for name, values in sampled.values.items() if values.ndim == 1 or values.shape[1] < FEW}
        return not any(gate(each, divergent_share)[1] for each in (replace(sampled, values=few), sampled))

    return decided


def gate(sampled: Sampled, divergent_share: float = 0.0) -> tuple[dict[str, float | int | str], list[str]]:
    """Diagnostics, and what failed of: R-hat <= 1.01, bulk and tail ESS >= 400, depth not saturated, divergences.

    At most `divergent_share` of the transitions may diverge.
    """
    r_hat, bulk, tail, worst = 1.0, np.inf, np.inf, ""
    for name, values in sampled.values.items():
        if np.ptp(values) == 0:
            continue
        result = mixing(values.reshape(sampled.chains, len(values) // sampled.chains, -1))
        if result.r_hat.max() > r_hat:
            r_hat, worst = float(result.r_hat.max()), name
        bulk, tail = min(bulk, float(result.ess_bulk.min())), min(tail, float(result.ess_tail.min()))
    diagnostics: dict[str, float | int | str] = {
        "r_hat_max": r_hat,
        "r_hat_worst": worst,
        "ess_bulk_min": bulk,
        "ess_tail_min": tail,
        "chains": sampled.chains,
        "draws": sampled.draws,
    }
    if sampled.leapfrogs:
        steps = {"divergences": sampled.divergences, "tree_depth_saturated": sampled.saturated}
        diagnostics |= {**steps, "leapfrogs": sampled.leapfrogs}
    failures = []
    if r_hat > 1.01:
        failures.append(f"R-hat {r_hat:.3f} of {worst} is above 1.01")
    if min(bulk, tail) < 400:
        failures.append(f"effective sample size {min(bulk, tail):.0f} is below 400")
    if sampled.divergences > divergent_share * sampled.draws:
        failures.append(f"{sampled.divergences} divergent transitions")
    if sampled.saturated > 0.01 * sampled.draws:
        failures.append(f"tree depth saturated {sampled.saturated} times")
    return diagnostics, failures
