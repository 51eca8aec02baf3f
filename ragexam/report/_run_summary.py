"""The summary of a run: the `summary` of `run.json` and of `ragexam report --json`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from examcore import IntervalEstimate
from ragexam.report._component_verdicts import FacetVerdict, describe, sentences
from ragexam.report._run_findings import RunFindings


@dataclass(frozen=True)
class RunSummary:
    """The few numbers of a run that its record keeps."""

    findings: RunFindings

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
            "seconds": dict(evidence.seconds),
        }


def summarize(findings: RunFindings) -> RunSummary:
    """The summary of what was found in a run."""
    return RunSummary(findings)


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
