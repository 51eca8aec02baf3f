"""A replica: one examinee at work for an engine, in a process of its own, and that process's main program."""

from __future__ import annotations

import os
import pickle
import platform
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from examcore import FailedError, exit_status_of, first_error_line
from rag.answering._examinees import Examinee, ExamineeFactory, in_process
from rag.answering._tasks import Task
from rag.engines._worker_pool import AnswersArrived, JobDone, WorkerEvent, WorkerFailed, WorkerReady, WorkKind

T = TypeVar("T")
USER_ERRORS: tuple[type[Exception], ...] = (FailedError, OSError, ValueError)
"""What an examinee may raise for the user to read in one line; the first match counts."""
SEND_SECONDS = 0.5
"""Send results at most this often (s)."""


class Replica:
    """Builds an examinee and answers for it. It yields only `WorkerEvent`s and does not raise.

    `threads`: how many it computes with; `paths`: added to the module path.
    """

    def __init__(self, worker: int, packed: bytes, normalization: str, threads: int, paths: Sequence[str] = ()) -> None:
        self._worker, self._packed, self._normalization = worker, packed, normalization
        self._examinee: Examinee | None = None
        self._held = ExitStack()
        # The numerical libraries are not loaded yet; they read this when they are.
        os.environ["OMP_NUM_THREADS"] = str(threads)
        sys.path += [one for one in paths if one not in sys.path]

    def start(self) -> Iterator[WorkerEvent]:
        """Build the examinee."""
        yield from self._guarded(self._start())

    def work(self, job: int, work: WorkKind, tasks: Sequence[Task]) -> Iterator[WorkerEvent]:
        """Do a job."""
        yield from self._guarded(self._work(job, work, tasks))

    def _start(self) -> Iterator[WorkerEvent]:
        self._examinee = self._held.enter_context(in_process(pickle.loads(self._packed), self._normalization))
        yield WorkerReady(self._worker, dict(self._examinee.settings), f"{platform.node()} ({os.getpid()})")

    def _work(self, job: int, work: WorkKind, tasks: Sequence[Task]) -> Iterator[WorkerEvent]:
        assert self._examinee is not None
        if work == "check":
            self._examinee.check(tasks)
        else:
            for results in grouped_by_time(self._examinee.answer(tasks)):
                yield AnswersArrived(self._worker, job, results)
        yield JobDone(self._worker, job)

    def _guarded(self, events: Iterator[WorkerEvent]) -> Iterator[WorkerEvent]:
        try:
            yield from events
        except Exception as error:
            yield _failed(self._worker, error)


def grouped_by_time(items: Iterable[T], seconds: float = SEND_SECONDS) -> Iterator[list[T]]:
    """The items in groups: one group ends with the first item that comes `seconds` after the last group."""
    held: list[T] = []
    since = time.monotonic()
    for one in items:
        held.append(one)
        if time.monotonic() - since >= seconds:
            yield held
            held, since = [], time.monotonic()
    if held:
        yield held


def module_paths() -> list[str]:
    """The module path of this process, absolute."""
    return [str(Path(one).absolute()) for one in sys.path]


def pack(build: ExamineeFactory) -> bytes:
    """A factory as bytes; ValueError when it holds something that cannot be sent to another process."""
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(build))
    except Exception as error:  # objects raise what they like when they are pickled
        reason = first_error_line(error)
        raise ValueError(f"engine: what builds the model cannot be sent to workers ({reason})") from error


def _failed(worker: int, error: Exception) -> WorkerFailed:
    """A ValueError of ours and any OSError become one line for the user; everything else keeps its trace."""
    known = next((one for one in USER_ERRORS if isinstance(error, one)), None)
    kind = known.__name__ if known and exit_status_of(error) is not None else "fault"
    return WorkerFailed(worker, kind, str(error) or type(error).__name__, "".join(traceback.format_exception(error)))


Jobs = SimpleQueue[Any]


def main() -> None:
    """Serve the pipe whose number is the first argument."""
    pipe = Connection(int(sys.argv[1]))
    jobs: Jobs = SimpleQueue()
    # Listen first: when the process that started this one ends, so must this one, even while it loads a model.
    threading.Thread(target=_listen, args=(pipe, jobs), daemon=True).start()
    try:
        replica = Replica(*jobs.get())
        send(pipe, replica.start())
        while True:
            send(pipe, replica.work(*jobs.get()))
    except OSError:  # the pipe has no reader any more
        os._exit(1)


def _listen(pipe: Connection, jobs: Jobs) -> None:
    try:
        while True:
            jobs.put(pipe.recv())
    except BaseException:
        os._exit(1)


def send(pipe: Connection, events: Iterator[WorkerEvent]) -> None:
    """Send each event as it comes."""
    for event in events:
        pipe.send(event)
