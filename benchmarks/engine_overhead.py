"""What an engine costs: one exam sat by one process, by two, and by two on Ray, with the same number of threads in all.

`python benchmarks/engine_overhead.py --rounds 3` lets SmolLM2-135M sit an exam made by rule from the Python reference
(the missing word of a sentence), the engines taking turns. Seconds are those from the first prompt to the last answer,
without loading: by the clock, and of processors, all processes of the engine taken together.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from pydoc_data.topics import topics

import psutil

from examcore import Chunk, Exam, Question
from rag import AnswerStore, Sitting, build_retriever, grid_of, load_model, sit
from rag.engines import EngineOptions, open_engine

ROOT = Path(__file__).parent.parent
THREADS = 2
ENGINES = {
    "one process": EngineOptions(),
    "processes": EngineOptions(workers=THREADS),
    "ray": EngineOptions("ray", workers=THREADS),
}


def exam_of(count: int, seed: int = 0) -> tuple[Exam, list[Question], list[Chunk]]:
    """Questions for the longest word of a sentence, the pool of examples, and the passages."""
    lottery = random.Random(seed)
    asked, chunks = [], []
    for name, text in sorted(topics.items()):
        words = sorted(set(re.findall(r"[a-z]{6,12}", text)))
        sentences = re.findall(r"[A-Z][^.\n]{60,160}\.", text)
        if len(words) < 20 or not sentences:
            continue
        stem = sentences[0]
        key = max(re.findall(r"[A-Za-z]+", stem), key=len)
        choices = (key, *lottery.sample([word for word in words if word != key], 3))
        chunks.append(Chunk(f"c-{name}", name, text[:1000], 0, 1000, name))
        gap = stem.replace(key, "___", 1)
        asked.append(Question(f"q-{name}", f"Which word is missing: {gap}", choices, 0, name, f"c-{name}"))
    return Exam(tuple(asked[:count])), asked[count : count + 2], chunks


def measure(name: str, count: int) -> dict[str, float]:
    """One sitting; seconds by the clock and of processors."""
    exam, pool, chunks = exam_of(count)
    kinds = ("closed-book", "oracle")
    grid = grid_of({"llms": ["small"], "retrievers": list(kinds), "shots": [0, 2]}).pipelines
    marks: list[tuple[float, float]] = []

    def mark(done: int, total: int) -> None:
        if done in (0, total):
            marks.append((time.perf_counter(), spent()))

    with (
        tempfile.TemporaryDirectory() as folder,
        AnswerStore(Path(folder) / "a.sqlite") as store,
        open_engine(ENGINES[name]) as engine,
    ):
        retrievers = {kind: build_retriever(kind, chunks) for kind in kinds}
        models = {"small": lambda: load_model("embedded:smollm2-135m")}
        sit(Sitting(exam, grid, chunks, models, retrievers, pool), store, progress=mark, engine=engine)
        chosen = [one.chosen for one in store.answers()]
    (begun, before), (ended, after) = marks[0], marks[-1]
    return {"clock": ended - begun, "processors": after - before, "answers": len(chosen), "chosen": hash(tuple(chosen))}


def spent() -> float:
    """Seconds of processor time of this process and all it has begun, those that have ended left out."""
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(times.user + times.system for times in (one.cpu_times() for one in family if one.is_running()))


def run(name: str, count: int) -> dict[str, float]:
    environment = {**os.environ, "OMP_NUM_THREADS": str(THREADS), "OMP_WAIT_POLICY": "passive", "PYTHONPATH": str(ROOT)}
    words = [sys.executable, __file__, "--one", name, "--questions", str(count)]
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=24)
    parser.add_argument(
        "--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES), help="the first is the base"
    )
    parser.add_argument("--one", choices=list(ENGINES))
    words = parser.parse_args()
    if words.one:
        print(json.dumps(measure(words.one, words.questions)))
        return
    found: dict[str, list[dict[str, float]]] = {name: [] for name in words.engines}
    for number in range(words.rounds):
        for name in words.engines:
            found[name].append(run(name, words.questions))
            print(number, name, found[name][-1], file=sys.stderr, flush=True)
    assert len({one["chosen"] for each in found.values() for one in each}) == 1, "engines choose differently"
    base = found[words.engines[0]]
    for name, each in found.items():
        for kind in ("clock", "processors"):
            least = min(one[kind] for one in each)
            ratio = least / min(one[kind] for one in base)
            print(f"{name:<12} {kind:<11} least {least:7.1f} s   against {words.engines[0]} {ratio:.3f}")


if __name__ == "__main__":
    main()
