"""Numbers, intervals, lists, names and the values of records as a page shows them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from examcore._intervals import IntervalEstimate


def percent(value: float, digits: int = 0) -> str:
    """`0.785` as `78 %` (the space does not break), a dash when there is none."""
    return "–" if not math.isfinite(value) else f"{100 * value:.{digits}f}\u00a0%"


def chance(probability: float, *, short: bool = False) -> str:
    """A probability in percent that never claims certainty."""
    if not math.isfinite(probability):
        return "–"
    over, under = (">", "<") if short else ("over", "under")
    if probability > 0.995:
        return f"{over}\u00a099\u00a0%"
    return f"{under}\u00a01\u00a0%" if probability < 0.005 else percent(probability)


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign, the minus as a minus."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{digits}f}"


def plain_number(value: float, digits: int = 2) -> str:
    """A number, the minus as a minus, a dash when there is none."""
    return "–" if not math.isfinite(value) else f"{value:.{digits}f}".replace("-", "−")


def p_value(p: float) -> str:
    """A p-value with three digits, never 0."""
    return "–" if not math.isfinite(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def signed_range(interval: IntervalEstimate) -> str:
    """`low to high` with signs."""
    return f"{signed(interval.low)} to {signed(interval.high)}"


def percent_range(interval: IntervalEstimate) -> str:
    """`72 to 84 %`."""
    if not math.isfinite(interval.low):
        return "–"
    return f"{100 * interval.low:.0f} to {100 * interval.high:.0f}\u00a0%"


def points(interval: IntervalEstimate) -> str:
    """A difference of accuracies in percentage points, with its interval."""
    if math.isnan(interval.low) and math.isfinite(interval.estimate):
        return f"{signed(100 * interval.estimate, 0)} points (interval unknown)"
    low, high = signed(100 * interval.low, 0), signed(100 * interval.high, 0)
    return f"{signed(100 * interval.estimate, 0)} points ({low} to {high})"


def clipped(text: str, longest: int) -> str:
    """The text, its end replaced by its length when it is very long."""
    if len(text) <= longest:
        return text
    return f"{text[:longest].rstrip()} … ({len(text):,} characters in all)"


def isolated(name: str) -> str:
    """The name; in a script read from right to left between marks that keep it from reordering numbers around it.

    What stands between such marks already needs no others.
    """
    open_text = re.sub("\u2068[^\u2069]*\u2069", "", name)
    is_rtl = any(unicodedata.bidirectional(one) in ("R", "AL") for one in open_text)
    return f"\u2068{name}\u2069" if is_rtl else name


def joined(names: Sequence[str], word: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(names) <= 1:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def flattened(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested mappings, named `a.b`."""
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield from flattened(one, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", one


def shown_value(value: Any) -> str:
    """A value of a record as it is shown: numbers with four digits, lists divided by commas, long texts clipped."""
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    if isinstance(value, list | tuple):
        return clipped(", ".join(map(shown_value, value)), 600)
    if isinstance(value, Mapping):
        return " ".join(f"{name}={shown_value(one)}" for name, one in flattened(value))
    return "–" if value is None else clipped(str(value), 600)
