"""Auto-ARGUE's judgements as answers to ARGUE's questions, and its own aggregates of them (Walden et al. 2025).

Its measures differ from ARGUE's, so that they keep its names. `sentence_support` is the share of sentences that all of
their citations support, among those that cite or that need a citation and make their claim for the first time.
`nugget_coverage` is the share of nuggets that the report answers, whether or not the sentence is supported; in the
weighted one vital nuggets count 2, okay ones 1. `f1` is their harmonic mean. `citation_support` and
`citation_relevance` are the shares of citations that support their sentence and that support any nugget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from examcore import IntervalEstimate
from grading._printing import aligned
from grading._records import SAMPLING, BankQuestion, Sampling, SystemReport
from grading.formats._auto_argue_files import AutoArgueJudgments, SentenceJudgments
from grading.formats._bank_files import by_query
from grading.reports._argue_scores import WEIGHTS, averages, f1, quotients
from grading.reports._judging_material import Ask, Decision, ReportMaterial

RATIOS = {
    "sentence_support": ("correctly_cited_sentences", "sentences_with_citations_or_requiring_citations"),
    "nugget_coverage": ("correct_nuggets", "nuggets"),
    "nugget_coverage_weighted": ("correct_nuggets_weighted", "nuggets_weighted"),
    "citation_support": ("supporting_citations", "citations"),
    "citation_relevance": ("relevant_citations", "citations"),
}
F1 = {"f1": "nugget_coverage", "f1_weighted": "nugget_coverage_weighted"}
"""What each is the harmonic mean of, beside sentence support."""
SHOWN = ("f1", "sentence_support", "nugget_coverage", "citation_support", "citation_relevance")


class AutoArgueJudge:
    """Decides as Auto-ARGUE did; what it did not judge stays open, only an absence counts as denied."""

    def __init__(self, judgments: AutoArgueJudgments, material: ReportMaterial) -> None:
        self._judgments, self._material = judgments, material

    def decide(self, asks: Sequence[Ask]) -> list[Decision]:
        """One decision per question."""
        return [Decision(self._verdict(one), "Auto-ARGUE") for one in asks]

    def _verdict(self, ask: Ask) -> bool | None:
        judged = self._judgments[ask.run, ask.topic][ask.sentence]
        if ask.kind == "supported":
            return judged.attested.get(ask.document)
        if ask.kind == "claims_absence":
            return judged.uncited.get(ask.kind, False)
        if ask.kind == "needs_citation":
            return judged.uncited.get(ask.kind)
        if ask.kind == "repeats":
            first = judged.uncited.get("first")
            return None if first is None else not first
        nugget = self._material.nugget(ask)
        stated = {answer for question, answer in judged.answers if question == nugget.question}
        return bool(stated) if ask.answer < 0 else nugget.answers[ask.answer].text in stated


@dataclass(frozen=True)
class AutoArgueReport:
    """The counts of one report, by Auto-ARGUE's names for them."""

    run: str
    topic: str
    counts: Mapping[str, float]

    def value(self, measure: str) -> float:
        """A measure from 0 to 1; NaN where its denominator is zero."""
        if measure in F1:
            return float(f1(self.value("sentence_support"), self.value(F1[measure])))
        return float(quotients(np.array([self.counts[name] for name in RATIOS[measure]])))


@dataclass(frozen=True)
class AutoArgueRun:
    """A run over its topics: the means of its reports' values, and the values of its summed counts."""

    run: str
    reports: tuple[AutoArgueReport, ...]
    macro: Mapping[str, IntervalEstimate]
    micro: Mapping[str, IntervalEstimate]

    def record(self) -> dict[str, Any]:
        """The run as `--json` prints it."""
        return {
            "run": self.run,
            "macro": self.macro,
            "micro": self.micro,
            "character_count_median": float(np.median([one.counts["character_count"] for one in self.reports])),
            "character_count_max": max(one.counts["character_count"] for one in self.reports),
            "reports": [
                {"topic": one.topic, **one.counts, **{name: one.value(name) for name in (*RATIOS, *F1)}}
                for one in self.reports
            ],
        }


def auto_argue_runs(
    reports: Sequence[SystemReport],
    nuggets: Sequence[BankQuestion],
    judgments: AutoArgueJudgments,
    sampling: Sampling = SAMPLING,
) -> list[AutoArgueRun]:
    """Auto-ARGUE's measures of each run over the topics that it has a report on."""
    banks = by_query(nuggets)
    runs: dict[str, list[AutoArgueReport]] = {}
    for one in reports:
        counts = _counts(one, banks.get(one.topic, []), judgments[one.run, one.topic])
        runs.setdefault(one.run, []).append(AutoArgueReport(one.run, one.topic, counts))
    return [_run(name, found, sampling) for name, found in runs.items()]


def auto_argue_lines(runs: Sequence[AutoArgueRun]) -> list[str]:
    """A table of the runs by Auto-ARGUE's measures."""
    rows: list[tuple[str, ...]] = [("run by Auto-ARGUE", "over topics", *SHOWN)]
    for one in runs:
        for what, values in (("macro", one.macro), ("micro", one.micro)):
            shown = (values[name].estimate for name in SHOWN)
            name = one.run if what == "macro" else ""
            rows.append((name, what, *("undefined" if np.isnan(value) else f"{value:.3f}" for value in shown)))
    return aligned(rows)


def _counts(
    report: SystemReport, nuggets: Sequence[BankQuestion], judged: Sequence[SentenceJudgments]
) -> dict[str, float]:
    """Auto-ARGUE's counts. An answer bound to no document, and a nugget without any other, is none to it."""
    pairs = list(zip(report.sentences, judged, strict=True))
    stated = {pair for one in judged for pair in one.answers}
    keys = {one: answers for one in nuggets if (answers := _answers(one, nuggets))}
    answered = [one for one, answers in keys.items() if _answered(one, answers, stated)]
    return {
        "sentences": len(pairs),
        "character_count": sum(len(one.text) for one in report.sentences),
        "sentences_with_citations_or_requiring_citations": sum(
            bool(one.citations) or (found.uncited.get("needs_citation", False) and found.uncited.get("first", True))
            for one, found in pairs
        ),
        "correctly_cited_sentences": sum(
            bool(one.citations) and all(found.attested.get(name, False) for name in one.citations)
            for one, found in pairs
        ),
        "nuggets": len(keys),
        "correct_nuggets": len(answered),
        "nuggets_weighted": sum(WEIGHTS[one.importance] for one in keys),
        "correct_nuggets_weighted": sum(WEIGHTS[one.importance] for one in answered),
        "citations": sum(len(one.citations) for one, _ in pairs),
        "relevant_citations": sum(found.relevant.get(name, False) for one, found in pairs for name in one.citations),
        "supporting_citations": sum(found.attested.get(name, False) for one, found in pairs for name in one.citations),
    }


def _answers(nugget: BankQuestion, nuggets: Sequence[BankQuestion]) -> frozenset[str]:
    """The answers that count: those bound to documents, or all in a topic without any binding."""
    bound = any(answer.documents for one in nuggets for answer in one.answers)
    return frozenset(one.text for one in nugget.answers if one.documents or not bound)


def _answered(nugget: BankQuestion, answers: frozenset[str], stated: set[tuple[str, str]]) -> bool:
    found = answers & {answer for question, answer in stated if question == nugget.question}
    return found == answers if nugget.combine == "and" else bool(found)


def _run(name: str, reports: Sequence[AutoArgueReport], sampling: Sampling) -> AutoArgueRun:
    values = {measure: np.array([one.value(measure) for one in reports]) for measure in (*RATIOS, *F1)}
    counts = {
        measure: np.array([[one.counts[part] for part in parts] for one in reports])
        for measure, parts in RATIOS.items()
    }
    pairs = {measure: ("sentence_support", coverage) for measure, coverage in F1.items()}
    return AutoArgueRun(name, tuple(reports), *averages(values, counts, pairs, sampling))
