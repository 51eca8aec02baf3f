"""Grading a bank's passages: every pair once, grades to a file, and what became of the replies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from examcore import INTERVAL_LEVEL, IntervalEstimate, bootstrap, write_lines
from grading.formats._passages import PassageQuestion
from grading.graders._graders import NO_REPLY, Grader, GraderResult

EXAMPLES = 5
"""Unparsed replies that are shown."""
SHOWN = 200
"""Characters of them."""

Report = Callable[[int, int], None]


class GradingOutcome(NamedTuple):
    """The grades of a run, in the pairs' order; `lost` pairs got no reply and have none."""

    graded: tuple[GraderResult, ...]
    lost: tuple[GraderResult, ...]
    left_out: int


def grade_all(grader: Grader, pairs: Sequence[PassageQuestion], report: Report | None = None) -> GradingOutcome:
    """Grade all pairs that the grader can; raises `ValueError` when it can grade none."""
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
    lost = tuple(one for one in found if one.rule == NO_REPLY)
    unkeyed = len(pairs) - len(wanted) if grader.name in ("qa", "reader") else 0
    return GradingOutcome(tuple(one for one in found if one.rule != NO_REPLY), lost, unkeyed)


def write_grades(path: str | Path, graded: Sequence[GraderResult], grader: str, *, articles: bool = False) -> None:
    """Write `grades.jsonl`: `query, passage, question, grade, answer, reply, rule, grader`; null is unparsed.

    With `articles` the graded texts are systems' articles, and `system` names whose.
    """
    write_lines(path, ({**_fields(one, articles=articles), "grader": grader} for one in graded))


def summary(run: GradingOutcome, *, level: float = INTERVAL_LEVEL, seed: int = 0) -> dict[str, object]:
    """How many grades, their distribution and rules, the unparsed share (interval over queries) and examples of it."""
    unparsed = [one for one in run.graded if math.isnan(one.grade.grade)]
    counts = Counter(one.grade.grade for one in run.graded if not math.isnan(one.grade.grade))
    return {
        "n": len(run.graded),
        "grades": {f"{grade:g}": counts[grade] for grade in sorted(counts)},
        "rules": dict(Counter(one.rule for one in run.graded).most_common()),
        "unparsed": len(unparsed),
        "unparsed_share": unparsed_share(run.graded, level=level, seed=seed).as_dict(),
        "unparsed_examples": [_example(one) for one in unparsed[:EXAMPLES]],
        "no_reply": len(run.lost),
        "no_reply_reasons": dict(Counter(one.grade.reply for one in run.lost).most_common(3)),
        "without_key": run.left_out,
        "cut_passages": sum(one.cut > 0 for one in run.graded),
    }


def unparsed_share(graded: Sequence[GraderResult], *, level: float = INTERVAL_LEVEL, seed: int = 0) -> IntervalEstimate:
    """The share of replies that fit no rule, with its interval over queries; NaN without grades.

    The ends are NaN where all replies or none fit a rule: resampling such queries cannot tell how rare the other is.
    """
    per: dict[str, list[bool]] = {}
    for one in graded:
        per.setdefault(one.grade.query, []).append(math.isnan(one.grade.grade))
    bad = np.array([sum(found) for found in per.values()], dtype=np.float64)
    all_ = np.array([len(found) for found in per.values()], dtype=np.float64)
    if not per:
        return IntervalEstimate(math.nan, math.nan, math.nan)
    if bad.sum() in (0, all_.sum()):
        return IntervalEstimate(float(bad.sum() / all_.sum()), math.nan, math.nan)
    return bootstrap(lambda rows: float(bad[rows].sum() / all_[rows].sum()), len(per), level=level, seed=seed)


def _fields(one: GraderResult, *, articles: bool) -> Mapping[str, object]:
    names = ("query", "passage", "question", "grade", "answer", "reply")
    system = {"system": one.grade.passage} if articles else {}
    return {**{name: getattr(one.grade, name) for name in names}, **system, "rule": one.rule}


def _example(one: GraderResult) -> dict[str, str]:
    names = ("query", "passage", "question")
    return {**{name: getattr(one.grade, name) for name in names}, "reply": one.grade.reply[:SHOWN]}
