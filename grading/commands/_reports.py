"""Reports with citations and texts compared: argue, validate, similarity."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, Interval, Seed, show_result
from grading._similarity import Measure
from grading.commands._options import ArgueJudges, ArgueOutput, ArgueRules, Resampling

Reports = Annotated[
    Path, typer.Argument(metavar="REPORTS", help="Reports of TREC RAG, NeuCLIR or RAGTIME; or a folder.")
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
    resampling: Resampling,
    judgments: Annotated[
        Path | None, typer.Argument(metavar="JUDGMENTS", help="Human judgements, one or several to a line.")
    ] = None,
    cited_sentences: Cited = None,
    lenient: Lenient = False,
    as_json: AsJson = False,
) -> None:
    """Judge every sentence of reports by ARGUE's eight outcomes; precision, recall and F1 per report and run."""
    from grading.commands._report_results import judged_reports

    found = judged_reports(
        reports, nuggets, judgments, cited_sentences, rules, judges, output, resampling, lenient=lenient
    )
    show_result(found, as_json=as_json)


def validate(
    reports: Reports,
    documents: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The collection (id), which citations must be from.")
    ] = None,
    cited_sentences: Cited = None,
    lenient: Lenient = False,
    as_json: AsJson = False,
) -> None:
    """List everything that is wrong with a file of reports; exit status 2 when something is, and --lenient is not."""
    from grading.commands._report_results import checked_reports

    found = checked_reports(reports, documents, cited_sentences)
    show_result(found, as_json=as_json)
    if not (found.result["valid"] or lenient):
        raise typer.Exit(2)


def similarity(
    text: Annotated[str, typer.Argument(metavar="TEXT_A", help="A text, or a file with one to a line.")],
    gold: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT_B...", help="The text to compare with, or several; or a file, several to a line by tabs."
        ),
    ],
    weights: Annotated[str, typer.Option(help="Weights of one, two and three words.")] = "2,1,0",
    measure: Annotated[Measure, typer.Option(help="How n-grams are compared.")] = "jaccard",
    interval: Interval = 0.9,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Say how close a reformulated question is to its gold standard, by weighted n-grams; of several, the closest."""
    from grading.commands._similarity_results import compared_files, compared_texts, is_file, read_weights

    chosen = read_weights(weights)
    files = [is_file(one) for one in (text, *gold)]
    if any(files) and not (all(files) and len(gold) == 1):
        raise ValueError(f"{text}, {', '.join(gold)}: files beside texts; wanted two files, or texts alone")
    if any(files):
        found = compared_files(Path(text), Path(gold[0]), chosen, measure, interval, seed)
    else:
        found = compared_texts(text, gold, chosen, measure)
    show_result(found, as_json=as_json)
