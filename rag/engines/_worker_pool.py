"""Crews: workers, however they are started, and what is heard of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from rag.answering._examinees import TaskAnswer, TaskFailure
from rag.answering._tasks import Task

WorkKind = Literal["check", "answer"]
"""What an examinee is asked to do with tasks."""


class WorkerReady(NamedTuple):
    """A worker has built its examinee; `where` names its machine."""

    worker: int
    settings: Mapping[str, object]
    where: str


class AnswersArrived(NamedTuple):
    """Some of what a worker says of a job's tasks; places count from the job's first task."""

    worker: int
    job: int
    said: Sequence[TaskAnswer | TaskFailure]


class JobDone(NamedTuple):
    """A worker has done a job."""

    worker: int
    job: int


class WorkerExited(NamedTuple):
    """A worker is no more."""

    worker: int
    why: str


class WorkerFailed(NamedTuple):
    """An examinee raised: `kind` is `ValueError` or `OSError` for what the user can mend, `FailedError`, or `fault`."""

    worker: int
    kind: str
    message: str
    trace: str


WorkerEvent = WorkerReady | AnswersArrived | JobDone | WorkerExited | WorkerFailed


class WorkerPool(Protocol):
    """Workers under numbers that are never used twice. Each does its jobs one after the other."""

    def begin(self, worker: int) -> None:
        """Start a worker; `WorkerReady` or `WorkerExited` follows."""
        ...

    def give(self, worker: int, job: int, work: WorkKind, tasks: Sequence[Task]) -> None:
        """Hand a job to a worker that is ready."""
        ...

    def hear(self) -> Sequence[WorkerEvent]:
        """What has happened, in the order it did at each worker; waits a while and may then be empty."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...
