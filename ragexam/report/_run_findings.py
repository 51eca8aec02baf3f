"""The numbers that a run is judged by, computed once for the page, the command line and `run.json`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from exam_gen import Baseline, ExamStatistics, exam_statistics, language_notice
from examcore import IntervalEstimate
from rag import QUERIES
from ragexam._retrieval import OWN_WORDS, mean_overlap
from ragexam.report._accuracy_tables import pipeline_accuracy
from ragexam.report._component_verdicts import FacetVerdict, can_judge, choosable, describe, judge_all, sentences
from ragexam.report._costs_section import CostFrontier, cost_frontier, pipeline_costs, prices_of
from ragexam.report._fitted_model import LevelDraws, accuracy_draws, facet_accuracy_draws
from ragexam.report._interactions import level_departures
from ragexam.report._question_faults import AnswerSigns, answer_signs
from ragexam.report._response_scores import (
    CEILING,
    FLOOR,
    NOTHING,
    bound_of,
    facets_of,
    levels_of,
    only_black_boxes,
    paired_difference,
    without_black_boxes,
)
from ragexam.report._retrieval_section import reading_table, worth_of_source
from ragexam.report._run_evidence import RunEvidence, read_evidence
from ragexam.report._system_verdict import system_verdict
from ragexam.report._trust_section import missed_levels


@dataclass(frozen=True)
class RunFindings:
    """What the files of a run say in numbers, before they are put into words.

    `draws` are those of the fit, or of accuracy where there is no fit to judge by; `departures` is the table of
    `level_departures`, None without a fit. Components whose accuracy the fit misses are judged by accuracy. What only
    the page needs is computed when it is first asked for.
    """

    evidence: RunEvidence
    accuracy: Mapping[str, IntervalEstimate]
    value_of_passages: IntervalEstimate
    exam: ExamStatistics
    verdicts: tuple[FacetVerdict, ...]
    from_accuracy: bool
    draws: tuple[LevelDraws, ...] = ()
    departures: pd.DataFrame | None = None

    @cached_property
    def overlap(self) -> float:
        """The mean share of the content words of what retrievers searched for that stand in the passages."""
        kinds = self.evidence.part("configuration").get("grid", {}).get("queries", QUERIES)
        return mean_overlap(self.evidence.questions, kinds if isinstance(kinds, str) else kinds[0])

    @property
    def own_words(self) -> bool:
        """Whether retrievers searched for the passages' own words, where lexical ones cannot lose."""
        return self.overlap > OWN_WORDS

    @property
    def verdict(self) -> list[str]:
        """What to take, and what the data cannot tell apart, in sentences."""
        return sentences(self.verdicts, self.own_words)

    @cached_property
    def costs(self) -> pd.DataFrame:
        """`student,tokens,seconds,cost` of each pipeline; see `pipeline_costs`."""
        evidence = self.evidence
        return pipeline_costs(evidence.answers, evidence.scores, prices_of(evidence.part("configuration")))

    @cached_property
    def frontier(self) -> CostFrontier | None:
        """The pipelines that are worth their cost; None where nothing is known of costs."""
        return cost_frontier(self.evidence.scores, self.costs)

    @cached_property
    def reading(self) -> pd.DataFrame:
        """How often each retriever brought the source passage, and what was answered then; see `reading_table`."""
        return reading_table(self.evidence.scores, self.evidence.answers)

    @cached_property
    def worth_of_source(self) -> IntervalEstimate:
        """What reading the source passage is worth in accuracy; NaN where that is not known."""
        return worth_of_source(self.evidence.scores, self.evidence.answers)

    @cached_property
    def signs(self) -> AnswerSigns:
        """What the answers say about the questions."""
        return answer_signs(self.evidence)

    def record(self) -> dict[str, object]:
        """The few numbers that `run.json` keeps, as JSON types; numbers that cannot be said are null."""
        evidence, exam, process = self.evidence, self.exam, self.evidence.part("process")
        return {
            "n_questions": len(evidence.questions),
            "n_pipelines": len(self.accuracy),
            "accuracy": {name: _interval(interval) for name, interval in self.accuracy.items()},
            "oracle_minus_closed_book": _interval(self.value_of_passages),
            "fixed_answer_baseline": _rounded(exam.fixed_answer.accuracy),
            "longest_answer_baseline": _rounded(exam.longest_answer.accuracy),
            "baselines_within_sampling_error": {
                "fixed": exam.fixed_answer.within_chance,
                "longest": exam.longest_answer.within_chance,
            },
            "best": {verdict.facet: _best(verdict) for verdict in self.verdicts},
            "verdict": self.verdict,
            "converged": None if evidence.model is None else evidence.model.converged,
            **{name: evidence.part("sitting").get(name, {}) for name in ("unparsed", "truncated")},
            "notes": evidence.notes,
            "seconds": dict(evidence.seconds),
            "tokens_read_per_question": evidence.tokens_read_per_question,
            "peak_memory_bytes": process.get("peak_memory_bytes") or None,
            "longest_silence_seconds": round(process.get("longest_silence_seconds", 0.0), 1) or None,
        }

    def lines(self) -> list[str]:
        """The numbers a run is judged by, and where its page is."""
        evidence = self.evidence
        unsettled = evidence.model is not None and not evidence.model.converged
        return [
            f"{len(evidence.questions)} questions, {len(self.accuracy)} pipelines",
            f"oracle minus closed book: {_interval_line(self.value_of_passages)}",
            _baseline_line("best fixed answer", self.exam.fixed_answer),
            _baseline_line("longest answer", self.exam.longest_answer),
            *map(describe, self.verdicts),
            *(f"note: {note}" for note in (*evidence.notes, language_notice(evidence.questions)) if note),
            *(["warning: the fit has not converged; see the report"] if unsettled else []),
            f"seconds: {', '.join(f'{name} {spent:.0f} s' for name, spent in evidence.seconds.items())}",
            f"report: {evidence.folder.report}",
        ]


def analyse_run(run: Path) -> RunFindings:
    """Read a run folder and compute what its report says; `ValueError` in one line for a folder that is no run."""
    return find_all(read_evidence(Path(run)))


def find_all(evidence: RunEvidence) -> RunFindings:
    """Compute what the page and the summary say; without a fit the verdict comes from accuracies alone."""
    scores, model = evidence.scores, evidence.model
    crossed = without_black_boxes(scores)
    draws = () if model is None else model.draws
    from_accuracy = not draws or not can_judge(crossed, draws)
    if from_accuracy:
        draws = accuracy_draws(crossed)
    departures = None if model is None else level_departures(model)
    verdicts = judge_all(crossed, draws if from_accuracy else draws_to_judge_by(crossed, draws, departures))
    if whole := system_verdict(scores, model):
        verdicts = (whole, *(() if only_black_boxes(scores) else verdicts))
    return RunFindings(
        evidence=evidence,
        accuracy=pipeline_accuracy(scores),
        value_of_passages=value_of_passages(scores),
        exam=exam_statistics(evidence.questions, evidence.dropped),
        verdicts=verdicts,
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
        facet_accuracy_draws(choosable(scores, one.facet), one.facet) if one.facet in missed else one for one in draws
    )
    return tuple(other or one for one, other in zip(draws, judged, strict=True))


def value_of_passages(scores: pd.DataFrame) -> IntervalEstimate:
    """Accuracy with the oracle passage minus closed book, 95 %, paired over questions; NaN when either is absent."""
    for facet in facets_of(scores):
        bounds = {bound_of(level): level for level in levels_of(scores, facet)}
        if FLOOR in bounds and CEILING in bounds:
            return paired_difference(scores, facet, bounds[CEILING], bounds[FLOOR])
    return NOTHING


def _best(verdict: FacetVerdict) -> Mapping[str, object]:
    return {
        "level": verdict.best or None,
        "probability": _rounded(verdict.probability),
        "runner_up": verdict.runner_up,
        "gap": _interval(verdict.gap) if verdict.compared else None,
        "told_apart": verdict.told_apart,
        "scale": verdict.unit,
        "note": describe(verdict),
    }


def _interval(interval: IntervalEstimate) -> dict[str, float | None]:
    return {name: _rounded(value) for name, value in zip(interval._fields, interval, strict=True)}


def _rounded(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _interval_line(found: IntervalEstimate) -> str:
    if math.isnan(found.estimate):
        return "not measured"
    if math.isnan(found.low):
        return f"{found.estimate:+.3f} (interval unknown: one question)"
    return f"{found.estimate:+.3f} [{found.low:+.3f}, {found.high:+.3f}] (95 %)"


def _baseline_line(name: str, found: Baseline) -> str:
    if math.isnan(found.accuracy):
        return f"{name}: not measured"
    return f"{name}: {found.accuracy:.3f} ({'within' if found.within_chance else 'BEYOND'} sampling error of chance)"
