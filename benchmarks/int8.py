"""8-bit integers beside bfloat16 and float32: how fast a model reads and writes, and how near its numbers are.

    python benchmarks/int8.py RUN [--model embedded:qwen2.5-coder-1.5b] [--questions 28]

RUN is the folder of a run: its dropped and surviving questions are judged and answered with their passages. On a
processor without AVX-512, or as if there were none: ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from exam_gen import judgment_prompt, open_prompt
from examcore import Question, RunFolder, read_dropped, read_exam
from rag import load_model

SHAPES = ((1, 128), (28, 1), (4, 1))
"""Prompts and tokens of a pass: a prompt that is read, and replies that are written together."""


def questions_of(run: Path, count: int) -> list[Question]:
    """Questions whose key was judged, in a drawn order."""
    folder = RunFolder(run)
    dropped = [one.question for one in read_dropped(folder.dropped) if one.question is not None]
    found = [one for one in (*read_exam(folder.exam).questions, *dropped) if one.metadata.get("judgment") is not None]
    return random.Random(1).sample(found, min(count, len(found)))


def seconds(model: Any, rows: int, tokens: int) -> float:
    """The least seconds of a pass over so many rows of so many tokens each."""
    ids = torch.randint(5, 1000, (rows, tokens))
    times = []
    with torch.inference_mode():
        for _ in range(4):
            began = time.perf_counter()
            model(input_ids=ids, logits_to_keep=1)
            times.append(time.perf_counter() - began)
    return min(times)


def measured(name: str, dtype: str, asked: list[Question]) -> tuple[list[float], list[float], list[float], list[str]]:
    """Milliseconds a token by shape, leads of "Yes", log-likelihoods of the choices, greedy replies."""
    model: Any = load_model(name, dtype=dtype)
    speeds = [1000 * seconds(model._model, *shape) / (shape[0] * shape[1]) for shape in SHAPES]
    leads, likelihoods = [], []
    opened = [open_prompt(str(one.metadata["title"]), one.context, one.stem) for one in asked]
    for one, prompt in zip(asked, opened, strict=True):
        key = one.choices[one.key]
        yes, no = model.log_likelihoods(
            judgment_prompt(str(one.metadata["title"]), one.context, one.stem, key), (" Yes", " No")
        ).sums
        leads.append(yes - no)
        likelihoods += model.log_likelihoods(prompt, [f" {text}" for text in one.choices]).sums
    replies = model.generate(opened, max_tokens=16, stop=("\n",))
    del model
    gc.collect()
    return speeds, leads, likelihoods, replies


def main() -> None:
    """Print speeds of each type and differences from the first."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("run", type=Path)
    words.add_argument("--model", default="embedded:qwen2.5-coder-1.5b")
    words.add_argument("--questions", type=int, default=28)
    words.add_argument("--types", nargs="+", default=["float32", "bfloat16", "w8a8"])
    given = words.parse_args()
    asked = questions_of(given.run, given.questions)
    found = {dtype: measured(given.model, dtype, asked) for dtype in given.types}
    first = given.types[0]
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, {torch.get_num_threads()} threads")
    for dtype, (speeds, leads, likelihoods, replies) in found.items():
        cells = ", ".join(f"{rows} x {n}: {one:.1f}" for (rows, n), one in zip(SHAPES, speeds, strict=True))
        off = np.abs(np.array(likelihoods) - np.array(found[first][2]))
        lead = np.array(leads) - np.array(found[first][1])
        same = np.mean([one == other for one, other in zip(replies, found[first][3], strict=True)])
        print(f"{dtype}: ms a token {cells}; from {first}: log-likelihoods median {np.median(off):.3f}, ", end="")
        print(f"rms {np.sqrt(np.mean(off**2)):.3f}; leads rms {np.sqrt(np.mean(lead**2)):.3f}; replies {same:.0%} same")


if __name__ == "__main__":
    main()
