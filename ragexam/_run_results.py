"""What the commands that write and sit an exam return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag import usage_lines
from ragexam._corpus_table import CorpusTable
from ragexam._exam_table import ExamTable


@dataclass(frozen=True)
class WritingResult:
    """An exam that was written: its file, its size, the pool of examples, losses by reason, tables and cost."""

    exam: Path
    n_questions: int
    pool: int
    dropped: Mapping[str, int]
    corpus: CorpusTable
    statistics: ExamTable
    usage: Mapping[str, Any]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "n_questions": self.n_questions,
            "pool": self.pool,
            "dropped": dict(self.dropped),
            "corpus": self.corpus.record(),
            "statistics": self.statistics.record(),
            "usage": dict(self.usage),
        }

    def lines(self) -> list[str]:
        """Both tables, the exam with its losses, and what the models cost."""
        lost = ", ".join(f"{count} {reason}" for reason, count in self.dropped.items()) or "none"
        size = f"{self.exam}: {self.n_questions} questions; dropped: {lost}"
        return [*self.corpus.lines(), "", *self.statistics.lines(), "", size, *usage_lines(self.usage)]


@dataclass(frozen=True)
class SittingResult:
    """An exam that was sat: the responses, each pipeline's accuracy, and what `run.json` says of the sitting."""

    responses: Path
    accuracy: Mapping[str, float]
    sitting: Mapping[str, Any]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {"accuracy": dict(self.accuracy), **self.sitting}

    def lines(self) -> list[str]:
        """A line for each pipeline, and where the responses are."""
        return [*(f"{accuracy:.3f}  {name}" for name, accuracy in self.accuracy.items()), str(self.responses)]
