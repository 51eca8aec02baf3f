"""A team: a crew of workers as one examinee. Batches go to whoever is free, and again to another when one is lost."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from examcore import FailedError
from rag.answering._examinees import TaskAnswer, TaskFailure
from rag.answering._tasks import Task
from rag.engines._replica import USER_ERRORS
from rag.engines._worker_pool import (
    AnswersArrived,
    JobDone,
    WorkerEvent,
    WorkerExited,
    WorkerFailed,
    WorkerPool,
    WorkerReady,
    WorkKind,
)

Notify = Callable[[str], None]
"""Told one line of news."""

MAX_BATCHES_PER_WORKER = 2
"""Batches a worker has at most: one under way, one to go on with."""
MAX_BATCH_TASKS = 64
"""Tasks of a batch at most."""
BATCHES_PER_SHARE = 4
"""A batch is at most the so many-th part of what would be each worker's share of the rest."""
MAX_BATCH_FAILURES = 3
"""A batch is given up when so many workers in turn ended over it and said nothing."""
MAX_WORKER_FAILURES = 5
"""A worker is not begun anew when it has ended so many times in turn and said nothing."""


@dataclass
class TaskBatch:
    """Places of tasks to be answered; `falls` counts workers that ended over it and said nothing."""

    places: Sequence[int]
    falls: int = 0
    came: set[int] = field(default_factory=set)

    def rest(self, first: bool) -> TaskBatch:
        """What is left of it after its worker ended; only the `first` of a worker's batches was under way."""
        falls = self.falls + 1 if first and not self.came else 0 if first else self.falls
        return TaskBatch([place for place in self.places if place not in self.came], falls)


@dataclass
class _WorkerState:
    """`falls` counts how often it, and those it replaces, ended in turn and said nothing."""

    falls: int = 0
    settings: Mapping[str, object] | None = None
    jobs: dict[int, TaskBatch] = field(default_factory=dict)


class PooledExaminee:
    """An `Examinee` made of `size` workers of one crew, all alike.

    Whoever ends is replaced, and what it had not said is asked of another. Raises `FailedError` when no worker is left,
    and what an examinee raises. `say` is told of losses.
    """

    def __init__(self, crew: WorkerPool, size: int, say: Notify) -> None:
        self._crew, self._say = crew, say
        self._numbers, self._jobs = itertools.count(1), itertools.count(1)
        self._workers: dict[int, _WorkerState] = {}
        self._queue: deque[TaskBatch] = deque()
        self.settings: Mapping[str, object] = {}
        for _ in range(size):
            self._begin(0)
        while not self._ready():
            for event in self._crew.hear():
                self._heed(event)

    def check(self, tasks: Sequence[Task]) -> None:
        """See `Examinee`; each task is checked by one worker."""
        for _ in self._work("check", tasks):
            pass

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        """See `Examinee`."""
        return self._work("answer", tasks)

    def _work(self, work: WorkKind, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        self._queue = deque(task_batches(tasks, len(self._workers)))
        while self._queue or any(worker.jobs for worker in self._workers.values()):
            self._hand_out(work, tasks)
            for event in self._crew.hear():
                yield from self._heed(event)

    def _hand_out(self, work: WorkKind, tasks: Sequence[Task]) -> None:
        """First a batch for each who has none, so that nobody waits while another has two."""
        for most in range(1, MAX_BATCHES_PER_WORKER + 1):
            for number, worker in self._ready():
                if self._queue and len(worker.jobs) < most:
                    job = next(self._jobs)
                    worker.jobs[job] = batch = self._queue.popleft()
                    self._crew.give(number, job, work, [tasks[place] for place in batch.places])

    def _ready(self) -> list[tuple[int, _WorkerState]]:
        return [(number, worker) for number, worker in self._workers.items() if worker.settings is not None]

    def _begin(self, falls: int) -> None:
        number = next(self._numbers)
        self._workers[number] = _WorkerState(falls)
        self._crew.begin(number)

    def _heed(self, event: WorkerEvent) -> list[TaskAnswer | TaskFailure]:
        """Take an event in; returns what it says of tasks. Nothing counts of a worker that was given up."""
        worker = self._workers.get(event.worker)
        if worker is None:
            return []
        if isinstance(event, WorkerFailed):
            raise _error(event)
        if isinstance(event, WorkerExited):
            return self._replace(event, self._workers.pop(event.worker))
        if isinstance(event, WorkerReady):
            self._admit(event, worker)
        elif isinstance(event, JobDone):
            del worker.jobs[event.job]
        elif isinstance(event, AnswersArrived):
            return self._came(event, worker)
        return []

    def _came(self, event: AnswersArrived, worker: _WorkerState) -> list[TaskAnswer | TaskFailure]:
        batch = worker.jobs[event.job]
        worker.falls = 0
        found = [said._replace(place=batch.places[said.place]) for said in event.said]
        batch.came.update(said.place for said in found)
        return found

    def _admit(self, event: WorkerReady, worker: _WorkerState) -> None:
        self.settings = self.settings or event.settings
        for name, wanted in self.settings.items():
            if event.settings.get(name) != wanted:
                raise ValueError(
                    f"engine: the worker on {event.where} would answer with {name} {event.settings.get(name)!r}, "
                    f"another with {wanted!r}; wanted workers alike (set it in the grid, or use machines of a kind)"
                )
        worker.settings = event.settings

    def _replace(self, event: WorkerExited, worker: _WorkerState) -> list[TaskAnswer | TaskFailure]:
        """Put its batches back in front, and another in its place."""
        rests = [batch.rest(first=place == 0) for place, batch in enumerate(worker.jobs.values())]
        given_up = [rest for rest in rests if rest.falls >= MAX_BATCH_FAILURES]
        self._queue.extendleft(reversed([rest for rest in rests if rest.places and rest not in given_up]))
        falls = worker.falls + 1
        if falls < MAX_WORKER_FAILURES:
            self._say(f"note: a worker ended ({event.why}); another takes its place")
            self._begin(falls)
        elif self._workers:
            self._say(f"note: a worker ended {falls} times in turn ({event.why}); {len(self._workers)} go on")
        else:
            raise FailedError(f"engine: workers ended {falls} times in turn ({event.why})")
        why = f"ended its worker {MAX_BATCH_FAILURES} times ({event.why})"
        return [TaskFailure(place, why) for batch in given_up for place in batch.places]


def task_batches(tasks: Sequence[Task], workers: int) -> Iterator[TaskBatch]:
    """All tasks of some questions at a time, in their order; batches get smaller as less is left.

    So a question's choices are weighed by one worker, which reads its examples and passages once, and all workers end
    at about the same time.
    """
    of: dict[str, list[int]] = {}
    for place, task in enumerate(tasks):
        of.setdefault(task.question.id, []).append(place)
    left, held = len(tasks), list[int]()
    for places in of.values():
        held += places
        size = min(MAX_BATCH_TASKS, max(1, left // (BATCHES_PER_SHARE * workers)))
        if len(held) >= size:
            left -= len(held)
            yield from _cut(sorted(held))
            held = []
    yield from _cut(sorted(held))


def _cut(places: Sequence[int]) -> Iterator[TaskBatch]:
    for start in range(0, len(places), MAX_BATCH_TASKS):
        yield TaskBatch(places[start : start + MAX_BATCH_TASKS])


def _error(event: WorkerFailed) -> Exception:
    """What the examinee raised, as it would have been raised here."""
    kind = next((one for one in USER_ERRORS if one.__name__ == event.kind), None)
    if kind is not None:
        return kind(event.message)
    return RuntimeError(f"engine: a worker failed\n{event.trace}")
