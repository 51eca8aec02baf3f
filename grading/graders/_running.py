"""Grading all pairs of passages and questions, the file of grades, and a summary of the replies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from examcore import INTERVAL_LEVEL, IntervalEstimate, ReportProgress, bootstrap, write_lines
from grading._records import Grade
from grading.formats._passages import PassageQuestion
from grading.graders._graders import NO_REPLY, Grader, GraderResult

EXAMPLES = 5
"""Unparsed replies that the summary shows."""
SHOWN = 200
"""Characters of each that are shown."""


class GradingOutcome(NamedTuple):
    """The grades of a run in the order of the pairs, the pairs that got no reply, and how many have no key."""

    graded: tuple[GraderResult, ...]
    lost: tuple[GraderResult, ...]
    without_key: int


def grade_all(grader: Grader, pairs: Sequence[PassageQuestion], report: ReportProgress | None = None) -> GradingOutcome:
    """Grade all pairs that the grader can grade; raises `ValueError` if there are none."""
    wanted = grader.gradable(pairs)
    if not wanted:
        raise ValueError(f"grader {grader.name}: no question has a key; wanted answers in the bank, or --grader rating")
    found: list[GraderResult] = []
    if report is not None:
        report(0, len(wanted))
    for one in grader.grade(wanted):
        found.append(one)
        if report is not None:
            report(len(found), len(wanted))
    graded = tuple(one for one in found if one.rule != NO_REPLY)
    lost = tuple(one for one in found if one.rule == NO_REPLY)
    # Other graders need no key; they leave out pairs only to grade each passage once.
    without_key = len(pairs) - len(wanted) if grader.name in ("qa", "reader") else 0
    return GradingOutcome(graded, lost, without_key)


def write_grades(path: str | Path, graded: Sequence[GraderResult], grader: str, *, articles: bool = False) -> None:
    """Write `grades.jsonl`: `query, passage, question, grade, answer, reply, rule, grader`; a null grade is unparsed.

    With `articles` the graded texts are articles, and `system` names the system of each.
    """
    write_lines(
        path,
        (
            {
                **asdict(one.grade),
                **({"system": one.grade.passage} if articles else {}),
                "rule": one.rule,
                "grader": grader,
            }
            for one in graded
        ),
    )


def summary(run: GradingOutcome, *, level: float = INTERVAL_LEVEL, seed: int = 0) -> dict[str, Any]:
    """Counts of grades and rules, the unparsed share (interval over queries), and examples of unparsed replies."""
    unparsed = [one for one in run.graded if math.isnan(one.grade.grade)]
    counts = Counter(one.grade.grade for one in run.graded if not math.isnan(one.grade.grade))
    return {
        "n": len(run.graded),
        "grades": {f"{grade:g}": counts[grade] for grade in sorted(counts)},
        "rules": dict(Counter(one.rule for one in run.graded).most_common()),
        "unparsed": len(unparsed),
        "unparsed_share": unparsed_share(run.graded, level=level, seed=seed).as_dict(),
        "unparsed_examples": [_example(one.grade) for one in unparsed[:EXAMPLES]],
        "no_reply": len(run.lost),
        "no_reply_reasons": dict(Counter(one.grade.reply for one in run.lost).most_common(3)),
        "without_key": run.without_key,
        "cut_passages": sum(one.cut > 0 for one in run.graded),
    }


def unparsed_share(graded: Sequence[GraderResult], *, level: float = INTERVAL_LEVEL, seed: int = 0) -> IntervalEstimate:
    """The share of unparsed replies with its interval over queries; NaN without grades.

    The ends are NaN if all replies or none are unparsed, since resampling cannot tell how rare the other case is.
    """
    replies = Counter(one.grade.query for one in graded)
    unparsed = Counter(one.grade.query for one in graded if math.isnan(one.grade.grade))
    if not replies:
        return IntervalEstimate(math.nan, math.nan, math.nan)
    if unparsed.total() in (0, replies.total()):
        return IntervalEstimate(unparsed.total() / replies.total(), math.nan, math.nan)
    bad, total = (np.array([counts[query] for query in replies], dtype=np.float64) for counts in (unparsed, replies))
    return bootstrap(lambda rows: float(bad[rows].sum() / total[rows].sum()), len(replies), level=level, seed=seed)


def _example(grade: Grade) -> dict[str, str]:
    return {"query": grade.query, "passage": grade.passage, "question": grade.question, "reply": grade.reply[:SHOWN]}
