"""The run folder: where each file lies, who may write it, and which steps are done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from examcore._file_writing import write_text
from examcore._language_model import FailedError

FORMAT = 1
"""Version of `run.json`; a reader refuses a newer one."""


@dataclass(frozen=True)
class RunFolder:
    """Names of the files of a run, each relative to `path`."""

    path: Path

    @property
    def corpus(self) -> Path:
        """The documents as read."""
        return self.path / "corpus.jsonl"

    @property
    def chunks(self) -> Path:
        """The passages that questions are written from and retrievers search."""
        return self.path / "chunks.jsonl"

    @property
    def replies(self) -> Path:
        """Every raw reply of the writing model."""
        return self.path / "replies.sqlite"

    @property
    def exam(self) -> Path:
        """The surviving questions."""
        return self.path / "exam.jsonl"

    @property
    def dropped(self) -> Path:
        """The lost ones, each with its reason."""
        return self.path / "dropped.jsonl"

    @property
    def edits(self) -> Path:
        """What a reader decided about the questions: a log, only ever added to."""
        return self.path / "edits.jsonl"

    @property
    def reviewed(self) -> Path:
        """The exam after a reader's edits; the run's own exam stays, because its answers belong to it."""
        return self.path / "reviewed.jsonl"

    @property
    def reviewed_dropped(self) -> Path:
        """Everything that is not in the reviewed exam."""
        return self.path / "reviewed-dropped.jsonl"

    @property
    def audit(self) -> Path:
        """Blind judgments of survivors and drops: a log, only ever added to."""
        return self.path / "audit.jsonl"

    @property
    def checks(self) -> Path:
        """The tables of `ragexam check RUN/fit --out RUN/checks`."""
        return self.path / "checks"

    @property
    def shots(self) -> Path:
        """The calibration pool: questions shown as examples, never asked."""
        return self.path / "shots.jsonl"

    @property
    def answers(self) -> Path:
        """The answer store."""
        return self.path / "answers.sqlite"

    @property
    def responses(self) -> Path:
        """The response table that measurement reads."""
        return self.path / "responses.csv"

    @property
    def retrieval(self) -> Path:
        """How well each retriever finds the source passages."""
        return self.path / "retrieval.csv"

    @property
    def retrieval_ranks(self) -> Path:
        """The rank of every question's source passage, by retriever."""
        return self.path / "retrieval-ranks.csv"

    @property
    def fit(self) -> Path:
        """The fitted model."""
        return self.path / "fit"

    @property
    def pruned(self) -> Path:
        """The pruning and the exam it keeps."""
        return self.path / "pruned"

    @property
    def report(self) -> Path:
        """The page."""
        return self.path / "report.html"

    @property
    def record(self) -> Path:
        """Configuration, versions, hashes, steps and summary."""
        return self.path / "run.json"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for writing; the lock dies with the process, however it ends.

        Raises `FailedError` when another process holds it.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / ".lock", blocking=False)
        try:
            lock.acquire()
        except Timeout:
            raise FailedError(
                f"{self.path}: another ragexam process is writing this run; wait for it or choose another folder"
            ) from None
        try:
            yield
        finally:
            lock.release()


@dataclass
class RunRecord:
    """`run.json` while the run goes on: what was asked, what is done, how long it took."""

    folder: RunFolder
    content: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: RunFolder) -> RunRecord:
        """Read the record of a folder, or begin one."""
        if not folder.record.exists():
            return cls(folder, {"format": FORMAT, "steps": {}})
        try:
            content = json.loads(folder.record.read_text())
        except ValueError as error:
            raise ValueError(f"{folder.record}: {error}; wanted JSON, remove the file to begin anew") from None
        if not isinstance(content, dict) or not isinstance(content.get("steps"), dict):
            raise ValueError(f"{folder.record}: no 'steps'; wanted the record of a ragexam run")
        if content.get("format", 0) > FORMAT:
            found = content["format"]
            raise ValueError(f"{folder.record}: format {found} is newer than this ragexam reads ({FORMAT}); upgrade it")
        return cls(folder, content)

    def fingerprint(self, step: str) -> str | None:
        """What a step was done with, None when it has not been finished."""
        done = self.content["steps"].get(step, {})
        return done.get("fingerprint") if done.get("done") else None

    def begun_with(self, step: str) -> str | None:
        """What a step was begun with, finished or not."""
        found = self.content["steps"].get(step, {}).get("fingerprint")
        return None if found is None else str(found)

    def begin(self, step: str, fingerprint: str) -> None:
        """Note that a step is under way."""
        steps = self.content["steps"]
        if steps.get(step, {}).get("fingerprint") != fingerprint:
            steps[step] = {"fingerprint": fingerprint, "seconds": 0.0}
        steps[step]["done"] = False
        self.save()

    def spend(self, step: str, seconds: float, *, done: bool) -> None:
        """Add the time a step took, over all attempts, and note whether it is finished."""
        entry = self.content["steps"][step]
        entry["seconds"] = round(entry["seconds"] + seconds, 3)
        entry["done"] = done
        self.save()

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds per step."""
        return {name: entry["seconds"] for name, entry in self.content["steps"].items()}

    def save(self) -> None:
        """Write the record, whole or not at all."""
        write_text(self.folder.record, [json.dumps(self.content, indent=2, ensure_ascii=False), "\n"])


def fingerprint_of(parts: Mapping[str, object]) -> str:
    """Sixteen hex digits that change when any of the parts does."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def file_hash(path: Path) -> str:
    """Sixteen hex digits of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
