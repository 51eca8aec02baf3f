"""Results of the commands as they are shown: tables, sentences, files of scores."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from examcore import IntervalEstimate, write_text
from examcore.console import interval_text

MOST_NAMED = 5
"""Names that a sentence can list."""
FEWEST = 10
"""Units below which percentile intervals cover clearly less than they say."""


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of text as aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(one.ljust(width) for one, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def table_lines(first: str, columns: Mapping[str, Mapping[str, object]]) -> list[str]:
    """A table of names under `first`, and of what each column, title -> name -> value, has of them; `-` for None."""
    names = next(iter(columns.values()))
    return aligned([[first, *columns], *([name, *(_cell(one[name]) for one in columns.values())] for name in names)])


def noted(notes: Iterable[object]) -> list[str]:
    """Notes as lines."""
    return [f"note: {one}" for one in notes]


def counted_notes(counts: Mapping[str, int]) -> list[str]:
    """Notes of what happened how often, without what never did."""
    return noted(f"{count} {what}" for what, count in counts.items() if count)


def named(what: str, names: Iterable[str]) -> list[str]:
    """`What they are: 7 (a, b, c, d, e and 2 more).` as a list of one sentence, or none without names."""
    known = list(names)
    return [f"{what}: {len(known)} ({shortened(known, MOST_NAMED)})."] if known else []


def few(units: int, what: str) -> list[str]:
    """A sentence where resampling so few units gives intervals that are too narrow."""
    if units < 2:
        return [f"Intervals, which resample {what}, are unknown with fewer than two."]
    if units < FEWEST:
        return [f"Intervals resample {units} {what}; with fewer than {FEWEST} they are too narrow."]
    return []


def shortened(names: Sequence[str], shown: int = 3) -> str:
    """The first names of a list, and how many more there are."""
    more = len(names) - min(shown, len(names))
    return ", ".join(names[:shown]) + (f" and {more} more" if more else "")


def signed(found: tuple[float, float, float]) -> str:
    """A difference with its sign and interval; what rounds to nothing has a plus."""
    estimate, low, high = (f"{part:+.3f}".replace("-0.000", "+0.000") for part in found)
    return f"{estimate} [{low}, {high}]"


def write_scores(path: Path | None, what: str, table: Mapping[str, Mapping[str, float]]) -> None:
    """Write `system,topic,score` as CSV where a path is given, and say so; undefined scores get no line."""
    if path is None:
        return
    cells = [(system, topic, score) for system, scores in table.items() for topic, score in scores.items()]
    known = [one for one in cells if math.isfinite(one[2])]
    page = io.StringIO()
    csv.writer(page, lineterminator="\n").writerows([("system", "topic", "score"), *known])
    write_text(path, [page.getvalue()])
    without = f"; {len(cells) - len(known)} undefined scores are left out" if len(known) < len(cells) else ""
    print(f"{path}: {what} of {len(table)} systems, {len(known)} scores{without}", file=sys.stderr)


def _cell(value: object) -> str:
    if isinstance(value, IntervalEstimate):
        return interval_text(value)
    return "-" if value is None else str(value)
