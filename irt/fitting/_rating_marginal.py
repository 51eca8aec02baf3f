"""Method `mml` for ratings: maximum likelihood, with draws and errors of items and abilities around it."""

from __future__ import annotations

import numpy as np

from irt._fit_settings import FitSettings
from irt._graded import mean_threshold
from irt._model import Problem
from irt._partial_credit import name_of
from irt._quadrature import Posterior
from irt._responses import Floats
from irt.fitting._coordinates import normals, signed_draws, uniforms
from irt.fitting._estimation_outcome import EstimationOutcome, Progress, draws_for
from irt.fitting._rating_curvature import RATING_MODELS
from irt.fitting._rating_maximum import RatingMaximum, maximum, own, parameters


def fit_marginal(problem: Problem, settings: FitSettings, progress: Progress | None) -> EstimationOutcome:
    """Estimates, standard errors and draws of a table of ratings."""
    assert problem.ratings is not None
    best = maximum(RATING_MODELS[problem.model], *problem.ratings, progress)
    return EstimationOutcome(
        draws=_draws(best, settings.seed),
        point=_named(best, best.x) | {"theta": best.expected.posterior.mean},
        log_likelihood=best.log_likelihood,
        converged=best.converged,
        diagnostics=_diagnostics(best),
        warnings=tuple(_warnings(best, problem.items)),
        errors=_errors(best),
    )


def _diagnostics(best: RatingMaximum) -> dict[str, float | int | str]:
    """How the maximum was reached, and AIC and BIC (the sample is the students)."""
    parameters = best.parameters
    return {
        "cycles": best.cycles,
        "nodes": len(best.expected.posterior.nodes),
        "parameters": parameters,
        "aic": 2 * parameters - 2 * best.log_likelihood,
        "bic": float(np.log(len(best.answers.scores))) * parameters - 2 * best.log_likelihood,
        "items_held_by_priors": int(best.answers.helped.sum()),
    }


def _draws(best: RatingMaximum, seed: int) -> dict[str, Floats]:
    """Items from the asymptotic Normal (in log slope, mean intercept and log gaps), abilities from their posterior.

    Abilities follow each draw of the items to first order.
    """
    rng = np.random.default_rng([seed, 5])
    students, (items, width) = len(best.answers.scores), best.x.shape
    count = draws_for(students, items, width + 1)
    normal = normals(rng, best.parameters, count).T
    theta = _ability_draws(best.expected.posterior, count, rng)
    if best.root is not None:
        theta = theta + normal @ best.response.T
    return _named(best, _item_draws(best, normal)) | {"theta": theta}


def _named(best: RatingMaximum, x: Floats) -> dict[str, Floats]:
    """Items of coordinates `[..., I, 1 + K]` by name."""
    items = parameters(best.answers.model, x, best.answers.top)
    return {"a": items.a, "b": items.b, name_of(type(items)): items.thresholds}


def _item_draws(best: RatingMaximum, normal: Floats) -> Floats:
    """Coordinates `[D, I, 1 + K]` of standard normal moves `[D, P]`.

    Slopes keep their signs; of ordered intercepts log gaps are moved, so that they stay in order.
    """
    real, count = best.answers.real, len(normal)
    moves = np.zeros((count, *best.x.shape))
    moves[:, own(real)] = normal if best.root is None else normal @ best.root
    if best.root is None:
        ridge = 1e-12 * np.eye(best.x.shape[1])
        moves = np.einsum("ijk,dik->dij", np.linalg.cholesky(best.blocks + ridge), moves)
    below = _ladder(best, moves) if best.answers.model.ordered else best.x[:, 1:] + moves[:, :, 1:]
    slope, middle = _lines(best, moves)
    below = below + (middle - mean_threshold(below, best.answers.top))[:, :, None]
    return np.concatenate([slope[:, :, None], below], axis=2)


def _ladder(best: RatingMaximum, moves: Floats) -> Floats:
    """Intercepts `[D, I, K]` from the first of each item, 0, downwards."""
    inner = best.answers.real[:, 1:]
    gap = np.where(inner, best.x[:, 1:-1] - best.x[:, 2:], 1.0)
    stretch = np.where(inner, (moves[:, :, 1:-1] - moves[:, :, 2:]) / gap, 0.0)
    gaps = np.where(inner, gap * np.exp(np.clip(stretch, -5.0, 5.0)), 0.0)
    return np.concatenate([np.zeros((*moves.shape[:2], 1)), -np.cumsum(gaps, axis=2)], axis=2)


def _lines(best: RatingMaximum, moves: Floats) -> tuple[Floats, Floats]:
    """Slopes, which keep their signs, and mean intercepts `[D, I]` of moves `[D, I, 1 + K]`."""
    parts = np.zeros((len(best.x), 2, best.x.shape[1]))
    parts[:, 0, 0] = 1.0
    parts[:, 1, 1:] = best.answers.real / best.answers.top[:, None]
    covariance = np.einsum("ijk,ikl,iml->ijm", parts, best.blocks, parts)
    drawn = signed_draws(
        np.einsum("ijk,ik->ji", parts, best.x), covariance, np.einsum("ijk,dik->dji", parts, moves, optimize=True)
    )
    return drawn[:, 0], drawn[:, 1]


def _ability_draws(posterior: Posterior, count: int, rng: np.random.Generator) -> Floats:
    """Draws `[D, S]` from each student's posterior at the estimates.

    A node's draws are spread evenly over its step; the variance this adds is taken out again.
    """
    step = float(posterior.nodes[1] - posterior.nodes[0])
    draws = np.empty((count, len(posterior.weights)))
    for student, weights in enumerate(posterior.weights):
        place = np.searchsorted(np.cumsum(weights), uniforms(rng, 1, count)[0])
        draws[:, student] = posterior.nodes[np.minimum(place, len(weights) - 1)]
    draws += step * (rng.random(draws.shape) - 0.5)
    mean, variance = posterior.mean, posterior.sd**2
    return np.asarray(mean + (draws - mean) * np.sqrt(variance / (variance + step**2 / 12)))


def _errors(best: RatingMaximum) -> dict[str, Floats]:
    """Standard errors by the delta method, `b_k = -d_k / a`; of abilities, including what the items leave open."""
    items = parameters(best.answers.model, best.x, best.answers.top)
    a, thresholds, top = items
    width = best.x.shape[1]
    by_x = np.zeros((len(a), width - 1, width))
    by_x[:, :, 0] = -thresholds / a[:, None]
    last = np.minimum(np.arange(width - 1), top[:, None] - 1)
    np.put_along_axis(by_x[:, :, 1:], last[:, :, None], -1.0 / a[:, None, None], axis=2)
    mean = (by_x * best.answers.real[:, :, None]).sum(axis=1) / top[:, None]
    return {
        "a": np.sqrt(best.blocks[:, 0, 0]),
        "b": np.sqrt(np.einsum("ij,ijk,ik->i", mean, best.blocks, mean)),
        name_of(type(items)): np.sqrt(np.einsum("ikj,ijl,ikl->ik", by_x, best.blocks, by_x)),
        "theta": np.sqrt(best.expected.posterior.sd**2 + (best.response**2).sum(axis=1)),
    }


def _warnings(best: RatingMaximum, items: tuple[str, ...]) -> list[str]:
    said = []
    for mask, reason in ((best.answers.unused, "a score nobody got"), (best.answers.runaway, "a runaway estimate")):
        if mask.any():
            names = [items[index] for index in np.flatnonzero(mask)]
            shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            said.append(
                f"{len(names)} item{'s' * (len(names) > 1)} with {reason} ({shown}): the likelihood has no finite "
                "maximum there, so half an answer more in every category was supposed; method 'nuts' shares strength "
                "between items instead."
            )
    if best.root is None:
        said.append(
            "Standard errors take abilities as known and are too small (little so in a long exam): the exact ones are "
            "not feasible here."
        )
    if not best.converged:
        said.append(f"Not converged: the likelihood still rose after {best.cycles} cycles; use method 'nuts'.")
    return said
