"""How far a review has come, and what it has written: as JSON types and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class ReviewProgress:
    """How many questions of the exam as written were read and changed; `edits` counts all decisions in the log."""

    exam: int
    read: int
    edited: int
    retired: int
    restored: int
    edits: int

    def record(self) -> dict[str, int]:
        """The counts as JSON types."""
        return asdict(self)

    def lines(self) -> str:
        """The counts in words."""
        return (
            f"{self.read} of {self.exam} read, {self.edited} edited, {self.retired} retired, {self.restored} restored"
        )


@dataclass(frozen=True)
class ReviewedExam:
    """What was written: the exam's file, its number of questions and hash, how many are dropped, and the progress."""

    path: Path
    questions: int
    hash: str
    dropped: int
    progress: ReviewProgress

    def record(self) -> dict[str, object]:
        """The result as JSON types."""
        written = {"reviewed": str(self.path), "questions": self.questions, "hash": self.hash, "dropped": self.dropped}
        return written | self.progress.record()

    def lines(self) -> str:
        """The result in words."""
        return f"{self.path}: {self.questions} questions, {self.progress.lines()}"
