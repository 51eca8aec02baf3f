"""Filters for questions that arrive one by one, and what a reason says.

A reason reads `rule: finding`; the rule's name is stable and is what statistics count. The rules stand in `catalogue`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from exam_gen.catalogue import arriving
from exam_gen.records import Dropped, Question
from exam_gen.rules import dropped

Filter = Callable[[Question], str | None]
"""None keeps the question; a string drops it and says why."""


@dataclass(frozen=True)
class Sifted:
    """What the filters kept and dropped, each in the order given."""

    kept: tuple[Question, ...]
    dropped: tuple[Dropped, ...]


def sift(questions: Iterable[Question], filters: Sequence[Filter]) -> Sifted:
    """Run the filters in order; the first reason given drops the question."""
    kept: list[Question] = []
    lost: list[Dropped] = []
    for question in questions:
        reason = next((reason for rule in filters if (reason := rule(question)) is not None), None)
        if reason is None:
            kept.append(question)
        else:
            lost.append(dropped(question, reason))
    return Sifted(tuple(kept), tuple(lost))


def rule_of(reason: str) -> str:
    """The rule's name in a reason."""
    return reason.split(":")[0].strip()


def standard_filters(settings: Mapping[str, object] | None = None) -> list[Filter]:
    """The rules that need nothing but the question, as set; new ones for each exam, near-duplicates last."""
    return arriving(settings)
