"""Engines: wherever pipelines answer, and whatever is lost on the way, the answers are those of one process."""

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from examcore import Chunk, Exam, FailedError, Likelihoods, Prompt, Question, error_line, exit_status_of
from rag import (
    Answer,
    AnswerStore,
    Examinee,
    Pipeline,
    Sitting,
    Task,
    TaskAnswer,
    TaskFailure,
    build_retriever,
    grid_of,
    sit,
)
from rag.answering._examinees import in_process
from rag.engines import EngineOptions, join_cluster, open_engine
from rag.engines._pooled_examinee import (
    MAX_BATCH_FAILURES,
    MAX_BATCH_TASKS,
    MAX_WORKER_FAILURES,
    PooledExaminee,
    task_batches,
)
from rag.engines._process_workers import least_used_gpu, worker_environment
from rag.engines._ray_workers import WorkerResources, divide_resources
from rag.engines._replica import Replica, grouped_by_time, pack
from rag.engines._worker_pool import (
    AnswersArrived,
    JobDone,
    WorkerEvent,
    WorkerExited,
    WorkerFailed,
    WorkerReady,
    WorkKind,
)
from tests.command_line import ragexam_here

ROOT = Path(__file__).parents[2]
GRID = grid_of({"llms": ["one"], "retrievers": ["closed-book", "oracle", "bm25"], "shots": [0, 1, 2]}).pipelines


def many(count: int, prompts: int = 3) -> list[Task]:
    """Tasks in the order of a sitting: by number of shots, then by question."""
    asked = [Question(f"q{n}", f"What is {n}?", ("this", "that", f"{n}"), 0) for n in range(count)]
    who = (Pipeline("one", "closed-book"),)
    return [
        Task(one, Prompt(f"{one.stem} After {shots}."), (), who, (), ()) for shots in range(prompts) for one in asked
    ]


class SimulatedPool:
    """A pool without processes: one event at a time, of a worker drawn at random, which may also end."""

    def __init__(self, examinee: Examinee, seed: int, mortality: float = 0.0, deadly: str = "") -> None:
        self.examinee, self.mortality, self.deadly = examinee, mortality, deadly
        self.lottery = random.Random(seed)
        self.coming: dict[int, list[WorkerEvent]] = {}
        self.most = 0

    def start(self, worker: int) -> None:
        assert worker not in self.coming
        self.coming[worker] = [WorkerReady(worker, {}, "here")]

    def submit(self, worker: int, job: int, work: WorkKind, tasks: Sequence[Task]) -> None:
        coming = self.coming[worker]
        for said in self.examinee.answer(tasks):
            if tasks[said.place].question.id == self.deadly:
                coming.append(WorkerExited(worker, "poison"))
            coming.append(AnswersArrived(worker, job, [said]))
        coming.append(JobDone(worker, job))
        self.most = max(self.most, sum(isinstance(one, JobDone) for one in coming))

    def poll(self) -> Sequence[WorkerEvent]:
        ready = [worker for worker, coming in self.coming.items() if coming]
        if not ready:
            return []
        worker = self.lottery.choice(ready)
        event = self.coming[worker].pop(0)
        if isinstance(event, AnswersArrived) and self.lottery.random() < self.mortality:
            event = WorkerExited(worker, "signal 9")
        return [event]

    def close(self) -> None:
        self.coming.clear()


def answered_here(examinee: Examinee, tasks: Sequence[Task]) -> list[TaskAnswer]:
    found = [one._replace(seconds=0.0) for one in examinee.answer(tasks) if isinstance(one, TaskAnswer)]
    return sorted(found, key=lambda one: one.place)


def test_every_task_is_in_one_batch_and_a_question_is_not_torn() -> None:
    for count, workers in ((1, 1), (7, 2), (200, 3), (900, 16)):
        tasks = many(count)
        made = [one.places for one in task_batches(tasks, workers)]
        assert sorted(place for places in made for place in places) == list(range(len(tasks)))
        owner = {tasks[place].question.id: number for number, places in enumerate(made) for place in places}
        assert all(owner[tasks[place].question.id] == number for number, places in enumerate(made) for place in places)
        assert all(list(places) == sorted(places) and len(places) <= MAX_BATCH_TASKS for places in made)
    sizes = [len(one.places) for one in task_batches(many(900), 4)]
    assert sizes[0] > 50
    assert sizes[-1] <= 6
    assert [len(one.places) for one in task_batches(many(1, prompts=150), 2)] == [64, 64, 22]


@pytest.mark.parametrize("seed", range(40))
def test_whatever_workers_end_every_task_is_said_once_and_alike(
    hash_model: Any, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One batch of so many hundred would meet three unlucky workers in turn, and be given up as deadly.
    monkeypatch.setattr("rag.engines._pooled_examinee.MAX_BATCH_FAILURES", 99)
    tasks = many(30)
    with in_process(lambda: hash_model, "sum") as examinee:
        news: list[str] = []
        pool = SimulatedPool(examinee, seed, mortality=0.1)
        pooled = PooledExaminee(pool, 1 + seed % 4, news.append)
        found = [one for one in pooled.answer(tasks) if isinstance(one, TaskAnswer)]
        assert sorted((one._replace(seconds=0.0) for one in found), key=lambda one: one.place) == answered_here(
            examinee, tasks
        )
        assert pool.most <= 2
        assert len(pool.coming) - 1 - seed % 4 == len(news) > 0


def test_a_task_that_ends_its_worker_is_given_up_and_the_others_are_answered(hash_model: Any) -> None:
    tasks = many(30)
    with in_process(lambda: hash_model, "sum") as examinee:
        pooled = PooledExaminee(SimulatedPool(examinee, 1, deadly="q7"), 2, lambda _: None)
        found = list(pooled.answer(tasks))
    assert sorted(one.place for one in found) == list(range(len(tasks)))
    lost = {one.place: one.reason for one in found if isinstance(one, TaskFailure)}
    assert {7, 37, 67} <= set(lost)
    assert len(lost) < len(tasks) // 3
    assert set(lost.values()) == {f"ended its worker {MAX_BATCH_FAILURES} times (poison)"}


def test_workers_that_always_end_are_not_begun_for_ever(hash_model: Any) -> None:
    with in_process(lambda: hash_model, "sum") as examinee:
        pool = SimulatedPool(examinee, 0)
        pool.start = lambda worker: pool.coming.update({worker: [WorkerExited(worker, "no memory")]})  # type: ignore[method-assign]
        with pytest.raises(FailedError, match=r"workers ended 5 times in turn \(no memory\)$"):
            PooledExaminee(pool, 3, lambda _: None)
        assert len(pool.coming) == 3 * MAX_WORKER_FAILURES


def test_one_that_always_ends_is_left_out_and_the_others_go_on(hash_model: Any) -> None:
    tasks, news = many(40), list[str]()
    with in_process(lambda: hash_model, "sum") as examinee:
        pool = SimulatedPool(examinee, 0)
        start = pool.start

        def only_the_second(worker: int) -> None:
            start(worker)
            if worker != 2:
                pool.coming[worker] = [WorkerExited(worker, "no memory")]

        pool.start = only_the_second  # type: ignore[method-assign]
        found = [one for one in PooledExaminee(pool, 2, news.append).answer(tasks) if isinstance(one, TaskAnswer)]
        assert [one._replace(seconds=0.0) for one in sorted(found, key=lambda one: one.place)] == answered_here(
            examinee, tasks
        )
    assert news[-1] == "note: a worker ended 5 times in turn (no memory); 1 go on"


def test_workers_that_would_answer_otherwise_are_refused(hash_model: Any) -> None:
    with in_process(lambda: hash_model, "sum") as examinee:
        pool = SimulatedPool(examinee, 0)
        kinds = iter(("bfloat16", "float32"))
        pool.start = lambda worker: pool.coming.update(  # type: ignore[method-assign]
            {worker: [WorkerReady(worker, {"dtype": next(kinds)}, f"node{worker}")]}
        )
        with pytest.raises(ValueError, match=r"worker on node\d would answer with dtype '\w+', another with '"):
            list(PooledExaminee(pool, 2, lambda _: None).answer(many(20)))


def test_parcels_hold_all_in_order_and_leave_soon() -> None:
    assert list(grouped_by_time([1, 2, 3], seconds=60)) == [[1, 2, 3]]
    assert list(grouped_by_time([1, 2, 3], seconds=0)) == [[1], [2], [3]]
    assert list(grouped_by_time([])) == []


def test_a_replica_tells_our_errors_from_faults(hash_model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(error: Exception) -> WorkerEvent:
        def build() -> Any:
            raise error

        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        return next(Replica(1, pack(build), "sum", 1).start())

    found = failing(OSError("disk gone"))
    assert isinstance(found, WorkerFailed)
    assert (found.kind, found.message) == ("OSError", "disk gone")
    assert failing(FailedError("no answer")).kind == "FailedError"  # type: ignore[union-attr]
    assert failing(ValueError("not of ours")).kind == "fault"  # type: ignore[union-attr]
    replica = Replica(1, pack(lambda: None), "nothing", 1)
    replica._packed = pack(lambda: EngineOptions("slurm"))  # type: ignore[arg-type, return-value]
    refused = next(replica.start())
    assert isinstance(refused, WorkerFailed)
    assert (refused.kind, refused.message) == ("ValueError", "--engine slurm: unknown; wanted local or ray")


def test_what_cannot_leave_the_process_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "log", "w") as log, pytest.raises(ValueError, match="cannot be sent to workers"):
        pack(lambda: log)  # type: ignore[arg-type, return-value]


def test_machines_are_shared_so_that_every_worker_finds_a_place() -> None:
    assert divide_resources([{"CPU": 2}], 2, None) == WorkerResources(2, 1, 0)
    assert divide_resources([{"CPU": 16}], None, None) == WorkerResources(4, 4, 0)
    assert divide_resources([{"CPU": 2}], None, None) == WorkerResources(1, 2, 0)
    assert divide_resources([{"CPU": 16}] * 3, 4, None) == WorkerResources(4, 8, 0)
    assert divide_resources([{"CPU": 16, "GPU": 2}, {"CPU": 8}], None, None) == WorkerResources(2, 8, 1)
    assert divide_resources([{"CPU": 16, "GPU": 2}], 4, 0.5) == WorkerResources(4, 4, 0.5)
    with pytest.raises(ValueError, match=r"--workers 3: the cluster has 2 processors and 0 GPUs; wanted at most 2 w"):
        divide_resources([{"CPU": 2}], 3, None)
    with pytest.raises(ValueError, match="wanted at most 1 workers of 1 GPUs and 1 processor each"):
        divide_resources([{"CPU": 8, "GPU": 1}], 2, None)


def test_a_process_takes_the_gpu_with_the_fewest() -> None:
    assert least_used_gpu(["0", "3"], ["0"]) == "3"
    assert least_used_gpu([], ["0"]) is None
    assert worker_environment({"A": "b"}, "3").items() >= {"A": "b", "CUDA_VISIBLE_DEVICES": "3"}.items()
    assert "CUDA_VISIBLE_DEVICES" not in worker_environment({}, None)


def test_options_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for options, message in (
        ({"workers": 0}, "--workers 0; wanted at least 1"),
        ({"address": "auto"}, "--address auto: found with --engine local; wanted --engine ray"),
        ({"worker_gpus": 1.0}, "--worker-gpus 1.0: found with --engine local"),
        ({"name": "ray", "address": "ray://h:1"}, "--address ray://h:1: a client's; wanted auto or HOST:PORT"),
        ({"name": "ray", "worker_gpus": -1.0}, "--worker-gpus -1.0; wanted at least 0"),
    ):
        with pytest.raises(ValueError, match=message):
            EngineOptions(**options)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError) as found, join_cluster(None, 1, None):
        pass
    assert exit_status_of(found.value) == 2
    assert error_line(found.value) == "ray is not installed; wanted pip install 'ragexam[ray]'"


def test_ray_is_loaded_by_those_who_ask_for_it_only() -> None:
    code = "import sys, rag, rag.engines; assert not {'ray', 'torch'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


CLUSTER = """
import sys, ray
from rag.engines._ray_workers import join_cluster
try:
    with join_cluster(None, 2, None):
        print(ray.get_runtime_context().gcs_address, flush=True)
        sys.stdin.read()
except OSError as error:
    if "timed out" not in str(error):
        print(error, flush=True)
"""


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """One small cluster for all tests here, begun by a process that has no threads of other libraries."""
    command = [sys.executable, "-c", CLUSTER]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (
        pytest.MonkeyPatch.context() as patch,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as begun,
    ):
        assert begun.stdout is not None
        # What a cluster begun by a process asks for; the token itself is in a file that both know.
        patch.setenv("RAY_AUTH_MODE", "token")
        address = begun.stdout.readline().strip()
        if not address:
            pytest.skip("Ray begins no cluster here: it gives its processes 30 seconds, and this machine is too busy")
        with join_cluster(address, 2, None):
            yield
        begun.communicate()


@pytest.fixture(params=["processes", "ray"])
def options(request: pytest.FixtureRequest) -> EngineOptions:
    if request.param == "ray":
        request.getfixturevalue("cluster")
        return EngineOptions("ray", workers=2)
    return EngineOptions(workers=2)


Room = Callable[..., list[Answer]]


@pytest.fixture
def room(exam: Exam, chunks: list[Chunk], pool: list[Question], hash_model: Any, tmp_path: Path) -> Room:
    """Sit with the fast model."""

    def go(path: str, options: EngineOptions, build: Any = None, **more: Any) -> list[Answer]:
        retrievers = {kind: build_retriever(kind, chunks) for kind in ("closed-book", "oracle", "bm25")}
        model = build or (lambda: hash_model)
        with AnswerStore(tmp_path / path) as store, open_engine(options, more.pop("notify", print)) as engine:
            sitting = Sitting(exam, more.pop("pipelines", GRID), chunks, {"one": model}, retrievers, pool)
            sit(sitting, store, engine=engine, **more)
            return [replace(one, seconds=0.0) for one in store.answers()]

    return go


def descendants() -> set[int]:
    """The workers of this process."""
    found = psutil.Process().children(recursive=True)
    return {
        one.pid
        for one in found
        if any("rag.engines._replica" in word or word == "ray::Replica" for word in _words(one))
    }


def _words(process: psutil.Process) -> list[str]:
    try:
        return [part for word in process.cmdline() for part in (word, word.partition(".")[0])]
    except psutil.Error:
        return []


def gone(workers: set[int]) -> bool:
    alive = [psutil.Process(pid) for pid in workers if psutil.pid_exists(pid)]
    return not psutil.wait_procs(alive, timeout=30)[1]


def test_every_engine_gives_the_answers_of_one_process(room: Room, options: EngineOptions, tmp_path: Path) -> None:
    whole = room("whole.sqlite", EngineOptions())
    assert room("other.sqlite", options) == whole
    with AnswerStore(tmp_path / "whole.sqlite") as one, AnswerStore(tmp_path / "other.sqlite") as two:
        assert [one.settings(each.id) for each in GRID] == [two.settings(each.id) for each in GRID]
    assert gone(descendants())


def test_an_exam_begun_in_one_place_is_finished_in_another(room: Room, options: EngineOptions) -> None:
    whole = room("whole.sqlite", EngineOptions())
    assert len(room("mixed.sqlite", EngineOptions(), pipelines=GRID[:4])) < len(whole)
    assert room("mixed.sqlite", options) == whole
    room("other.sqlite", options, pipelines=GRID[:4])
    assert room("other.sqlite", EngineOptions()) == whole


def test_errors_of_an_examinee_come_as_they_would_here(room: Room, options: EngineOptions, hash_model: Any) -> None:
    from rag import load_model

    def unreadable() -> Any:
        return load_model("no/such/folder/anywhere")

    with pytest.raises(OSError, match="model no/such/folder/anywhere: no such folder; wanted a folder"):
        room("a.sqlite", options, unreadable)

    def faulty() -> Any:
        return {}["model"]

    with pytest.raises(RuntimeError, match=r"(?s)engine: a worker failed.*KeyError: 'model'"):
        room("a.sqlite", options, faulty)
    hash_model.context_tokens = 24
    with pytest.raises(ValueError, match=r"question 'q-\w+': its prompt of \d+ tokens exceeds what hash reads"):
        room("a.sqlite", options, lambda: hash_model)
    hash_model.context_tokens = 4096
    assert room("a.sqlite", options) == room("whole.sqlite", EngineOptions())


class Mortal:
    """Ends its process with the first prompt that holds a word, as long as a file is there, which it removes."""

    def __init__(self, model: Any, word: str, flag: Path) -> None:
        self.model, self.word, self.flag = model, word, flag
        self.name, self.context_tokens, self.count_tokens = model.name, model.context_tokens, model.count_tokens
        self.generate = model.generate

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        if self.word in prompt.user and self.flag.exists():
            self.flag.unlink()
            os.kill(os.getpid(), 9)
        found: Likelihoods = self.model.log_likelihoods(prompt, continuations)
        return found


def test_a_worker_that_is_killed_is_replaced(
    room: Room, options: EngineOptions, hash_model: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, flag, news = room("whole.sqlite", EngineOptions()), tmp_path / "deadly", list[str]()
    flag.touch()
    found = room("other.sqlite", options, lambda: Mortal(hash_model, "keeper", flag), notify=news.append)
    assert found == whole
    assert not flag.exists()
    assert len(news) == 1
    assert news[0].startswith("note: a worker ended (")
    time.sleep(0.2)
    assert capsys.readouterr().out == ""


def test_broken_off_it_leaves_no_worker_and_goes_on_elsewhere(room: Room, options: EngineOptions) -> None:
    seen: list[int] = []
    workers: set[int] = set()

    def stop(done: int, total: int) -> None:
        seen.append(done)
        workers.update(descendants())
        if len(seen) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        room("a.sqlite", options, progress=stop)
    assert len(workers) >= 2 or options.name == "ray"
    assert gone(workers)
    assert room("a.sqlite", EngineOptions()) == room("whole.sqlite", EngineOptions())


def ran(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Python with these words, in a folder; it must end well."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("engine", "drivers", "workers"),
    [
        pytest.param("local", 1, 2, marks=pytest.mark.slow),
        pytest.param("ray", 1, 2, marks=pytest.mark.slow),
        pytest.param("local", 6, 10, marks=pytest.mark.validate),
        pytest.param("ray", 2, 5, marks=pytest.mark.validate),
    ],
)
def test_killed_at_random_moments_nothing_is_lost_or_twice(engine: str, drivers: int, workers: int) -> None:
    words = ["benchmarks/kill_trials.py", "--engine", engine, "--drivers", str(drivers), "--workers", str(workers)]
    last = ran(words, ROOT).stdout.splitlines()[-1]
    assert last.startswith(f"{engine}: {drivers} drivers and {workers} workers killed")
    assert last.endswith("all as undisturbed")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_machine_that_dies_takes_no_answer_with_it() -> None:
    words = ["benchmarks/kill_trials.py", "--engine", "ray", "--machines", "1", "--drivers", "0", "--workers", "0"]
    found = ran(words, ROOT).stdout.splitlines()
    assert found[0].startswith("machine 1: ")
    assert found[-1].endswith("1 machines killed in 1 sittings of 360 answers; all as undisturbed")


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--workers", "2"], ["--engine", "ray", "--workers", "2"]])
def test_the_command_is_quiet_and_ends_with_its_workers(
    words: list[str], exam: Exam, chunks: list[Chunk], tmp_path: Path
) -> None:
    from examcore import write_exam

    write_exam(tmp_path / "exam.jsonl", exam)
    (tmp_path / "grid.yaml").write_text(
        "llms: ['python:tests.ragexam.examinees:careful']\nretrievers: [closed-book, oracle]\nshots: [0]\n"
    )
    command = ["sit", "exam.jsonl", "--pipelines", "grid.yaml", "--json", "--out"]
    alone = ragexam_here(*command, "alone", folder=tmp_path)
    shared = ran(["-m", "ragexam", *command, "shared", *words], tmp_path)
    for done in (alone, shared):
        assert all(line.startswith(("answers", "retrieval", "[")) for line in done.stderr.splitlines()), done.stderr
    assert json.loads(alone.stdout) == json.loads(shared.stdout)


def test_no_cluster_at_the_address_is_said_in_one_line() -> None:
    pytest.importorskip("ray")
    code = (
        "import sys\nfrom rag.engines._ray_workers import join_cluster\n"
        "try:\n    with join_cluster(sys.argv[1], 1, None): pass\nexcept OSError as error: print(error)"
    )
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = ran(["-c", code, address], ROOT)
    assert done.stdout.startswith(f"--address {address}: no Ray cluster there ("), done.stderr
    assert done.stdout.count("\n") == 1
