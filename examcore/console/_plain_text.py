"""Plain text for a terminal: names from files without control characters, counts, aligned rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SHOWN_COUNTS = 12
"""Entries of a count that are printed; JSON holds all."""


def printable(text: str) -> str:
    """Text without characters that could steer a terminal."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text)


def aligned_rows(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Lines of a name and a value, the values below one another."""
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {value}" for name, value in rows]


def counts_text(counts: Mapping[str, object]) -> str:
    """`topic 3, other 2`: the first entries of a count, and how many more there are."""
    shown = [f"{printable(name) or '(none)'} {count}" for name, count in list(counts.items())[:SHOWN_COUNTS]]
    return ", ".join([*shown, *([f"and {len(counts) - SHOWN_COUNTS} more"] if len(counts) > SHOWN_COUNTS else [])])
