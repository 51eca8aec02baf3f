"""Reports with citations: argue, validate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading._records import Sampling
from grading.reports._argue_files import ArgueJudges, ArgueOutput, ArgueRules, argue_files, validated_reports

Reports = Annotated[
    Path,
    typer.Argument(
        metavar="REPORTS", help="Reports of TREC RAG, NeuCLIR or RAGTIME, or a folder; Auto-ARGUE's judgments.jsonl."
    ),
]
Cited = Annotated[
    Path | None,
    typer.Option(
        "--cited-sentences", metavar="FILE", help="The annotation tool's sentences by citation, beside REPORTS."
    ),
]
Lenient = Annotated[bool, typer.Option("--lenient/--strict", help="Go on without what is faulty instead of stopping.")]


def argue(
    reports: Reports,
    nuggets: Annotated[Path, typer.Argument(metavar="NUGGETS", help="Nuggets: a bank, nuggetizer's, NeuCLIR's.")],
    rules: ArgueRules,
    judges: ArgueJudges,
    output: ArgueOutput,
    sampling: Sampling,
    judgments: Annotated[
        Path | None, typer.Argument(metavar="JUDGMENTS", help="Human judgements, one or several to a line.")
    ] = None,
    cited_sentences: Cited = None,
    lenient: Lenient = False,
    as_json: AsJson = False,
) -> None:
    """Judge every sentence of reports by ARGUE's eight outcomes. Precision, recall and F1 per report and run."""
    files = (reports, nuggets, judgments, cited_sentences)
    show_result(argue_files(*files, rules, judges, output, sampling, lenient=lenient), as_json=as_json)


def validate(
    reports: Reports,
    documents: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The collection (id), which citations must be from.")
    ] = None,
    cited_sentences: Cited = None,
    lenient: Lenient = False,
    as_json: AsJson = False,
) -> None:
    """List everything that is wrong with a file of reports.

    Exit status 2 when something is, and --lenient is not given.
    """
    found = validated_reports(reports, documents, cited_sentences)
    show_result(found, as_json=as_json)
    if found.stopping and not lenient:
        raise typer.Exit(2)
