"""Filters for questions that arrive one by one, and what a reason says.

A reason reads `rule: finding`; the rule's name is stable and is what statistics count. The rules stand in `catalogue`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from exam_gen.catalogue import arriving
from exam_gen.records import Question

Filter = Callable[[Question], str | None]
"""None keeps the question; a string drops it and says why."""


def rule_of(reason: str) -> str:
    """The rule's name in a reason."""
    return reason.split(":")[0].strip()


def standard_filters(settings: Mapping[str, object] | None = None) -> list[Filter]:
    """The rules that need nothing but the question, as set; new ones for each exam, near-duplicates last."""
    return arriving(settings)
