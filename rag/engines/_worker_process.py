"""What a worker process does: it reads jobs from its pipe, and ends when the pipe does."""

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
    # Before anything heavy is loaded: whoever begun this process may end at any moment, and then so does this one.
    threading.Thread(target=_listen, args=(pipe, jobs), daemon=True).start()
    try:
        serve(pipe, jobs)
    except OSError:  # nobody hears it any more
        os._exit(1)


def _listen(pipe: Connection, jobs: Jobs) -> None:
    try:
        while True:
            jobs.put(pipe.recv())
    except BaseException:
        os._exit(1)


def serve(pipe: Connection, jobs: Jobs) -> None:
    """Begin the replica that the first message describes, then do the jobs of the others."""
    replica = Replica(*jobs.get())
    send(pipe, replica.begin())
    while True:
        send(pipe, replica.work(*jobs.get()))


def send(pipe: Connection, events: Iterator[WorkerEvent]) -> None:
    """Send each event as soon as it is there."""
    for event in events:
        pipe.send(event)
