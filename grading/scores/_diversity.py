"""alpha-nDCG of rankings by the questions of a bank (Clarke et al. 2008): early answers, new before repeated ones.

A passage gains `(1 - alpha)^n` for each question that it answers and n passages before it answer; the gain at rank r is
divided by `log2(1 + r)`. The sum over k ranks is divided by that of an ideal ranking of the graded passages, which is
found greedily, as in TREC's ndeval, since the best one is NP-hard to find.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set

from grading._records import Bank
from grading.formats._grades import ReadGrades, parsed
from grading.formats._trec import TrecRun
from grading.scores._cover import BUDGET, cover

Answered = Mapping[str, Set[str]]
"""Passage -> the questions it answers."""


def alpha_ndcg(
    graded: ReadGrades, run: TrecRun, tau: float, alpha: float = 0.5, k: int = BUDGET, bank: Bank | None = None
) -> dict[str, float]:
    """Query of the bank -> alpha-nDCG@k, where a grade of tau answers a question; 0 for a query that the run skips.

    NaN where no graded passage answers any question, and where passages were retrieved and none of them was graded.
    Raises `ValueError` for an alpha outside 0 to 1, and as `cover`.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha: {alpha:g}; wanted a number from 0 to 1")
    covered = cover(graded, run, tau, k, bank)
    questions = graded.questions if bank is None else bank
    found = {}
    for query, one in covered.queries.items():
        answered = _answered(graded.by_passage.get(query, {}), tau, set(questions[query]))
        ideal = _gain(_ideal(answered, alpha, k), answered, alpha)
        gain = _gain(run.top(query, k), answered, alpha)
        found[query] = gain / ideal if ideal and not math.isnan(one.score) else math.nan
    return found


def _answered(grades: Mapping[str, Mapping[str, float]], tau: float, questions: Set[str]) -> dict[str, set[str]]:
    return {
        passage: {name for name, grade in parsed(found) if grade >= tau} & questions
        for passage, found in grades.items()
    }


def _gain(ranking: Sequence[str], answered: Answered, alpha: float) -> float:
    """The discounted gain of a ranking."""
    before = Counter[str]()
    total = 0.0
    for rank, passage in enumerate(ranking, start=1):
        new = answered.get(passage, set())
        total += sum((1 - alpha) ** before[one] for one in new) / math.log2(1 + rank)
        before.update(new)
    return total


def _ideal(answered: Answered, alpha: float, k: int) -> list[str]:
    """The passage that gains most, then the one that gains most after it, and so on; of equals the first by id."""
    left = sorted(answered)
    before = Counter[str]()
    ranking: list[str] = []
    while left and len(ranking) < k:
        best = max(left, key=lambda one: sum((1 - alpha) ** before[name] for name in answered[one]))
        left.remove(best)
        before.update(answered[best])
        ranking.append(best)
    return ranking
