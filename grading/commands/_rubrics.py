"""Scores of answers by weighted rubrics: rubrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading._printing import write_scores
from grading.commands._options import Resampling, Scores, ShownPairs
from grading.scores._rubrics import rubric_scores


def rubrics(
    files: Annotated[list[Path], typer.Argument(metavar="RESULTS...", help="Judged criteria, one file a system.")],
    resampling: Resampling,
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Score answers by weighted criteria, also negative ones."""
    found = rubric_scores(files, resampling.sampling, pairs)
    show_result(found, as_json=as_json)
    write_scores(scores, "compliance", found.ranking.scores)
