"""Two judges compared, agreement, and two leaderboards compared, leaderboard."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from examcore import IntervalEstimate
from examcore.console import AsJson, interval_text, show
from grading._printing import comparison_lines, comparison_record, shortened
from grading.commands._options import Resampling, ShownPairs
from grading.formats._score_tables import ScoreTable, read_scores
from grading.leaderboards._agreement import SAMPLING, JudgedOnce, Judgements, Over, agree, read_judgements
from grading.leaderboards._leaderboards import Correlations, correlate
from grading.leaderboards._paired import Comparison, compare_systems

MOST_PAIRS = 10
"""So many of the pairs that one judge alone judged are listed; the count says how many there are."""


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
    level = resampling.interval
    (a, without_a), (b, without_b) = read_judgements(first), read_judgements(second)
    if threshold is not None:
        _require_divided({first: a, second: b}, threshold)
    found = agree(a, b, SAMPLING._replace(level=level, seed=resampling.seed), over=over, threshold=threshold)
    coefficients = {name: one.as_dict() for name, one in found._asdict().items() if isinstance(one, IntervalEstimate)}
    once, without_grade = {"a": found.only_first, "b": found.only_second}, {"a": without_a, "b": without_b}
    result = {
        "n": found.n,
        "n_topics": found.topics,
        **coefficients,
        "interval": level,
        "interval_over": found.interval_over,
        **({} if threshold is None else {"threshold": threshold}),
        "confusion": {f"{one:g}": {f"{two:g}": n for two, n in row.items()} for one, row in found.confusion.items()},
        **{f"only_in_{which}": _judged_once(one) for which, one in once.items()},
        "without_grade": without_grade,
    }
    lines = [
        f"{found.n} pairs of {found.topics} topics judged by both; {level:.0%} intervals over {found.interval_over}",
        *(f"  {name:<16} {interval_text(value)}" for name, value in coefficients.items()),
        *_confusion(found.confusion),
    ]
    for which, one in once.items():
        if one.pairs:
            pairs = shortened([" ".join(pair) for pair in one.pairs])
            whole = f"; {len(one.topics)} topics wholly: {shortened(one.topics)}" if one.topics else ""
            lines.append(f"only in {which.upper()}: {len(one.pairs)} pairs ({pairs}){whole}")
        if without_grade[which]:
            lines.append(f"without a grade in {which.upper()}: {without_grade[which]} rows, left out")
    show(result, as_json=as_json, lines="\n".join(lines))


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
    sampling = resampling.sampling
    measures = measure or []
    if len(measures) > 2:
        raise ValueError(f"--measure: {len(measures)} times; wanted one for both leaderboards, or one for each")
    of_first, of_second = (measures[0], measures[-1]) if measures else (None, None)
    tables = {"a": read_scores(first, of_first), "b": read_scores(second, of_second)}
    found = correlate(tables["a"], tables["b"], sampling)
    over = {
        title: None if part is None else {name: one.as_dict() for name, one in part.items()}
        for title, part in (
            ("systems resampled", found.over_systems),
            ("topics resampled", found.over_topics),
            ("systems and topics resampled", found.over_both),
        )
    }
    compared = {
        which: compare_systems(table, sampling)
        for which, table in tables.items()
        if len(table.topics) >= 2 and len(table.systems) >= 2
    }
    alone = {"a": found.only_first, "b": found.only_second}
    warnings = [*found.warnings, *filter(None, map(_gap_note, tables.values()))]
    result = {
        "n": len(found.systems),
        **(over["systems resampled"] or {}),
        "random_ties": {name: one.as_dict() for name, one in found.random_ties.items()},
        "tied": dict(zip("ab", found.tied, strict=True)),
        "interval": sampling.level,
        "interval_over": "systems",
        "over_topics": over["topics resampled"],
        "over_systems_and_topics": over["systems and topics resampled"],
        **{f"only_in_{which}": one for which, one in alone.items()},
        **{which: _board_record(table, compared.get(which)) for which, table in tables.items()},
        "warnings": warnings,
    }
    lines = [f"{len(found.systems)} systems in both; {sampling.level:.0%} intervals"]
    for title, part in over.items():
        if part is not None:
            names = ("spearman", "kendall", "tau_ap", "tau_ap_b")
            lines += [title, *(f"  {name:<9} {interval_text(part[name])}" for name in names)]
    lines += _tie_lines(found)
    for which, table in tables.items():
        some = alone[which]
        lines += [f"only in {which.upper()}: {len(some)} systems: {shortened(some)}"] if some else []
        lines += [f"{table.name}: left out {one}" for one in table.left_out]
        lines += comparison_lines(compared[which], table.name, pairs) if which in compared else []
    show(result, as_json=as_json, lines="\n".join([*lines, *warnings]))


def _judged_once(found: JudgedOnce) -> dict[str, Any]:
    shown = [{"topic": topic, "passage": passage} for topic, passage in found.pairs[:MOST_PAIRS]]
    return {"n": len(found.pairs), "topics": found.topics, "first": shown}


def _confusion(table: Mapping[float, Mapping[float, int]]) -> Sequence[str]:
    width = max(6, *(len(str(n)) for row in table.values() for n in row.values()))
    header = "  A \\ B   " + " ".join(f"{one:>{width}g}" for one in table)
    rows = (f"  {one:>7g} " + " ".join(f"{n:>{width}}" for n in row.values()) for one, row in table.items())
    return [header, *rows]


def _board_record(table: ScoreTable, compared: Comparison | None) -> dict[str, Any]:
    """One leaderboard by itself, the best first; its systems are compared only where it has topics."""
    ranked = sorted(zip(table.systems, map(float, table.means), strict=True), key=lambda one: -one[1])
    untested = {"pairs": [], "best": {}, "sentence": f"{table.name}: without topics no systems can be tested."}
    return {
        "file": table.name,
        "scores": dict(ranked),
        "n_topics": len(table.topics),
        "missing_topics": table.missing(),
        "left_out": table.left_out,
        **(untested if compared is None else comparison_record(compared, table.name)),
    }


def _gap_note(table: ScoreTable) -> str:
    """That means are over different topics; empty where they are not."""
    gaps = len(table.missing())
    about = f"{table.name}: {gaps} systems lack topics that others have"
    return f"{about}; their scores are means over the topics they have." if gaps else ""


def _tie_lines(found: Correlations) -> list[str]:
    if not sum(found.tied):
        return []
    return [
        f"ties broken at random ({found.tied[0]} systems tied in A, {found.tied[1]} in B)",
        *(
            f"  {name:<9} {interval_text(one.as_dict())}, standard deviation {one.sd:.3f}"
            for name, one in found.random_ties.items()
        ),
    ]
