"""Seconds, memory and accuracy of `irt.fit(method="map")` by size: `python benchmarks/map_speed.py [SIZE ...]`.

A size is written `1000x100:2pl`. Each is fitted in a process of its own: once to load compiled code, then three times
(once above a million cells), the fastest is shown, with the processor time beside it since machines are shared. `peak`
is the process's largest resident memory including the table, and the time of `.items` and `.abilities` comes last.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

import irt

SIZES = ("63x200:2pl", "100x500:2pl", "1000x100:2pl", "100x500:3pl", "1000x100:3pl", "400x5000:2pl", "5000x10000:2pl")
LARGE = 1_000_000


def simulated(students: int, items: int, model: str) -> tuple[irt.ResponseMatrix, dict[str, np.ndarray]]:
    """The table of `irt.simulate`, drawn a few students at a time where it is large."""
    if students * items <= 4 * LARGE:
        sim = irt.simulate(students, items, model, seed=0)
        return sim.data, {name: getattr(sim.truth, name) for name in ("a", "b", "theta")}
    rng = np.random.default_rng(0)
    theta, a = rng.standard_normal(students), np.exp(0.3 * rng.standard_normal(items))
    b, scores = rng.standard_normal(items), np.empty((students, items))
    theta -= theta.mean()
    for start in range(0, students, 100):
        rows = slice(start, start + 100)
        scores[rows] = rng.random((len(theta[rows]), items)) < irt.kernels.probability(theta[rows, None], a, b)
    names = tuple(map(str, range(students))), tuple(map(str, range(items)))
    return irt.ResponseMatrix(scores, *names), {"a": a, "b": b, "theta": theta}


def measure(size: str) -> str:
    shape, model = size.split(":")
    students, items = map(int, shape.split("x"))
    data, truth = simulated(students, items, model)
    irt.fit(irt.simulate(20, 20, model, seed=0).data, model, method="map")
    wall, processor = [], []
    for _ in range(1 if students * items > LARGE else 3):
        begin = time.perf_counter(), time.process_time()
        fit = irt.fit(data, model, method="map")
        wall.append(time.perf_counter() - begin[0])
        processor.append(time.process_time() - begin[1])
    begin = time.perf_counter(), time.process_time()
    assert not fit.items.isna().to_numpy().any()
    assert np.isfinite(fit.abilities["theta_sd"]).all()
    tables = time.process_time() - begin[1]
    error = "/".join(f"{np.sqrt(np.mean((fit.point[name] - truth[name]) ** 2)):.3f}" for name in ("a", "b", "theta"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    settled = "" if fit.converged else " NOT CONVERGED"
    return (
        f"{size:16s} {min(wall):8.2f} {min(processor):10.2f} {error:>18s} {fit.diagnostics['rounds']!s:>6} "
        f"{peak:7.2f} {tables:9.2f}{settled}"
    )


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        print(measure(sys.argv[2]))
    else:
        head = f"{'size':16s} {'wall s':>8} {'process s':>10} {'rmse a/b/theta':>18} {'rounds':>6} {'peak GB':>7}"
        print(f"{head} tables s", flush=True)
        for size in sys.argv[1:] or SIZES:
            subprocess.run([sys.executable, __file__, "--one", size], check=True)
