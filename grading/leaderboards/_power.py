"""How many topics, and questions on each, tell two systems apart: planned from a pilot's scores.

The difference of two systems on topic t by question q is taken as `gap + topic_t + question_tq`, both random, so its
mean over n topics of m questions has the variance `(topic^2 + question^2 / m) / n`; the parts are estimated by one-way
analysis of variance (Searle, Casella and McCulloch 1992, ch. 3), and n is what a paired t test needs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from examcore import INTERVAL_LEVEL, IntervalEstimate, bootstrap

MOST = 10_000_000
"""More topics than this are no plan: infinity is said instead."""

FAR = 30
"""Beyond this noncentrality the series of scipy's distribution gives up."""

ROUNDING = 1e-9
"""Deviations that are nothing but rounding, beside differences of 1."""

Floats = NDArray[np.float64]
Scores = Mapping[tuple[str, str, str], float]
"""`(system, topic, question) -> score`; the question is empty where a topic has one score."""


class Plan(NamedTuple):
    """What a comparison is to find: a gap (None: the pilot's own) by a two-sided paired t test."""

    gap: float | None = None
    power: float = 0.8
    alpha: float = 0.05
    level: float = INTERVAL_LEVEL
    draws: int = 1000
    seed: int = 0


class PairMoments(NamedTuple):
    """The differences of two systems on each pilot topic `[T]`: mean, number of questions, and their sum of squares."""

    mean: Floats
    questions: NDArray[np.int64]
    within: Floats


class Need(NamedTuple):
    """Two systems of the pilot and what tells them apart.

    `topic_sd` and `question_sd` are the standard deviations of the difference over topics and over questions of a
    topic (NaN where no topic has two questions). `topics` are those needed at the pilot's questions per topic;
    `by_questions` at other numbers of questions. `detectable` is the gap that the pilot's own topics tell, infinite
    where none is. Topics and gap are NaN where the difference is the same on every topic: its deviation is not known.
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


def needs(scores: Scores, plan: Plan, pairs: Sequence[tuple[str, str]] | None = None) -> list[Need]:
    """What each pair of systems needs; all pairs unless some are named.

    Raises `ValueError` for systems that are not in the pilot, a pair with fewer than three common topics, whose
    deviation says nothing, and a gap above 1 between scores from 0 to 1.
    """
    _require(plan)
    if plan.gap is not None and plan.gap > 1 and all(0 <= one <= 1 for one in scores.values()):
        raise ValueError(f"gap: {plan.gap:g} between scores that are from 0 to 1 in the pilot; wanted at most 1")
    systems = list(dict.fromkeys(system for system, _, _ in scores))
    strange = [one for pair in pairs or () for one in pair if one not in systems]
    if strange:
        raise ValueError(f"pilot: has no system {strange[0]!r}; wanted one of {', '.join(systems)}")
    return [_need(scores, pair, plan) for pair in pairs or itertools.combinations(systems, 2)]


def topics_needed(gap: float, deviation: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The topics with which a two-sided paired t test at `alpha` finds `gap` with the wanted power.

    `deviation` is that of the difference over topics. Whole number, at least 2; infinity for a gap of 0 or more than
    ten million topics.
    """
    if deviation == 0 and gap != 0:
        return 2.0
    if gap == 0 or power_of(MOST, gap, deviation, alpha) < power:
        return math.inf
    low, high = 2, MOST
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle, gap, deviation, alpha) >= power else (middle + 1, high)
    return float(low)


def power_of(topics: int, gap: float, deviation: float, alpha: float = 0.05) -> float:
    """The probability that a two-sided paired t test on so many topics finds the gap (noncentral t)."""
    freedom, shift = topics - 1, abs(gap) / deviation * math.sqrt(topics)
    if freedom > 100_000:
        critical = stats.norm.isf(alpha / 2)
        return float(stats.norm.sf(critical - shift) + stats.norm.cdf(-critical - shift))
    critical = float(stats.t.isf(alpha / 2, freedom))
    if shift > FAR:
        return _far(critical, freedom, shift)
    return 1 - _noncentral(critical, freedom, shift) + _noncentral(-critical, freedom, shift)


def detectable_gap(topics: int, deviation: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest gap that so many topics tell with the wanted power; infinity for one above a hundred deviations."""
    if deviation == 0:
        return 0.0
    top = 100 * deviation
    if power_of(topics, top, deviation, alpha) < power:
        return math.inf
    return float(optimize.brentq(lambda gap: power_of(topics, gap, deviation, alpha) - power, 1e-12 * top, top))


def moments(scores: Scores, first: str, second: str) -> PairMoments:
    """The differences of two systems on the topics and questions that both have a score on."""
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
    """The variance between topics and between questions of a topic, each at least 0; NaN the latter if unknown."""
    topics, total = len(found.mean), int(found.questions.sum())
    if total == topics:
        return float(found.mean.var(ddof=1)), np.nan
    within = float(found.within.sum() / (total - topics))
    grand = float(found.questions @ found.mean / total)
    between = float(found.questions @ np.square(found.mean - grand) / (topics - 1))
    typical = (total - float(np.square(found.questions).sum()) / total) / (topics - 1)
    return max(0.0, (between - within) / typical), within


def _need(scores: Scores, pair: tuple[str, str], plan: Plan) -> Need:
    found = moments(scores, *pair)
    if len(found.mean) < 3:
        raise ValueError(
            f"pilot: {pair[0]!r} and {pair[1]!r} have {len(found.mean)} topics in common; wanted at least 3"
        )
    observed = bootstrap(
        lambda at: float(found.mean[at].mean()), len(found.mean), level=plan.level, draws=plan.draws, seed=plan.seed
    )
    gap = abs(observed.estimate) if plan.gap is None else plan.gap
    between, within = variances(found)
    questions = _typical_questions(found)
    deviation = _deviation(found, questions)
    if deviation <= ROUNDING * max(1.0, float(np.abs(found.mean).max())):
        deviation = math.nan
    tests = {"power": plan.power, "alpha": plan.alpha}
    return Need(
        *pair,
        n_topics=len(found.mean),
        questions_per_topic=questions,
        observed=observed,
        gap=gap,
        topic_sd=math.sqrt(between),
        question_sd=math.sqrt(within),
        topics=IntervalEstimate(*[math.nan] * 3) if math.isnan(deviation) else _topics(found, observed, plan),
        by_questions={
            number: topics_needed(gap, _deviation(found, number), **tests)
            for number in (() if math.isnan(deviation) else _numbers(questions, within))
        },
        detectable=deviation if math.isnan(deviation) else detectable_gap(len(found.mean), deviation, **tests),
    )


def _far(critical: float, freedom: int, shift: float) -> float:
    """The upper tail of noncentral t far from 0: over the normal part, of the chance that the deviation is so small."""
    normal, weights = np.polynomial.hermite_e.hermegauss(60)
    tails = stats.chi2.cdf(freedom * np.square((shift + normal) / critical), freedom)
    return float(weights @ tails / weights.sum())


def _noncentral(at: float, freedom: int, shift: float) -> float:
    """The distribution function of noncentral t; 0 in the tail that is too far to be computed."""
    found = float(special.nctdtr(freedom, shift, at))
    return 0.0 if math.isnan(found) else found


def _deviation(found: PairMoments, questions: float) -> float:
    """The standard deviation over topics of a difference that is the mean of so many questions."""
    between, within = variances(found)
    return math.sqrt(between if np.isnan(within) else between + within / questions)


def _typical_questions(found: PairMoments) -> float:
    """The harmonic mean of the topics' numbers of questions, at which question noise is what it was."""
    return float(1 / np.mean(1 / found.questions))


def _numbers(questions: float, within: float) -> list[int]:
    return [] if np.isnan(within) else sorted({1, 2, 5, 10, 20, 50, round(questions)})


def _topics(found: PairMoments, observed: IntervalEstimate, plan: Plan) -> IntervalEstimate:
    """The topics needed; the interval is that of the deviation for a given gap, of the gap for the pilot's own.

    An end is infinite where the interval of the pilot's gap holds 0: then no number of topics is sure to do.
    """
    questions = _typical_questions(found)

    def deviation(at: NDArray[np.intp]) -> float:
        return _deviation(PairMoments(found.mean[at], found.questions[at], found.within[at]), questions)

    whole = deviation(np.arange(len(found.mean)))
    if plan.gap is None:
        ends = [0.0] if observed.low <= 0 <= observed.high else [abs(observed.low), abs(observed.high)]
        gaps = (abs(observed.estimate), max(abs(observed.low), abs(observed.high)), min(ends))
        return IntervalEstimate(*(topics_needed(gap, whole, power=plan.power, alpha=plan.alpha) for gap in gaps))
    drawn = bootstrap(deviation, len(found.mean), level=plan.level, draws=plan.draws, seed=plan.seed)
    return IntervalEstimate(*(topics_needed(plan.gap, one, power=plan.power, alpha=plan.alpha) for one in drawn))


def _require(plan: Plan) -> None:
    for name, value in (("power", plan.power), ("alpha", plan.alpha)):
        if not 0 < value < 1:
            raise ValueError(f"{name}: {value}; wanted a share between 0 and 1")
    if plan.power <= plan.alpha:
        raise ValueError(f"power: {plan.power}; wanted more than alpha, {plan.alpha}")
    if plan.gap is not None and not 0 < plan.gap < math.inf:
        raise ValueError(f"gap: {plan.gap}; wanted a finite number above 0")
