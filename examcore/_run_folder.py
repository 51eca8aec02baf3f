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


class RunFile:
    """A file or folder of a run, by its name in the run folder: `folder.exam` is its path."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, folder: RunFolder, _: object = None) -> Path:
        return folder.path / self._name


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run and the places of its files."""

    path: Path

    corpus = RunFile("corpus.jsonl")
    """The documents as read."""
    chunks = RunFile("chunks.jsonl")
    """The passages that questions are written from and retrievers search."""
    replies = RunFile("replies.sqlite")
    """Every raw reply of the writing model, and of the judge of claims."""
    exam = RunFile("exam.jsonl")
    """The surviving questions."""
    dropped = RunFile("dropped.jsonl")
    """The dropped questions, each with its reason."""
    edits = RunFile("edits.jsonl")
    """A reader's decisions about the questions: a log, only ever added to."""
    reviewed = RunFile("reviewed.jsonl")
    """The exam after a reader's edits; the run's own exam stays, because its answers belong to it."""
    reviewed_dropped = RunFile("reviewed-dropped.jsonl")
    """Everything that is not in the reviewed exam."""
    audit = RunFile("audit.jsonl")
    """Blind judgments of survivors and drops: a log, only ever added to."""
    checks = RunFile("checks")
    """The tables of `ragexam check RUN/fit --out RUN/checks`."""
    shots = RunFile("shots.jsonl")
    """The calibration pool: questions shown as examples, never asked."""
    answers = RunFile("answers.sqlite")
    """The answer store."""
    answer_labels = RunFile("answer_labels.jsonl")
    """Labels of free-text answers given by hand."""
    claims = RunFile("claims.jsonl")
    """What a judge decided about claims of free-text answers: a log."""
    claim_labels = RunFile("claim_labels.jsonl")
    """The same decided by hand."""
    claim_nuggets = RunFile("claim_nuggets.jsonl")
    """Nuggets that answers are held against instead of the sentences of the source passages."""
    responses = RunFile("responses.csv")
    """The response table that measurement reads."""
    retrieval = RunFile("retrieval.csv")
    """How well each retriever finds the source passages."""
    retrieval_ranks = RunFile("retrieval-ranks.csv")
    """The rank of every question's source passage, by retriever."""
    validity = RunFile("validity.json")
    """Whether the exam ranks retrievers as the users' own questions do."""
    users_mix = RunFile("users-mix.json")
    """What is known of the users' questions, where the fit has item covariates."""
    fit = RunFile("fit")
    """The fitted model."""
    pruned = RunFile("pruned")
    """The pruning and the exam it keeps."""
    report = RunFile("report.html")
    """The page."""
    record = RunFile("run.json")
    """Configuration, versions, hashes, steps and summary."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for writing; the lock dies with the process, however it ends.

        Raises `FailedError` when another process holds it.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.path / ".lock", blocking=False):
                yield
        except Timeout:
            raise FailedError(
                f"{self.path}: another ragexam process is writing this run; wait for it or choose another folder"
            ) from None


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

    def begin(self, step: str, fingerprint: str) -> None:
        """Note that a step is under way."""
        steps = self.content["steps"]
        if steps.get(step, {}).get("fingerprint") != fingerprint:
            steps[step] = {"fingerprint": fingerprint, "seconds": 0.0}
        steps[step]["done"] = False
        self.save()

    def reopen(self, step: str) -> None:
        """Note that a step that was finished is to be gone on with."""
        self.content["steps"].get(step, {})["done"] = False

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
