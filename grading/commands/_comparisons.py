"""What scores say of judges, leaderboards and designs: agreement, leaderboard, power, reusability, bias."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading._records import Sampling
from grading.commands._options import ShownPairs
from grading.leaderboards._agreement import Over, agree_files
from grading.leaderboards._judge_bias import favour, read_judged
from grading.leaderboards._leaderboards import correlate_files
from grading.leaderboards._power import Plan, pilot_needs
from grading.leaderboards._reusability import leave_one_out, read_contributions


def agreement(
    first: Annotated[Path, typer.Argument(metavar="QRELS_A", help="TREC qrels, or a table topic,passage,grade.")],
    second: Annotated[Path, typer.Argument(metavar="QRELS_B", help="The same by the other judge.")],
    sampling: Sampling,
    over: Annotated[Over, typer.Option(help="What intervals resample: topics (auto: from 10 on) or pairs.")] = "auto",
    threshold: Annotated[
        float | None, typer.Option(help="Also kappa of grades from this one on against the rest.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how far two judges agree beyond chance. Cohen's kappa, plain and quadratic, and Krippendorff's alpha."""
    show_result(agree_files(first, second, sampling, over=over, threshold=threshold), as_json=as_json)


def leaderboard(
    first: Annotated[
        Path, typer.Argument(metavar="A", help="The true scores: system,topic,score; or a folder of -q outputs.")
    ],
    second: Annotated[Path, typer.Argument(metavar="B", help="The scores to be judged, of the same form.")],
    sampling: Sampling,
    measure: Annotated[
        list[str] | None, typer.Option(help="Of several measures, the one to read; twice for one of A and one of B.")
    ] = None,
    pairs: ShownPairs = "neighbours",
    as_json: AsJson = False,
) -> None:
    """Compare two leaderboards by rank correlation. With topics, also test which systems of each can be told apart."""
    show_result(correlate_files(first, second, measure or [], sampling, pairs), as_json=as_json)


def power(
    pilot: Annotated[Path, typer.Argument(metavar="PILOT", help="Scores: system,topic,score, and question if any.")],
    sampling: Sampling,
    gap: Annotated[float | None, typer.Option(help="The gap to find; the pilot's own without it.")] = None,
    pairs: Annotated[list[str] | None, typer.Option("--pair", metavar="A,B", help="One pair; all without it.")] = None,
    wanted: Annotated[float, typer.Option("--power", help="The chance to find the gap.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="Level of the two-sided test; divided by the number of pairs.")] = 0.05,
    as_json: AsJson = False,
) -> None:
    """Say how many topics and questions tell two systems apart. From a pilot's scores."""
    show_result(pilot_needs(pilot, Plan(gap, wanted, alpha, sampling), pairs or []), as_json=as_json)


def reusability(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLE...", help="system,topic,question,grade or system,topic,passage,grade; or nugget assignments."
        ),
    ],
    sampling: Sampling,
    tau: Annotated[float | None, typer.Option(help="Count grades from this on as 1, others as 0.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how a bank or pool ranks a system it was made without. Leaves out each system in turn."""
    show_result(leave_one_out(read_contributions(files), sampling, tau), as_json=as_json)


def bias(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="system,family,judge,topic,score[,judge_family].")],
    sampling: Sampling,
    as_json: AsJson = False,
) -> None:
    """Say whether judges favour systems of their own family. Judges, or the writers of the questions."""
    show_result(favour(read_judged(table), sampling), as_json=as_json)
