"""What a pilot says of the topics needed, what a bank or pool owes each system, whom judges favour: power and so on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading.commands._options import Resampling
from grading.leaderboards._judge_bias import favour, read_judged
from grading.leaderboards._power import SAMPLING, Plan, pilot_needs, read_pilot
from grading.leaderboards._reusability import Contributions, contributions_of, leave_one_out, read_contributions
from grading.scores._nuggets import is_assignments, read_all_assignments


def power(
    pilot: Annotated[Path, typer.Argument(metavar="PILOT", help="Scores: system,topic,score, and question if any.")],
    resampling: Resampling,
    gap: Annotated[float | None, typer.Option(help="The gap to find; the pilot's own without it.")] = None,
    pairs: Annotated[list[str] | None, typer.Option("--pair", metavar="A,B", help="One pair; all without it.")] = None,
    wanted: Annotated[float, typer.Option("--power", help="The chance to find the gap.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="Level of the two-sided test; divided by the number of pairs.")] = 0.05,
    as_json: AsJson = False,
) -> None:
    """Say how many topics and questions tell two systems apart. From a pilot's scores."""
    scores, named = read_pilot(pilot), [_pair(one) for one in pairs or ()]
    sampling = SAMPLING._replace(level=resampling.interval, seed=resampling.seed)
    show_result(pilot_needs(scores, Plan(gap, wanted, alpha, sampling), named), as_json=as_json)


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
    """Say how a bank or pool ranks a system it was made without. Leaves out each system in turn."""
    show_result(leave_one_out(_contributions(files), resampling.sampling, tau), as_json=as_json)


def bias(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="system,family,judge,topic,score[,judge_family].")],
    resampling: Resampling,
    as_json: AsJson = False,
) -> None:
    """Say whether judges favour systems of their own family. Judges, or the writers of the questions."""
    show_result(favour(read_judged(table), resampling.sampling), as_json=as_json)


def _pair(text: str) -> tuple[str, str]:
    first, _, second = (one.strip() for one in text.partition(","))
    if not first or not second or first == second:
        raise ValueError(f"--pair: {text!r}; wanted two systems, A,B")
    return first, second


def _contributions(files: Sequence[Path]) -> Contributions:
    if all(map(is_assignments, files)):
        return contributions_of(read_all_assignments(files))
    if len(files) > 1:
        raise ValueError(f"{files[1]}: a second table; wanted one table, or several files of nugget assignments")
    return read_contributions(files[0])
