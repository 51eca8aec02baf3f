"""Scores of systems by their answers: exam (EXAM and n-EXAM), rouge (ROUGE-1), rubrics, nuggets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading._printing import write_scores
from grading._records import Sampling
from grading.commands._options import BankFile, Scores, ShownPairs
from grading.scores._exam_scores import exam_scores
from grading.scores._nuggets import Metric, NuggetResult, read_all_assignments, score_run
from grading.scores._rouge import rouge as rouge_of
from grading.scores._rubrics import rubric_scores


def exam(
    answers: Annotated[
        Path, typer.Argument(metavar="ANSWERS", help="system,query,question,correct; responses.csv; answers.sqlite.")
    ],
    sampling: Sampling,
    gold: Annotated[Path | None, typer.Option(metavar="GOLD", help="The same of gold articles, for n-EXAM.")] = None,
    bank: BankFile = None,
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """EXAM and n-EXAM: share of questions that an article answers."""
    found = exam_scores(answers, sampling, gold=gold, bank=bank, shown=pairs)
    show_result(found, as_json=as_json)
    write_scores(scores, "EXAM", found.ranking.scores)


def rouge(
    articles: Annotated[Path, typer.Argument(metavar="ARTICLES", help="system,query,text.")],
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Gold articles: query,text.")],
    sampling: Sampling,
    pairs: ShownPairs = "neighbours",
    as_json: AsJson = False,
) -> None:
    """ROUGE-1 F1 of articles against gold articles, a baseline."""
    show_result(rouge_of(articles, gold, sampling, pairs), as_json=as_json)


def rubrics(
    files: Annotated[list[Path], typer.Argument(metavar="RESULTS...", help="Judged criteria, one file a system.")],
    sampling: Sampling,
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Score answers by weighted criteria, also negative ones."""
    found = rubric_scores(files, sampling, pairs)
    show_result(found, as_json=as_json)
    write_scores(scores, "compliance", found.ranking.scores)


def nuggets(
    files: Annotated[list[Path], typer.Argument(metavar="ASSIGNMENTS...", help="Nugget assignments, JSON lines.")],
    sampling: Sampling,
    metric: Annotated[Metric, typer.Option(help="The score that several systems are compared by.")] = "vital_score",
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Score answers by the nuggets they support. Per topic and all; several systems are compared in pairs."""
    found = NuggetResult([score_run(run, sampling) for run in read_all_assignments(files)], metric, sampling, pairs)
    show_result(found, as_json=as_json)
    write_scores(scores, metric, found.by_topic)
