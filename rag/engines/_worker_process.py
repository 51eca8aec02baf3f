"""The main program of a worker process: it reads jobs from its pipe and ends when the pipe closes."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from rag.engines._replica import Replica
from rag.engines._worker_pool import WorkerEvent

Jobs = SimpleQueue[Any]


def main() -> None:
    """Serve the pipe whose number is the first argument."""
    pipe = Connection(int(sys.argv[1]))
    jobs: Jobs = SimpleQueue()
    # Listen first: when the process that started this one ends, so must this one, even while it loads a model.
    threading.Thread(target=_listen, args=(pipe, jobs), daemon=True).start()
    try:
        serve(pipe, jobs)
    except OSError:  # the pipe has no reader any more
        os._exit(1)


def _listen(pipe: Connection, jobs: Jobs) -> None:
    try:
        while True:
            jobs.put(pipe.recv())
    except BaseException:
        os._exit(1)


def serve(pipe: Connection, jobs: Jobs) -> None:
    """Start the replica that the first message describes, then do the jobs of the following ones."""
    replica = Replica(*jobs.get())
    send(pipe, replica.start())
    while True:
        send(pipe, replica.work(*jobs.get()))


def send(pipe: Connection, events: Iterator[WorkerEvent]) -> None:
    """Send each event as it comes."""
    for event in events:
        pipe.send(event)
