"""Scores of runs and passages, and of the questions: measure, cover, qrels, tau, items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore import Progress
from examcore.console import AsJson, Quiet, show_result
from grading._printing import noted, write_scores
from grading._records import Sampling
from grading.commands._options import GradePrompt, GradeSource, Scores, ShownPairs
from grading.scores._cover import labelled_passages
from grading.scores._cover_scores import cover_scores
from grading.scores._effectiveness import Over, measure_files
from grading.scores._item_analysis import analysed_items
from grading.scores._thresholds import choose_tau as tau_of

Grades = Annotated[Path, typer.Argument(metavar="GRADES", help="Grades of passages: .jsonl, .csv, .tsv, also .gz.")]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN", help="Ranked runs in TREC format.")]
Tau = Annotated[float, typer.Option(help="The least grade that counts.")]
K = Annotated[int, typer.Option("--k", min=1, help="Passages that count per query.")]


def measure(
    qrels: Annotated[Path, typer.Argument(metavar="QRELS", help="Relevance judgements in TREC format.")],
    runs: Runs,
    sampling: Sampling,
    measures: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Divided by commas: MAP,nDCG@20 or map,ndcg_cut_20.")
    ] = None,
    rel: Annotated[int, typer.Option(min=1, help="The least grade that is relevant.")] = 1,
    depth: Annotated[int | None, typer.Option(min=1, help="Documents read per topic; all without it.")] = None,
    over: Annotated[Over, typer.Option(help="Average over all topics of the qrels, or those all runs answer.")] = "all",
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Measure runs against qrels: MAP, nDCG, Rprec, MRR, P@k. With intervals and paired differences."""
    found = measure_files(qrels, runs, sampling, measures=measures, rel=rel, depth=depth, over=over, shown=pairs)
    show_result(found, as_json=as_json)
    write_scores(scores, found.first, found.scores[found.first])


def cover(
    grades: Grades,
    runs: Runs,
    tau: Tau,
    source: GradeSource,
    sampling: Sampling,
    k: K = 20,
    alpha: Annotated[
        float | None, typer.Option(help="Also alpha-nDCG, where a repeated answer counts 1 - alpha as much.")
    ] = None,
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """EXAM-Cover@k,tau: share of questions that a run answers.

    The questions of a query, answered by the first k passages.
    """
    found = cover_scores(grades, runs, sampling, tau, k, alpha, **vars(source), shown=pairs)
    show_result(found, as_json=as_json)
    write_scores(scores, "cover", found.ranking.scores)


def qrels(
    grades: Grades,
    tau: Annotated[float | None, typer.Option(help="1 from this grade on, 0 below; the grades without it.")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the qrels to a file.")] = None,
    prompt: GradePrompt = None,
    as_json: AsJson = False,
) -> None:
    """EXAM-Label: each passage's best grade, as TREC qrels. The best is over the questions."""
    found = labelled_passages(grades, tau, prompt, out)
    if out is None and not as_json:
        typer.echo("".join(f"{one}\n" for one in noted(found.warnings)), err=True, nl=False)
    show_result(found, as_json=as_json)


def choose_tau(
    grades: Annotated[
        Path, typer.Argument(metavar="GRADES", help="Grades of passages; or RUBRIC's .qrel of predicted grades.")
    ],
    official: Annotated[
        Path, typer.Argument(metavar="OFFICIAL", help="Official qrels, or a leaderboard .csv (system,score).")
    ],
    source: GradeSource,
    sampling: Sampling,
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="RUN", help="Three or more runs: compare leaderboards.")
    ] = None,
    by: Annotated[str, typer.Option(help="What the runs are scored by: cover, or a measure such as MAP.")] = "cover",
    k: K = 20,
    rel: Annotated[int, typer.Option(min=1, help="The least official grade that is relevant.")] = 1,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Parts of the queries, each held out once; 5, or one for each query.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Choose tau on some queries and judge it on the others. By kappa of labels, or by leaderboards of runs."""
    found = tau_of(grades, official, runs or [], sampling, by=by, k=k, rel=rel, folds=folds, **vars(source))
    show_result(found, as_json=as_json)


def items(
    grades: Annotated[
        list[Path], typer.Argument(metavar="GRADES", help="Grades, or nugget assignments of one system a file.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the results.")],
    source: GradeSource,
    sampling: Sampling,
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
    how = {"tau": tau, "k": k, "keep": keep, **vars(source)}
    show_result(analysed_items(grades, run or [], out, sampling, Progress(quiet=quiet), **how), as_json=as_json)
