"""A filter of one question, and what a reason says.

A reason reads `rule: finding`; the rule's name is stable and is what statistics count. The rules stand in `catalogue`.
"""

from __future__ import annotations

from collections.abc import Callable

from examcore import Question

BEYOND = "beyond the wanted number"
Filter = Callable[[Question], str | None]
"""None keeps the question; a string drops it and says why."""


def rule_of(reason: str) -> str:
    """The rule's name in a reason."""
    return reason.split(":")[0].strip()
