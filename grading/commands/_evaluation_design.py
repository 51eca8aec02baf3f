"""What a pilot says of the topics needed, what a bank or pool owes each system, whom judges favour: power and so on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, interval_text, show
from grading._file_rows import read_rows
from grading._printing import estimate_fields, shortened
from grading.commands._options import Resampling
from grading.formats._score_tables import QUESTION, SCORE, SYSTEM, TOPIC, cells_of
from grading.leaderboards._judge_bias import favour, read_judged
from grading.leaderboards._power import SAMPLING, Need, Plan, needs
from grading.leaderboards._reusability import (
    Contributions,
    at_least,
    contributions_of,
    leave_one_out,
    read_contributions,
)
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
    rows = read_rows(pilot, {**SYSTEM, **TOPIC, **SCORE}, QUESTION)
    by_question = "question" in rows[0].fields
    cells = cells_of(rows, ("system", "topic", "question") if by_question else ("system", "topic"), "score")
    scores = {(key[0], key[1], key[2] if by_question else ""): score for key, score in cells.items()}
    named = [_pair(one) for one in pairs or ()]
    systems = len({key[0] for key in scores})
    if systems < 2:
        raise ValueError(f"{pilot}: has {systems} system; wanted at least 2 to be told apart")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: {alpha:g}; wanted a share between 0 and 1")
    each = alpha / (len(named) or systems * (systems - 1) // 2)
    plan = Plan(gap, wanted, each, SAMPLING._replace(level=resampling.interval, seed=resampling.seed))
    found = needs(scores, plan, named or None)
    result = {
        "power": plan.power,
        "alpha": alpha,
        "alpha_per_pair": plan.alpha,
        "gap": plan.gap,
        "interval": plan.sampling.level,
        "pairs": [estimate_fields(one) for one in found],
    }
    head = (
        f"topics needed to find a gap with power {plan.power:g}, two-sided paired t test at "
        f"{plan.alpha:.4g} ({plan.sampling.level:.0%} intervals)"
    )
    lines = [head, *(line for one in found for line in _need_lines(one, own_gap=gap is None))]
    if gap is None:
        lines.append(
            "A pilot's own gap is a noisy guess, too large where it was picked for being large: name the --gap."
        )
    show(result, as_json=as_json, lines="\n".join(lines))


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
    level, data = resampling.interval, _contributions(files)
    found = leave_one_out(data if tau is None else at_least(data, tau), resampling.sampling)
    mean_tau, moved = found.tau.as_dict(), found.displacement.as_dict()
    result = {
        "kind": found.kind,
        "n_systems": len(found.left_out),
        "n_units": found.n_units,
        "n_topics": found.n_topics,
        "not_graded": found.not_graded,
        "threshold": tau,
        "tau": mean_tau,
        "displacement": moved,
        "interval": level,
        "systems": [estimate_fields(one) for one in found.left_out],
    }
    what = "questions" if found.kind == "bank" else "passages"
    width = max(len(one.system) for one in found.left_out)
    lines = [
        f"a {found.kind} of {found.n_units} {what}, {found.n_topics} topics; each of {len(found.left_out)} "
        f"systems left out in turn, {level:.0%} intervals over topics"
    ]
    for one in found.left_out:
        change = f"change {interval_text(one.change.as_dict())}  rank {one.rank:g} -> {one.rank_without:g}"
        tau_text = f"tau {interval_text(one.tau.as_dict())}"
        lines.append(f"{one.system:<{width}}  {one.unique} {what} its own  {change}  {tau_text}")
    if found.not_graded:
        lines.append(f"{found.not_graded} questions of systems have no grade and count 0")
    lines.append(f"Kendall's tau, mean {interval_text(mean_tau)}; ranks moved, mean {interval_text(moved)}")
    show(result, as_json=as_json, lines="\n".join(lines))


def bias(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="system,family,judge,topic,score[,judge_family].")],
    resampling: Resampling,
    as_json: AsJson = False,
) -> None:
    """Say whether judges favour systems of their own family. Judges, or the writers of the questions."""
    data = read_judged(table)
    found = favour(data, resampling.sampling)
    result = {
        **estimate_fields(found),
        "interval": resampling.interval,
        "n_judges": len(data.judges),
        "n_topics": len(data.topics),
        "left_out_topics": data.left_out,
        "families": dict(zip(data.systems, data.families, strict=True)),
    }
    direction = "favour" if found.favour.estimate > 0 else "disfavour"
    is_clear = found.favour.excludes_zero
    told = f"judges {direction} their own family" if is_clear else "no favour for judges' own families can be told"
    how = "all" if found.exact else "a sample of"
    lines = [
        f"favour {interval_text(found.favour.as_dict())} (p = {found.p:.3f}): {told}",
        f"  by permuting families over {found.n_systems} systems ({how} {found.arrangements} ways); "
        f"over {len(data.topics)} topics {interval_text(found.over_topics.as_dict())}",
        *(f"  {who}: {'unknown' if math.isnan(one) else f'{one:.3f}'}" for who, one in found.by_judge.items()),
    ]
    if data.left_out:
        lines.append(f"left out: {len(data.left_out)} topics that lack some score: {shortened(data.left_out)}")
    show(result, as_json=as_json, lines="\n".join(lines))


def _pair(text: str) -> tuple[str, str]:
    first, _, second = (one.strip() for one in text.partition(","))
    if not first or not second or first == second:
        raise ValueError(f"--pair: {text!r}; wanted two systems, A,B")
    return first, second


def _need_lines(one: Need, *, own_gap: bool) -> list[str]:
    gap = f"gap {one.gap:.4g}" + (", the pilot's own" if own_gap else "")
    lines = [f"{one.first} and {one.second}: pilot's difference {interval_text(one.observed.as_dict())}; {gap}"]
    if math.isnan(one.detectable):
        return [*lines, f"  no number can be told: the {one.n_topics} topics all have the same difference"]
    ends = ", ".join(f"{end:.0f}" if math.isfinite(end) else "no end" for end in (one.topics.low, one.topics.high))
    lines.append(f"  {_count(one.topics.estimate)} topics [{ends}]")
    if one.by_questions:
        each = ", ".join(f"{_count(topics)} x {number}" for number, topics in one.by_questions.items())
        lines.append(f"  topics x questions on each: {each}")
    least = f"a gap of {one.detectable:.4g}" if math.isfinite(one.detectable) else "no gap"
    return [*lines, f"  the pilot's {one.n_topics} topics find {least}"]


def _count(topics: float) -> str:
    return f"{topics:.0f}" if math.isfinite(topics) else "no number of"


def _contributions(files: Sequence[Path]) -> Contributions:
    if all(map(is_assignments, files)):
        return contributions_of(read_all_assignments(files))
    if len(files) > 1:
        raise ValueError(f"{files[1]}: a second table; wanted one table, or several files of nugget assignments")
    return read_contributions(files[0])
