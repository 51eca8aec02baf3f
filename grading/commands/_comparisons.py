"""What scores say of judges, leaderboards and designs: agreement, leaderboard, power, reusability, bias."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading.commands._options import Resampling, ShownPairs
from grading.formats._score_tables import read_scores
from grading.leaderboards import _power as planning
from grading.leaderboards._agreement import SAMPLING, Judgements, Over, agree, read_judgements
from grading.leaderboards._judge_bias import favour, read_judged
from grading.leaderboards._leaderboards import correlate
from grading.leaderboards._reusability import Contributions, contributions_of, leave_one_out, read_contributions
from grading.scores._nuggets import is_assignments, read_all_assignments


def agreement(
    first: Annotated[Path, typer.Argument(metavar="QRELS_A", help="TREC qrels, or a table topic,passage,grade.")],
    second: Annotated[Path, typer.Argument(metavar="QRELS_B", help="The same by the other judge.")],
    resampling: Resampling,
    over: Annotated[Over, typer.Option(help="What intervals resample: topics (auto: from 10 on) or pairs.")] = "auto",
    threshold: Annotated[
        float | None, typer.Option(help="Also kappa of grades from this one on against the rest.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how far two judges agree beyond chance. Cohen's kappa, plain and quadratic, and Krippendorff's alpha."""
    (a, without_a), (b, without_b) = read_judgements(first), read_judgements(second)
    if threshold is not None:
        _require_divided({first: a, second: b}, threshold)
    sampling = SAMPLING._replace(level=resampling.interval, seed=resampling.seed)
    found = agree(a, b, sampling, over=over, threshold=threshold)
    show_result(found._replace(without_grade={"a": without_a, "b": without_b}), as_json=as_json)


def _require_divided(files: Mapping[Path, Judgements], threshold: float) -> None:
    """Refuse a threshold that no grade of a file reaches, or that all grades of all files reach."""
    if not math.isfinite(threshold):
        raise ValueError(f"threshold: {threshold:g}; wanted a finite number")
    grades = {path: [grade for one in judged.values() for grade in one.values()] for path, judged in files.items()}
    for path, known in grades.items():
        if max(known) < threshold:
            raise ValueError(
                f"{path}: the highest grade is {max(known):g}; wanted one of {threshold:g} or more (--threshold)"
            )
    lowest = min(map(min, grades.values()))
    if lowest >= threshold:
        names = ", ".join(map(str, grades))
        raise ValueError(f"{names}: the lowest grade is {lowest:g}; wanted one below {threshold:g} (--threshold)")


def leaderboard(
    first: Annotated[
        Path, typer.Argument(metavar="A", help="The true scores: system,topic,score; or a folder of -q outputs.")
    ],
    second: Annotated[Path, typer.Argument(metavar="B", help="The scores to be judged, of the same form.")],
    resampling: Resampling,
    measure: Annotated[
        list[str] | None, typer.Option(help="Of several measures, the one to read; twice for one of A and one of B.")
    ] = None,
    pairs: ShownPairs = "neighbours",
    as_json: AsJson = False,
) -> None:
    """Compare two leaderboards by rank correlation. With topics, also test which systems of each can be told apart."""
    measures = measure or []
    if len(measures) > 2:
        raise ValueError(f"--measure: {len(measures)} times; wanted one for both leaderboards, or one for each")
    of_first, of_second = (measures[0], measures[-1]) if measures else (None, None)
    tables = read_scores(first, of_first), read_scores(second, of_second)
    show_result(correlate(*tables, resampling.sampling, pairs), as_json=as_json)


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
    scores, named = planning.read_pilot(pilot), [_pair(one) for one in pairs or ()]
    sampling = planning.SAMPLING._replace(level=resampling.interval, seed=resampling.seed)
    show_result(planning.pilot_needs(scores, planning.Plan(gap, wanted, alpha, sampling), named), as_json=as_json)


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
