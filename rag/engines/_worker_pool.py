"""Crews: workers, however they are started, and what is heard of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from rag.answering._examinees import ExamineeAnswer, ExamineeFailure
from rag.answering._tasks import Task

Work = Literal["check", "answer"]
"""What an examinee is asked to do with tasks."""


class Ready(NamedTuple):
    """A worker has built its examinee; `where` names its machine."""

    worker: int
    settings: Mapping[str, object]
    where: str


class Came(NamedTuple):
    """Some of what a worker says of a job's tasks; places count from the job's first task."""

    worker: int
    job: int
    said: Sequence[ExamineeAnswer | ExamineeFailure]


class Done(NamedTuple):
    """A worker has done a job."""

    worker: int
    job: int


class Gone(NamedTuple):
    """A worker is no more."""

    worker: int
    why: str


class Failed(NamedTuple):
    """An examinee raised: `kind` is `ValueError` or `OSError` for what the user can mend, `FailedError`, or `fault`."""

    worker: int
    kind: str
    message: str
    trace: str


Event = Ready | Came | Done | Gone | Failed


class Crew(Protocol):
    """Workers under numbers that are never used twice. Each does its jobs one after the other."""

    def begin(self, worker: int) -> None:
        """Start a worker; `Ready` or `Gone` follows."""
        ...

    def give(self, worker: int, job: int, work: Work, tasks: Sequence[Task]) -> None:
        """Hand a job to a worker that is ready."""
        ...

    def hear(self) -> Sequence[Event]:
        """What has happened, in the order it did at each worker; waits a while and may then be empty."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...
