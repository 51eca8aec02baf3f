"""EXAM and n-EXAM: the share of a query's exam questions that a system's article answers (Sander and Dietz 2021)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from examcore import BOOTSTRAP_DRAWS, INTERVAL_LEVEL, IntervalEstimate, bootstrap
from grading._records import Bank

Right = Mapping[str, Mapping[str, bool | None]]
"""Query -> question -> whether the article's answer is right; None or absent if unanswered."""


@dataclass(frozen=True)
class ExamScore:
    """A system's EXAM by query, the queries it skips (each scored 0), and how many questions it leaves unanswered."""

    system: str
    scores: Mapping[str, float]
    skipped: tuple[str, ...]
    unanswered: int


def exam_score(system: str, right: Right, bank: Bank) -> ExamScore:
    """`EXAM(d_q) = right answers / questions of the bank for q`, for every query of the bank.

    Wrong and unanswered questions count 0, as does a query without an article (section 3.1.2). Questions outside the
    bank are ignored.
    """
    scores = {query: _share(right.get(query, {}), questions) for query, questions in bank.items()}
    unanswered = sum(
        right[query].get(name) is None for query, questions in bank.items() if query in right for name in questions
    )
    return ExamScore(system, scores, tuple(query for query in bank if query not in right), unanswered)


def n_exam(
    scores: Mapping[str, float],
    gold: Mapping[str, float],
    *,
    level: float = INTERVAL_LEVEL,
    draws: int = BOOTSTRAP_DRAWS,
    seed: int = 0,
) -> IntervalEstimate:
    """`sum_q EXAM(d_q) / sum_q EXAM(gold_q)`, a ratio of sums that may exceed 1 (section 3.1.3).

    The interval resamples queries; NaN if the gold articles answer nothing.
    """
    queries = [query for query in gold if query in scores]
    ours = np.array([scores[query] for query in queries], dtype=np.float64)
    theirs = np.array([gold[query] for query in queries], dtype=np.float64)

    def ratio(chosen: np.ndarray) -> float:
        total = float(theirs[chosen].sum())
        return float(ours[chosen].sum()) / total if total > 0 else math.nan

    return bootstrap(ratio, len(queries), level=level, draws=draws, seed=seed)


def _share(right: Mapping[str, bool | None], questions: Sequence[str]) -> float:
    return sum(right.get(name) is True for name in questions) / len(questions) if questions else math.nan
