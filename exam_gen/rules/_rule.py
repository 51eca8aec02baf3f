"""Rules: a name and a judgement over all questions of an exam, each kept, dropped with a reason, or rewritten.

A rule sees the whole list, because some faults are faults of the exam (two questions alike, keys always second). Most
look at one question: `each` makes a judgement of a check, `measured` one of a number per question and a limit. A reason
reads `rule: finding`; the rule's name is stable and is what statistics count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exam_gen.language._similarity import Embed, Floats, threshold_for
from examcore import Dropped, LanguageModel, Question, ReportProgress

BEYOND = "beyond the wanted number"
"""The reason of what was written in excess."""
Check = Callable[[Question], str | None]
"""What is wrong with a question, or None."""


def rule_of(reason: str) -> str:
    """The rule's name in a reason."""
    return reason.split(":")[0].strip()


Finding: TypeAlias = "str | Question | None"
"""None keeps a question, a string drops it and says what was found, a question takes its place."""


@dataclass(frozen=True)
class RuleTools:
    """What rules may use: an encoder, a language model (give it a `CachedModel`, and it is asked once), a seed.

    `progress` is told how many of how many questions a model has read.
    """

    embed: Embed | None = None
    model: LanguageModel | None = None
    seed: int = 0
    progress: ReportProgress | None = None


RuleJudge = Callable[[Sequence[Question], RuleTools], Sequence[Finding]]
"""One finding per question, in their order."""


@dataclass(frozen=True)
class Rule:
    """A judgement under a name; the reason of what it drops reads `name: finding`. `limit` is for readers."""

    name: str
    judge: RuleJudge
    limit: str = ""

    def reasons(self, questions: Sequence[Question], tools: RuleTools) -> list[Finding]:
        """The judgement with the rule's name before each finding."""
        found = self.judge(questions, tools) if questions else ()
        return [f"{self.name}: {one}" if isinstance(one, str) else one for one in found]


class RuleStep(NamedTuple):
    """What one rule did: questions that reached it, those it dropped, those it rewrote (as they were before)."""

    rule: str
    seen: int
    dropped: tuple[Dropped, ...]
    rewritten: tuple[Question, ...]


@dataclass(frozen=True)
class Filtered:
    """The questions kept, in their order, and what each rule did, in the order of the rules."""

    kept: tuple[Question, ...]
    steps: tuple[RuleStep, ...]

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        """Everything dropped, by rule."""
        return tuple(one for step in self.steps for one in step.dropped)


def apply_rules(questions: Sequence[Question], rules: Sequence[Rule], tools: RuleTools | None = None) -> Filtered:
    """Apply the rules in order, each to what the ones before it kept; every question is kept or dropped once.

    A rewritten question keeps its id; `metadata["rewritten"]` lists rule, stem, choices and key as they were before.
    """
    kept, steps = list(questions), []
    for rule in rules:
        findings = rule.reasons(kept, tools or RuleTools())
        pairs = list(zip(kept, findings, strict=True))
        steps.append(
            RuleStep(
                rule.name,
                len(kept),
                tuple(dropped_question(one, found) for one, found in pairs if isinstance(found, str)),
                tuple(one for one, found in pairs if isinstance(found, Question)),
            )
        )
        kept = [
            _rewritten(one, found, rule.name) if isinstance(found, Question) else one
            for one, found in pairs
            if not isinstance(found, str)
        ]
    return Filtered(tuple(kept), tuple(steps))


def dropped_question(question: Question, reason: str) -> Dropped:
    """The record of a question that is dropped."""
    return Dropped(reason, str(question.metadata.get("raw", "")), question.chunk_id, question)


def _rewritten(before: Question, after: Question, rule: str) -> Question:
    earlier = before.metadata.get("rewritten", [])
    change = {"rule": rule, "question": before.stem, "choices": list(before.choices), "answer": before.key}
    history = [*(earlier if isinstance(earlier, list) else []), change]
    return replace(after, metadata={**after.metadata, "rewritten": history})


@dataclass(frozen=True)
class Limit:
    """Where a measured rule begins to drop: beyond a value, or so that at most a share of the questions goes."""

    value: float | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.share is None):
            raise ValueError(f"limit: found value {self.value} and share {self.share}; wanted exactly one of them")
        if self.share is not None and not 0 <= self.share <= 1:
            raise ValueError(f"limit: found share {self.share}; wanted a number from 0 to 1")

    def __str__(self) -> str:
        return f"{self.value:g}" if self.value is not None else f"{100 * (self.share or 0):g}%"


class RuleMeasure(NamedTuple):
    """A number per question (NaN: cannot be told, which keeps it), and a word on each, for the reason."""

    values: Floats
    notes: Sequence[str] = ()


Measure = Callable[[Sequence[Question], RuleTools], RuleMeasure]


def each(check: Check | Callable[[Question], Finding]) -> RuleJudge:
    """The judgement that looks at one question at a time."""
    return lambda questions, _: [check(question) for question in questions]


def value_of(number: Callable[[Question], float]) -> Measure:
    """The measure that looks at one question at a time."""
    return lambda questions, _: RuleMeasure(np.array([number(question) for question in questions], dtype=np.float64))


def measured(measure: Measure, limit: Limit, worse: Literal["more", "less"] = "more") -> RuleJudge:
    """Drop what lies beyond the limit: more than it, or less than it.

    With a share, the questions with the worst values go, at most that share; equal values stay together.
    """
    sign = 1.0 if worse == "more" else -1.0
    wanted = "at most" if worse == "more" else "at least"

    def judge(questions: Sequence[Question], tools: RuleTools) -> list[Finding]:
        found = measure(questions, tools)
        badness = sign * found.values
        bound = sign * limit.value if limit.value is not None else _bound(badness, limit.share or 0.0)
        notes = found.notes or [""] * len(questions)
        return [
            f"{value:.4g}{note}, wanted {wanted} {sign * bound:.4g}" if bad > bound else None
            for value, bad, note in zip(found.values, badness, notes, strict=True)
        ]

    return judge


def _bound(badness: NDArray[np.float64], share: float) -> float:
    """The limit for a share of all questions, of those that have a value."""
    known = badness[~np.isnan(badness)]
    return threshold_for(known, min(1.0, share * badness.size / known.size)) if known.size else float("inf")
