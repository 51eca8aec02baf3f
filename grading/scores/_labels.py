"""EXAM-Label: a passage's best grade over the questions, as relevance judgements (EXAM++ 2024, eq. 2)."""

from __future__ import annotations

import math
from typing import NamedTuple

from grading.formats._grades import ReadGrades, parsed


class Labels(NamedTuple):
    """Query -> passage -> best grade, and the passages without any parsed grade, which have no label."""

    best: dict[str, dict[str, float]]
    unlabelled: tuple[tuple[str, str], ...]


def exam_labels(graded: ReadGrades) -> Labels:
    """`EXAM-Label(p) = max_r grade(p, r)` of every passage with a grade that was parsed."""
    best: dict[str, dict[str, float]] = {}
    without: list[tuple[str, str]] = []
    for query, passages in graded.by_passage.items():
        for passage, grades in passages.items():
            known = [grade for _, grade in parsed(grades)]
            if known:
                best.setdefault(query, {})[passage] = max(known)
            else:
                without.append((query, passage))
    return Labels(best, tuple(without))


def exam_qrels(labels: Labels, tau: float | None = None) -> dict[str, dict[str, int]]:
    """Labels as qrels: the grades themselves, or with `tau` 1 where the label reaches it and 0 elsewhere.

    In the paper's own experiments the label stays graded for nDCG and tau is trec_eval's level for the binary measures:
    that is qrels without tau, measured at level tau. Raises `ValueError` for a tau of 0 or less, and for a grade with a
    fraction where the grades themselves are wanted.
    """
    if tau is not None and not 0 < tau < math.inf:
        raise ValueError(f"tau: {tau:g}; wanted above 0, which stands for no answer, and finite")
    return {
        query: {passage: _level(query, passage, label, tau) for passage, label in passages.items()}
        for query, passages in labels.best.items()
    }


def _level(query: str, passage: str, label: float, tau: float | None) -> int:
    if tau is not None:
        return int(label >= tau)
    if label != int(label):
        raise ValueError(f"passage {passage!r} of query {query!r}: label {label:g}; wanted whole grades, or --tau")
    return int(label)
