"""Weighted rubrics (ResearchRubrics 2025): criteria of a task with a weight, below 0 for what an answer must not do.

The compliance of an answer is the sum of the weights of the criteria that it satisfies over the sum of those above
0: at most 1, and below 0 where it mostly does what it must not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from examcore import shown_json
from grading._file_rows import FileRow, read_rows
from grading._printing import few, named
from grading._records import Sampling
from grading.leaderboards._paired import Pairs, RankedSystems, ranking, standings

TASK = ("sample_id", "task_id", "query_id", "qid", "query")
CRITERION = ("rubric_title", "criterion", "question")


class JudgedCriterion(NamedTuple):
    """A criterion, its weight, and how far an answer satisfies it, 0 to 1; NaN where the judge failed."""

    text: str
    weight: float
    score: float


JudgedRubrics = dict[str, list[JudgedCriterion]]
"""Task -> the criteria of an answer."""


def rubric_scores(paths: Sequence[Path], sampling: Sampling, shown: Pairs) -> RankedSystems:
    """The systems of some files, one each, by compliance and the share of negative criteria that they do not meet.

    A task that a system skips counts 0.
    """
    names = [path.name.partition(".")[0] for path in paths]
    for path, name in zip(paths, names, strict=True):
        if names.count(name) > 1:
            raise ValueError(f"{path}: a second system named {name!r}; wanted distinct names of files")
    read = {name: read_rubrics(path) for name, path in zip(names, paths, strict=True)}
    tasks = list(dict.fromkeys(task for judged in read.values() for task in judged))
    table = {
        name: {one: compliance(judged[one]) if one in judged else 0.0 for one in tasks} for name, judged in read.items()
    }
    against = {name: {task: avoided(criteria) for task, criteria in judged.items()} for name, judged in read.items()}
    notes = []
    for name, judged in read.items():
        notes += named(f"Tasks that {name} skips, counted 0", (task for task in tasks if task not in judged))
        if lost := failed(judged):
            notes.append(f"Criteria of {name} without a verdict, left out: {lost}.")
    without = (task for task in tasks if any(math.isnan(each[task]) for each in table.values()))
    notes += named("Tasks without a criterion above 0: no score, left out of the mean", without)
    notes += few(len(tasks), "tasks")
    harmless = {one.system: one.score for one in standings(against, sampling)}
    ranked = ranking(table, sampling, notes, shown)
    measures = {"compliance": ("compliance", ranked.means), "avoided": ("negative criteria avoided", harmless)}
    return RankedSystems({"tasks": len(tasks)}, measures, ranked)


def read_rubrics(path: str | Path) -> JudgedRubrics:
    """The results of one system as ResearchRubrics writes them, a line each: `sample_id, rubric_title, weight, score`.

    A line with `success` false or no score is one that the judge failed on. Raises
    `ValueError` (file:line, found, wanted) for a missing field, a score outside 0 to 1, a weight of 0, a criterion that
    stands twice in a task, and a file without a verdict.
    """
    tasks: dict[str, dict[str, JudgedCriterion]] = {}
    for row in read_rows(path, {}):
        criteria, one = tasks.setdefault(row.first_text(TASK), {}), _criterion(row)
        if one.text in criteria:
            raise ValueError(f"{row.place}: criterion {shown_json(one.text)} stands twice in its task; wanted it once")
        criteria[one.text] = one
    found = {task: list(each.values()) for task, each in tasks.items()}
    if failed(found) == sum(map(len, found.values())):
        raise ValueError(f"{path}: no criterion has a verdict; wanted a score from 0 to 1")
    return found


def failed(judged: JudgedRubrics) -> int:
    """How many criteria the judge gave no verdict on; they take no part."""
    return sum(math.isnan(one.score) for criteria in judged.values() for one in criteria)


def compliance(criteria: Sequence[JudgedCriterion]) -> float:
    """The weights of satisfied criteria over those above 0; NaN without one of them."""
    known = [one for one in criteria if not math.isnan(one.score)]
    most = sum(one.weight for one in known if one.weight > 0)
    return sum(one.weight * one.score for one in known) / most if most else math.nan


def avoided(criteria: Sequence[JudgedCriterion]) -> float:
    """The share of the criteria with a weight below 0 that the answer does not meet; NaN without one of them."""
    against = [one.score for one in criteria if one.weight < 0 and not math.isnan(one.score)]
    return 1 - sum(against) / len(against) if against else math.nan


def _criterion(row: FileRow) -> JudgedCriterion:
    weight = row.number("weight")
    if not weight:
        raise ValueError(f"{row.place}: weight 0; wanted one above 0, or below for what an answer must not do")
    score = math.nan if row.fields.get("success") is False else row.grade("score")
    if score > 1:
        raise ValueError(f"{row.place}: score {score:g}; wanted 0 to 1")
    return JudgedCriterion(row.first_text(CRITERION), weight, score)
