"""Workers as processes of this machine, with the processors and GPUs divided among them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path

from rag.answering._examinees import ExamineeFactory
from rag.answering._tasks import Task
from rag.engines._replica import module_paths, pack
from rag.engines._worker_pool import WorkerEvent, WorkerExited, WorkKind

POLL_SECONDS = 1.0
"""How long `poll` waits."""


class ProcessWorkers:
    """A `WorkerPool` of processes, each connected by a pipe. They end with this process, even if it is killed."""

    def __init__(self, build: ExamineeFactory, normalization: str, workers: int) -> None:
        self._packed, self._normalization, self._workers = pack(build), normalization, workers
        self._pipes: dict[int, Connection] = {}
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._gpus, self._gpu_of = visible_gpus(), dict[int, str]()

    def start(self, worker: int) -> None:
        """See `WorkerPool`."""
        gpu = least_used_gpu(self._gpus, self._gpu_of.values())
        if gpu is not None:
            self._gpu_of[worker] = gpu
        ours, theirs = Pipe()
        with theirs:
            self._processes[worker] = subprocess.Popen(
                [sys.executable, "-c", "from rag.engines._replica import main; main()", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # Ctrl-C goes to the command, which then ends its workers.
                start_new_session=True,
                env=worker_environment(os.environ, gpu),
            )
        self._pipes[worker] = ours
        threads = max(1, processors() // self._workers)
        self._send(worker, (worker, self._packed, self._normalization, threads))

    def submit(self, worker: int, job: int, work: WorkKind, tasks: Sequence[Task]) -> None:
        """See `WorkerPool`."""
        self._send(worker, (job, work, list(tasks)))

    def poll(self) -> Sequence[WorkerEvent]:
        """See `WorkerPool`."""
        events: list[WorkerEvent] = []
        numbers = {id(pipe): worker for worker, pipe in self._pipes.items()}
        for pipe in wait(list(self._pipes.values()), POLL_SECONDS):
            worker = numbers[id(pipe)]
            try:
                events.append(self._pipes[worker].recv())
            except (EOFError, OSError):
                events.append(self._exited(worker))
        return events

    def close(self) -> None:
        """See `WorkerPool`."""
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
        for pipe in self._pipes.values():
            pipe.close()

    def _send(self, worker: int, message: object) -> None:
        pipe = self._pipes.get(worker)
        if pipe is None:
            return
        # A worker that ended may have left events in its pipe; `poll` reads those and then its end.
        with suppress(OSError):
            pipe.send(message)

    def _exited(self, worker: int) -> WorkerExited:
        self._pipes.pop(worker).close()
        self._gpu_of.pop(worker, None)
        process = self._processes.pop(worker)
        process.kill()
        status = process.wait()
        return WorkerExited(
            worker, f"process {process.pid} ended with signal {-status}" if status < 0 else f"status {status}"
        )


def worker_environment(now: Mapping[str, str], gpu: str | None) -> dict[str, str]:
    """The environment of a worker's process: the same module path, and one GPU if there is any."""
    path = os.pathsep.join(module_paths())
    return {**now, "PYTHONPATH": path, **({} if gpu is None else {"CUDA_VISIBLE_DEVICES": gpu})}


def least_used_gpu(gpus: Sequence[str], taken: Iterable[str]) -> str | None:
    """The GPU with the fewest workers; None without any."""
    counts = Counter(taken)
    return min(gpus, key=lambda gpu: counts[gpu], default=None)


def processors() -> int:
    """How many processors this process may compute on."""
    threads = os.environ.get("OMP_NUM_THREADS", "")
    return int(threads) if threads.isdigit() and int(threads) else len(os.sched_getaffinity(0))


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, as `CUDA_VISIBLE_DEVICES` names them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [one for one in visible.split(",") if one.strip()]
    return [one.name.removeprefix("nvidia") for one in sorted(Path("/dev").glob("nvidia[0-9]*"))]
