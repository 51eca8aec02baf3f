"""Questions as items: items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore import Progress
from examcore.console import AsJson, Quiet, show_result
from grading.commands._options import GradeSource, Resampling
from grading.commands._scores import K, Tau
from grading.scores._item_analysis import ItemSettings, analysed_items


def items(
    grades: Annotated[
        list[Path], typer.Argument(metavar="GRADES", help="Grades, or nugget assignments of one system a file.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the results.")],
    source: GradeSource,
    resampling: Resampling,
    run: Annotated[
        list[Path] | None, typer.Option("--run", metavar="RUN", help="Runs whose first k passages are the students.")
    ] = None,
    tau: Tau = 1.0,
    k: K = 20,
    keep: Annotated[float, typer.Option(min=0.01, max=0.99, help="Share of the questions a pruned bank keeps.")] = 0.7,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find dead and redundant questions by their grades.

    Questions as items: difficulty, discrimination, and a pruned bank judged held out.
    """
    settings, progress = ItemSettings(tau, k, keep), Progress(quiet=quiet)
    found = analysed_items(grades, run or [], settings, resampling.sampling, out, progress, **vars(source))
    show_result(found, as_json=as_json)
