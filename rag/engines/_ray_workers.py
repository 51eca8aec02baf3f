"""Workers as actors of a Ray cluster: a running one, or one started on this machine for the duration."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from examcore import FailedError, first_error_line
from rag.answering._examinees import ExamineeFactory
from rag.answering._tasks import Task
from rag.engines._process_workers import processors
from rag.engines._replica import Replica, module_paths, pack
from rag.engines._worker_pool import WorkerEvent, WorkerExited, WorkKind

POLL_SECONDS = 1.0
"""How long `poll` waits."""
STORE_BYTES = 100_000_000
"""Bytes of shared memory of a cluster started here; it only holds batches in transit."""
START_ATTEMPTS = 3
"""Ray itself waits 30 seconds each time."""
QUIET_OPTIONS = {"log_to_driver": False, "logging_level": "ERROR"}
QUIET_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Otherwise Ray warns that an actor without a GPU sees none.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1",
}


class WorkerResources(NamedTuple):
    """How many workers, and the processors and GPUs of each."""

    workers: int
    processors: int
    gpus: float


class RayWorkers:
    """A `WorkerPool` of Ray actors. They end with this process, even if it is killed."""

    def __init__(self, build: ExamineeFactory, normalization: str, resources: WorkerResources) -> None:
        import ray

        self._ray, self._normalization, self._resources = ray, normalization, resources
        self._packed = ray.put(pack(build))
        kind = ray.remote(num_cpus=resources.processors, num_gpus=resources.gpus, max_restarts=0, max_task_retries=0)
        self._kind: Any = kind(Replica)
        self._actors: dict[int, Any] = {}
        self._streams: list[tuple[int, Any]] = []

    def start(self, worker: int) -> None:
        """See `WorkerPool`."""
        actor = self._kind.remote(worker, self._packed, self._normalization, self._resources.processors, module_paths())
        self._actors[worker] = actor
        self._listen(worker, actor.start)

    def submit(self, worker: int, job: int, work: WorkKind, tasks: Sequence[Task]) -> None:
        """See `WorkerPool`."""
        if worker in self._actors:
            self._listen(worker, self._actors[worker].work, job, work, list(tasks))

    def poll(self) -> Sequence[WorkerEvent]:
        """See `WorkerPool`."""
        events: list[WorkerEvent] = []
        for worker, stream in self._streams_with_events():
            if worker not in self._actors:
                continue
            try:
                events.append(self._ray.get(next(stream)))
            except StopIteration:
                self._streams = [one for one in self._streams if one[1] is not stream]
            except self._ray.exceptions.RayError as error:
                events.append(self._exited(worker, error))
        return events

    def close(self) -> None:
        """See `WorkerPool`."""
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._actors, self._streams = {}, []

    def _listen(self, worker: int, method: Any, *arguments: object) -> None:
        self._streams.append((worker, method.options(num_returns="streaming").remote(*arguments)))

    def _streams_with_events(self) -> list[tuple[int, Any]]:
        """The streams that hold an event, once the first one does."""
        streams = [stream for _, stream in self._streams]
        if self._ray.wait(streams, timeout=POLL_SECONDS)[0]:
            ready, _ = self._ray.wait(streams, num_returns=len(streams), timeout=0)
            return [(worker, stream) for worker, stream in self._streams if any(stream is one for one in ready)]
        return []

    def _exited(self, worker: int, error: Exception) -> WorkerExited:
        self._ray.kill(self._actors.pop(worker))
        self._streams = [one for one in self._streams if one[0] != worker]
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return WorkerExited(worker, next((line for line in reversed(lines) if "exit" in line.lower()), lines[0])[:200])


@contextmanager
def join_cluster(address: str | None, workers: int | None, worker_gpus: float | None) -> Iterator[WorkerResources]:
    """Join the cluster at `address` (`auto`: the one this machine belongs to), or start one here without an address.

    Yields the resources of the workers. Raises `FailedError` when there is no such cluster, ValueError without Ray and
    for more workers than fit.
    """
    ray = _quiet_ray()
    ours = not ray.is_initialized()
    if ours:
        _start(ray, workers) if address is None else _connect(ray, address)
    try:
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        yield divide_resources(nodes, workers, worker_gpus)
    finally:
        if ours:
            ray.shutdown()


def divide_resources(
    nodes: Sequence[Mapping[str, float]], workers: int | None, worker_gpus: float | None
) -> WorkerResources:
    """Divide the processors and GPUs of machines among workers.

    By default a worker takes one GPU if there are any, and there is one worker per GPU, or per four processors. Each
    gets as many processors as possible so that all still fit.
    """
    found = sum(node.get("GPU", 0) for node in nodes)
    each = (1.0 if found else 0.0) if worker_gpus is None else worker_gpus
    wanted = workers or sum(_places(node, 1 if each else min(4, int(node.get("CPU", 1)) or 1), each) for node in nodes)
    for count in range(int(max((node.get("CPU", 0) for node in nodes), default=0)), 0, -1):
        if 0 < wanted <= sum(_places(node, count, each) for node in nodes):
            return WorkerResources(wanted, count, each)
    room = sum(_places(node, 1, each) for node in nodes)
    size = f"{sum(node.get('CPU', 0) for node in nodes):g} processors and {found:g} GPUs"
    one = f"{each:g} GPUs and 1 processor" if each else "1 processor"
    raise ValueError(f"--workers {wanted}: the cluster has {size}; wanted at most {room} workers of {one} each")


def _places(node: Mapping[str, float], count: int, worker_gpus: float) -> int:
    places = int(node.get("CPU", 0) // count)
    return min(places, int(node.get("GPU", 0) // worker_gpus)) if worker_gpus else places


def _quiet_ray() -> Any:
    """Import Ray with its output switched off."""
    for name, value in QUIET_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import ray
    from ray._private import worker

    # Ray prints every lost worker on standard output, where our results go; `PooledExaminee` reports them.
    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None
    return ray


def _start(ray: Any, workers: int | None) -> None:
    """Start a cluster here; try again, because Ray gives up after 30 seconds, which a busy machine may exceed."""
    count = max(processors(), workers or 1)
    for left in reversed(range(START_ATTEMPTS)):
        try:
            ray.init(**QUIET_OPTIONS, num_cpus=count, include_dashboard=False, object_store_memory=STORE_BYTES)
            return
        except Exception as error:  # Ray raises no narrower one
            ray.shutdown()
            if not left:
                raise FailedError(
                    f"--engine ray: no cluster could be started here ({first_error_line(error)})"
                ) from error


def _connect(ray: Any, address: str) -> None:
    """Join a cluster, checking its port first: Ray would wait minutes for one that is not there."""
    try:
        host, _, port = address.rpartition(":")
        if port.isdigit():
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        ray.init(**QUIET_OPTIONS, address=address)
    except (OSError, RuntimeError, ValueError) as error:
        raise FailedError(
            f"--address {address}: no Ray cluster there ({first_error_line(error)}); wanted one that runs "
            "(ray start --head) and, if it asks for a token, RAY_AUTH_MODE=token; or no --address to start one here"
        ) from error
