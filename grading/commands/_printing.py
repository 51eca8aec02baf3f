"""Results of the commands on scores as they are shown: tables, sentences, systems compared in pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grading.commands._options import Pairs
from grading.formats._score_tables import ScoreTable
from grading.leaderboards._paired import SystemPair, compare_systems, in_words, p_in_words

MOST_NAMED = 5
"""Names that a sentence can list."""
FEWEST = 10
"""Units below which percentile intervals cover clearly less than they say."""


@dataclass(frozen=True)
class PrintedResult:
    """A result for a program, and the text for a reader."""

    result: dict[str, Any]
    text: str

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return self.result

    def lines(self) -> list[str]:
        """The text's lines."""
        return self.text.split("\n")


@dataclass(frozen=True)
class ComparedSystems:
    """The systems of one table compared in pairs, and a sentence on what the pairs say."""

    pairs: Sequence[SystemPair]
    best: Mapping[str, float]
    sentence: str

    @classmethod
    def of(cls, table: ScoreTable, level: float, seed: int) -> ComparedSystems:
        """Compare the systems of a table."""
        found = compare_systems(table, level=level, seed=seed)
        return cls(found.pairs, found.best, in_words(found, table.name))

    def record(self) -> dict[str, Any]:
        """The comparison as JSON types."""
        return {"pairs": [pair.as_dict() for pair in self.pairs], "best": self.best, "sentence": self.sentence}

    def lines(self, shown: Pairs) -> list[str]:
        """The sentence on all pairs, and each of them where that is wanted."""
        if shown == "all":
            return [self.sentence, *(f"  {line}" for line in pair_lines(self.pairs, shown))]
        return [f"{self.sentence} Each difference: --pairs all." if len(self.pairs) > 1 else self.sentence]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of text as aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(one.ljust(width) for one, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def named(what: str, names: Iterable[str]) -> list[str]:
    """`What they are: 7 (a, b, c, d, e and 2 more).` as a list of one sentence, or none without names."""
    known = list(names)
    if not known:
        return []
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return [f"{what}: {len(known)} ({', '.join(known[:MOST_NAMED])}{more})."]


def few(units: int, what: str) -> list[str]:
    """A sentence where resampling so few units gives intervals that are too narrow."""
    if units < 2:
        return [f"Intervals, which resample {what}, are unknown with fewer than two."]
    if units < FEWEST:
        return [f"Intervals resample {units} {what}; with fewer than {FEWEST} they are too narrow."]
    return []


def joined(table: Sequence[str], warnings: Sequence[str], *more: str) -> str:
    """A table, further lines and its warnings."""
    return "\n".join([*table, *more, *(f"note: {one}" for one in warnings)])


def ranked_result(
    fields: Mapping[str, Any],
    rows: Sequence[Sequence[str]],
    pairs: Sequence[SystemPair],
    warnings: Sequence[str],
    shown: Pairs,
) -> PrintedResult:
    """The systems of a table: `fields` with `pairs` and `warnings` added, and `rows` with the pairs to show."""
    result = {**fields, "pairs": [one.as_dict() for one in pairs], "warnings": warnings}
    return PrintedResult(result, joined(aligned(rows), warnings, *pair_lines(pairs, shown)))


def pair_lines(pairs: Sequence[SystemPair], shown: Pairs = "neighbours") -> list[str]:
    """Sentences on the systems next to each other, or on all pairs; `pairs` are the best first."""
    first: dict[str, SystemPair] = {}
    for pair in pairs:
        first.setdefault(pair.first, pair)
    chosen = list(pairs) if shown == "all" else list(first.values())
    lines = [
        f"{one.first} - {one.second}: {signed(one.difference.as_dict())}"
        f"{'' if one.told_apart else ', not told apart'} (adjusted {p_in_words(one.p_adjusted)})"
        for one in chosen
        if None not in one.difference.as_dict().values()
    ]
    if len(chosen) == len(pairs):
        return lines
    return [f"systems next to each other, {len(lines)} of {len(pairs)} pairs (all with --pairs all):", *lines]


def shortened(names: Sequence[str], shown: int = 3) -> str:
    """The first names of a list, and how many more there are."""
    more = len(names) - min(shown, len(names))
    return ", ".join(names[:shown]) + (f" and {more} more" if more else "")


def signed(found: Mapping[str, float | None]) -> str:
    """A difference with its sign and interval; what rounds to nothing has a plus."""
    estimate, low, high = (f"{found[part]:+.3f}".replace("-0.000", "+0.000") for part in ("estimate", "low", "high"))
    return f"{estimate} [{low}, {high}]"
