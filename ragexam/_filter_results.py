"""What filtering an exam returns: a dry run rule by rule, or the new exam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SHOWN_CHARACTERS = 160
"""Characters of an example's question that are printed; JSON holds all."""


@dataclass(frozen=True)
class DroppedExample:
    """A question that a rule would drop by itself, and why."""

    id: str
    reason: str
    question: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class RulePreview:
    """What one rule would remove: `alone` of all questions, `dropped` of those `seen` in its turn.

    `share` is that of `dropped` among all questions, `rewritten` the questions that it would change.
    """

    rule: str
    limit: str
    what: str
    alone: int
    seen: int
    dropped: int
    share: float
    rewritten: int
    examples: tuple[DroppedExample, ...]

    def lines(self) -> list[str]:
        """A row of the table, and the examples below it."""
        rewritten = f" ({self.rewritten} rewritten)" if self.rewritten else ""
        counts = f"{self.rule:22} {self.limit:>6} {self.alone:6} {self.dropped:8} {self.share:6.1%}"
        examples = [f"    {one.reason}\n        {one.question[:SHOWN_CHARACTERS]}" for one in self.examples]
        return [f"{counts}  {self.what}{rewritten}", *examples]


@dataclass(frozen=True)
class FilterPreview:
    """A dry run: the questions of the exam, those that would be kept, and what each rule would remove."""

    n_questions: int
    kept: int
    rules: tuple[RulePreview, ...]

    def record(self) -> dict[str, Any]:
        """The dry run as JSON types."""
        return asdict(self)

    def lines(self) -> list[str]:
        """A table with examples."""
        head = f"{'rule':22} {'limit':>6} {'alone':>6} {'in turn':>8} {'share':>6}  drops what"
        rows = [line for one in self.rules for line in one.lines()]
        return [head, *rows, f"{self.kept} of {self.n_questions} questions would be kept"]


@dataclass(frozen=True)
class FilteredExam:
    """A new exam: its file, the questions before and after, and those dropped and rewritten by rule."""

    out: Path
    n_questions: int
    kept: int
    dropped: Mapping[str, int]
    rewritten: Mapping[str, int]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {**asdict(self), "out": str(self.out)}

    def lines(self) -> list[str]:
        """Where the exam is, its size and its losses."""
        lost = ", ".join(f"{count} {name}" for name, count in self.dropped.items()) or "none"
        return [f"{self.out}: {self.kept} questions; dropped: {lost}"]
