"""The engine that a command asks for, and how many workers it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache

from rag.answering._examinees import Engine, Examinee, ExamineeFactory, in_process
from rag.engines._pooled_examinee import Notify, PooledExaminee
from rag.engines._process_workers import ProcessWorkers
from rag.engines._ray_workers import RayWorkers, join_cluster
from rag.engines._worker_pool import WorkerPool


@dataclass(frozen=True)
class EngineOptions:
    """Where examinees answer; nothing here changes an answer.

    `name`: `local` or `ray`. `workers`: how many answer at once (default: `local` uses this process alone, `ray` one
    per GPU, or one per four processors without any). `address`: the Ray cluster to join, `auto` for the one that this
    machine belongs to (default: start one here). `worker_gpus`: GPUs per Ray worker (default 1 if there are any); 0.5
    puts two workers on one.
    """

    name: str = field(default="local", metadata={"flag": "--engine", "help": "Where answers are given: local or ray."})
    workers: int | None = field(
        default=None, metadata={"help": "How many answer at once; local without it: this process."}
    )
    address: str | None = field(
        default=None, metadata={"help": "The Ray cluster: auto or HOST:PORT; without it one is begun here."}
    )
    worker_gpus: float | None = field(
        default=None, metadata={"help": "GPUs a Ray worker takes; 1 where there are any."}
    )

    def __post_init__(self) -> None:
        if self.name not in ("local", "ray"):
            raise ValueError(f"--engine {self.name}: unknown; wanted local or ray")
        if self.workers is not None and self.workers < 1:
            raise ValueError(f"--workers {self.workers}; wanted at least 1")
        if self.worker_gpus is not None and self.worker_gpus < 0:
            raise ValueError(f"--worker-gpus {self.worker_gpus}; wanted at least 0")
        if self.address is not None and "://" in self.address:
            raise ValueError(
                f"--address {self.address}: a client's; wanted auto or HOST:PORT, of this machine's cluster"
            )
        for name, value in (("address", self.address), ("worker-gpus", self.worker_gpus)):
            if value is not None and self.name != "ray":
                raise ValueError(f"--{name} {value}: found with --engine {self.name}; wanted --engine ray with it")


@contextmanager
def open_engine(options: EngineOptions, notify: Notify = lambda _: None) -> Iterator[Engine]:
    """The engine of these options; its workers start at first use. `notify` gets a line for each lost worker."""
    with ExitStack() as held:
        if options.name == "ray":
            need = cache(
                lambda: held.enter_context(join_cluster(options.address, options.workers, options.worker_gpus))
            )
            yield _pooled(lambda build, norm: RayWorkers(build, norm, need()), lambda: need().workers, notify)
        elif (workers := options.workers) is None:
            yield in_process
        else:
            yield _pooled(lambda build, norm: ProcessWorkers(build, norm, workers), lambda: workers, notify)


def _pooled(pool_of: Callable[[ExamineeFactory, str], WorkerPool], size: Callable[[], int], notify: Notify) -> Engine:
    @contextmanager
    def engine(build: ExamineeFactory, normalization: str) -> Iterator[Examinee]:
        with closing(pool_of(build, normalization)) as pool:
            yield PooledExaminee(pool, size(), notify)

    return engine
