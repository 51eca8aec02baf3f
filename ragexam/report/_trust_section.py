"""How far to trust the page: each diagnostic as a plain sentence, its state, and what it means for a reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from examcore.page import clipped, flattened, joined, percent, plain_number, points, shown_value
from irt.checks import duplicates
from irt.plots import records
from ragexam.report._component_names import level_name
from ragexam.report._fitted_model import FittedModel
from ragexam.report._page_parts import PageSection, PageTable, column_heads, table_row, text_cell
from ragexam.report._response_scores import row_interval
from ragexam.report._run_evidence import RunEvidence

FINE, LOOK, BAD = "fine", "look closer", "do not rely on it"
_STEEP, _MANY_STEEP = 10.0, 0.05
"""A discrimination that makes a question a step, and the share of such questions that an exam can bear."""
_LARGE_MISS = 0.02
"""Smaller misses of accuracy do not change a choice, however clear they are."""
_DIAGNOSTICS = {
    "r_hat_max": "largest R-hat (1 is best)",
    "r_hat_worst": "of the parameter",
    "ess_bulk_min": "smallest effective sample size",
    "ess_tail_min": "smallest effective sample size in the tails",
    "divergences": "divergent transitions",
    "tree_depth_saturated": "steps cut short",
    "chains": "chains",
    "draws": "draws kept",
    "pareto_k_above_0.7": "share of answers the cross-validation is unsure about",
    "elpd_loo": "expected log score on left-out answers",
    "log_posterior": "log posterior at the mode",
}


@dataclass(frozen=True)
class TrustCheck:
    """What was looked at, its state, what was found, and what that means."""

    name: str
    state: str
    found: str
    meaning: str


def misfit_sentences(levels: pd.DataFrame | None) -> list[str]:
    """A warning for the verdict where the model does not reproduce the accuracy of components that were tried.

    `levels` is the table of `level_departures`, None without a fit.
    """
    missed = missed_levels(levels)
    if not missed:
        return []
    return [
        "The measurement model does not reproduce the accuracy of "
        f"{joined(list(map(_missed, missed[:3])))}: differences in ability understate or overstate these "
        "components, which are judged by accuracy."
    ]


def trust_section(evidence: RunEvidence, levels: pd.DataFrame | None) -> PageSection:
    """The checks as a table, the fit's own warnings and numbers, and what is absent."""
    model = evidence.model
    lines = list(evidence.missing)
    unanswered = int(evidence.scores["score"].isna().sum())
    if unanswered:
        lines.append(
            f"{unanswered} of {len(evidence.scores)} answers are missing and were left out, not counted wrong."
        )
    if model is None:
        return PageSection(lines)
    of_fit = [*_converged(model), *_prediction(model), *_sharing(model)]
    checks = [*of_fit, *_components(levels), *_copies(model), *_steep(model)]
    bad = [check for check in checks if check.state != FINE]
    head = f"{model.how}. " + (
        f"{len(bad)} of {len(checks)} checks deserve a look." if bad else f"All {len(checks)} checks are fine."
    )
    facts = [
        (_DIAGNOSTICS.get(name, name.replace("_", " ")), shown_value(value))
        for name, value in flattened(model.diagnostics)
        if value is not None
    ]
    ranked = sorted(checks, key=lambda check: (BAD, LOOK, FINE).index(check.state))
    rows = tuple(table_row(one.name, one.state, text_cell(one.found), text_cell(one.meaning)) for one in ranked)
    heads = column_heads("check", "state", "~found", "~what it means")
    table = PageTable("What was checked, and what it means", heads, rows)
    return PageSection([head, *lines, *model.fit.notes], model.fit.warnings, (table,), facts=facts)


def _check(name: str, good: bool, found: str, if_good: str, if_not: str, otherwise: str = LOOK) -> TrustCheck:
    return TrustCheck(name, FINE if good else otherwise, found, if_good if good else if_not)


def _converged(model: FittedModel) -> Iterator[TrustCheck]:
    known = model.fit.diagnostics
    yield _check(
        "Did the fit converge?",
        model.converged,
        "yes" if model.converged else "no",
        "The computation reached its answer; running it again would give the same.",
        "The computation did not settle: abilities, intervals and probabilities may be wrong. Fit again, longer.",
        otherwise=BAD,
    )
    r_hat, effective = known.get("r_hat_max"), known.get("ess_bulk_min")
    if isinstance(r_hat, float) and isinstance(effective, float):
        yield _check(
            "Do independent runs agree?",
            r_hat <= 1.01 and effective >= 400,
            f"R-hat at most {r_hat:.3f}; the worst number rests on {effective:,.0f} independent draws",
            "Another run would move numbers by far less than their intervals are wide.",
            "The last digit shown may change from run to run.",
        )
    divergent = known.get("divergences")
    if isinstance(divergent, int | float):
        yield _check(
            "Did the sampler miss parts of the posterior?",
            divergent == 0,
            f"{int(divergent)} of {known.get('draws', '?')} steps diverged",
            "No.",
            "Intervals of the most extreme questions may be cut a little short; little else changes.",
        )


def _prediction(model: FittedModel) -> Iterator[TrustCheck]:
    share = model.fit.diagnostics.get("pareto_k_above_0.7")
    if isinstance(share, float):
        yield _check(
            "Is the predictive score reliable?",
            share < 0.01,
            f"{percent(share)} of the answers influence the fit too much for approximate cross-validation",
            "Scores that compare models can be trusted.",
            "Do not compare models by elpd_loo here; abilities and components are not affected by this.",
        )
    reliability = model.fit.reliability
    yield _check(
        "Can pipelines be told apart?",
        reliability >= 0.8,
        f"reliability {plain_number(reliability, 2)} of 1",
        "Differences between pipelines are large next to their errors.",
        "Much of the difference between pipelines is noise: more questions are needed.",
    )


def _sharing(model: FittedModel) -> Iterator[TrustCheck]:
    """How alike pipelines with a part in common answer, where the fit has effects of levels on items."""
    shown = [
        f"{name} {plain_number(float(model.fit.point[f'item_effect_scale.{name}']), 1)}"
        for name in model.fit.design.item_facets
    ]
    if shown:
        yield TrustCheck(
            "Do pipelines with a part in common answer alike?",
            FINE,
            f"beyond ability, answers to a question go up and down together by {joined(shown)} logits (0: not at all)",
            "The model has an effect of every part on every question, so that such answers are not counted as "
            "independent evidence. Intervals and probabilities allow for it.",
        )


def _components(levels: pd.DataFrame | None) -> Iterator[TrustCheck]:
    if levels is None or levels.empty:
        return
    missed = missed_levels(levels)
    worst = _missed(levels.iloc[int(levels["estimate"].abs().argmax())].to_dict())
    yield _check(
        "Does the model reproduce what was seen?",
        not missed,
        f"largest miss: {worst}",
        "Accuracies by component are where the model expects them.",
        "Ability and accuracy disagree about some components, because the model's questions fit others better. Go by "
        "accuracy for these.",
    )


def missed_levels(levels: pd.DataFrame | None) -> Sequence[Mapping[Any, Any]]:
    """Rows of the levels whose accuracy the model clearly and noticeably misses, the worst first."""
    if levels is None or levels.empty:
        return []
    clear = levels[(levels["p_adjusted"] <= 0.1) & (levels["estimate"].abs() > _LARGE_MISS)]
    return records(clear.sort_values("estimate", key=abs, ascending=False))


def _missed(row: Mapping[Any, Any]) -> str:
    level = level_name(row["facet"], clipped(row["level"], 60))
    return f"{level} ({points(row_interval(row))} against the model)"


def _copies(model: FittedModel) -> Iterator[TrustCheck]:
    """Pipelines that answer alike beyond ability count for fewer than they are."""
    fit = model.fit
    try:
        found = duplicates(fit.data, fit.parameters)
    except ValueError:
        return
    alike = joined([clipped(str(names), 160) for names in found.groups["members"].head(2)])
    same = len(fit.data.students) - len(np.unique(np.nan_to_num(fit.data.scores, nan=-1.0), axis=0))
    as_another = f"; {same} answered every question as another did" if same else ""
    yield _check(
        "Are the pipelines different ones?",
        found.groups.empty,
        f"{len(fit.data.students)} pipelines are worth {found.effective_students:.0f} independent ones{as_another}",
        "None answer alike more often than their abilities and these questions explain.",
        f"Some answer alike beyond what ability explains: {alike}. Intervals are narrower than they should be.",
    )


def _steep(model: FittedModel) -> Iterator[TrustCheck]:
    if model.fit.graded is not None:
        return
    slopes = np.asarray(model.fit.point["a"], float)
    steep = int((slopes > _STEEP).sum())
    yield _check(
        "Are questions believably sharp?",
        steep <= _MANY_STEEP * len(slopes),
        f"{steep} of {len(slopes)} discriminations above {_STEEP:.0f}, the largest "
        f"{plain_number(float(np.nanmax(slopes)), 1)}",
        "No question decides alone.",
        "Some questions split the pipelines like a step: whoever finds the passage is right, whoever does not is "
        "wrong. Information at those abilities is overstated, and intervals in ability are too narrow.",
    )
