"""The files of a run that a review reads, what the measurement says of each question, and what a review has done."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from examcore import Dropped, Exam, Question, RunFolder, read_chunks, read_dropped, read_exam


class RunFiles:
    """The exam, the dropped questions and the passages of a run; raises `ValueError` in one line when it is none."""

    def __init__(self, run: Path) -> None:
        self.folder = RunFolder(run)
        if not self.folder.exam.is_file():
            found = "no exam.jsonl" if run.is_dir() else "no such folder"
            raise ValueError(f"{run}: {found}; wanted a run folder, whose exam.jsonl holds the questions")
        self._stamps = self._stamped()
        self.exam: Exam = read_exam(self.folder.exam)
        dropped = self.folder.dropped
        self.dropped: Sequence[Dropped] = read_dropped(dropped) if dropped.is_file() else ()

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.folder.path.resolve().name

    def check_unchanged(self) -> None:
        """Refuse to go on when the exam was rewritten: decisions would be about questions that no longer exist."""
        if self._stamped() != self._stamps:
            raise ValueError(
                f"{self.folder.exam}: changed since it was read; wanted the exam as it was (start ragexam view again)"
            )

    def _stamped(self) -> list[tuple[int, int]]:
        found = [path.stat() for path in (self.folder.exam, self.folder.dropped) if path.exists()]
        return [(one.st_mtime_ns, one.st_size) for one in found]

    @cached_property
    def passages(self) -> dict[str, str]:
        """The text of each chunk; empty without chunks."""
        path = self.folder.chunks
        return {one.id: one.text for one in read_chunks(path)} if path.is_file() else {}

    def passage(self, question: Question | None, chunk_id: str = "") -> str:
        """The passage a question was written from, by its own context or by its chunk."""
        if question is not None and question.context:
            return question.context
        return self.passages.get(question.chunk_id if question else chunk_id, "")


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

    @property
    def words(self) -> str:
        """The counts in words."""
        changed = f"{self.edited} edited, {self.retired} retired, {self.restored} restored"
        return f"{self.read} of {self.exam} read, {changed}"


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

    def lines(self) -> list[str]:
        """The result in words."""
        return [f"{self.path}: {self.questions} questions, {self.progress.words}"]


def now() -> str:
    """The time of a decision: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def question_flags(folder: RunFolder) -> dict[str, list[str]]:
    """Flags by question: those of `fit/items.csv`, then the sentences of the tables in `checks/`."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, column in (
        (folder.fit / "items.csv", "flags"),
        *((one, "sentence") for one in sorted(folder.checks.glob("*.csv"))),
    ):
        for row in _rows(path):
            item, sentence = row.get("item"), (row.get(column) or "").strip()
            if item and sentence and sentence not in found[item]:
                found[item].append(sentence)
    return {item: sentence for item, sentence in found.items() if sentence}


def shares_right(folder: RunFolder) -> dict[str, tuple[int, int]]:
    """Right answers and all answers by question, from a long `responses.csv`; empty without one."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in _rows(folder.responses):
        item, score = row.get("item"), row.get("score")
        if item and score in ("0", "1", "0.0", "1.0"):
            counts[item][0] += score.startswith("1")
            counts[item][1] += 1
    return {item: (right, asked) for item, (right, asked) in counts.items()}


def _rows(path: Path) -> Iterator[Mapping[str, str | None]]:
    if not path.is_file():
        return
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        yield from csv.DictReader(file)
