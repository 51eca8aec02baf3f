"""Method `laplace`: the joint Gaussian approximation with the uncertainty of the scales.

Nested Laplace approximation (Rue, Martino & Chopin 2009): given the scales, items and abilities are Gaussian around
their mode; the scales' own posterior is the Laplace approximation of the evidence times their prior. It is explored by
importance sampling from a Normal around its mode, and draws come from the Gaussians at the sampled scales. The search
starts from scales for which abilities were integrated, where a joint mode would be biased or run away: at given scales
it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, softmax

from irt._fit_settings import FitSettings
from irt._model import Problem, RawDraws, report_scale
from irt._responses import Floats
from irt.fitting import _laplace as laplace
from irt.fitting import _scale_estimates as scaling
from irt.fitting._estimation_outcome import EstimationOutcome, Progress, draws_for, tell
from irt.fitting._mode import verdict
from irt.fitting._scale_estimates import Scales

LARGEST = 500_000
"""Cells of the largest table: every sampled scale costs a fit."""
SAMPLES, STEP, WIDEN, FEW = 64, 0.2, 1.2, 6.0
"""Scales sampled, step of the differences along each axis, how much wider the proposal is, fewest effective samples."""
AWAY, SHORTEST, LONGEST = 2**0.5, 0.4, 1.5
"""Standard deviations from the centre where the density is looked at to either side, and how many times as wide as the
Normal a side may be.
"""
FLATTEST = 1.0
"""Least curvature of the proposal."""
BIASED = (
    "Abilities rest on few answers, where a joint mode is biased: intervals of discriminations are too short; conclude "
    "with method 'nuts' or 'mml'."
)


def find_nested(problem: Problem, settings: FitSettings, progress: Progress | None) -> EstimationOutcome:
    """Draws over the scales' posterior; ValueError for a table too large or where a joint mode fails."""
    students, items = problem.answers.shape
    if students * items > LARGEST:
        raise ValueError(f"method 'laplace' fits up to {LARGEST} cells, found {students} x {items}; use method 'map'")
    mode = laplace.climb(problem)
    if laplace.at_bound(problem, mode):
        raise ValueError(
            "method 'laplace' found no mode: the discriminations ran away in this table; use method 'nuts'"
        )
    vectors, weights = _scale_samples(problem, mode, settings.seed, progress)
    draws = report_scale(_draws(problem, mode, vectors, weights, settings.seed), problem.design)
    warnings = (BIASED,) if mode.integrated else verdict(problem, mode)[0]
    effective = effective_samples(weights)
    if effective < FEW:
        warnings += (few_scales(effective),)
    diagnostics = {"rounds": mode.rounds, "log_posterior": mode.log_posterior, "scale_samples": effective}
    return EstimationOutcome(
        draws=draws,
        point={name: values.mean(axis=0) for name, values in draws.items()},
        log_likelihood=mode.log_likelihood,
        converged=mode.converged and effective >= FEW,
        diagnostics=diagnostics,
        warnings=warnings,
    )


def _scale_samples(
    problem: Problem, mode: laplace.LaplaceFit, seed: int, progress: Progress | None
) -> tuple[Floats, Floats]:
    """Vectors of scales `[SAMPLES, H]` and their normalised importance weights."""
    free, start = np.flatnonzero(scaling.estimated(problem)), mode.scales.vector()

    def density(moved: Floats) -> float:
        vector = start.copy()
        vector[free] = moved
        return laplace.log_evidence(laplace.refit(problem, mode, Scales.of(vector))) + scaling.log_prior(
            problem, vector
        )

    moved, weights = sampled_scales(density, *_normal(density, start[free]), seed, progress)
    vectors = np.tile(start, (SAMPLES, 1))
    vectors[:, free] = moved
    return vectors, weights


def sampled_scales(
    density: Callable[[Floats], float], centre: Floats, axes: Floats, seed: int, progress: Progress | None
) -> tuple[Floats, Floats]:
    """Samples `[SAMPLES, H]` from a density like the one given by its log, and normalised importance weights.

    `axes` are the columns of `root_of` a Normal's curvature. Along each, samples are from halves of two Normals, each
    as wide as the density is on its side (Rue, Martino & Chopin 2009, 6.5), and somewhat wider: a scale that may be
    small has a long tail below.
    """
    from scipy.stats import qmc  # takes a while to load

    ends = np.array([[_finite(density, centre + side * AWAY * axis) for axis in axes.T] for side in (-1, 1)])
    drops = max(_finite(density, centre), np.finfo(float).min) - ends
    below, above = np.clip(1 / np.sqrt(np.maximum(drops, LONGEST**-2)), SHORTEST, LONGEST)
    uniform = qmc.Sobol(len(centre), rng=np.random.default_rng([seed, 3])).random(SAMPLES)
    normal = ndtri(np.clip(uniform, 1e-6, 1 - 1e-6))
    widths = WIDEN * np.where(normal > 0, above, below)
    vectors = centre + (normal * widths) @ axes.T
    logs = np.sum(0.5 * normal**2 + np.log(widths), axis=1)
    for index, vector in enumerate(vectors):
        logs[index] += _finite(density, vector)
        tell(progress, index + 1, SAMPLES)
    return vectors, np.asarray(softmax(logs))


def _finite(density: Callable[[Floats], float], vector: Floats) -> float:
    """The log density, -inf where it breaks down: scales that answers cannot have come from weigh nothing."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = density(vector)
    return found if np.isfinite(found) else -np.inf


def effective_samples(weights: Floats) -> float:
    """How many equally weighted samples are worth as much."""
    return float(1.0 / np.sum(weights**2))


def few_scales(effective: float) -> str:
    """The warning that few sampled scales carry the weight."""
    return f"Not converged: {effective:.1f} of {SAMPLES} sampled scales carry the weight; use method='nuts'."


def _normal(density: Callable[[Floats], float], start: Floats) -> tuple[Floats, Floats]:
    """Centre and root of the covariance of a Normal like the density, by a Newton step along each axis."""
    middle, steps = density(start), STEP * np.eye(len(start))
    above, below = (np.array([density(start + side * step) for step in steps]) for side in (1, -1))
    curvature = np.diag(np.maximum((2 * middle - above - below) / STEP**2, FLATTEST))
    centre = start + np.clip((above - below) / (2 * STEP) / np.diag(curvature), -0.5, 0.5)
    for i, j in zip(*np.triu_indices(len(start), 1), strict=True):
        both = density(start + steps[i] + steps[j])
        curvature[i, j] = curvature[j, i] = (above[i] + above[j] - middle - both) / STEP**2
    return centre, root_of(curvature)


def root_of(curvature: Floats) -> Floats:
    """The symmetric root of the covariance of a Normal whose log density has minus this curvature, bounded where flat.

    Of all roots its columns lie nearest to the scales' own axes, and they change as little as the curvature does:
    principal axes turn, and change sign, with the last digits of it.
    """
    values, vectors = np.linalg.eigh(curvature)
    return np.asarray(vectors / np.sqrt(np.maximum(values, FLATTEST)) @ vectors.T)


def shares(weights: Floats, count: int, rng: np.random.Generator) -> list[int]:
    """How many of `count` draws each weight gets, by systematic resampling."""
    places = np.searchsorted(np.cumsum(weights)[:-1], (np.arange(count) + rng.random()) / count)
    return [int(share) for share in np.bincount(places, minlength=len(weights))]


def _draws(problem: Problem, mode: laplace.LaplaceFit, vectors: Floats, weights: Floats, seed: int) -> RawDraws:
    """Draws shared out over the scales, in random order."""
    count, rng = draws_for(*problem.answers.shape), np.random.default_rng([seed, 4])
    parts = []
    for index, share in enumerate(shares(weights, count, rng)):
        if share:
            fit = laplace.refit(problem, mode, Scales.of(vectors[index]))
            parts.append(laplace.draw(problem, fit, share, seed + 1000 * index))
    return joined(parts, rng.permutation(count))


def joined(parts: Sequence[RawDraws], order: NDArray[np.int64]) -> RawDraws:
    """The draws of several parts, in this order."""
    fields: dict[str, Any] = {}
    for name in RawDraws.__dataclass_fields__:
        values = [getattr(part, name) for part in parts]
        if name in ("effects", "scales", "item_effect_scales", "covariate_effects"):
            fields[name] = tuple(np.concatenate(each)[order] for each in zip(*values, strict=True))
        elif values[0] is not None:
            fields[name] = np.concatenate(values)[order]
    return RawDraws(**fields)
