"""EXAM-Label: a passage's best grade over the questions, as relevance judgements (EXAM++ 2024, eq. 2)."""

from __future__ import annotations

import math
from typing import NamedTuple

from grading.formats._grades import ReadGrades, parsed


class Labels(NamedTuple):
    """Query -> passage -> best grade, and the `(query, passage)` pairs without a parsed grade, which have no label."""

    best: dict[str, dict[str, float]]
    unlabelled: tuple[tuple[str, str], ...]


def exam_labels(graded: ReadGrades) -> Labels:
    """`EXAM-Label(p) = max_r grade(p, r)` of every passage with a parsed grade."""
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
    """Labels as qrels: the grades themselves, or with `tau` 1 for labels of at least `tau` and 0 for others.

    The paper's experiments use graded labels for nDCG and tau as trec_eval's relevance level for the binary measures:
    qrels without tau, measured at level tau. Raises `ValueError` for a tau that is not above 0, and without tau for a
    label that is not a whole number.
    """
    if tau is not None:
        require_tau(tau)
    return {
        query: {passage: _level(query, passage, label, tau) for passage, label in passages.items()}
        for query, passages in labels.best.items()
    }


def require_tau(tau: float) -> None:
    """Refuse a tau that is not finite or not above 0, the grade of a passage that does not answer."""
    if not 0 < tau < math.inf:
        raise ValueError(f"tau: {tau:g}; wanted above 0, the grade for no answer, and finite")


def _level(query: str, passage: str, label: float, tau: float | None) -> int:
    if tau is not None:
        return int(label >= tau)
    if label != int(label):
        raise ValueError(f"passage {passage!r} of query {query!r}: label {label:g}; wanted whole grades, or --tau")
    return int(label)
