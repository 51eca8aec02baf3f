"""Scores of answers by weighted rubrics: rubrics."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from examcore.console import AsJson, interval_text
from grading._printing import few, named, show_ranked, write_scores
from grading.commands._options import Resampling, Scores, ShownPairs
from grading.leaderboards._paired import differences, standings
from grading.scores._rubrics import avoided, compliance, read_rubrics


def rubrics(
    files: Annotated[list[Path], typer.Argument(metavar="RESULTS...", help="Judged criteria, one file a system.")],
    resampling: Resampling,
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Score answers by weighted criteria, also negative ones."""
    sampling = resampling.sampling
    read = [read_rubrics(path) for path in files]
    names = [one.system for one in read]
    for path, one in zip(files, read, strict=True):
        if names.count(one.system) > 1:
            raise ValueError(f"{path}: a second system named {one.system!r}; wanted distinct names of files")
    tasks = list(dict.fromkeys(task for one in read for task in one.tasks))
    table = {
        one.system: {task: compliance(one.tasks[task]) if task in one.tasks else 0.0 for task in tasks} for one in read
    }
    against = {one.system: {task: avoided(criteria) for task, criteria in one.tasks.items()} for one in read}
    notes = []
    for one in read:
        notes += named(f"Tasks that {one.system} skips, counted 0", (task for task in tasks if task not in one.tasks))
        if one.failed:
            notes.append(f"Criteria of {one.system} without a verdict, left out: {one.failed}.")
    without = (task for task in tasks if any(math.isnan(each[task]) for each in table.values()))
    notes += named("Tasks without a criterion above 0: no score, left out of the mean", without)
    ranked = standings(table, sampling)
    harmless = {one.system: one.score.as_dict() for one in standings(against, sampling)}
    result: dict[str, Any] = {
        "tasks": len(tasks),
        "systems": {
            one.system: {
                "compliance": one.score.as_dict(),
                "avoided": harmless[one.system],
                "per_query": table[one.system],
            }
            for one in ranked
        },
    }
    rows = [["system", "compliance", "negative criteria avoided"]]
    rows += [[one.system, interval_text(one.score.as_dict()), interval_text(harmless[one.system])] for one in ranked]
    notes += few(len(tasks), "tasks")
    show_ranked(result, rows, differences(table, sampling), notes, pairs, as_json=as_json)
    write_scores(scores, "compliance", {one.system: table[one.system] for one in ranked})
