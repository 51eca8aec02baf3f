"""The verdict: which system answers most, how sure that is, and what a reader has to know before believing it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from examcore import IntervalEstimate
from examcore.page import chance, joined, percent, percent_range, points
from grading._printing import few
from grading.leaderboards._paired import ALPHA
from grading.page._evidence import GradingEvidence
from grading.page._questions import QuestionSummary
from grading.page._scores import NAMED, Board, View, name, names

FIRST = 10
"""Systems of the table that opens the page; all stand in the next section."""
MANY = 0.05
"""The share from which unparsed replies and ungraded passages are a warning."""


def with_interval(found: IntervalEstimate, level: float) -> str:
    """`62 % (90 % interval 50 to 74 %)`."""
    if math.isnan(found.estimate):
        return "unknown"
    if math.isnan(found.low):
        return f"{percent(found.estimate)} (interval unknown)"
    return f"{percent(found.estimate)} ({percent(level)} interval {percent_range(found)})"


def verdict_view(
    evidence: GradingEvidence, found: Board, boards: Sequence[Board], asked: Sequence[QuestionSummary]
) -> View:
    """What stands before the first scroll."""
    return {
        "sentences": _sentences(evidence, found, asked),
        "warnings": _warnings(evidence, found, boards),
        "chances": _chances(found),
        "first": found.ranked[:FIRST],
    }


def caption(evidence: GradingEvidence, found: Board) -> str:
    """What the leaderboard shows."""
    articles, k = evidence.systems.articles, evidence.sources.k
    measure = "EXAM" if articles else f"EXAM-Cover@{k}"
    what = "article answers" if articles else f"first {k} passages answer"
    return (
        f"{measure}, tau {found.tau:g}: the share of a query's questions that the system's {what}, mean over "
        f"{len(evidence.bank)} queries, with {percent(evidence.sampling.interval)} intervals over queries"
    )


def negated(found: IntervalEstimate) -> IntervalEstimate:
    """The difference the other way round."""
    return IntervalEstimate(-found.estimate, -found.high, -found.low)


def _sentences(evidence: GradingEvidence, found: Board, asked: Sequence[QuestionSummary]) -> list[str]:
    level, best = evidence.sampling.interval, found.best
    if best is None:
        answered = sum(one.passages > 0 for one in asked)
        first = f"{answered} of {len(asked)} questions are answered by some passage at tau\u00a0{found.tau:g}."
        if found.ranked:
            return [first, "No passage of any system was graded, so that nothing is known of the systems."]
        return [first, "No system is compared: no run is given, and the grades name no system."]
    what = f"{with_interval(best.score, level)} of the questions at tau\u00a0{found.tau:g}"
    if len(found.ranked) == 1:
        return [f"{name(best.system)} answers {what}.", "It is the only system: nothing is compared."]
    if len(found.leaders) > 1:
        return [f"{names(found.leaders)} share the first place: each answers {what}.", *_apart(found)]
    return [f"{name(best.system)} answers most: {what}.", *_apart(found)]


def _apart(found: Board) -> list[str]:
    """Which systems the best one is told apart from, and its lead over the next of those that it is not."""
    assert found.best is not None
    who, pairs = name(found.best.system), found.against_best
    if not pairs:
        return ["Nothing can be said of the differences: no two systems have a score."]
    told = [other for other, pair in pairs.items() if pair.told_apart]
    open_ = [other for other in pairs if other not in told and other not in found.leaders]
    if not told and not open_:
        return []
    if not open_:
        return [f"The data tell {who} from {names(told)}: {_lead(found, told[0])}."]
    line = f"The data cannot tell {who} from {names(open_, 'or')}: {_lead(found, open_[0])}."
    return [f"{line} They do tell it from {names(told)}."] if told else [line]


def _lead(found: Board, other: str) -> str:
    pair = found.against_best[other]
    if math.isnan(pair.difference.low):
        return "they have too few queries in common"
    sure = "" if pair.told_apart else f", not below {ALPHA:g}"
    return f"it leads {name(other)} by {points(pair.difference)}, adjusted p = {pair.p_adjusted:.3f}{sure}"


def _warnings(evidence: GradingEvidence, found: Board, boards: Sequence[Board]) -> list[str]:
    told = []
    if not evidence.graded.highest >= found.tau:
        told.append(f"No grade reaches tau {found.tau:g}; the highest is {evidence.graded.highest:g}.")
    others: dict[str, list[str]] = {}
    for one in boards:
        if found.best and one.best and found.best.system not in one.leaders:
            others.setdefault(names(one.leaders), []).append(f"{one.tau:g}")
    leads = joined([f"{who} at tau {joined(taus)}" for who, taus in others.items()])
    if leads:
        told.append(f"Another tau puts another system first: {leads}.")
    bad, size = evidence.graded.unparsed, len(evidence.graded.grades)
    if bad >= MANY * size:
        share = percent(bad / size)
        told.append(f"{bad} of {size} replies ({share}) fit no rule and count nowhere: see Grades and replies.")
    return [*told, *_ungraded(found), *(few(len(evidence.bank), "queries") if found.ranked else ())]


def _ungraded(found: Board) -> list[str]:
    lacking = {who: (one.ungraded, one.passages) for who, one in found.covers.items() if one.ungraded}
    share = {who: bad / size for who, (bad, size) in lacking.items() if bad > MANY * size}
    if not share:
        return []
    worst = max(share, key=lambda who: share[who])
    return [
        "Passages without a grade, never graded or with unparsed replies only, count as answering nothing. They are "
        f"{percent(share[worst])} of those of {name(worst)}, the most of any system: see What was left out."
    ]


def _chances(found: Board) -> list[View] | None:
    """How often each system is first, the best ones; None where no systems are compared."""
    if found.comparison is None or found.best is None:
        return None
    shares = sorted(found.comparison.best.items(), key=lambda one: -one[1] if one[1] == one[1] else 0.0)
    return [
        {"name": name(who), "share": round(100 * share), "text": chance(share, short=True)}
        for who, share in shares[:NAMED]
        if not math.isnan(share)
    ]
