"""Scores of graded passages and articles: measure, cover, qrels, tau, exam, rouge, items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from examcore.console import AsJson, Quiet, show_result
from grading.commands._options import BankFile, GradePrompt, GradeSource, Resampling, ShownPairs
from grading.commands._score_files import Scores, write_scores

Grades = Annotated[Path, typer.Argument(metavar="GRADES", help="Grades of passages: .jsonl, .csv, .tsv, also .gz.")]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN", help="Ranked runs in TREC format.")]
Tau = Annotated[float, typer.Option(help="The least grade that counts.")]
K = Annotated[int, typer.Option("--k", min=1, help="Passages that count per query.")]


def measure(
    qrels: Annotated[Path, typer.Argument(metavar="QRELS", help="Relevance judgements in TREC format.")],
    runs: Runs,
    resampling: Resampling,
    measures: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Divided by commas: MAP,nDCG@20 or map,ndcg_cut_20.")
    ] = None,
    rel: Annotated[int, typer.Option(min=1, help="The least grade that is relevant.")] = 1,
    depth: Annotated[int | None, typer.Option(min=1, help="Documents read per topic; all without it.")] = None,
    over: Annotated[
        Literal["all", "common"], typer.Option(help="Average over all topics of the qrels, or those all runs answer.")
    ] = "all",
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Measure runs against qrels: MAP, nDCG, Rprec, MRR, P@k, with intervals and paired differences."""
    from grading.commands._scoring import measured

    names = [] if measures is None else [one.strip() for one in measures.split(",")]
    if not all(names):
        raise ValueError(f"--measures {measures!r}: an empty name; wanted names such as MAP,nDCG@20")
    found = measured(qrels, runs, names, rel, depth, over, resampling, pairs)
    show_result(found, as_json=as_json)
    first = next(iter(found.result["pairs"]))
    by_topic = found.result["per_topic"].items()
    write_scores(scores, first, {run: {topic: one[first] for topic, one in found.items()} for run, found in by_topic})


def cover(
    grades: Grades,
    runs: Runs,
    tau: Tau,
    source: GradeSource,
    resampling: Resampling,
    k: K = 20,
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """EXAM-Cover@k,tau: the share of a query's questions that the first k passages of a run answer."""
    from grading.commands._scoring import covered

    found = covered(grades, runs, tau, k, source, resampling, pairs)
    show_result(found, as_json=as_json)
    by_run = {run: one["per_query"].items() for run, one in found.result["runs"].items()}
    write_scores(scores, "cover", {run: {query: one["cover"] for query, one in found} for run, found in by_run.items()})


def qrels(
    grades: Grades,
    tau: Annotated[float | None, typer.Option(help="1 from this grade on, 0 below; the grades without it.")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the qrels to a file.")] = None,
    prompt: GradePrompt = None,
    as_json: AsJson = False,
) -> None:
    """EXAM-Label: each passage's best grade over the questions, as TREC qrels."""
    from grading.commands._scoring import labelled

    found = labelled(grades, tau, out, prompt)
    if out is None and not as_json:
        for warning in found.result["warnings"]:
            typer.echo(f"note: {warning}", err=True)
    show_result(found, as_json=as_json)


def choose_tau(
    grades: Grades,
    official: Annotated[
        Path, typer.Argument(metavar="OFFICIAL", help="Official qrels, or a leaderboard .csv (system,score).")
    ],
    source: GradeSource,
    resampling: Resampling,
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
    """Choose tau on some queries and judge it on the others: by kappa of labels, or by leaderboards of runs."""
    from grading.commands._scoring import chosen_tau

    found = chosen_tau(grades, runs or [], official, by, k, rel, source, folds, resampling)
    show_result(found, as_json=as_json)


def exam(
    answers: Annotated[
        Path, typer.Argument(metavar="ANSWERS", help="system,query,question,correct; responses.csv; answers.sqlite.")
    ],
    resampling: Resampling,
    gold: Annotated[Path | None, typer.Option(metavar="GOLD", help="The same of gold articles, for n-EXAM.")] = None,
    bank: BankFile = None,
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """EXAM and n-EXAM: the share of a query's questions that a system's article answers."""
    from grading.commands._examining import examined

    found = examined(answers, gold, bank, resampling, pairs)
    show_result(found, as_json=as_json)
    write_scores(scores, "EXAM", {name: one["per_query"] for name, one in found.result["systems"].items()})


def rouge(
    articles: Annotated[Path, typer.Argument(metavar="ARTICLES", help="system,query,text.")],
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Gold articles: query,text.")],
    resampling: Resampling,
    pairs: ShownPairs = "neighbours",
    as_json: AsJson = False,
) -> None:
    """ROUGE-1 F1 of articles against gold articles, a baseline."""
    from grading.commands._examining import rouge as compared

    found = compared(articles, gold, resampling, pairs)
    show_result(found, as_json=as_json)


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
    """Questions as items: dead and redundant ones, difficulty, discrimination, and a pruned bank judged held out."""
    from examcore import Progress
    from grading.commands._item_analysis import analysed

    found = analysed(grades, run or [], out, tau, k, source, keep, resampling, Progress(quiet=quiet))
    show_result(found, as_json=as_json)
