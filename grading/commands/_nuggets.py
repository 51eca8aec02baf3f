"""Scores of nugget assignments, nuggets: one system's, or several systems' side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading._printing import write_scores
from grading.commands._options import Resampling, Scores, ShownPairs
from grading.scores._nuggets import Metric, NuggetResult, read_all_assignments, score_run


def nuggets(
    files: Annotated[list[Path], typer.Argument(metavar="ASSIGNMENTS...", help="Nugget assignments, JSON lines.")],
    resampling: Resampling,
    metric: Annotated[Metric, typer.Option(help="The score that several systems are compared by.")] = "vital_score",
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Score answers by the nuggets they support. Per topic and all; several systems are compared in pairs."""
    sampling = resampling.sampling
    found = NuggetResult([score_run(run, sampling) for run in read_all_assignments(files)], metric, sampling, pairs)
    show_result(found, as_json=as_json)
    write_scores(scores, metric, found.by_topic)
