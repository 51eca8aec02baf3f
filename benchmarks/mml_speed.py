"""Seconds of marginal maximum likelihood, here and in girth, on the same simulated tables.

    OMP_NUM_THREADS=1 python benchmarks/mml_speed.py [--repeats 3] [--sizes 1000x100,100x500] [--models 2pl,3pl]

Prints one line per table and tool: the fastest of the repeats, and root mean squared errors of a, b and theta. `climb`
is estimation alone; `fit` adds standard errors, plausible values and all that `irt.fit` returns. A peer that is not
installed, or whose run passes the limit, is skipped with a note. `--save DIR` writes the tables for `mml_speed.R`.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import irt
from irt.design import build_design
from irt.fitting import em, marginal
from irt.model import Priors, build_problem

SEED = 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", default="1000x100,100x500,400x5000")
    parser.add_argument("--models", default="2pl,3pl")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a peer may take")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    print(f"{'table':>12} {'model':>5} {'tool':>12} {'seconds':>9}   rmse a / b / theta")
    for size in options.sizes.split(","):
        students, items = (int(part) for part in size.split("x"))
        for model in options.models.split(","):
            sim = irt.simulate(students, items, model, seed=SEED)
            if options.save:
                save(sim, options.save / f"{model}_{size}")
            for tool, run in (("climb", climb), ("fit", fit)):
                row(size, model, tool, *fastest(run, sim, model, options.repeats), sim)
            peer(size, model, sim, options.limit)


def climb(sim: irt.Simulation, model: str) -> Any:
    """The maximum alone, with the priors of `irt.Priors` for 3pl."""
    problem = build_problem(sim.data, build_design(sim.data), model, 4, Priors())
    table, start = em.compress(problem.successes, problem.attempts), marginal.starting_point(problem)
    on = np.full(start.shape, model == "3pl") | marginal._constant(problem)
    penalty = marginal.penalty_of(problem, on, 1.0, model == "3pl")
    top = em.climb(table, start, marginal.SHARED[model], penalty)
    found = marginal.to_items(top.state.x)
    return {"a": found.a, "b": found.b, "theta": top.state.mean[table.row_of]}


def fit(sim: irt.Simulation, model: str) -> Any:
    """Everything `irt.fit` gives."""
    return irt.fit(sim.data, model, "mml", priors=Priors() if model == "3pl" else None).point


def girth(scores: Any, model: str) -> Any:
    """girth's marginal maximum likelihood and EAP."""
    import girth as package

    right = scores.T.astype(int)
    found = {"2pl": package.twopl_mml, "3pl": package.threepl_mml}[model](right)
    a, b = found["Discrimination"], found["Difficulty"]
    c = found.get("Guessing", np.zeros_like(a))
    theta = package.ability_3pl_eap(right, b, a, c) if model == "3pl" else package.ability_eap(right, b, a)
    return {"a": a, "b": b, "theta": theta}


def fastest(run: Callable[..., Any], sim: irt.Simulation, model: str, repeats: int) -> tuple[float, Any]:
    best, result = np.inf, None
    for _ in range(repeats):
        begin = time.perf_counter()
        result = run(sim, model)
        best = min(best, time.perf_counter() - begin)
    return best, result


def peer(size: str, model: str, sim: irt.Simulation, limit: float) -> None:
    """girth in a process of its own, so that it can be stopped."""
    if importlib.util.find_spec("girth") is None:
        print(f"{size:>12} {model:>5} {'girth':>12}   not installed")
        return
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    process = context.Process(target=_timed, args=(far, sim.data.scores, model))
    process.start()
    far.close()
    if near.poll(limit):
        seconds, result = near.recv()
        if isinstance(result, str):
            print(f"{size:>12} {model:>5} {'girth':>12}   failed: {result}")
        else:
            row(size, model, "girth", seconds, result, sim)
    else:
        print(f"{size:>12} {model:>5} {'girth':>12}   more than {limit:g} s")
        process.terminate()
    process.join()


def _timed(pipe: Any, scores: Any, model: str) -> None:
    begin = time.perf_counter()
    try:
        result = girth(scores, model)
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    pipe.send((time.perf_counter() - begin, result))


def row(size: str, model: str, tool: str, seconds: float, point: Any, sim: irt.Simulation) -> None:
    errors = [np.sqrt(np.mean((point[name] - getattr(sim.truth, name)) ** 2)) for name in ("a", "b", "theta")]
    print(
        f"{size:>12} {model:>5} {tool:>12} {seconds:9.3f}   " + " / ".join(f"{error:.3f}" for error in errors),
        flush=True,
    )


def save(sim: irt.Simulation, stem: Path) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(f"{stem}.csv", sim.data.scores, fmt="%d", delimiter=",")


if __name__ == "__main__":
    main()
