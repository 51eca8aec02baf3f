"""ARGUE's scores of judged reports: per report, per run over topics, with bootstrap intervals over topics.

Precision is `(#3 + #8) / (N - #2 - #4 - #6)` over sentences (or, with `micro` citations, over citations and sentences
that cite nothing), recall the share of the topic's nuggets that the report states with a right citation, each once
(Mayfield et al. 2024, section 4.5). A denominator of zero makes the value NaN, which is named and never counts as 0 or
1. F1 is their harmonic mean: NaN where one of them is, and 0 where both are 0, which is its limit there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from examcore import IntervalEstimate
from grading._records import SAMPLING, BankQuestion, Floats, Sampling, SystemReport
from grading.formats._bank_files import by_query
from grading.reports._argue import IGNORED, PENALISED, REWARDED, SentenceOutcome

WEIGHTS = {"vital": 2.0, "okay": 1.0}
"""What a nugget weighs in `recall_weighted`."""
RATIOS = ("precision", "recall", "recall_weighted", "sentence_support", "citation_support")
MEASURES = (*RATIOS, "f1")
Missing = Literal["zero", "skip"]
"""What a run gets for a topic that it has no report on: recall and F1 of 0 (precision stays unknown), or nothing."""


@dataclass(frozen=True)
class ReportScore:
    """The scores of one report: for each measure but F1 the numerator and denominator.

    `outcomes` counts units by outcome, `unjudged` those without one. `credited` are the nuggets that count, `partly`
    those of which some wanted answers are missing.
    """

    run: str
    topic: str
    sentences: int
    outcomes: Mapping[int, int]
    unjudged: int
    ratios: Mapping[str, tuple[float, float]]
    credited: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
    missing: bool = False

    def value(self, measure: str) -> float:
        """A measure from 0 to 1; NaN where its denominator is zero."""
        if measure == "f1":
            return 0.0 if self.missing else float(f1(self.value("precision"), self.value("recall")))
        return float(quotients(np.array(self.ratios[measure])))

    def record(self) -> dict[str, Any]:
        """The scores as JSON types."""
        return {
            "run": self.run,
            "topic": self.topic,
            "sentences": self.sentences,
            **{name: self.value(name) for name in MEASURES},
            "outcomes": self.outcomes,
            "not_scored": self.unjudged,
            "nuggets": int(self.ratios["recall"][1]),
            "nuggets_credited": self.credited,
            "nuggets_partly": self.partly,
            "counts": self.ratios,
        }


@dataclass(frozen=True)
class RunScore:
    """A run over its topics: means of the reports' values (`macro`), and values of the summed counts (`micro`).

    `undefined` names, for each measure, the topics where it is NaN, which its mean leaves out; `missing` the topics
    that other runs have a report on, `filled` whether they count as without any nugget.
    """

    run: str
    topics: tuple[str, ...]
    sentences: int
    outcomes: Mapping[int, int]
    unjudged: int
    macro: Mapping[str, IntervalEstimate]
    micro: Mapping[str, IntervalEstimate]
    undefined: Mapping[str, tuple[str, ...]]
    missing: tuple[str, ...]
    filled: bool

    def record(self) -> dict[str, Any]:
        """The scores as JSON types."""
        return {
            "run": self.run,
            "topics": len(self.topics),
            "sentences": self.sentences,
            "outcomes": self.outcomes,
            "not_scored": self.unjudged,
            "macro": self.macro,
            "micro": self.micro,
            "undefined": {name: topics for name, topics in self.undefined.items() if topics},
            "missing_topics": self.missing,
        }


def f1(precision: ArrayLike, recall: ArrayLike) -> Floats:
    """The harmonic mean of both; NaN where one is NaN, and its limit 0 where both are 0."""
    product, total = np.multiply(precision, recall), np.add(precision, recall)
    found: Floats = np.divide(2 * product, total, out=np.where(total == 0, 0.0, np.nan), where=total > 0)
    return found


def score_reports(
    reports: Sequence[SystemReport], judged: Sequence[SentenceOutcome], nuggets: Sequence[BankQuestion]
) -> list[ReportScore]:
    """The scores of each report, in order; `judged` holds all their sentences."""
    by_report: dict[tuple[str, str], list[SentenceOutcome]] = {}
    for one in judged:
        by_report.setdefault((one.run, one.topic), []).append(one)
    bank = by_query(nuggets)
    return [_score(one, by_report.get((one.run, one.topic), []), bank.get(one.topic, [])) for one in reports]


def score_runs(
    scores: Sequence[ReportScore],
    nuggets: Sequence[BankQuestion],
    sampling: Sampling = SAMPLING,
    *,
    missing: Missing = "zero",
) -> list[RunScore]:
    """Each run over all topics that any run has a report on, in the order of the reports."""
    topics = list(dict.fromkeys(one.topic for one in scores))
    found: list[RunScore] = []
    for run in dict.fromkeys(one.run for one in scores):
        own = {one.topic: one for one in scores if one.run == run}
        absent = tuple(topic for topic in topics if topic not in own)
        # Of a topic without a report none of the nuggets is stated, and no sentence is right or wrong.
        blank = score_reports([SystemReport(run, topic, ()) for topic in absent], [], nuggets)
        each = {**own, **{one.topic: replace(one, missing=True) for one in blank if missing == "zero"}}
        found.append(_over_topics(run, [each[one] for one in topics if one in each], absent, sampling))
    return found


def grade_lines(scores: Sequence[ReportScore], nuggets: Sequence[BankQuestion]) -> Iterator[dict[str, object]]:
    """A line per report and nugget of its topic: `query, passage` (the run), `question` (the nugget), `grade` 0 or 1.

    These are the rows of an item analysis: how hard nuggets are, and what tells runs apart.
    """
    bank = by_query(nuggets)
    for one in scores:
        for nugget in bank.get(one.topic, []):
            grade = int(nugget.id in one.credited)
            yield {"query": one.topic, "passage": one.run, "question": nugget.id, "grade": grade}


def completed(stated: set[tuple[str, int]], nugget: BankQuestion) -> tuple[bool, bool]:
    """Whether the nugget counts, and whether any of it was stated.

    One stated answer is enough (`or`), or all are needed (`and`); a rightly claimed absence is the whole of its nugget.
    """
    answers = {answer for name, answer in stated if name == nugget.id}
    if not answers:
        return False, False
    whole = -1 in answers or nugget.combine == "or" or answers >= set(range(len(nugget.answers)))
    return whole, True


def _score(report: SystemReport, judged: Sequence[SentenceOutcome], nuggets: Sequence[BankQuestion]) -> ReportScore:
    outcomes = Counter(unit.outcome for one in judged for unit in one.units)
    stated = {pair for one in judged for pair in one.stated}
    states = {one.id: completed(stated, one) for one in nuggets}
    credited = tuple(name for name, (whole, _) in states.items() if whole)
    counted = [one for one in judged if one.supported]
    holds = [[holds for _, holds in one.supported] for one in counted]
    good, bad = (float(sum(outcomes[one] for one in group)) for group in (REWARDED, PENALISED))
    supported = sum(1 for one in counted if any(unit.outcome in {2, 3} for unit in one.units))
    return ReportScore(
        run=report.run,
        topic=report.topic,
        sentences=len(report.sentences),
        outcomes={one: outcomes[one] for one in sorted(REWARDED | PENALISED | IGNORED)},
        unjudged=outcomes[None],
        ratios={
            "precision": (good, good + bad),
            "recall": (float(len(credited)), float(len(nuggets))),
            "recall_weighted": (_weight([one for one in nuggets if states[one.id][0]]), _weight(nuggets)),
            "sentence_support": (float(supported), float(len(counted))),
            "citation_support": (float(sum(map(sum, holds))), float(sum(map(len, holds)))),
        },
        credited=credited,
        partly=tuple(name for name, (whole, some) in states.items() if some and not whole),
    )


def _weight(nuggets: Sequence[BankQuestion]) -> float:
    return float(sum(WEIGHTS[one.importance] for one in nuggets))


def _over_topics(run: str, scores: Sequence[ReportScore], missing: tuple[str, ...], sampling: Sampling) -> RunScore:
    values = {name: np.array([one.value(name) for one in scores]) for name in MEASURES}
    counts = {name: np.array([one.ratios[name] for one in scores]) for name in RATIOS}
    macro, micro = averages(values, counts, {"f1": ("precision", "recall")}, sampling)
    return RunScore(
        run=run,
        topics=tuple(one.topic for one in scores if not one.missing),
        sentences=sum(one.sentences for one in scores),
        outcomes={number: sum(one.outcomes[number] for one in scores) for number in scores[0].outcomes},
        unjudged=sum(one.unjudged for one in scores),
        macro=macro,
        micro=micro,
        undefined={
            name: tuple(one.topic for one, value in zip(scores, found, strict=True) if np.isnan(value))
            for name, found in values.items()
        },
        missing=missing,
        filled=any(one.missing for one in scores),
    )


def averages(
    values: Mapping[str, Floats], counts: Mapping[str, Floats], f1s: Mapping[str, tuple[str, str]], sampling: Sampling
) -> tuple[dict[str, IntervalEstimate], dict[str, IntervalEstimate]]:
    """Means of the reports' `values` `[n]` by measure, and the values of their summed `counts` `[n, 2]`.

    `f1s` names two measures for each that is their harmonic mean; what is NaN takes no part in a mean.
    """
    macro = {name: sampling.mean(found[~np.isnan(found)]) for name, found in values.items()}
    micro = {name: sampling.of_sums(quotients, found) for name, found in counts.items()}
    for name, pair in f1s.items():
        both = np.hstack([counts[one] for one in pair])
        micro[name] = sampling.of_sums(lambda sums: f1(quotients(sums[:, :2]), quotients(sums[:, 2:])), both)
    return macro, micro


def quotients(sums: Floats) -> Floats:
    """The first of each pair `[..., 2]` over the second, NaN where that is zero."""
    first, second = sums[..., 0], sums[..., 1]
    found: Floats = np.divide(first, second, out=np.full(np.shape(second), np.nan), where=second > 0)
    return found
