"""What a pilot's scores say of the topics needed, what a bank or pool owes each system, and whom judges favour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examcore.console import interval_text
from grading._table_rows import read_rows
from grading.commands._options import Resampling
from grading.commands._printing import shortened
from grading.formats._score_tables import QUESTION, SCORE, SYSTEM, TOPIC, cells_of
from grading.leaderboards._judge_bias import Favour, JudgedScores, favour, read_judged
from grading.leaderboards._power import Need, Plan, needs
from grading.leaderboards._reusability import (
    Contributions,
    Reusability,
    at_least,
    contributions_of,
    leave_one_out,
    read_contributions,
)
from grading.scores._nuggets import is_assignments, read_all_assignments


@dataclass(frozen=True)
class PowerResult:
    """The topics that tell each pair of systems apart, as planned; `alpha` is the level for all pairs together."""

    needs: Sequence[Need]
    plan: Plan
    alpha: float

    def record(self) -> dict[str, Any]:
        """For each pair the topics needed, at the pilot's number of questions and at others."""
        return {
            "power": self.plan.power,
            "alpha": self.alpha,
            "alpha_per_pair": self.plan.alpha,
            "gap": self.plan.gap,
            "interval": self.plan.level,
            "pairs": [_need_record(one) for one in self.needs],
        }

    def lines(self) -> list[str]:
        """For each pair the topics needed, and at other numbers of questions."""
        plan = self.plan
        head = (
            f"topics needed to find a gap with power {plan.power:g}, two-sided paired t test at "
            f"{plan.alpha:.4g} ({plan.level:.0%} intervals)"
        )
        own = "A pilot's own gap is a noisy guess, too large where it was picked for being large: name the --gap."
        pairs = [line for one in self.needs for line in _need_lines(one, own_gap=plan.gap is None)]
        return [head, *pairs, *([own] if plan.gap is None else [])]


@dataclass(frozen=True)
class ReusabilityResult:
    """Each system left out of the making of a bank or pool; grades count from `threshold` on where it is given."""

    found: Reusability
    threshold: float | None
    level: float

    def record(self) -> dict[str, Any]:
        """Each system left out, its change of score and rank, and Kendall's tau with the whole leaderboard."""
        found = self.found
        return {
            "kind": found.kind,
            "n_systems": len(found.left_out),
            "n_units": found.n_units,
            "n_topics": found.n_topics,
            "not_graded": found.not_graded,
            "threshold": self.threshold,
            "tau": found.tau.as_dict(),
            "displacement": found.displacement.as_dict(),
            "interval": self.level,
            "systems": [
                {**one._asdict(), "change": one.change.as_dict(), "tau": one.tau.as_dict()} for one in found.left_out
            ],
        }

    def lines(self) -> list[str]:
        """Each system with and without its part, then the summary."""
        found, what = self.found, "questions" if self.found.kind == "bank" else "passages"
        width = max(len(one.system) for one in found.left_out)
        lines = [
            f"a {found.kind} of {found.n_units} {what}, {found.n_topics} topics; each of {len(found.left_out)} "
            f"systems left out in turn, {self.level:.0%} intervals over topics"
        ]
        for one in found.left_out:
            change = f"change {interval_text(one.change.as_dict())}  rank {one.rank:g} -> {one.rank_without:g}"
            tau = f"tau {interval_text(one.tau.as_dict())}"
            lines.append(f"{one.system:<{width}}  {one.unique} {what} its own  {change}  {tau}")
        if found.not_graded:
            lines.append(f"{found.not_graded} questions of systems have no grade and count 0")
        moved = f"ranks moved, mean {interval_text(found.displacement.as_dict())}"
        return [*lines, f"Kendall's tau, mean {interval_text(found.tau.as_dict())}; {moved}"]


@dataclass(frozen=True)
class BiasResult:
    """Whether judges favour systems of their own family."""

    found: Favour
    data: JudgedScores
    level: float

    def record(self) -> dict[str, Any]:
        """The favour of judges for their own family, its interval and p, and each judge's."""
        return {
            **self.found._asdict(),
            "favour": self.found.favour.as_dict(),
            "over_topics": self.found.over_topics.as_dict(),
            "interval": self.level,
            "n_judges": len(self.data.judges),
            "n_topics": len(self.data.topics),
            "left_out_topics": list(self.data.left_out),
            "families": dict(zip(self.data.systems, self.data.families, strict=True)),
        }

    def lines(self) -> list[str]:
        """The favour, its test, and what it says."""
        found, gap, left_out = self.found, self.found.favour, self.data.left_out
        direction = "favour" if gap.estimate > 0 else "disfavour"
        is_clear = gap.low > 0 or gap.high < 0
        told = f"judges {direction} their own family" if is_clear else "no favour for judges' own families can be told"
        how = "all" if found.exact else "a sample of"
        judges = found.by_judge.items()
        return [
            f"favour {interval_text(gap.as_dict())} (p = {found.p:.3f}): {told}",
            f"  by permuting families over {found.n_systems} systems ({how} {found.arrangements} ways); "
            f"over {len(self.data.topics)} topics {interval_text(found.over_topics.as_dict())}",
            *(f"  {judge}: {'unknown' if math.isnan(value) else f'{value:.3f}'}" for judge, value in judges),
            *([f"left out: {len(left_out)} topics that lack some score: {shortened(left_out)}"] if left_out else []),
        ]


def find_needs(pilot: Path, plan: Plan, pairs: Sequence[str]) -> PowerResult:
    """The topics needed for the named pairs of a pilot's systems, or for all; the plan's level is shared by them."""
    rows = read_rows(pilot, {**SYSTEM, **TOPIC, **SCORE}, QUESTION)
    by_question = "question" in rows[0].fields
    cells = cells_of(rows, ("system", "topic", "question") if by_question else ("system", "topic"), "score")
    scores = {(key[0], key[1], key[2] if by_question else ""): score for key, score in cells.items()}
    named = [_pair(one) for one in pairs]
    systems = len({key[0] for key in scores})
    if systems < 2:
        raise ValueError(f"{pilot}: has {systems} system; wanted at least 2 to be told apart")
    if not 0 < plan.alpha < 1:
        raise ValueError(f"alpha: {plan.alpha:g}; wanted a share between 0 and 1")
    each = plan._replace(alpha=plan.alpha / (len(named) or systems * (systems - 1) // 2))
    return PowerResult(needs(scores, each, named or None), each, plan.alpha)


def leave_systems_out(files: Sequence[Path], tau: float | None, resampling: Resampling) -> ReusabilityResult:
    """Leave each system out of what the files hold."""
    data = _contributions(files)
    found = leave_one_out(data if tau is None else at_least(data, tau), level=resampling.interval, seed=resampling.seed)
    return ReusabilityResult(found, tau, resampling.interval)


def find_bias(table: Path, resampling: Resampling) -> BiasResult:
    """Test the favour of the judges of a table."""
    data = read_judged(table)
    found = favour(data, level=resampling.interval, seed=resampling.seed)
    return BiasResult(found, data, resampling.interval)


def _pair(text: str) -> tuple[str, str]:
    first, _, second = (one.strip() for one in text.partition(","))
    if not first or not second or first == second:
        raise ValueError(f"--pair: {text!r}; wanted two systems, A,B")
    return first, second


def _need_record(found: Need) -> dict[str, Any]:
    plain = {**found._asdict(), "observed": found.observed.as_dict(), "topics": found.topics._asdict()}
    return {**plain, "by_questions": {str(number): topics for number, topics in found.by_questions.items()}}


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
