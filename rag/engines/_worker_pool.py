"""Pools of workers, however they are started, and the events that they report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from rag.answering._examinees import TaskAnswer, TaskFailure
from rag.answering._tasks import Task

WorkKind = Literal["check", "answer"]
"""What an examinee does with the tasks of a job."""


class WorkerReady(NamedTuple):
    """A worker has built its examinee; `machine` names where it runs."""

    worker: int
    settings: Mapping[str, object]
    machine: str


class AnswersArrived(NamedTuple):
    """Some results of a job; their places count from the job's first task."""

    worker: int
    job: int
    results: Sequence[TaskAnswer | TaskFailure]


class JobDone(NamedTuple):
    """A worker has finished a job."""

    worker: int
    job: int


class WorkerExited(NamedTuple):
    """A worker's process has ended."""

    worker: int
    reason: str


class WorkerFailed(NamedTuple):
    """An examinee raised: `kind` is `ValueError`, `OSError` or `FailedError` (one line), or `fault` (a bug)."""

    worker: int
    kind: str
    message: str
    trace: str


WorkerEvent = WorkerReady | AnswersArrived | JobDone | WorkerExited | WorkerFailed


class WorkerPool(Protocol):
    """Workers by number; a number is never used twice. Each worker does its jobs one after the other."""

    def start(self, worker: int) -> None:
        """Start a worker; `WorkerReady` or `WorkerExited` follows."""

    def submit(self, worker: int, job: int, work: WorkKind, tasks: Sequence[Task]) -> None:
        """Give a job to a worker that is ready."""

    def poll(self) -> Sequence[WorkerEvent]:
        """The events since the last call, in order for each worker; waits a second and may then be empty."""

    def close(self) -> None:
        """End all workers."""
