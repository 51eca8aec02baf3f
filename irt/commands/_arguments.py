"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from irt.commands._records import names

TABLE = "long (student,item,score[,facets]) or wide table (first column student), .csv or .parquet"


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
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.")]
TablesFolder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder for the tables, as CSV.")]
