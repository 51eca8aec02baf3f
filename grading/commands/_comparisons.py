"""Two judges compared, agreement, and two leaderboards compared, leaderboard."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, show_result
from grading.commands._options import Resampling, ShownPairs
from grading.formats._score_tables import read_scores
from grading.leaderboards._agreement import SAMPLING, AgreementResult, Judgements, Over, agree, read_judgements
from grading.leaderboards._leaderboards import Leaderboards, correlate


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
    result = AgreementResult(found, resampling.interval, threshold, {"a": without_a, "b": without_b})
    show_result(result, as_json=as_json)


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
    tables = {"a": read_scores(first, of_first), "b": read_scores(second, of_second)}
    found = correlate(tables["a"], tables["b"], resampling.sampling)
    show_result(Leaderboards(tables, found, resampling.sampling, pairs), as_json=as_json)
