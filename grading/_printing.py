"""Results of the commands as they are shown: tables, sentences, systems compared in pairs."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from examcore import IntervalEstimate, write_text
from examcore.console import show
from grading.leaderboards._paired import Comparison, SystemPair, in_words, p_in_words

Pairs = Literal["neighbours", "all"]
"""The pairs of systems that are printed."""
MOST_NAMED = 5
"""Names that a sentence can list."""
FEWEST = 10
"""Units below which percentile intervals cover clearly less than they say."""


def comparison_record(found: Comparison, what: str) -> dict[str, Any]:
    """The pairs of a table's systems as JSON types, and a sentence on what they say; `what` was compared."""
    return {"pairs": [pair.as_dict() for pair in found.pairs], "best": found.best, "sentence": in_words(found, what)}


def comparison_lines(found: Comparison, what: str, shown: Pairs) -> list[str]:
    """The sentence on all pairs, and each of them where that is wanted."""
    sentence = in_words(found, what)
    if shown == "all":
        return [sentence, *(f"  {line}" for line in pair_lines(found.pairs, shown))]
    return [f"{sentence} Each difference: --pairs all." if len(found.pairs) > 1 else sentence]


def estimate_fields(found: NamedTuple) -> dict[str, Any]:
    """The fields of a record, its estimates as `estimate, low, high`."""
    fields = found._asdict().items()
    return {name: one.as_dict() if isinstance(one, IntervalEstimate) else one for name, one in fields}


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


def show_ranked(
    fields: Mapping[str, Any],
    rows: Sequence[Sequence[str]],
    pairs: Sequence[SystemPair],
    warnings: Sequence[str],
    shown: Pairs,
    *,
    as_json: bool,
) -> None:
    """Print the systems of a table: `fields` with `pairs` and `warnings` added, or `rows` with the pairs to show."""
    result = {**fields, "pairs": [one.as_dict() for one in pairs], "warnings": warnings}
    show(result, as_json=as_json, lines=joined(aligned(rows), warnings, *pair_lines(pairs, shown)))


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


def write_scores(path: Path | None, what: str, table: Mapping[str, Mapping[str, float | None]]) -> None:
    """Write `system,topic,score` as CSV where a path is given, and say so; undefined scores get no line."""
    if path is None:
        return
    known = [
        (system, topic, score)
        for system, scores in table.items()
        for topic, score in scores.items()
        if score is not None and math.isfinite(score)
    ]
    page = io.StringIO()
    csv.writer(page, lineterminator="\n").writerows([("system", "topic", "score"), *known])
    write_text(path, [page.getvalue()])
    undefined = sum(map(len, table.values())) - len(known)
    without = f"; {undefined} undefined scores are left out" if undefined else ""
    print(f"{path}: {what} of {len(table)} systems, {len(known)} scores{without}", file=sys.stderr)
