"""Tables and sentences of the commands on scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Pairs = Literal["neighbours", "all"]
"""The pairs of systems that a reader is shown."""
MOST_NAMED = 5
FEWEST = 10
"""Units below which percentile intervals cover clearly less than they say."""


class PrintedResult(NamedTuple):
    """A result for a program, and its lines for a reader."""

    result: dict[str, Any]
    lines: str


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


def compared(pairs: Sequence[Mapping[str, Any]], shown: Pairs = "neighbours") -> list[str]:
    """Sentences on the systems next to each other, or on all pairs; `pairs` are the best first."""
    from grading.leaderboards._paired import p_in_words

    first: dict[str, Mapping[str, Any]] = {}
    for pair in pairs:
        first.setdefault(pair["first"], pair)
    chosen = list(pairs) if shown == "all" else list(first.values())
    lines = [
        f"{one['first']} - {one['second']}: {signed(one['difference'])}"
        f"{'' if one['told_apart'] else ', not told apart'} (adjusted {p_in_words(one['p_adjusted'])})"
        for one in chosen
        if None not in one["difference"].values()
    ]
    if len(chosen) == len(pairs):
        return lines
    return [f"systems next to each other, {len(lines)} of {len(pairs)} pairs (all with --pairs all):", *lines]


def signed(found: Mapping[str, float]) -> str:
    """A difference with its sign and interval; what rounds to nothing has a plus."""
    estimate, low, high = (f"{found[part]:+.3f}".replace("-0.000", "+0.000") for part in ("estimate", "low", "high"))
    return f"{estimate} [{low}, {high}]"
