"""The numbers that a run is judged by, computed in one place for the page, the command line and `run.json`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from exam_gen import ExamStatistics, exam_statistics
from examcore import IntervalEstimate
from ragexam.report._accuracy_tables import pipeline_accuracy
from ragexam.report._component_verdicts import (
    FacetVerdict,
    LevelDraws,
    accuracy_draws,
    accuracy_draws_of,
    can_judge,
    choosable,
    describe,
    judge_all,
    sentences,
)
from ragexam.report._interactions import level_departures
from ragexam.report._response_scores import (
    CEILING,
    FLOOR,
    NOTHING,
    bound_of,
    facets_of,
    levels_of,
    paired_difference,
    without_black_boxes,
)
from ragexam.report._run_evidence import RunEvidence, read_evidence
from ragexam.report._trust_checks import missed_levels


@dataclass(frozen=True)
class RunFindings:
    """What the numbers of a run say, before they are put into words.

    `draws` are those of the fit, or of accuracy where there is none to judge by; `departures` is the table of
    `level_departures`, None without a fit. Components whose accuracy the fit misses are judged by accuracy.
    """

    accuracy: Mapping[str, IntervalEstimate]
    value_of_passages: IntervalEstimate
    exam: ExamStatistics
    verdicts: tuple[FacetVerdict, ...]
    from_accuracy: bool
    draws: tuple[LevelDraws, ...] = ()
    departures: pd.DataFrame | None = None


def find_all(evidence: RunEvidence) -> RunFindings:
    """Compute what the page and the summary both say; without a fit the verdict comes from accuracies alone."""
    scores, measured = evidence.scores, evidence.measured
    crossed = without_black_boxes(scores)
    draws = () if measured is None else measured.draws
    from_accuracy = not draws or not can_judge(crossed, draws)
    if from_accuracy:
        draws = accuracy_draws(crossed)
    departures = None if measured is None else level_departures(measured)
    return RunFindings(
        accuracy=pipeline_accuracy(scores),
        value_of_passages=value_of_passages(scores),
        exam=exam_statistics(evidence.questions, evidence.dropped),
        verdicts=judge_all(crossed, draws if from_accuracy else draws_to_judge_by(crossed, draws, departures)),
        from_accuracy=from_accuracy,
        draws=draws,
        departures=departures,
    )


def draws_to_judge_by(
    scores: pd.DataFrame, draws: tuple[LevelDraws, ...], departures: pd.DataFrame | None
) -> tuple[LevelDraws, ...]:
    """The draws, with those of accuracy in place of components whose accuracy the fit misses."""
    missed = {row["facet"] for row in missed_levels(departures)}
    judged = (
        accuracy_draws_of(choosable(scores, one.facet), one.facet) if one.facet in missed else one for one in draws
    )
    return tuple(other or one for one, other in zip(draws, judged, strict=True))


def summarize(run: Path) -> dict[str, object]:
    """The `summary` of `run.json`: JSON types only, numbers that cannot be said are null."""
    evidence = read_evidence(Path(run))
    return summary_of(evidence, find_all(evidence))


def summary_of(evidence: RunEvidence, found: RunFindings) -> dict[str, object]:
    """The summary of what was already gathered and found."""
    sitting = evidence.sitting
    return {
        "n_questions": len(evidence.questions),
        "n_pipelines": len(found.accuracy),
        "accuracy": {name: _interval(interval) for name, interval in found.accuracy.items()},
        "oracle_minus_closed_book": _interval(found.value_of_passages),
        "fixed_answer_baseline": _number(found.exam.fixed_answer.accuracy),
        "longest_answer_baseline": _number(found.exam.longest_answer.accuracy),
        "baselines_within_sampling_error": {
            "fixed": found.exam.fixed_answer.within_chance,
            "longest": found.exam.longest_answer.within_chance,
        },
        "best": {verdict.facet: _best(verdict) for verdict in found.verdicts},
        "verdict": sentences(found.verdicts),
        "converged": None if evidence.measured is None else evidence.measured.converged,
        **{name: sitting.get(name, {}) for name in ("unparsed", "truncated")},
        "notes": evidence.notes,
        "seconds": dict(evidence.seconds),
    }


def value_of_passages(scores: pd.DataFrame) -> IntervalEstimate:
    """Accuracy with the oracle passage minus closed book, 95 %, paired over questions; NaN when either is absent."""
    for facet in facets_of(scores):
        bounds = {bound_of(level): level for level in levels_of(scores, facet)}
        if FLOOR in bounds and CEILING in bounds:
            return paired_difference(scores, facet, bounds[CEILING], bounds[FLOOR])
    return NOTHING


def _best(verdict: FacetVerdict) -> dict[str, object]:
    return {
        "level": verdict.best or None,
        "probability": _number(verdict.probability),
        "runner_up": verdict.runner_up,
        "gap": _interval(verdict.gap) if verdict.compared else None,
        "told_apart": verdict.told_apart,
        "scale": verdict.unit,
        "note": describe(verdict),
    }


def _interval(interval: IntervalEstimate) -> dict[str, float | None]:
    return {"estimate": _number(interval.estimate), "low": _number(interval.low), "high": _number(interval.high)}


def _number(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None
