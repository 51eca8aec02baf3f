"""Ids of systems, queries, passages and questions as the page shows them."""

from __future__ import annotations

from collections.abc import Sequence

from examcore.page import clipped, joined

NAMED = 5
"""Systems that a sentence can list."""
NAME = 60
"""Characters of a name that are shown."""


def name(text: str) -> str:
    """An id as it is shown."""
    return clipped(text, NAME)


def names(found: Sequence[str], word: str = "and") -> str:
    """Ids in a sentence, the first few of many."""
    shown = [name(one) for one in found[:NAMED]]
    return joined([*shown, f"{len(found) - NAMED} more"] if len(found) > NAMED else shown, word)
