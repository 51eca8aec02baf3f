"""Nanoseconds a cell for one log-likelihood with its gradient, one thread: a C floor, the fused pass, and jax.

`python benchmarks/kernel_speed.py [STUDENTS ITEMS]`. The floor (`kernel_floor.c`, two-parameter model, no care of
extreme values) is compiled in the same run with gcc. jax differentiates the log-likelihood as `irt.kernels` writes it.
Each number is the minimum over repetitions in processor time, in brackets its ratio to the floor.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from irt import kernels
from irt.fitting import PackedAnswers
from irt.fitting import likelihood_passes as fused
from irt.kernels import ItemParameters

FLAGS = ("-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-shared", "-fPIC", "-lm")


def fastest(call: Callable[[], object], cells: int, seconds: float = 3.0) -> float:
    """Nanoseconds of processor time a cell, the best of as many calls as fit in `seconds`."""
    call()
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.process_time_ns()
        call()
        best = min(best, (time.process_time_ns() - begin) / cells)
    return float(best)


def floor(answers: PackedAnswers, theta: np.ndarray, items: ItemParameters, folder: str) -> Callable[[], float]:
    library = Path(folder) / "floor.so"
    source = Path(__file__).with_name("kernel_floor.c")
    subprocess.run(["gcc", str(source), *FLAGS, "-o", str(library)], check=True)
    plain, out = ctypes.CDLL(str(library)).plain, [np.empty(len(theta)), np.empty(len(items.a)), np.empty(len(items.a))]
    plain.restype = ctypes.c_double
    assert answers.codes is not None
    given, found = (
        [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
        for arrays in ((answers.codes, theta, items.a, items.b), out)
    )
    return lambda: float(plain(*given, len(theta), len(items.a), *found))


def naive(k: np.ndarray, n: np.ndarray, theta: np.ndarray, items: ItemParameters, model: str) -> Callable[[], float]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    k, n = jnp.asarray(k), jnp.asarray(n)

    def total(theta: object, a: object, b: object, c: object) -> object:
        return kernels.log_likelihood(k, n, theta, a, b, 0.0 if model == "2pl" else c).sum()

    arguments = tuple(jnp.asarray(values) for values in (theta, items.a, items.b, items.c))
    both = jax.jit(jax.value_and_grad(total, argnums=(0, 1, 2) if model == "2pl" else (0, 1, 2, 3)))
    return lambda: float(jax.block_until_ready(both(*arguments))[0])


def row(model: str, students: int, count: int, lowest: float | None) -> list[float]:
    """The floor (measured for 2pl, else the one given) and the times of one model, once all forms agree."""
    rng = np.random.default_rng(0)
    theta, a, b = rng.standard_normal(students), np.exp(0.3 * rng.standard_normal(count)), rng.standard_normal(count)
    c = np.zeros(count) if model == "2pl" else rng.uniform(0.1, 0.3, count)
    items, cells = ItemParameters(a, b, c, np.ones(count)), students * count
    right = rng.random((students, count)) < kernels.probability(theta[:, None], *items)
    answers = PackedAnswers(np.where(right, 1, -1).astype(np.int8))
    gradient = partial(fused.gradient, answers, theta, items)
    jax_form = naive(right.astype(float), np.ones(right.shape), theta, items, model)
    np.testing.assert_allclose(jax_form(), gradient().value.sum(), rtol=1e-10)
    if lowest is None:
        with tempfile.TemporaryDirectory() as folder:
            bottom = floor(answers, theta, items, folder)
            np.testing.assert_allclose(bottom(), gradient().value.sum(), rtol=1e-10)
            lowest = fastest(bottom, cells)
    curvature = partial(fused.curvature, answers, theta, items, np.float32)
    return [lowest, *(fastest(call, cells) for call in (gradient, curvature, jax_form))]


def counts_row(students: int, count: int) -> str:
    rng = np.random.default_rng(0)
    right = rng.binomial(3, 0.5, (students, count)).astype(np.int32)
    answers, items = (
        PackedAnswers(None, right, 3 - right),
        ItemParameters(*np.full((4, count), [[1.0], [0.0], [0.2], [1.0]])),
    )
    given = answers, rng.standard_normal(students), items
    times = [fastest(partial(call, *given), right.size) for call in (fused.gradient, fused.curvature)]
    return f"3pl with 3 trials a cell: fused {times[0]:.2f}, and curvature {times[1]:.2f}"


def main(students: int = 400, count: int = 5000) -> None:
    os.environ |= {"OMP_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    print(f"{students} x {count}, double precision, one thread; ns a cell (times the floor)")
    print(f"{'':5s} {'C floor':>8} {'fused':>15} {'and curvature':>15} {'jax':>15}")
    lowest = None
    for model in ("2pl", "3pl"):
        lowest, *times = row(model, students, count, lowest)
        shown = " ".join(f"{each:7.2f} ({each / lowest:5.1f})" for each in times)
        print(f"{model:5s} {lowest:8.2f} {shown}", flush=True)
    print(counts_row(students, count))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
