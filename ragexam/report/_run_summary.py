"""The summary of a run: printed at its end, kept in `run.json`, and told by `ragexam report --json`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from exam_gen import Baseline
from examcore import IntervalEstimate
from ragexam.report._component_verdicts import FacetVerdict, describe, sentences
from ragexam.report._run_findings import RunFindings


@dataclass(frozen=True)
class RunSummary:
    """The few numbers of a run that its record keeps, and the seconds of each step."""

    findings: RunFindings
    seconds: Mapping[str, float]

    def record(self) -> dict[str, object]:
        """The summary as JSON types; numbers that cannot be said are null."""
        found, evidence = self.findings, self.findings.evidence
        exam = found.exam
        return {
            "n_questions": len(evidence.questions),
            "n_pipelines": len(found.accuracy),
            "accuracy": {name: _interval(interval) for name, interval in found.accuracy.items()},
            "oracle_minus_closed_book": _interval(found.value_of_passages),
            "fixed_answer_baseline": _rounded(exam.fixed_answer.accuracy),
            "longest_answer_baseline": _rounded(exam.longest_answer.accuracy),
            "baselines_within_sampling_error": {
                "fixed": exam.fixed_answer.within_chance,
                "longest": exam.longest_answer.within_chance,
            },
            "best": {verdict.facet: _best(verdict) for verdict in found.verdicts},
            "verdict": sentences(found.verdicts),
            "converged": None if evidence.model is None else evidence.model.converged,
            **{name: evidence.sitting.get(name, {}) for name in ("unparsed", "truncated")},
            "notes": evidence.notes,
            "seconds": dict(self.seconds),
        }

    def lines(self) -> list[str]:
        """The numbers a run is judged by, and where its page is."""
        found, evidence = self.findings, self.findings.evidence
        unsettled = evidence.model is not None and not evidence.model.converged
        return [
            f"{len(evidence.questions)} questions, {len(found.accuracy)} pipelines",
            f"oracle minus closed book: {_interval_line(found.value_of_passages)}",
            _baseline_line("best fixed answer", found.exam.fixed_answer),
            _baseline_line("longest answer", found.exam.longest_answer),
            *map(describe, found.verdicts),
            *(f"note: {note}" for note in evidence.notes),
            *(["warning: the fit has not converged; see the report"] if unsettled else []),
            f"seconds: {', '.join(f'{name} {spent:.0f} s' for name, spent in self.seconds.items())}",
            f"report: {evidence.folder.report}",
        ]


def summarize(findings: RunFindings) -> RunSummary:
    """The summary of what was found in a run."""
    return RunSummary(findings, findings.evidence.seconds)


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
