"""What scores say of systems and of one another: nuggets, agreement, leaderboard, power, reusability, bias."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from examcore.console import AsJson, show_result
from grading.commands._options import Resampling, ShownPairs
from grading.commands._score_files import Scores, write_scores

Over = Literal["auto", "topics", "pairs"]
Metric = Literal[
    "strict_vital_score",
    "vital_score",
    "strict_weighted_score",
    "weighted_score",
    "strict_all_score",
    "all_score",
]


def nuggets(
    files: Annotated[list[Path], typer.Argument(metavar="ASSIGNMENTS...", help="Nugget assignments, JSON lines.")],
    resampling: Resampling,
    metric: Annotated[Metric, typer.Option(help="The score that several systems are compared by.")] = "vital_score",
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Score answers by the nuggets they support, per topic and all; several systems are compared in pairs."""
    from grading.commands._nugget_results import score_nuggets

    found = score_nuggets(files, metric, resampling, pairs)
    show_result(found, as_json=as_json)
    write_scores(scores, metric, found.topic_scores)


def agreement(
    first: Annotated[Path, typer.Argument(metavar="QRELS_A", help="TREC qrels, or a table topic,passage,grade.")],
    second: Annotated[Path, typer.Argument(metavar="QRELS_B", help="The same by the other judge.")],
    resampling: Resampling,
    over: Annotated[Over, typer.Option(help="What intervals resample: topics (auto: from 10 on) or pairs.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Say how far two judges agree beyond chance: Cohen's kappa, plain and quadratic, and Krippendorff's alpha."""
    from grading.commands._leaderboard_results import compare_judges

    show_result(compare_judges(first, second, over, resampling), as_json=as_json)


def leaderboard(
    first: Annotated[Path, typer.Argument(metavar="A", help="The true scores: system,score or system,topic,score.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The scores to be judged, of the same form.")],
    resampling: Resampling,
    pairs: ShownPairs = "neighbours",
    as_json: AsJson = False,
) -> None:
    """Compare two leaderboards by rank correlation; with topics, also test which systems of each can be told apart."""
    from grading.commands._leaderboard_results import compare_leaderboards

    show_result(compare_leaderboards(first, second, resampling, pairs), as_json=as_json)


def power(
    pilot: Annotated[Path, typer.Argument(metavar="PILOT", help="Scores: system,topic,score, and question if any.")],
    resampling: Resampling,
    gap: Annotated[float | None, typer.Option(help="The gap to find; the pilot's own without it.")] = None,
    pairs: Annotated[list[str] | None, typer.Option("--pair", metavar="A,B", help="One pair; all without it.")] = None,
    wanted: Annotated[float, typer.Option("--power", help="The chance to find the gap.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="Level of the two-sided test; divided by the number of pairs.")] = 0.05,
    as_json: AsJson = False,
) -> None:
    """Say how many topics, and questions on each, tell two systems apart, from a pilot's scores."""
    from grading.commands._judgement_results import find_needs
    from grading.leaderboards._power import Plan

    plan = Plan(gap, wanted, alpha, resampling.interval, seed=resampling.seed)
    show_result(find_needs(pilot, plan, pairs or ()), as_json=as_json)


def reusability(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLE...", help="system,topic,question,grade or system,topic,passage,grade; or nugget assignments."
        ),
    ],
    resampling: Resampling,
    tau: Annotated[float | None, typer.Option(help="Count grades from this on as 1, others as 0.")] = None,
    as_json: AsJson = False,
) -> None:
    """Leave each system out of the making of a bank or pool, and say what becomes of its rank."""
    from grading.commands._judgement_results import leave_systems_out

    show_result(leave_systems_out(files, tau, resampling), as_json=as_json)


def bias(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="system,family,judge,topic,score[,judge_family].")],
    resampling: Resampling,
    as_json: AsJson = False,
) -> None:
    """Say whether judges (or the writers of the questions) favour systems of their own family."""
    from grading.commands._judgement_results import find_bias

    show_result(find_bias(table, resampling), as_json=as_json)
