"""How many topics, and questions per topic, a comparison of two systems needs, planned from a pilot's scores.

The difference of two systems on topic t by question q is modelled as `gap + topic_t + question_tq`, both random, so its
mean over n topics of m questions has the variance `(topic^2 + question^2 / m) / n`. The components are estimated by
one-way analysis of variance (Searle, Casella and McCulloch 1992, ch. 3), and n is what a paired t test needs.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, nctdtr, ndtr, ndtri, stdtrit

from examcore import IntervalEstimate
from examcore.console import interval_text
from grading._file_rows import read_rows
from grading._records import Floats, Sampling
from grading.formats._score_tables import QUESTION, SCORE, SYSTEM, TOPIC, cells_of

MOST = 10_000_000
"""More topics than this are not practical: the number is infinite."""

FAR = 30
"""Above this noncentrality scipy's series for the distribution does not converge."""

SAMPLING = Sampling(draws=1000)
"""A number of topics is a guess, which no more resamples make better."""

ROUNDING = 1e-9
"""Relative size of deviations that are rounding errors."""
Scores = Mapping[tuple[str, str, str], float]
"""`(system, topic, question) -> score`; the question is empty where a topic has one score."""


class Plan(NamedTuple):
    """What a comparison should detect: a gap (None: the pilot's own) by a two-sided paired t test."""

    gap: float | None = None
    power: float = 0.8
    alpha: float = 0.05
    sampling: Sampling = SAMPLING


class PairMoments(NamedTuple):
    """The differences of two systems on each pilot topic `[T]`: mean, number of questions, and sum of squares."""

    mean: Floats
    questions: NDArray[np.int64]
    within: Floats


class Need(NamedTuple):
    """What a comparison of two systems of the pilot needs.

    `topic_sd` and `question_sd` are the standard deviations of the difference over topics and over questions of a
    topic (NaN where no topic has two questions). `topics` is the number needed with the pilot's questions per topic,
    `by_questions` with other numbers of questions. `detectable` is the gap that the pilot's own topics can detect,
    infinite if none. The last three are NaN or empty where the difference is the same on every topic.
    """

    first: str
    second: str
    n_topics: int
    questions_per_topic: float
    observed: IntervalEstimate
    gap: float
    topic_sd: float
    question_sd: float
    topics: IntervalEstimate
    by_questions: dict[int, float]
    detectable: float

    def lines(self, *, own_gap: bool) -> list[str]:
        """The need for a reader; `own_gap` says that the gap is the pilot's own."""
        gap = f"gap {self.gap:.4g}" + (", the pilot's own" if own_gap else "")
        lines = [f"{self.first} and {self.second}: pilot's difference {interval_text(self.observed)}; {gap}"]
        if math.isnan(self.detectable):
            return [*lines, f"  no number can be told: the {self.n_topics} topics all have the same difference"]
        number, *ends = self.topics
        shown = ", ".join(f"{end:.0f}" if math.isfinite(end) else "no end" for end in ends)
        lines.append(f"  {_count(number)} topics [{shown}]")
        if self.by_questions:
            each = ", ".join(f"{_count(topics)} x {number}" for number, topics in self.by_questions.items())
            lines.append(f"  topics x questions on each: {each}")
        least = f"a gap of {self.detectable:.4g}" if math.isfinite(self.detectable) else "no gap"
        return [*lines, f"  the pilot's {self.n_topics} topics find {least}"]


class PilotNeeds(NamedTuple):
    """What each pair of a pilot's systems needs; `gap` is None for the pilot's own."""

    power: float
    alpha: float
    alpha_per_pair: float
    gap: float | None
    interval: float
    pairs: Sequence[Need]

    def lines(self) -> list[str]:
        """The result for a reader."""
        head = (
            f"topics needed to find a gap with power {self.power:g}, two-sided paired t test at "
            f"{self.alpha_per_pair:.4g} ({self.interval:.0%} intervals)"
        )
        own = "A pilot's own gap is a noisy guess, too large where it was picked for being large: name the --gap."
        each = (line for one in self.pairs for line in one.lines(own_gap=self.gap is None))
        return [head, *each, *([own] if self.gap is None else [])]


def pilot_needs(path: Path, plan: Plan, pairs: Sequence[str]) -> PilotNeeds:
    """What `pairs` of a pilot's systems need, each `A,B`, or every pair.

    The level `alpha` of the plan is divided by their number, and there are fewer resamples. Raises `ValueError` for an
    alpha that is no share, for what are no two systems, and as `needs`.
    """
    scores, named = _read_pilot(path), [_pair(one) for one in pairs]
    if not 0 < plan.alpha < 1:
        raise ValueError(f"alpha: {plan.alpha:g}; wanted a share between 0 and 1")
    systems = len({system for system, _, _ in scores})
    each = plan.alpha / (len(named) or systems * (systems - 1) // 2)
    sampling = replace(plan.sampling, draws=SAMPLING.draws)
    found = needs(scores, plan._replace(alpha=each, sampling=sampling), named or None)
    return PilotNeeds(plan.power, plan.alpha, each, plan.gap, sampling.interval, found)


def _read_pilot(path: Path) -> Scores:
    """The scores of a table `system,topic,score`, and question if any; `ValueError` for fewer than two systems."""
    rows = read_rows(path, {**SYSTEM, **TOPIC, **SCORE}, QUESTION)
    by_question = "question" in rows[0].fields
    cells = cells_of(rows, ("system", "topic", "question") if by_question else ("system", "topic"), "score")
    scores = {(key[0], key[1], key[2] if by_question else ""): score for key, score in cells.items()}
    systems = len({system for system, _, _ in scores})
    if systems < 2:
        raise ValueError(f"{path}: has {systems} system; wanted at least 2 to be told apart")
    return scores


def _pair(text: str) -> tuple[str, str]:
    first, _, second = (one.strip() for one in text.partition(","))
    if not first or not second or first == second:
        raise ValueError(f"--pair: {text!r}; wanted two systems, A,B")
    return first, second


def needs(scores: Scores, plan: Plan, pairs: Sequence[tuple[str, str]] | None = None) -> list[Need]:
    """What each of `pairs` of systems needs, or every pair.

    Raises `ValueError` for a plan out of range, systems that are not in the pilot, a pair with fewer than three common
    topics, and a gap above 1 between scores from 0 to 1.
    """
    _require(plan)
    if plan.gap is not None and plan.gap > 1 and all(0 <= one <= 1 for one in scores.values()):
        raise ValueError(f"gap: {plan.gap:g} between scores that are from 0 to 1 in the pilot; wanted at most 1")
    systems = list(dict.fromkeys(system for system, _, _ in scores))
    unknown = [one for pair in pairs or () for one in pair if one not in systems]
    if unknown:
        raise ValueError(f"pilot: has no system {unknown[0]!r}; wanted one of {', '.join(systems)}")
    return [_need(scores, pair, plan) for pair in pairs or itertools.combinations(systems, 2)]


def topics_needed(gap: float, deviation: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The number of topics, at least 2, with which a two-sided paired t test at `alpha` detects `gap` with `power`.

    `deviation` is the standard deviation of the difference over topics. Infinite for a gap of 0 and above ten million.
    """
    if deviation == 0 and gap != 0:
        return 2.0
    if gap == 0 or power_of(MOST, gap, deviation, alpha) < power:
        return math.inf
    return 2.0 + bisect_left(range(2, MOST), power, key=lambda topics: power_of(topics, gap, deviation, alpha))


def power_of(topics: int, gap: float, deviation: float, alpha: float = 0.05) -> float:
    """The probability that a two-sided paired t test on `topics` detects the gap (noncentral t)."""
    freedom, shift = topics - 1, abs(gap) / deviation * math.sqrt(topics)
    if freedom > 100_000:
        critical = -float(ndtri(alpha / 2))
        return float(ndtr(shift - critical) + ndtr(-critical - shift))
    critical = -float(stdtrit(freedom, alpha / 2))
    if shift > FAR:
        return _far(critical, freedom, shift)
    return 1 - _noncentral(critical, freedom, shift) + _noncentral(-critical, freedom, shift)


def detectable_gap(topics: int, deviation: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest gap that a test on `topics` detects with `power`; infinite above a hundred deviations."""
    from scipy.optimize import brentq  # takes a while to load

    if deviation == 0:
        return 0.0
    top = 100 * deviation
    if power_of(topics, top, deviation, alpha) < power:
        return math.inf
    return float(brentq(lambda gap: power_of(topics, gap, deviation, alpha) - power, 1e-12 * top, top))


def moments(scores: Scores, first: str, second: str) -> PairMoments:
    """The differences of two systems on the topics and questions for which both have a score."""
    by_topic: dict[str, list[float]] = {}
    for (system, topic, question), score in scores.items():
        other = scores.get((second, topic, question))
        if system == first and other is not None:
            by_topic.setdefault(topic, []).append(score - other)
    found = [np.array(one) for one in by_topic.values()]
    return PairMoments(
        np.array([one.mean() for one in found]),
        np.array([len(one) for one in found], dtype=np.int64),
        np.array([np.square(one - one.mean()).sum() for one in found]),
    )


def variances(found: PairMoments) -> tuple[float, float]:
    """The variances between topics, at least 0, and between questions of a topic, NaN where each topic has one."""
    topics, total = len(found.mean), int(found.questions.sum())
    if total == topics:
        return float(found.mean.var(ddof=1)), np.nan
    within = float(found.within.sum() / (total - topics))
    grand = float(found.questions @ found.mean / total)
    between = float(found.questions @ np.square(found.mean - grand) / (topics - 1))
    typical = (total - float(np.square(found.questions).sum()) / total) / (topics - 1)
    return max(0.0, (between - within) / typical), within


def _count(topics: float) -> str:
    return f"{topics:.0f}" if math.isfinite(topics) else "no number of"


def _need(scores: Scores, pair: tuple[str, str], plan: Plan) -> Need:
    found = moments(scores, *pair)
    if len(found.mean) < 3:
        raise ValueError(
            f"pilot: {pair[0]!r} and {pair[1]!r} have {len(found.mean)} topics in common; wanted at least 3"
        )
    observed = plan.sampling.of(lambda at: float(found.mean[at].mean()), len(found.mean))
    gap = abs(observed.estimate) if plan.gap is None else plan.gap
    between, within = variances(found)
    questions = _typical_questions(found)
    deviation = _deviation(found, questions)
    is_known = deviation > ROUNDING * max(1.0, float(np.abs(found.mean).max()))
    numbers = sorted({1, 2, 5, 10, 20, 50, round(questions)}) if is_known and not math.isnan(within) else []
    tests = {"power": plan.power, "alpha": plan.alpha}
    return Need(
        *pair,
        n_topics=len(found.mean),
        questions_per_topic=questions,
        observed=observed,
        gap=gap,
        topic_sd=math.sqrt(between),
        question_sd=math.sqrt(within),
        topics=_topics(found, observed, plan) if is_known else IntervalEstimate(math.nan, math.nan, math.nan),
        by_questions={number: topics_needed(gap, _deviation(found, number), **tests) for number in numbers},
        detectable=detectable_gap(len(found.mean), deviation, **tests) if is_known else math.nan,
    )


def _far(critical: float, freedom: int, shift: float) -> float:
    """The upper tail of noncentral t far from 0: the chance of so small a deviation, averaged over the normal part."""
    normal, weights = np.polynomial.hermite_e.hermegauss(60)
    tails = chdtr(freedom, freedom * np.square((shift + normal) / critical))
    return float(weights @ tails / weights.sum())


def _noncentral(at: float, freedom: int, shift: float) -> float:
    """The distribution function of noncentral t; 0 in the tail that scipy cannot compute."""
    found = float(nctdtr(freedom, shift, at))
    return 0.0 if math.isnan(found) else found


def _deviation(found: PairMoments, questions: float) -> float:
    """The standard deviation over topics of a difference that is the mean over `questions`."""
    between, within = variances(found)
    return math.sqrt(between if np.isnan(within) else between + within / questions)


def _typical_questions(found: PairMoments) -> float:
    """The harmonic mean of the topics' numbers of questions, which keeps the noise from questions."""
    return float(1 / np.mean(1 / found.questions))


def _topics(found: PairMoments, observed: IntervalEstimate, plan: Plan) -> IntervalEstimate:
    """The topics needed; the interval is over the deviation for a planned gap, over the gap for the pilot's own.

    The upper end is infinite where the interval of the pilot's gap includes 0.
    """
    questions = _typical_questions(found)

    def deviation(at: NDArray[np.intp]) -> float:
        return _deviation(PairMoments(found.mean[at], found.questions[at], found.within[at]), questions)

    whole = deviation(np.arange(len(found.mean)))
    if plan.gap is None:
        ends = sorted((abs(observed.low), abs(observed.high)))
        gaps = (abs(observed.estimate), ends[1], ends[0] if observed.excludes_zero else 0.0)
        return IntervalEstimate(*(topics_needed(gap, whole, power=plan.power, alpha=plan.alpha) for gap in gaps))
    drawn = plan.sampling.of(deviation, len(found.mean))
    return IntervalEstimate(*(topics_needed(plan.gap, one, power=plan.power, alpha=plan.alpha) for one in drawn))


def _require(plan: Plan) -> None:
    for name, value in (("power", plan.power), ("alpha", plan.alpha)):
        if not 0 < value < 1:
            raise ValueError(f"{name}: {value}; wanted a share between 0 and 1")
    if plan.power <= plan.alpha:
        raise ValueError(f"power: {plan.power}; wanted more than alpha, {plan.alpha}")
    if plan.gap is not None and not 0 < plan.gap < math.inf:
        raise ValueError(f"gap: {plan.gap}; wanted a finite number above 0")
