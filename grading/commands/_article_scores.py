"""Scores of articles: exam (EXAM and n-EXAM) and rouge (ROUGE-1)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading._printing import write_scores
from grading.commands._options import BankFile, Resampling, Scores, ShownPairs
from grading.scores._articles import rouge as rouge_of
from grading.scores._exam_scores import exam_scores


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
    """EXAM and n-EXAM: share of questions that an article answers."""
    found = exam_scores(answers, resampling.sampling, gold=gold, bank=bank, shown=pairs)
    show_result(found, as_json=as_json)
    write_scores(scores, "EXAM", found.ranking.scores)


def rouge(
    articles: Annotated[Path, typer.Argument(metavar="ARTICLES", help="system,query,text.")],
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Gold articles: query,text.")],
    resampling: Resampling,
    pairs: ShownPairs = "neighbours",
    as_json: AsJson = False,
) -> None:
    """ROUGE-1 F1 of articles against gold articles, a baseline."""
    show_result(rouge_of(articles, gold, resampling.sampling, pairs), as_json=as_json)
