"""A pool of workers as one examinee: batches go to free workers, and to another worker when one is lost."""

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
"""Receives one line of news, such as a lost worker."""

MAX_BATCHES_PER_WORKER = 2
"""One batch in progress and one waiting, so that a worker need not wait for the next."""
MAX_BATCH_TASKS = 64
"""Larger batches would not save time, and cost more when their worker is lost."""
BATCHES_PER_SHARE = 4
"""A batch holds at most this fraction (1/4) of each worker's share of the remaining tasks."""
MAX_BATCH_FAILURES = 3
"""A batch is given up after this many workers in a row ended on it without a result."""
MAX_WORKER_FAILURES = 5
"""A worker is not restarted after it ended this many times in a row without a result."""


@dataclass
class TaskBatch:
    """Tasks to answer, by place; `failures` counts workers that ended on them without a result."""

    places: Sequence[int]
    failures: int = 0
    answered: set[int] = field(default_factory=set)

    def remainder(self, in_progress: bool) -> TaskBatch:
        """What is left after its worker ended; only a batch `in_progress` can have ended the worker."""
        failures = self.failures
        if in_progress:
            failures = 0 if self.answered else failures + 1
        return TaskBatch([place for place in self.places if place not in self.answered], failures)


@dataclass
class _WorkerState:
    """`failures`: how often this worker, and those it replaces, ended in a row without a result."""

    failures: int = 0
    settings: Mapping[str, object] | None = None
    jobs: dict[int, TaskBatch] = field(default_factory=dict)


class PooledExaminee:
    """An `Examinee` made of `size` identical workers of one pool.

    A worker that ends is replaced, and another one gets its unanswered tasks. Raises `FailedError` when no worker is
    left, and whatever an examinee raises. `notify` receives a line for each lost worker.
    """

    def __init__(self, pool: WorkerPool, size: int, notify: Notify) -> None:
        self._pool, self._notify = pool, notify
        self._numbers, self._jobs = itertools.count(1), itertools.count(1)
        self._workers: dict[int, _WorkerState] = {}
        self._queue: deque[TaskBatch] = deque()
        self.settings: Mapping[str, object] = {}
        for _ in range(size):
            self._start_worker(0)
        while not self._ready():
            for event in self._pool.poll():
                self._handle(event)

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
            self._submit_batches(work, tasks)
            for event in self._pool.poll():
                yield from self._handle(event)

    def _submit_batches(self, work: WorkKind, tasks: Sequence[Task]) -> None:
        """First a batch for each worker without one, so that none is idle while another has two."""
        for limit in range(1, MAX_BATCHES_PER_WORKER + 1):
            for number, worker in self._ready():
                if self._queue and len(worker.jobs) < limit:
                    job = next(self._jobs)
                    worker.jobs[job] = batch = self._queue.popleft()
                    self._pool.submit(number, job, work, [tasks[place] for place in batch.places])

    def _ready(self) -> list[tuple[int, _WorkerState]]:
        return [(number, worker) for number, worker in self._workers.items() if worker.settings is not None]

    def _start_worker(self, failures: int) -> None:
        number = next(self._numbers)
        self._workers[number] = _WorkerState(failures)
        self._pool.start(number)

    def _handle(self, event: WorkerEvent) -> list[TaskAnswer | TaskFailure]:
        """The results that an event brings. Events of a worker that was replaced are ignored."""
        worker = self._workers.get(event.worker)
        if worker is None:
            return []
        if isinstance(event, WorkerFailed):
            # As it would have been raised in this process.
            kind = next((one for one in USER_ERRORS if one.__name__ == event.kind), None)
            raise kind(event.message) if kind else RuntimeError(f"engine: a worker failed\n{event.trace}")
        if isinstance(event, WorkerExited):
            return self._replace(event, self._workers.pop(event.worker))
        if isinstance(event, WorkerReady):
            self._admit(event, worker)
        elif isinstance(event, JobDone):
            del worker.jobs[event.job]
        elif isinstance(event, AnswersArrived):
            return self._results(event, worker)
        return []

    def _results(self, event: AnswersArrived, worker: _WorkerState) -> list[TaskAnswer | TaskFailure]:
        batch = worker.jobs[event.job]
        worker.failures = 0
        found = [result._replace(place=batch.places[result.place]) for result in event.results]
        batch.answered.update(result.place for result in found)
        return found

    def _admit(self, event: WorkerReady, worker: _WorkerState) -> None:
        self.settings = self.settings or event.settings
        for name, wanted in self.settings.items():
            if event.settings.get(name) != wanted:
                raise ValueError(
                    f"engine: the worker on {event.machine} would answer with {name} {event.settings.get(name)!r}, "
                    f"another with {wanted!r}; wanted workers alike (set it in the grid, or use machines of a kind)"
                )
        worker.settings = event.settings

    def _replace(self, event: WorkerExited, worker: _WorkerState) -> list[TaskAnswer | TaskFailure]:
        """Put a lost worker's batches back at the front of the queue and start another worker."""
        rests = [batch.remainder(in_progress=place == 0) for place, batch in enumerate(worker.jobs.values())]
        given_up = [rest for rest in rests if rest.failures >= MAX_BATCH_FAILURES]
        self._queue.extendleft(reversed([rest for rest in rests if rest.places and rest not in given_up]))
        failures = worker.failures + 1
        if failures < MAX_WORKER_FAILURES:
            self._notify(f"note: a worker ended ({event.reason}); another takes its place")
            self._start_worker(failures)
        elif self._workers:
            self._notify(f"note: a worker ended {failures} times in turn ({event.reason}); {len(self._workers)} go on")
        else:
            raise FailedError(f"engine: workers ended {failures} times in turn ({event.reason})")
        reason = f"ended its worker {MAX_BATCH_FAILURES} times ({event.reason})"
        return [TaskFailure(place, reason) for batch in given_up for place in batch.places]


def task_batches(tasks: Sequence[Task], workers: int) -> Iterator[TaskBatch]:
    """All tasks of some questions at a time, in order; batches shrink as fewer tasks remain.

    One worker gets all tasks of a question, so that it reads their examples and passages once; small last batches let
    all workers end at about the same time.
    """
    places_of: dict[str, list[int]] = {}
    for place, task in enumerate(tasks):
        places_of.setdefault(task.question.id, []).append(place)
    left, held = len(tasks), list[int]()
    for places in places_of.values():
        held += places
        size = min(MAX_BATCH_TASKS, max(1, left // (BATCHES_PER_SHARE * workers)))
        if len(held) >= size:
            left -= len(held)
            yield from _split(sorted(held))
            held = []
    yield from _split(sorted(held))


def _split(places: Sequence[int]) -> Iterator[TaskBatch]:
    for start in range(0, len(places), MAX_BATCH_TASKS):
        yield TaskBatch(places[start : start + MAX_BATCH_TASKS])
