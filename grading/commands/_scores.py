"""Scores of runs and passages, and of the questions: measure, cover, qrels, tau, items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from examcore import Progress, read_text
from examcore.console import AsJson, Quiet, show_result
from grading._file_rows import holds_json, read_rows
from grading._printing import named, noted, write_scores
from grading._records import Bank, Sampling, SystemScores
from grading.commands._options import GradePrompt, GradeSource, Resampling, Scores, ShownPairs
from grading.formats._bank_files import bank_names
from grading.formats._common_parts import (
    graded_passages,
    graded_questions,
    lacking_queries,
    require_judged_passages,
    require_level,
    require_parsed,
    require_reached,
    require_shared_passages,
)
from grading.formats._grades import ReadGrades, qrels_grades, read_grades
from grading.formats._trec import (
    QRELS_COLUMNS,
    Qrels,
    TrecRun,
    is_qrels,
    read_qrels,
    read_runs,
    run_notes,
    write_qrels,
)
from grading.leaderboards._paired import standings
from grading.scores._cover import cover as cover_of
from grading.scores._cover import exam_labels, exam_qrels, labelled_passages
from grading.scores._cover_scores import cover_scores
from grading.scores._effectiveness import DEFAULT, Over, measure_runs, parse_measure
from grading.scores._item_analysis import ItemSettings, analysed_items
from grading.scores._thresholds import candidates, choose_by_leaderboard, choose_by_passages

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
    over: Annotated[Over, typer.Option(help="Average over all topics of the qrels, or those all runs answer.")] = "all",
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Measure runs against qrels: MAP, nDCG, Rprec, MRR, P@k. With intervals and paired differences."""
    names = [] if measures is None else [one.strip() for one in measures.split(",")]
    if not all(names):
        raise ValueError(f"--measures {measures!r}: an empty name; wanted names such as MAP,nDCG@20")
    read, judged, sampling = read_runs(runs), read_qrels(qrels), resampling.sampling
    found = measure_runs(
        judged, read, names or DEFAULT, rel=rel, depth=depth, over=over, sampling=sampling, shown=pairs
    )
    require_level(qrels, judged, rel)
    for name in found.scores:
        require_level(qrels, judged, parse_measure(name, rel).params.get("rel", 1), name)
    require_shared_passages(runs, read, qrels, {query: list(one) for query, one in judged.items()}, "judged", depth)
    show_result(found, as_json=as_json)
    write_scores(scores, found.first, found.scores[found.first])


def cover(
    grades: Grades,
    runs: Runs,
    tau: Tau,
    source: GradeSource,
    resampling: Resampling,
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
    found = cover_scores(grades, runs, resampling.sampling, tau, k, alpha, **vars(source), shown=pairs)
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
    graded = read_grades(grades, prompt)
    found = labelled_passages(graded, tau, out)
    require_parsed(grades, graded)
    if tau is not None:
        require_reached(grades, graded, tau)
    if out is not None:
        write_qrels(out, found.qrels)
    elif not as_json:
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
    """Choose tau on some queries and judge it on the others. By kappa of labels, or by leaderboards of runs."""
    sampling = resampling.sampling
    # RUBRIC's `.qrel` predicts one grade a passage.
    graded = qrels_grades(read_qrels(grades)) if is_qrels(grades) else read_grades(grades, source.prompt)
    read = read_runs(runs or [])
    require_parsed(grades, graded)
    if read and by == "cover" and is_qrels(grades):
        raise ValueError(f"{grades}: one grade a passage and no questions to cover; wanted --by with a measure, as MAP")
    left_out = [*graded.notes, *run_notes(read)]
    if read:
        questions = bank_names(source.bank, graded.questions) or graded.questions
        tables = {tau: _table_at(graded, read, tau, by, k, questions) for tau in candidates(graded)}
        require_shared_passages(runs or [], read, grades, graded_passages(graded), k=k)
        if source.bank is not None:
            lacking_queries(source.bank, questions, graded_questions(graded), grades)
        wanted = _official(official, read, rel)
        choice = choose_by_leaderboard(tables, wanted, sampling, folds=folds)
        left_out += _leaderboard_notes(read, wanted)
    else:
        judged = read_qrels(official)
        require_judged_passages(official, judged, graded, grades)
        choice = choose_by_passages(graded, judged, sampling, rel=rel, folds=folds)
        left_out += _judged_notes(graded, judged)
    show_result(choice._replace(left_out=left_out), as_json=as_json)


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


def _table_at(graded: ReadGrades, runs: Sequence[TrecRun], tau: float, by: str, k: int, bank: Bank) -> SystemScores:
    if by == "cover":
        return {run.name: cover_of(graded, run, tau, k, bank).scores for run in runs}
    return measure_runs(exam_qrels(exam_labels(graded), tau), runs, [by]).scores[by]


def _official(path: Path, runs: Sequence[TrecRun], rel: int) -> dict[str, float]:
    header = read_text(path).partition("\n")[0]
    divided = ("," in header or "\t" in header) and len(header.split()) < len(QRELS_COLUMNS.split())
    if divided or holds_json(path):
        rows = read_rows(path, {"system": ("run", "run_id"), "score": ("value", "map", "MAP")})
        return {row.text("system"): row.number("score") for row in rows}
    judged = read_qrels(path)
    require_level(path, judged, rel)
    table = measure_runs(judged, runs, ["MAP"], rel=rel).scores["MAP"]
    return {one.system: one.score.estimate for one in standings(table, Sampling(draws=0))}


def _leaderboard_notes(runs: Sequence[TrecRun], official: Mapping[str, float]) -> list[str]:
    names = [run.name for run in runs]
    return [
        *named("Runs without an official score, which take no part", (one for one in names if one not in official)),
        *named("Systems of the official leaderboard without a run", (one for one in official if one not in names)),
    ]


def _judged_notes(graded: ReadGrades, official: Qrels) -> list[str]:
    labels = exam_labels(graded).best
    apart = [query for query, found in labels.items() if not any(one in official.get(query, {}) for one in found)]
    both = {query: [one for one in found if one in official.get(query, {})] for query, found in labels.items()}
    count, size = sum(map(len, both.values())), sum(map(len, labels.values()))
    notes = [f"Passages with a label and an official grade: {count} of {size} with a label."]
    return notes + named("Queries without any of them, which take no part", apart)
