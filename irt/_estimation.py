"""`fit`: from a table of answers to a checked posterior."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from irt._cautions import cautions
from irt._design import Design, design_of
from irt._fit_settings import FitSettings
from irt._item_covariates import read_item_table
from irt._model import RATINGS, Priors, Problem, build_problem
from irt._reading import require_estimable
from irt._responses import ResponseMatrix, facet_names, require_matrix
from irt._result import Fit
from irt._tables import unused_scores
from irt.checks._loo import loo
from irt.fitting._estimation_outcome import EstimationOutcome, Progress, begun
from irt.fitting._marginal import find_marginal
from irt.fitting._mode import find_mode
from irt.fitting._nested_laplace import find_nested
from irt.fitting._sampling import sample_posterior
from irt.fitting._variational import find_variational

DEAR, DEAR_BRIEFLY = 5e7, 3e8
"""Operations of a sweep of `nuts`, and of a round of `map` and `laplace`, from which effects on items are left out if
nobody asks for them: a fit would take an hour, or many minutes.
"""
NODES = 50
"""Points, about, at which the likelihood of an answer is taken: of a rating, with every pair of its thresholds."""
FEW_STUDENTS = 200
"""Students from which on answers, and not the prior alone, tell guessing (as the message says)."""
TAKEN_OVER = ("draws", "point", "errors", "log_likelihood", "converged", "diagnostics", "item_effects")
"""What a fit has as its estimator gave it."""
UNRELIABLE = 0.1
"""Share of unreliable answers above which PSIS-LOO does not choose between models."""
Estimator = Callable[[Problem, FitSettings, Progress | None], EstimationOutcome]
ESTIMATORS: Mapping[str, Estimator] = {
    "nuts": sample_posterior,
    "map": find_mode,
    "laplace": find_nested,
    "mml": find_marginal,
    "svi": find_variational,
}
"""What fits a problem, by method."""
MOST_LOO_CELLS = 400_000
"""Larger tables go without: it takes every draw of every answer."""
LOO_DRAWS = 1000
"""Draws of PSIS-LOO: its tail then has some ninety, enough for the Pareto fit."""
POOR, POOR_SHARE = 0.7, 0.01
"""Pareto k above which an answer's weight is not to be trusted, and the share of such answers that is worth a word."""


def fit(
    data: ResponseMatrix,
    model: str | None = None,
    method: str | None = None,
    facets: Sequence[str] | None = None,
    *,
    settings: FitSettings | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Fit:
    """Fit an item response model to a table of answers and check the result.

    Every option is a field of `irt.FitSettings`: give it by name (`irt.fit(data, method="map", seed=1)`), or give
    several together as `settings`; an option given by name takes precedence.

    Models: `1pl`, `2pl`, `3pl`, `3pl-shared` (one guessing parameter for all items), `4pl`; `auto` chooses the simplest
    of 1pl to 3pl that PSIS-LOO does not reject (with `mml`: the one with the smallest BIC of maximum likelihood fits);
    of ratings (`read_responses(..., graded=True)`), by all methods but `svi`: `grm`, the graded response model,
    `gpcm`, the generalised partial credit model, and `pcm`, the partial credit model, with one discrimination for all
    items.

    Methods:

    - `nuts` samples the posterior until it passes a convergence check, with at most `draws` per chain, and once more
      with smaller steps if it does not. `backend="pymc"` runs a second, independent implementation. Where students have
      levels in common, these have effects on each item (`item_effects`), and a Gibbs sampler takes the place of NUTS
      (but for ratings).
    - `map` finds the joint mode with Laplace standard errors, in a fraction of a second, for tables of any size.
    - `laplace` adds the uncertainty of the scales (nested Laplace; about a second). Where students have levels in
      common, both are the same: the levels' effects on items are in the model, by expectation propagation in seconds.
    - `mml` is marginal maximum likelihood over a normal population, whose mean depends on the facets and covariates
      that are named (latent regression). With `priors` the items are a population whose spreads are estimated, which
      suits few students better.
    - `svi` is a mean-field approximation from mini-batches. Its intervals are too narrow.

    `facets=None` uses every facet of the table that is not a covariate (`mml`: none), `()` none; `covariates` are
    columns of numbers with a smooth effect (`irt._design.spline_root`; `mml`: a straight line). `item_covariates` are
    numbers or labels of the items by name (`{"overlap": {"q1": .8, ...}}`), which explain their difficulty and the
    effects of levels on them; `Fit.covariate_effects` has by how much, `Fit.at` reads a fit at another mix of
    questions. `progress` is called
    with 0 of 1 as soon as the input is accepted. Raises ValueError (one line) for a table or design that cannot be
    estimated, TypeError for an unknown option.
    """
    named = {"model": model, "method": method, "facets": facets}
    given = {name: value for name, value in named.items() if value is not None} | options
    settings = (settings or FitSettings()).changed(**given)
    require_matrix(data)
    return estimate(data, settings, progress, require_estimable)


def estimate(
    data: ResponseMatrix,
    settings: FitSettings,
    progress: Progress | None = None,
    require: Callable[[ResponseMatrix], None] = lambda _data: None,
) -> Fit:
    """As `fit`, of a table that may have students and items without answers, which the model places by their levels
    and its populations; `require` is what else is asked of the table that the model reads.
    """
    if settings.method == "nuts" and settings.chains < 2:
        raise ValueError(f"{settings.chains} chain cannot be checked for convergence; wanted at least 2")
    data = _rated(data, settings) if settings.model in RATINGS else _right_or_wrong(data, settings.model)
    require(data)
    facets = settings.facets
    marginal = settings.method == "mml"
    if marginal:
        data, facets = _named_facets(data, settings)
    data, design = design_of(data, facets, settings.interactions, settings.covariates, straight=marginal)
    if marginal and not design.residual:
        raise ValueError(f"method 'mml': {design.warnings[0]} Wanted method 'map' or 'nuts', or fewer facets")
    data, design, settings = _with_item_effects(data, design, settings)
    if settings.item_covariates is not None:
        design = replace(design, item_covariates=read_item_table(settings.item_covariates, data.items))
    run = partial(_fitted, data=data, design=design, settings=settings, progress=progress)
    compared = ("1pl", "2pl", "3pl") if settings.model == "auto" else (settings.model,)
    priors = settings.priors or Priors()
    problems = [build_problem(data, design, name, settings.options, priors) for name in compared]
    begun(progress)
    if settings.model == "auto" and marginal:
        return choose_by_bic(run, problems, settings)
    if design.item_facets:
        return run(problems[0]) if settings.model != "auto" else _chosen_without_effects(run, problems, settings)
    fits = [run(problem) for problem in problems]
    return choose(fits) if settings.model == "auto" else fits[0]


def _with_item_effects(
    data: ResponseMatrix, design: Design, settings: FitSettings
) -> tuple[ResponseMatrix, Design, FitSettings]:
    """The design with effects of levels on items where they are wanted, and the settings with the backend that does it.

    A table has a note where they would take too long. ValueError where they are asked for and cannot be had.
    """
    sampled = settings.method == "nuts"
    having = settings.can_have_item_effects
    if settings.item_effects and not having:
        backend = "" if settings.backend is None else f", backend '{settings.backend}'"
        raise ValueError(
            f"item_effects: found method '{settings.method}', model '{settings.model}'{backend}; wanted method 'nuts' "
            "(of right and wrong answers: backend 'gibbs' or 'pymc'), 'map' or 'laplace'"
        )
    if settings.backend == "gibbs" and settings.item_effects is False:
        raise ValueError("backend: found 'gibbs' with item_effects=False; wanted 'numpyro' or 'pymc'")
    wanted = having if settings.item_effects is None else settings.item_effects
    facets = design.shared_facets if wanted else ()
    if facets and settings.item_effects is None and settings.backend is None and _dear(data, design, sampled):
        levels = sum(len(design.term(name).levels) for name in facets)
        note = f"Effects of {levels} levels on each of {len(data.items)} items would take long and were left out."
        data, facets = replace(data, notes=(*data.notes, f"{note} item_effects=True has them.")), ()
    if settings.model in RATINGS and having and not (sampled or settings.item_effects) and _dear(data, design, sampled):
        found = f"{len(data.students)} students x {len(data.items)} items"
        raise ValueError(
            f"method '{settings.method}', model '{settings.model}': found {found}; wanted fewer, or 'mml' or 'nuts'"
        )
    if not facets and (settings.item_effects or settings.backend == "gibbs"):
        raise ValueError(
            "item_effects: found no two students with a level in common; wanted facets whose levels repeat"
        )
    if facets and sampled and settings.backend is None and settings.model not in RATINGS:
        settings = settings.changed(backend="gibbs")
    return data, replace(design, item_facets=facets), settings


def _dear(data: ResponseMatrix, design: Design, sampled: bool) -> bool:
    """Whether effects of levels on items would take long."""
    return sweep_operations(data, design) > DEAR if sampled else round_operations(data, design) > DEAR_BRIEFLY


def sweep_operations(data: ResponseMatrix, design: Design) -> float:
    """Operations that take most of the time of a sweep with effects of levels on items."""
    free = sum(term.freedom for term in design.terms)
    return float(data.asked.sum()) * (free + 3) ** 2 / 2


def round_operations(data: ResponseMatrix, design: Design) -> float:
    """Operations that take most of the time of a round of expectation propagation with effects of levels on items."""
    students, items = data.scores.shape
    width = 1 + sum(len(design.term(name).levels) for name in design.shared_facets)
    size = 1 + sum(term.freedom for term in design.terms) + students * design.residual
    of_ratings = 0 if data.top is None else NODES * students * items * (int(data.top.max()) ** 2 - 1)
    return float(items * width * (width**2 + width * students + size**2 + size * students) + size**3 + of_ratings)


def _chosen_without_effects(run: Callable[..., Fit], problems: Sequence[Problem], settings: FitSettings) -> Fit:
    """The model that is chosen without effects on items, fitted with them: PSIS-LOO cannot compare models with them."""
    design = replace(problems[0].design, item_facets=(), item_covariates=None)
    plain = settings.changed(item_covariates=None, item_effects=None)
    plain = plain.changed(backend="numpyro") if settings.method == "nuts" else plain
    pick = choose([run(replace(problem, design=design), design=design, settings=plain) for problem in problems])
    fitted = run(next(problem for problem in problems if problem.model == pick.model))
    reason = pick.notes[-1].replace("by PSIS-LOO", "by PSIS-LOO (without effects on items)")
    return replace(fitted, model_choice=pick.model_choice, notes=(*fitted.notes, reason))


def choose_by_bic(run: Callable[..., Fit], problems: Sequence[Problem], settings: FitSettings) -> Fit:
    """The model with the smallest BIC of a maximum likelihood fit (Schwarz 1978; the sample is the students).

    Priors that were given take no part in the comparison: they keep estimates from the maxima that BIC compares. The
    BIC of a fit some of whose items need a prior even so is above its minimum: such a model may win, but may not be
    ruled out, which the reason says.
    """
    fits = [run(problem, settings=replace(settings, priors=None)) for problem in problems]
    rows: list[dict[str, float | int | str]] = []
    for candidate in fits:
        said = {name: candidate.diagnostics[name] for name in ("parameters", "aic", "bic")}
        rows.append({"model": candidate.model, "log_likelihood": candidate.log_likelihood, **said})
    best = int(np.argmin([float(row["bic"]) for row in rows]))
    given = settings.priors is not None
    pick = run(problems[best]) if given else fits[best]
    listed = ", ".join(f"{row['model']} {float(row['bic']):.1f}" for row in rows)
    reason = f"Chose {pick.model} by the smallest BIC{' of fits without the priors given' if given else ''} ({listed})."
    unsure = [each.model for each in fits if each.diagnostics["items_held_by_priors"] and each is not fits[best]]
    if unsure:
        reason += (
            f" {' and '.join(unsure)} {'is' if len(unsure) == 1 else 'are'} not ruled out: items needed a prior"
            f"{' even so' if given else ''}, and at a maximum BIC would be lower."
        )
    return replace(pick, model_choice=tuple(rows), notes=(*pick.notes, reason))


def choose(fits: Sequence[Fit]) -> Fit:
    """The simplest fit whose PSIS-LOO is within two standard errors of the best one, with the comparison recorded."""
    scored = [loo(fit.data, fit.thinned(1000)) for fit in fits]
    unreliable = [fit.model for fit, each in zip(fits, scored, strict=True) if np.mean(each.k > 0.7) > UNRELIABLE]
    if unreliable:
        raise ValueError(
            f"model 'auto' cannot compare {', '.join(unreliable)} by PSIS-LOO (Pareto k above 0.7 for more than "
            f"{UNRELIABLE:.0%} of the answers); name a model, or use method 'nuts'"
        )
    pointwise = [each.pointwise for each in scored]
    totals = [float(values.sum()) for values in pointwise]
    best = int(np.argmax(totals))
    rows: list[dict[str, float | int | str]] = []
    chosen = best
    for index, (candidate, values) in enumerate(zip(fits, pointwise, strict=True)):
        difference = pointwise[best] - values
        error = float(np.sqrt(len(values) * difference.var()))
        gap = float(difference.sum())
        rows.append({"model": candidate.model, "elpd_loo": totals[index], "behind": gap, "behind_se": error})
        if gap <= 2 * error and index < chosen:
            chosen = index
    pick = fits[chosen]
    reason = f"Chose {pick.model} of {', '.join(fit.model for fit in fits)} by PSIS-LOO: "
    row = rows[chosen]
    if chosen == best:
        reason += "it predicts left-out answers best."
    else:
        reason += (
            f"{fits[best].model} predicts left-out answers better by {row['behind']:.1f} (standard error "
            f"{row['behind_se']:.1f}), which does not pay for its extra parameters."
        )
    return replace(pick, model_choice=tuple(rows), notes=(*pick.notes, reason))


def _fitted(
    problem: Problem, data: ResponseMatrix, design: Design, settings: FitSettings, progress: Progress | None
) -> Fit:
    """The fit of one problem, of several when models are compared."""
    begin = time.perf_counter()
    outcome = _estimator(problem, design, settings)(problem, settings, progress)
    seconds = time.perf_counter() - begin - outcome.compile_seconds
    result = Fit(
        settings=settings.changed(
            model=problem.model, backend=settings.chosen_backend, chains=outcome.chains, facets=design.facets
        ),
        data=data,
        design=design,
        chance=problem.chance,
        elpd_loo=None,
        elpd_loo_se=None,
        warnings=(),
        notes=(*data.notes, *outcome.notes),
        seconds={"compile": outcome.compile_seconds, "fit": seconds},
        **{name: getattr(outcome, name) for name in TAKEN_OVER},
    )
    advice = _advice(problem, data) if problem.ratings is None else _rating_advice(data, settings)
    return _with_loo(replace(result, warnings=(*design.warnings, *advice, *outcome.warnings, *cautions(result))))


def _estimator(problem: Problem, design: Design, settings: FitSettings) -> Estimator:
    """That of the method, but for ratings and effects of levels on items by `map` or `laplace` propagation."""
    if settings.method in ("map", "laplace") and (design.item_facets or problem.ratings is not None):
        from irt.fitting._crossed_propagation import find_crossed  # loads numba

        return find_crossed
    return ESTIMATORS[settings.method]


def _right_or_wrong(data: ResponseMatrix, model: str) -> ResponseMatrix:
    """The table; ValueError when it holds ratings."""
    if data.top is not None and data.top.max() > 1:
        raise ValueError(
            f"model '{model}' is for right and wrong answers; the table has scores up to {data.top.max()}; "
            f"wanted model {', '.join(RATINGS[:-1])} or {RATINGS[-1]}"
        )
    return data


def _rated(data: ResponseMatrix, settings: FitSettings) -> ResponseMatrix:
    """The table as one of ratings: right and wrong answers are ratings up to 1, where the model is the 2pl."""
    if settings.method == "mml" and settings.priors is not None:
        raise ValueError(f"model '{settings.model}' by 'mml' is maximum likelihood and takes no priors; wanted 'nuts'")
    if data.trials is not None:
        raise ValueError(
            f"model '{settings.model}' is for one rating per answer; the table counts right answers of trials"
        )
    return replace(data, top=np.ones(len(data.items), dtype=np.int64)) if data.top is None else data


def _rating_advice(data: ResponseMatrix, settings: FitSettings) -> list[str]:
    """What a table of ratings says before any fit: scores that nobody got."""
    unused = unused_scores(data)
    notes = []
    if unused[:, 0].all():
        lowest = int(np.nanmin(data.scores))
        notes.append(f"No answer scored below {lowest}: if ratings begin there, take {lowest} from every score.")
    count = int(unused.any(axis=1).sum())
    if count and settings.method == "nuts":
        noun = "item has a score" if count == 1 else "items have scores"
        notes.append(f"{count} {noun} that nobody got (column flags); the prior places the thresholds around it.")
    return notes


def _named_facets(data: ResponseMatrix, settings: FitSettings) -> tuple[ResponseMatrix, tuple[str, ...]]:
    """The facets for `mml`: those named, since students of one population are its usual case; none for ratings."""
    facets = tuple(settings.facets or ())
    if settings.model in RATINGS and (*facets, *settings.covariates):
        found = (*facets, *settings.covariates)[0]
        raise ValueError(
            f"model '{settings.model}' by 'mml' takes no facets, found facet '{found}'; wanted facets=() (--facets '') "
            "or method 'nuts'"
        )
    present = [name for name in facet_names(data) if name not in settings.covariates]
    if settings.facets is not None or not present:
        return data, facets
    way = "" if settings.model in RATINGS else " (name them for a latent regression)"
    note = f"Method mml takes students as one population: the facets {', '.join(present)} were left out{way}."
    return replace(data, notes=(*data.notes, note)), ()


def _advice(problem: Problem, data: ResponseMatrix) -> list[str]:
    students = len(data.students)
    if problem.guessing and not problem.shared_guessing and students < FEW_STUDENTS:
        return [
            f"{students} students say little about guessing: {problem.model} rests on its prior "
            f"(chance level); about {FEW_STUDENTS} students are needed to estimate it."
        ]
    return []


def _with_loo(fit: Fit) -> Fit:
    """The fit with PSIS-LOO over its answers, where draws are from the posterior and the table is not too large.

    With effects of levels on items an answer rests on the few others of its levels, and leaving it out cannot be had
    by weights (k above .7 for half of the answers of a real grid).
    """
    if fit.method != "nuts" or fit.design.item_facets or fit.data.asked.sum() > MOST_LOO_CELLS:
        return fit
    scored = loo(fit.data, fit.thinned(LOO_DRAWS))
    poor = float(np.mean(scored.k > POOR))
    note = f"PSIS-LOO is unreliable for {poor:.1%} of the answers (Pareto k above {POOR})."
    return replace(
        fit,
        elpd_loo=scored.elpd,
        elpd_loo_se=scored.se,
        diagnostics={**fit.diagnostics, "pareto_k_above_0.7": poor},
        warnings=(*fit.warnings, note) if poor > POOR_SHARE else fit.warnings,
    )
