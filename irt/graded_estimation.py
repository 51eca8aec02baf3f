"""Fitting ratings: the graded response model behind `irt.fit(data, model="grm")`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from irt.cautions import cautions
from irt.design import Design, build_design, design_of
from irt.fit_settings import FitSettings
from irt.fitting.outcome import Outcome, Progress, begun
from irt.leave_one_out import with_loo
from irt.methods import RATINGS
from irt.model import Priors
from irt.reading import require_estimable
from irt.responses import ResponseMatrix, facet_names
from irt.result import Fit
from irt.tables import unused_scores


def fit_graded(
    data: ResponseMatrix,
    settings: FitSettings,
    progress: Progress | None = None,
) -> Fit:
    """Samejima's graded response model by `nuts` (facets, hierarchical priors) or `mml` (ability Normal(0, 1)).

    A table of right and wrong answers counts as graded with highest score 1, where the model is the 2pl. Raises
    ValueError (one line) for what cannot be estimated.
    """
    method = settings.method
    _require_ratings(data, method, settings.priors)
    require_estimable(data)
    if data.top is None:
        data = replace(data, top=np.ones(len(data.items), dtype=np.int64))
    data, design, notes = _designed(data, method, settings.facets, settings.interactions, settings.covariates)
    begun(progress)
    outcome = _run(data, design, method, settings, settings.priors or Priors(), progress)
    fit = Fit(
        model=RATINGS,
        method=method,
        backend=settings.chosen_backend,
        data=data,
        design=design,
        draws=outcome.draws,
        point=outcome.point,
        errors=outcome.errors,
        chance=np.zeros(len(data.items)),
        chains=outcome.chains,
        interval=settings.interval,
        seed=settings.seed,
        log_likelihood=outcome.log_likelihood,
        elpd_loo=None,
        elpd_loo_se=None,
        converged=outcome.converged,
        diagnostics=outcome.diagnostics,
        warnings=(*design.warnings, *_advice(data, method), *outcome.warnings),
        notes=(*data.notes, *notes, *outcome.notes),
        seconds=outcome.seconds,
    )
    return with_loo(replace(fit, warnings=(*fit.warnings, *cautions(fit))))


def require_right_or_wrong(data: ResponseMatrix, model: str) -> None:
    """ValueError when a table of ratings meets a model of right and wrong answers."""
    if data.top is not None and data.top.max() > 1:
        raise ValueError(
            f"model '{model}' is for right and wrong answers; the table has scores up to {data.top.max()}: "
            f"model '{RATINGS}' was wanted"
        )


def _designed(
    data: ResponseMatrix,
    method: str,
    facets: Sequence[str] | None,
    interactions: Sequence[Sequence[str]],
    covariates: Sequence[str],
) -> tuple[ResponseMatrix, Design, list[str]]:
    """The table with the facets of the fit, their design, and what was left out."""
    if method == "nuts":
        return *design_of(data, facets, interactions, covariates), []
    if facets or interactions or covariates:
        raise ValueError("method 'mml' takes abilities from Normal(0, 1) and no facets; method 'nuts' was wanted")
    names = facet_names(data) if facets is None else ()
    notes = [f"Method 'mml' takes no facets: left out {', '.join(names)}."] if names else []
    data = data.with_facets(())
    return data, build_design(data), notes


def _run(
    data: ResponseMatrix, design: Design, method: str, settings: FitSettings, priors: Priors, progress: Progress | None
) -> Outcome:
    assert data.top is not None
    if method == "nuts":
        from irt.fitting.graded_numpyro import sample_graded

        return sample_graded(data, design, priors, settings, progress)
    from irt.fitting.graded_marginal import fit_marginal

    return fit_marginal(data.scores, data.top, data.items, settings, progress)


def _advice(data: ResponseMatrix, method: str) -> list[str]:
    """What a table says before any fit: scores that nobody got."""
    unused = unused_scores(data)
    notes = []
    if unused[:, 0].all():
        lowest = int(np.nanmin(data.scores))
        notes.append(f"No answer scored below {lowest}: if ratings begin there, take {lowest} from every score.")
    count = int(unused.any(axis=1).sum())
    if count and method == "nuts":
        noun = "item has a score" if count == 1 else "items have scores"
        notes.append(f"{count} {noun} that nobody got (column flags); the prior places the thresholds around it.")
    return notes


def _require_ratings(data: ResponseMatrix, method: str, priors: Priors | None) -> None:
    if method == "mml" and priors is not None:
        raise ValueError(f"model '{RATINGS}' by 'mml' is maximum likelihood and takes no priors; 'nuts' was wanted")
    if data.trials is not None:
        raise ValueError(f"model '{RATINGS}' is for one rating per answer; the table counts right answers of trials")
