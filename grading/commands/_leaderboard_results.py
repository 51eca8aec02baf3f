"""Two judges compared, and two leaderboards compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from examcore import IntervalEstimate
from examcore.console import interval_text
from grading.commands._options import Pairs, Resampling
from grading.commands._printing import ComparedSystems, shortened
from grading.formats._score_tables import ScoreTable, read_scores
from grading.leaderboards._agreement import JudgeAgreement, JudgedOnce, agree, read_judgements
from grading.leaderboards._leaderboards import Correlations, Intervals, Sampling, correlate

MOST_PAIRS = 10
"""So many of the pairs that one judge alone judged are listed; the count says how many there are."""


@dataclass(frozen=True)
class JudgeResult:
    """How far two judges agree; `without_grade` counts the rows of each that hold no grade."""

    found: JudgeAgreement
    without_grade: Mapping[str, int]
    level: float

    @property
    def coefficients(self) -> dict[str, IntervalEstimate]:
        """Raw agreement and the coefficients beyond chance, by name."""
        return {name: one for name, one in self.found._asdict().items() if isinstance(one, IntervalEstimate)}

    @property
    def judged_once(self) -> dict[str, JudgedOnce]:
        """What one judge alone judged."""
        return {"a": self.found.only_first, "b": self.found.only_second}

    def record(self) -> dict[str, Any]:
        """`n`, the coefficients, the confusion table, and what one file alone judges."""
        confusion = self.found.confusion.items()
        return {
            "n": self.found.n,
            "n_topics": self.found.topics,
            **{name: value.as_dict() for name, value in self.coefficients.items()},
            "interval": self.level,
            "interval_over": self.found.interval_over,
            "confusion": {f"{one:g}": {f"{two:g}": n for two, n in row.items()} for one, row in confusion},
            **{f"only_in_{which}": _judged_once(one) for which, one in self.judged_once.items()},
            "without_grade": dict(self.without_grade),
        }

    def lines(self) -> list[str]:
        """The coefficients, the confusion table, and what stands in one file only."""
        found = self.found
        lines = [
            f"{found.n} pairs of {found.topics} topics judged by both; "
            f"{self.level:.0%} intervals over {found.interval_over}",
            *(f"  {name:<16} {interval_text(value.as_dict())}" for name, value in self.coefficients.items()),
            *_confusion(found.confusion),
        ]
        for which, once in self.judged_once.items():
            if once.pairs:
                pairs = shortened([" ".join(pair) for pair in once.pairs])
                whole = f"; {len(once.topics)} topics wholly: {shortened(once.topics)}" if once.topics else ""
                lines.append(f"only in {which.upper()}: {len(once.pairs)} pairs ({pairs}){whole}")
            if self.without_grade[which]:
                lines.append(f"without a grade in {which.upper()}: {self.without_grade[which]} rows, left out")
        return lines


@dataclass(frozen=True)
class Leaderboard:
    """One leaderboard by itself; its systems are compared only where it has topics."""

    table: ScoreTable
    compared: ComparedSystems | None

    @property
    def gaps(self) -> dict[str, list[str]]:
        """The topics that each system lacks and others have."""
        return self.table.missing() if self.table.topics else {}

    def record(self) -> dict[str, Any]:
        """Its scores, the best first, and its pairs of systems."""
        table = self.table
        ranked = sorted(zip(table.systems, map(float, table.means), strict=True), key=lambda one: -one[1])
        sentence = f"{table.name}: without topics no systems can be tested."
        return {
            "file": table.name,
            "scores": dict(ranked),
            "n_topics": len(table.topics),
            "missing_topics": self.gaps,
            "left_out": list(table.left_out),
            **({"pairs": [], "best": {}, "sentence": sentence} if self.compared is None else self.compared.record()),
        }


@dataclass(frozen=True)
class LeaderboardResult:
    """How far two leaderboards agree in their order, and what tells the systems of each apart."""

    found: Correlations
    boards: Mapping[str, Leaderboard]
    level: float
    shown: Pairs

    @property
    def warnings(self) -> list[str]:
        """What the correlations rest on too little of, and means over different topics."""
        gaps = [
            f"{one.table.name}: {len(one.gaps)} systems lack topics that others have; "
            "their scores are means over the topics they have."
            for one in self.boards.values()
            if one.gaps
        ]
        return [*self.found.warnings, *gaps]

    def record(self) -> dict[str, Any]:
        """`spearman, kendall, tau_ap, tau_ap_b` with intervals over systems, and over topics where there are any."""
        found = self.found
        return {
            "n": len(found.systems),
            **_records(found.over_systems),
            "random_ties": {name: one.as_dict() for name, one in found.random_ties.items()},
            "tied": dict(zip("ab", found.tied, strict=True)),
            "interval": self.level,
            "interval_over": "systems",
            "over_topics": found.over_topics and _records(found.over_topics),
            "over_systems_and_topics": found.over_both and _records(found.over_both),
            "only_in_a": list(found.only_first),
            "only_in_b": list(found.only_second),
            **{name: one.record() for name, one in self.boards.items()},
            "warnings": self.warnings,
        }

    def lines(self) -> list[str]:
        """The correlations by what was resampled, ties, who stands in one only, and the systems told apart."""
        found = self.found
        lines = [f"{len(found.systems)} systems in both; {self.level:.0%} intervals"]
        for title, part in (
            ("systems resampled", found.over_systems),
            ("topics resampled", found.over_topics),
            ("systems and topics resampled", found.over_both),
        ):
            if part is not None:
                names = ("spearman", "kendall", "tau_ap", "tau_ap_b")
                lines += [title, *(f"  {name:<9} {interval_text(part[name].as_dict())}" for name in names)]
        if sum(found.tied):
            lines.append(f"ties broken at random ({found.tied[0]} systems tied in A, {found.tied[1]} in B)")
            for name, one in found.random_ties.items():
                lines.append(f"  {name:<9} {interval_text(one.as_dict())}, standard deviation {one.sd:.3f}")
        for (which, board), alone in zip(self.boards.items(), (found.only_first, found.only_second), strict=True):
            lines += [f"only in {which.upper()}: {len(alone)} systems: {shortened(alone)}"] if alone else []
            lines += [f"{board.table.name}: left out {one}" for one in board.table.left_out]
            lines += board.compared.lines(self.shown) if board.compared and board.compared.pairs else []
        return [*lines, *self.warnings]


def compare_judges(
    first: Path, second: Path, over: Literal["auto", "topics", "pairs"], resampling: Resampling
) -> JudgeResult:
    """Compare the judgements of two files."""
    (a, without_a), (b, without_b) = read_judgements(first), read_judgements(second)
    found = agree(a, b, over=over, level=resampling.interval, seed=resampling.seed)
    return JudgeResult(found, {"a": without_a, "b": without_b}, resampling.interval)


def compare_leaderboards(first: Path, second: Path, resampling: Resampling, shown: Pairs) -> LeaderboardResult:
    """Compare the leaderboards of two files."""
    level, seed = resampling.interval, resampling.seed
    tables = read_scores(first), read_scores(second)
    boards = {name: Leaderboard(one, _compared(one, level, seed)) for name, one in zip("ab", tables, strict=True)}
    return LeaderboardResult(correlate(*tables, Sampling(level=level, seed=seed)), boards, level, shown)


def _compared(table: ScoreTable, level: float, seed: int) -> ComparedSystems | None:
    testable = len(table.topics) >= 2 and len(table.systems) >= 2
    return ComparedSystems.of(table, level, seed) if testable else None


def _judged_once(found: JudgedOnce) -> dict[str, Any]:
    shown = [{"topic": topic, "passage": passage} for topic, passage in found.pairs[:MOST_PAIRS]]
    return {"n": len(found.pairs), "topics": list(found.topics), "first": shown}


def _records(found: Intervals) -> dict[str, dict[str, float | None]]:
    return {name: one.as_dict() for name, one in found.items()}


def _confusion(table: Mapping[float, Mapping[float, int]]) -> Sequence[str]:
    width = max(6, *(len(str(n)) for row in table.values() for n in row.values()))
    header = "  A \\ B   " + " ".join(f"{one:>{width}g}" for one in table)
    rows = (f"  {one:>7g} " + " ".join(f"{n:>{width}}" for n in row.values()) for one, row in table.items())
    return [header, *rows]
