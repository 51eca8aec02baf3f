"""Method `map`: the joint posterior mode with errors from its curvature."""

from __future__ import annotations

import numpy as np

from irt._fit_settings import FitSettings
from irt._model import SMALLEST_UNIT, Problem, report_scale
from irt._responses import Floats
from irt.fitting import _laplace as laplace
from irt.fitting._estimation_outcome import EstimationOutcome, Progress, draws_for


def find_mode(problem: Problem, settings: FitSettings, progress: Progress | None) -> EstimationOutcome:
    """Climb to the mode and draw from its Gaussian approximation."""
    mode = laplace.climb(problem, progress)
    count = draws_for(*problem.answers.shape)
    raw = laplace.draw(problem, mode, count, settings.seed)
    reported = report_scale(raw, problem.design)
    if problem.design.terms and problem.design.residual:
        scale = laplace.residual_scale_draws(problem, mode, count, settings.seed)
        reported["residual_scale"] = reported["residual_scale"] * scale / mode.scales.residual
    theta = raw.theta
    del raw  # draws of the items take most of the memory
    warnings, notes = verdict(problem, mode)
    return EstimationOutcome(
        draws=reported,
        point=_reported_mode(problem, mode, theta),
        log_likelihood=mode.log_likelihood,
        converged=mode.converged and not laplace.at_bound(problem, mode),
        diagnostics={"rounds": mode.rounds, "log_posterior": mode.log_posterior, "integrated": int(mode.integrated)},
        warnings=warnings,
        notes=notes,
    )


def verdict(problem: Problem, mode: laplace.LaplaceFit) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Warnings and notes about a mode."""
    warnings, notes = [], []
    if laplace.at_bound(problem, mode):
        warnings.append(
            "Not converged: the spread of discriminations ran into its bound, where a mode is not to be trusted; "
            "use method='nuts'."
        )
    elif mode.integrated:
        notes.append(
            "Item parameters were estimated with abilities integrated (approximately), since a joint mode would be "
            "biased here: abilities rest on few answers, or discriminations ran away (method 'mml' does it exactly)."
        )
    if not mode.converged:
        warnings.append(f"The climb to the mode did not settle in {mode.rounds} rounds; use method='nuts'.")
    return tuple(warnings), tuple(notes)


def _reported_mode(problem: Problem, mode: laplace.LaplaceFit, theta: Floats) -> dict[str, Floats]:
    """The mode on the reported scale, whose unit is the typical spread of the abilities over draws `theta` `[D, S]`."""
    raw = laplace.mode_of(problem, mode)
    point = {name: values[0] for name, values in report_scale(raw, problem.design).items()}
    if not problem.design.terms:
        return point
    unit = max(float(np.sqrt(np.mean(theta.var(axis=1)))), SMALLEST_UNIT)
    own = max(float(raw.theta.std()), SMALLEST_UNIT)
    grow = {"a", "b", "theta", "residual_scale", "spread_b", "centre_b"}
    for name in point:
        if name in grow or name.startswith(("effect.", "scale.")):
            point[name] = point[name] * (unit / own if name == "a" else own / unit)
    return point
