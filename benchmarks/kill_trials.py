"""Kills drivers, workers and machines at random moments, and compares what is stored with an undisturbed sitting.

`python benchmarks/kill_trials.py --engine ray --drivers 20 --workers 20` prints what came through each kill and ends
with status 1 when an answer is lost, given twice or another one, or when a worker outlives its driver. The examinee
takes its time and answers by the hash of what it reads. `--writers 20` kills as many writers of exams, too, and tells
how many prompts each will ask again. With Ray the drivers join a cluster that this script begins; `--machines 10` gives
it a second machine (a Ray node of its own on this one) and takes it away with a worker on it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import psutil

from exam_gen import WritingSettings, write_screened
from examcore import Chunk, Exam, Likelihoods, Prompt, Question, ReplyStore
from rag import Answer, AnswerStore, Sitting, build_retriever, grid_of, sit
from rag.engines import STORE_BYTES, EngineOptions, open_engine

ROOT = Path(__file__).parent.parent
QUESTIONS = 40
SECONDS = 0.02
"""What one prompt takes."""
EARLY = 0.25
"""The share of drivers that are killed while they begin."""
APART = 2.0
"""Seconds between deaths of workers, at most: three in turn before any says a word would count as the work's fault."""
PART = 20
"""Prompts of a transaction, at most."""
PATIENCE = 30.0
"""Seconds until a worker has to be gone after its driver."""


class Slow:
    """An examinee that answers by lot, always alike."""

    name, context_tokens = "slow", 4096

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt], **_: object) -> list[str]:
        return ["" for _ in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        time.sleep(self._seconds)
        lots = [hashlib.sha256(f"{prompt}|{one}".encode()).digest()[:4] for one in continuations]
        return Likelihoods(tuple(-int.from_bytes(one) / 2**28 for one in lots), (1,) * len(lots), 1)


PARTS = ("boiler", "condenser", "governor", "flywheel", "injector", "manifold", "regulator", "separator")
PLACES = ("Lisbon", "Trieste", "Bergen", "Odessa", "Cardiff", "Rotterdam", "Marseille", "Gdansk")
SYLLABLES = ("ba", "do", "fi", "gu", "ke", "lo", "mi", "na")


class Author(Slow):
    """Asks for the place or the degrees of a sentence and finds them again.

    A file has a line for each of its calls, with a dot for each prompt.
    """

    name = "author"

    def __init__(self, seconds: float, told: Path) -> None:
        super().__init__(seconds)
        self._told = told

    def generate(self, prompts: Sequence[Prompt], **_: object) -> list[str]:
        self._tell("\n")
        return [self._reply(prompt) for prompt in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        self._tell("\n")
        self._spend()
        proposed = re.findall(r"Proposed answer: (.*)", prompt.user)
        if proposed:
            return Likelihoods((-0.1, -5.0) if proposed[-1] in _near(prompt) else (-5.0, -0.1), (1, 1), 1)
        sums = tuple(-0.2 if one.strip() in _near(prompt) else -8.0 - len(one) / 50 for one in continuations)
        return Likelihoods(sums, tuple(len(one.split()) for one in continuations), 1)

    def _reply(self, prompt: Prompt) -> str:
        self._spend()
        if "Does the text answer this question?" in prompt.user:
            return " Yes"
        if "A person searched for something" in prompt.user:
            return f" what do people ask of {prompt.user.splitlines()[0]}?"
        if prompt.reply == "In plain words:":
            return f" say, {prompt.user.rsplit('Exam question: ', 1)[1]}"
        if "Right answer: " in prompt.user:
            return "; ".join(_key(prompt.user.rsplit("Right answer: ", 1)[1])[::-1].replace(" ", one) for one in "xyz")
        if '"""' in prompt.user:
            return _key(_near(prompt))
        if "The gap: " in prompt.user:
            return " a statement and no question."
        sentence = prompt.user.rsplit("Sentence: ", 1)[1].rstrip(".")
        return f" What answer goes with: {sentence.replace(_key(sentence), 'what')}?\nAnswer: {_key(sentence)}"

    def _spend(self) -> None:
        time.sleep(self._seconds)
        self._tell(".")

    def _tell(self, mark: str) -> None:
        with self._told.open("a") as file:
            file.write(mark)


def _key(text: str) -> str:
    found = re.search(r"\d+ degrees|(?<=company in )\w+|^\w+$", text)
    return found.group() if found else ""


def _near(prompt: Prompt) -> str:
    """The sentence of the prompt's passage that shares the most words with its question."""
    passage = prompt.user.split('"""')[1] if '"""' in prompt.user else ""
    asked = set(re.findall(r"\w+", re.findall(r"Question: (.*)", prompt.user)[-1]))
    return max(passage.split(". "), key=lambda one: len(asked & set(re.findall(r"\w+", one))))


def engines() -> list[Chunk]:
    """Passages with two facts each, no two of which are worded alike."""
    chunks = []
    for number in range(3 * QUESTIONS):
        part, place = PARTS[number % 8], PLACES[(number * 3 + number // 8) % 8]
        places = [number * 6 + at for at in range(6)]
        own = [SYLLABLES[at % 8] + SYLLABLES[at // 8 % 8] + SYLLABLES[at // 64 % 8] + "rn" for at in places]
        text = (
            f"The {part} of {own[0]} and {own[1]} was tested by a {own[2]} company in {place} with great care. "
            f"During a {own[3]} trial one {own[4]} {part} reached a {own[5]} pressure of {130 + 7 * number} degrees.\n"
        )
        chunks.append(Chunk(f"d{number}#0", f"d{number}", text, 0, len(text), f"Engine {number}", part))
    return chunks


def write(path: Path, seconds: float = SECONDS) -> str:
    """An exam, from where its replies stand to its end, and all that was dropped, in words."""
    told = path.with_suffix(".told")
    with ReplyStore(path) as replies:
        settings = WritingSettings(questions=QUESTIONS)
        written = write_screened(engines(), Author(seconds, told), settings, seed=0, replies=replies)
    assert written.questions, "no question passed"
    return repr((written.questions, written.dropped))


def answer(path: Path, options: EngineOptions, seconds: float = SECONDS) -> list[Answer]:
    """One sitting, from where it stands to its end."""
    chunks = [Chunk(f"c{n}", "d", f"Number {n} is followed by {n + 1}.", 0, 9) for n in range(QUESTIONS + 4)]
    asked = [
        Question(f"q{n}", f"What follows number {n}?", (str(n + 1), str(n), str(n + 2)), 0, "d", f"c{n}")
        for n in range(QUESTIONS + 4)
    ]
    kinds = ("closed-book", "oracle", "bm25")
    grid = grid_of({"llms": ["slow"], "retrievers": list(kinds), "shots": [0, 1, 2]}).pipelines
    exam, pool = Exam(tuple(asked[:QUESTIONS])), asked[QUESTIONS:]
    retrievers = {kind: build_retriever(kind, chunks) for kind in kinds}
    with AnswerStore(path) as store, open_engine(options) as engine:
        sit(Sitting(exam, grid, chunks, {"slow": lambda: Slow(seconds)}, retrievers, pool), store, engine=engine)
        return [replace(one, seconds=0.0) for one in store.answers()]


def stored(path: Path, table: str = "answers") -> int:
    """How many answers, or replies, are committed."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path, timeout=10)) as db:
        try:
            return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def start(path: Path, options: EngineOptions | None = None) -> subprocess.Popen[bytes]:
    """A process that sits, or without an engine writes."""
    words = [sys.executable, __file__, *(["--write", str(path)] if options is None else ["--sit", str(path)])]
    words += ["--engine", options.name] if options else []
    words += ["--address", options.address] if options and options.address else []
    return subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True)


def workers_of(driver: int, options: EngineOptions) -> list[psutil.Process]:
    """The processes at work for a driver; with Ray they belong to the cluster, which is of this process."""
    name = "ray::Replica" if options.name == "ray" else "rag.engines._replica"
    try:
        family = psutil.Process(None if options.name == "ray" else driver).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [one for one in family if name in command_of(one)]


def command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def await_more(path: Path, before: int, process: subprocess.Popen[bytes]) -> bool:
    """Wait for a further answer; False when the driver ended first."""
    while stored(path) <= before:
        if process.poll() is not None:
            return False
        time.sleep(0.01)
    return True


def kill_drivers(folder: Path, options: EngineOptions, kills: int, lottery: random.Random) -> Iterator[Path]:
    """Kill drivers while they begin or soon after their first answer; each sitting that is whole is yielded."""
    done, number = 0, 0
    while done < kills:
        path = folder / f"driver-{number}.sqlite"
        process = start(path, options)
        if lottery.random() < EARLY:
            time.sleep(lottery.uniform(0, 2))
        elif await_more(path, stored(path), process):
            time.sleep(lottery.uniform(0, 0.4))
        else:
            assert process.wait() == 0, "the driver failed"
            yield path
            number += 1
            continue
        workers = workers_of(process.pid, options)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        done += 1
        began = time.monotonic()
        _, alive = psutil.wait_procs(workers, timeout=PATIENCE)
        assert not alive, f"workers outlived their driver: {alive}"
        print(f"driver {done}: {stored(path)} stored, workers gone in {time.monotonic() - began:.1f} s", flush=True)
    yield from finished(path, options)


def kill_writers(folder: Path, kills: int, lottery: random.Random) -> Iterator[Path]:
    """Kill writers at any moment after their first reply; each exam that is whole is yielded."""
    done, number = 0, 0
    while done < kills:
        path = folder / f"writer-{number}.sqlite"
        told = path.with_suffix(".told")
        told.unlink(missing_ok=True)
        process = start(path)
        while not told.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(lottery.uniform(0, APART))
        if process.poll() is not None:
            assert process.returncode == 0, "the writer failed"
            yield path
            number += 1
            continue
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        done += 1
        kept, lost = stored(path, "replies"), len(told.read_text().rpartition("\n")[2])
        assert lost <= PART, f"{lost} prompts are asked again"
        print(f"writer {done}: {kept} replies stored, at most {lost} prompts to be asked again", flush=True)
    assert start(path).wait() == 0, "the writer failed"
    yield path


def kill_workers(folder: Path, options: EngineOptions, kills: int, lottery: random.Random) -> Iterator[Path]:
    """Kill one worker after the other, each some time after a further answer came."""
    done, number = 0, 0
    while done < kills:
        path = folder / f"worker-{number}.sqlite"
        process = start(path, options)
        while done < kills and await_more(path, stored(path), process):
            time.sleep(lottery.uniform(0, APART))
            workers = workers_of(process.pid, options)
            if workers:
                victim = lottery.choice(workers)
                victim.kill()
                done += 1
                print(f"worker {done}: {stored(path)} stored", flush=True)
        assert process.wait() == 0, "the driver failed"
        yield path
        number += 1


def kill_machines(folder: Path, kills: int, lottery: random.Random) -> Iterator[Path]:
    """Kill the machine that one of two workers is on, some time after an answer came; the other has room for one."""
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 1, "object_store_memory": STORE_BYTES}
    machines = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    options = EngineOptions("ray", workers=2, address=machines.address)
    try:
        for number in range(kills):
            path = folder / f"machine-{number}.sqlite"
            machine = machines.add_node(**size)
            process = start(path, options)
            assert await_more(path, stored(path), process), "the driver ended before its first answer"
            time.sleep(lottery.uniform(0, APART))
            machines.remove_node(machine, allow_graceful=False)
            print(f"machine {number + 1}: {stored(path)} stored", flush=True)
            assert process.wait() == 0, "the driver failed"
            yield path
    finally:
        machines.shutdown()


def finished(path: Path, options: EngineOptions) -> Iterator[Path]:
    """The sitting, taken to its end."""
    assert start(path, options).wait() == 0, "the driver failed"
    yield path


@contextmanager
def cluster(name: str) -> Iterator[EngineOptions]:
    """What drivers are told: with Ray, the address of a cluster of their own."""
    if name == "local":
        yield EngineOptions("local", workers=2)
        return
    import ray

    from rag.engines import join_cluster

    with join_cluster(None, 2, None):
        yield EngineOptions("ray", workers=2, address=ray.get_runtime_context().gcs_address)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="local", choices=["local", "ray"])
    parser.add_argument("--drivers", type=int, default=20)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--machines", type=int, default=0)
    parser.add_argument("--writers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sit", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--address")
    words = parser.parse_args()
    if words.sit:
        answer(words.sit, EngineOptions(words.engine, workers=2, address=words.address))
        return
    if words.write:
        write(words.write)
        return
    lottery = random.Random(words.seed)
    if words.writers:
        with tempfile.TemporaryDirectory() as name:
            exam = write(Path(name) / "whole.sqlite", seconds=0.0)
            written = list(kill_writers(Path(name), words.writers, lottery))
            for path in written:
                assert write(path, seconds=0.0) == exam, f"{path.name}: another exam"
        print(f"{words.writers} writers killed in {len(written)} exams; all as undisturbed", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = answer(folder / "whole.sqlite", EngineOptions(), seconds=0.0)
        paths = list(kill_machines(folder, words.machines, lottery)) if words.machines else []
        for kill, kills in ((kill_drivers, words.drivers), (kill_workers, words.workers)):
            if kills:
                with cluster(words.engine) as options:
                    paths += list(kill(folder, options, kills, lottery))
        for path in paths:
            assert answer(path, EngineOptions()) == whole, f"{path.name}: other answers"
    machines = f", {words.machines} machines" if words.machines else ""
    kinds = f"{words.drivers} drivers and {words.workers} workers{machines} killed"
    print(f"{words.engine}: {kinds} in {len(paths)} sittings of {len(whole)} answers; all as undisturbed")


if __name__ == "__main__":
    main()
