"""Arguments and options that several commands share, and the saved fits they name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from irt._reading import NUMBERED
from irt._result import Fit
from irt._storage import load_fit
from irt.commands._records import names

TABLE = "long (student,item,score[,facets]) or wide table (first column student), .csv or .parquet"
"""What a table of answers is, for the help."""
Responses = Annotated[Path, typer.Argument(metavar="RESPONSES", help=f"Answers: {TABLE}.")]
FitFolder = Annotated[Path, typer.Argument(metavar="FIT", help="Folder written by fit.")]
Facets = Annotated[
    Sequence[str] | None,
    typer.Option(
        metavar="F,...",
        parser=names,
        help="Facet columns, comma separated; '' for none. Default: all that vary, of a wide table none.",
    ),
]
Choices = Annotated[
    str,
    typer.Option(metavar="N", help="Choices per item, of which chance is 1/N; or a file item,options (.csv)."),
]
TablesFolder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder for the tables, as CSV.")]


def load_right_or_wrong(folder: Path) -> Fit:
    """The fit of a folder; ValueError for one of ratings, which the command cannot read yet."""
    fit = load_fit(folder)
    if fit.graded is not None:
        raise ValueError(f"{folder}: found a fit of ratings ({fit.model}); wanted one of right and wrong answers")
    return fit


def convergence_warning(fit: Fit) -> tuple[str, ...]:
    """A warning when the fit did not converge, else nothing."""
    return () if fit.converged else ("This fit did not converge: what is read from it is not to be used.",)


def rows_are_numbered(fit: Fit) -> bool:
    """Whether the table of a fit had no column of students, so that the fit knows them by the number of their row."""
    return NUMBERED in (*fit.notes, *fit.warnings)  # an older fit.json has them together
