"""Method `mml`: marginal maximum likelihood over a Normal(0, 1) population (Bock & Aitkin 1981).

With facets or covariates the population's mean depends on them (`irt.fitting._latent_regression`).

Slopes and intercepts are estimated by maximum likelihood with errors from the observed information, as long as the
answers hold all items. A prior comes in where they cannot: on items that all or none solved, on items whose estimates
run off to infinity, and on all items when such run off again and again. It is weak as long as such items are few:

    single items    log |slope| ~ Normal(log median, 2 spread_a), intercept ~ Normal(0, hypot(centre_b, spread_b))
    slope of 1pl    log slope ~ Normal(0, 2 common_a)
    asymptotes      c and delta ~ Beta as in `irt._model`

When priors are asked for by name, when those of single items would move all abilities (`MOST_PULL`), or asymptotes are
to be estimated from few students, all items are a population whose means and spreads are estimated along
(`_population_spreads`, empirical Bayes). The estimates are then the items' means a posteriori, of log slopes
and of difficulties; asymptotes, abilities and the log-likelihood are those at the mode. Slopes are positive there
unless the answers clearly say otherwise.

An asymptote whose maximum lies at 0 (or 1) stays there, and the standard errors of the rest are given that. Asymptotes
without priors are drawn along their profile likelihoods, up to their bounds, and the rest with them
(`irt.fitting._asymptote_profiles`): intervals take no asymptote as known.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from irt._fit_settings import FitSettings
from irt._model import Problem
from irt._responses import Floats
from irt.fitting._asymptote_paths import Path
from irt.fitting._asymptote_profiles import FittedMaximum, profiles, with_asymptotes_held
from irt.fitting._coordinates import SHARED, item_errors, to_items
from irt.fitting._em import AnswerPatterns, compress
from irt.fitting._estimation_outcome import EstimationOutcome, Progress
from irt.fitting._latent_regression import Regressed, around_coefficients, on_report_scale, regress
from irt.fitting._marginal_maximum import MarginalMaximum, constant, estimate, estimate_population
from irt.fitting._observed_information import InverseInformation
from irt.fitting._plausible_values import draw
from irt.fitting._rating_marginal import fit_marginal
from irt.kernels import RUNAWAY

FEW_STUDENTS = 500
"""With fewer, models with asymptotes take priors: maximum likelihood would send them anywhere."""
MOST_PULL = 0.25
"""Standard errors of the population's mean that priors of single items may move all abilities by: with more, the scale
would not be the population's."""
NAMED = 3
"""Items named in a sentence, of more."""

Mask = NDArray[np.bool_]


def find_marginal(problem: Problem, settings: FitSettings, progress: Progress | None) -> EstimationOutcome:
    """Maximise the marginal likelihood; draw items from its curvature and abilities from their posteriors."""
    if problem.ratings is not None:
        return fit_marginal(problem, settings, progress)
    few = problem.own_guessing and len(problem.attempts) < FEW_STUDENTS
    whole = settings.priors is not None or few
    at = _maximum(problem, whole, progress)
    loose, pull = at.found.rescued & ~constant(problem), 0.0 if whole else _pull(problem, at.found)
    if pull > MOST_PULL:
        at = _maximum(problem, True, progress)
    found, table = at.found, at.table
    state, fixed = found.climb.state, found.fixed
    covariance, means = _freed(found.curvature, fixed), _means(found)
    given, paths = _given_asymptotes(table, problem, found, covariance)
    rest = covariance if given.curvature is found.curvature else _freed(given.curvature, given.fixed)
    around = around_coefficients(at, given.curvature, given.fixed, settings.seed)
    if around.moves is not None:
        rest = rest + around.item_covariance
    draws = draw(given, rest, paths, settings.seed, means, around.moves)
    items, errors = to_items(state.x if means is None else means), item_errors(state.x, covariance)
    if means is not None:
        errors = errors._replace(a=errors.a * items.a / state.x[0])
    by_path = np.isin(np.arange(fixed.shape[1]), [item for path in paths for item in path.items])
    rows = {"theta": state.mean[table.row_of]}
    spread = {"theta": state.sd[table.row_of]}
    for name, point, error in zip("abcd", items, errors, strict=True):
        rows[name] = point
        own = by_path if name in "cd" else np.zeros_like(by_path)
        spread[name] = np.where(own, draws[name].std(axis=0), error)
    outcome = EstimationOutcome(
        draws=draws,
        point=rows,
        errors=spread,
        log_likelihood=state.log_likelihood,
        converged=found.converged and at.has_residual,
        diagnostics=_diagnostics(problem, found),
        warnings=tuple(_warnings(problem, at, loose, pull, few and settings.priors is None)),
        notes=(*_notes(problem, settings, found), *_endless(problem, paths, draws)),
    )
    return on_report_scale(problem.design, outcome, at.coefficients, around.coefficients)


def _maximum(problem: Problem, whole: bool, progress: Progress | None) -> Regressed:
    """The maximum over items, and over coefficients where there are terms; `whole` puts priors on all items."""
    find = estimate_population if whole else estimate
    if problem.design.terms:
        return regress(problem, lambda table, near: find(table, problem, progress, near), progress)
    table = compress(problem.successes, problem.attempts)
    return Regressed(np.zeros(0), find(table, problem, progress), table)


def _pull(problem: Problem, found: MarginalMaximum) -> float:
    """How far single items' priors move all abilities, in standard errors of the population's mean.

    Where intercepts are free of priors the abilities' means sum to 0; a prior moves the sum by its own gradient.
    """
    x = found.climb.state.x
    return abs(float(found.penalty.gradient(x)[1] @ x[0])) / float(np.sqrt(len(problem.attempts)))


def _means(found: MarginalMaximum) -> Floats | None:
    """Coordinates `[K, I]` of the means a posteriori of items that are a population."""
    if found.population is None:
        return None
    a, b = found.population.items()
    return np.stack([a, -a * b, *found.climb.state.x[2:]])


def _diagnostics(problem: Problem, found: MarginalMaximum) -> dict[str, float | int | str]:
    state, x = found.climb.state, found.climb.state.x
    parameters = x.size - sum(SHARED[problem.model]) * (x.shape[1] - 1)
    parameters += sum(term.freedom for term in problem.design.terms)
    said: dict[str, float | int | str] = {
        "iterations": len(found.climb.values) - len(found.climb.renewed),
        "nodes": len(found.climb.nodes),
        "gain_left": found.gain_left,
        "step_left": found.step_left,
        "parameters": parameters,
        "aic": 2 * parameters - 2 * state.log_likelihood,
        "bic": float(np.log(len(problem.attempts))) * parameters - 2 * state.log_likelihood,
        "log_posterior": state.value,
        "items_held_by_priors": int(found.rescued.sum()) if found.population is None else x.shape[1],
    }
    return said if found.population is None else {**said, **found.population.reported()}


def _freed(curvature: InverseInformation, fixed: Mask) -> Floats:
    """Covariance `[I, K, K]` with nothing for coordinates that are `fixed` `[K, I]`."""
    free = 1.0 - fixed.T
    return np.asarray(curvature.covariance * free[:, :, None] * free[:, None, :])


def _given_asymptotes(
    table: AnswerPatterns, problem: Problem, found: MarginalMaximum, covariance: Floats
) -> tuple[FittedMaximum, list[Path]]:
    """The maximum and its surroundings given the asymptotes that the answers alone tell, and the paths of these."""
    top, shared, slopes = found.climb, SHARED[problem.model], found.ability_slopes
    fitted = FittedMaximum(table, top.state, top.nodes, shared, found.penalty, found.curvature, slopes, found.fixed)
    if found.population is not None:
        return fitted, []
    given = with_asymptotes_held(fitted)
    return given, profiles(fitted, given, np.sqrt(np.einsum("ikk->ki", covariance)))


def _warnings(problem: Problem, at: Regressed, loose: Mask, pull: float, few: bool) -> list[str]:
    said, found = [], at.found
    if few:
        said.append(
            f"{len(problem.attempts)} students are too few for maximum likelihood of {problem.model}: these are "
            "marginal a posteriori estimates, with priors on all items."
        )
    if np.any(loose):
        said.append(
            "Maximum likelihood has no finite or no stable estimates for "
            f"{_listed(problem, np.flatnonzero(loose))}: a weak prior holds them."
        )
    if pull > MOST_PULL:
        said.append(
            f"Priors of single items would move all abilities by {pull:.1f} standard errors of their mean: instead, "
            "these are marginal a posteriori estimates, with a population's prior on all items."
        )
    if found.population is not None or np.any(loose):
        said.append(
            "The log-likelihood of estimates held by priors lies below its maximum, AIC and BIC above their minimum: a "
            "comparison by them that this fit loses settles nothing."
        )
    if found.population is not None and not found.population.settled:
        said.append("Not converged: the spreads of the items' priors did not settle; use method 'map' or 'nuts'.")
    elif not at.has_residual:
        said.append(
            "Not converged: the facets explain all differences between students, so that no residual of a population "
            "is left to estimate; use method 'map' or 'nuts'."
        )
    elif not found.converged:
        said.append(
            f"Not converged: a log-likelihood {found.gain_left:.2g} higher and steps of {found.step_left:.2g} are left "
            f"after {len(found.climb.values)} iterations."
        )
    return said


def _notes(problem: Problem, settings: FitSettings, found: MarginalMaximum) -> list[str]:
    notes = []
    if settings.priors is not None:
        notes.append("Priors were given, so these are marginal a posteriori estimates, not maximum likelihood.")
    if found.population is not None:
        values = found.population.reported()
        unequal = f" and of log discriminations {values['spread_a']:.2f}" if "spread_a" in values else ""
        notes.append(
            f"The priors' spreads were estimated from the table: that of b (around {values['centre_b']:.2f}) is "
            f"{values['spread_b']:.2f}{unequal}."
        )
    for row, word, value in ((2, "Guessing", 0), (3, "The upper asymptote", 1)):
        at_bound = np.flatnonzero(found.fixed[row]) if row < len(found.fixed) else np.zeros(0, dtype=np.int64)
        if len(at_bound):
            notes.append(
                f"{word} is estimated as {value} for {_listed(problem, at_bound)}: its interval is one-sided. The "
                "standard errors of these items' other parameters take it as known, their intervals do not."
            )
    return notes


def _endless(problem: Problem, paths: list[Path], draws: Mapping[str, Floats]) -> list[str]:
    """A sentence about the items whose slope reached the end of what is followed along an asymptote's path."""
    items = np.array(sorted({int(item) for path in paths for item in path.items}), dtype=np.int64)
    shares = np.mean(np.abs(draws["a"][:, items]) >= RUNAWAY * (1 - 1e-9), axis=0)
    if not np.any(shares):
        return []
    return [
        f"Along with their asymptotes, slopes are followed up to {RUNAWAY:g}, a step to most exams: those of "
        f"{_listed(problem, items[shares > 0])} go on ({shares.max():.0%} of the draws stand there, at most), and the "
        f"upper end of an interval at {RUNAWAY:g} is open."
    ]


def _listed(problem: Problem, which: NDArray[np.int64]) -> str:
    names = [f"'{problem.items[index]}'" if problem.items else f"number {index + 1}" for index in which[:NAMED]]
    more = f" and {len(which) - NAMED} more" if len(which) > NAMED else ""
    return f"item{'s' if len(which) > 1 else ''} {', '.join(names)}{more}"
