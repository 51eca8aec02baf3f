"""Seconds and errors of marginal maximum likelihood, of other methods, and of peers, on the same simulated tables.

    OMP_NUM_THREADS=1 python benchmarks/mml_speed.py [--repeats 3] [--sizes 1000x100,100x500] [--models 2pl,3pl]
        [--tools climb,mml,mml-priors,map,svi,girth,py-irt] [--peers-python PYTHON]

Prints one line per table and tool: wall and processor seconds, the least of the repeats (peers run once), and root mean
squared errors of a, b and theta. `climb` is estimation alone; `mml`, `map` and `svi` add standard errors, draws and all
that `irt.fit` returns. Compilation is left out of the wall clock; of processor seconds, too, where it is cached (for
`svi` by JAX_COMPILATION_CACHE_DIR=DIR and two repeats or more). `3pl` always takes priors, `2pl` in `mml-priors`, `map`
and `svi`. girth and py-irt run in the interpreter `--peers-python` (default the variable PEERS_PYTHON), py-irt for
`--epochs` with hierarchical priors; a peer that is missing, or whose run passes the limit, is skipped with a note.
`--save DIR` writes the tables for `mml_speed.R`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import peers

import irt
from irt.design import build_design
from irt.fitting import em, marginal
from irt.model import Priors, build_problem

SEED = 1
PEERS = ("girth", "py-irt")
SMALL = (30, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", default="63x200,1000x100,100x500,400x5000")
    parser.add_argument("--models", default="2pl,3pl")
    parser.add_argument("--tools", default="climb,mml,mml-priors,girth,py-irt")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a peer may take")
    parser.add_argument("--peers-python", default=peers.PYTHON, help="interpreter that has girth and py-irt")
    parser.add_argument("--epochs", type=int, default=2000, help="of py-irt (default 2000, its own)")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    print(f"{'table':>10} {'model':>5} {'tool':>10} {'wall s':>9} {'process s':>9}   rmse a / b / theta")
    for size in options.sizes.split(","):
        students, items = (int(part) for part in size.split("x"))
        for model in options.models.split(","):
            sim = irt.simulate(students, items, model, seed=SEED)
            if options.save:
                save(sim, options.save / f"{model}_{size}")
            for tool, seconds, found in measured(options, sim, model):
                row(size, model, tool, seconds, found, sim)


def measured(options: argparse.Namespace, sim: irt.Simulation, model: str) -> Any:
    """Tool, seconds and estimates (or why there are none): repeats interleaved, then each peer once."""
    tools = options.tools.split(",")
    ours = [tool for tool in tools if tool not in PEERS]
    best: dict[str, list[float]] = {}
    found: dict[str, Any] = {}
    for repeat in range(options.repeats):
        for tool in ours:
            run = RUNS[tool]
            if repeat == 0:
                run(irt.simulate(*SMALL, model, seed=SEED), model)
            *seconds, found[tool] = timed(run, sim, model)
            best[tool] = [min(pair) for pair in zip(best.get(tool, seconds), seconds, strict=True)]
    yield from ((tool, best[tool], found[tool]) for tool in ours)
    for tool in tools:
        if tool in PEERS:
            given = peers.run(options.peers_python, tool, sim.data.scores, model, options.limit, options.epochs)
            if isinstance(given, str):
                yield tool, [], given
            else:
                seconds = [float(given["seconds"]), float(given["processor"])]
                yield tool, seconds, peers.aligned(given) if tool == "py-irt" else given


def climb(sim: irt.Simulation, model: str) -> Any:
    """The maximum alone, with the priors of `irt.Priors` for 3pl."""
    problem = build_problem(sim.data, build_design(sim.data), model, 4, Priors())
    table, start = em.compress(problem.successes, problem.attempts), marginal.starting_point(problem)
    on = np.full(start.shape, model == "3pl") | marginal._constant(problem)
    penalty = marginal.penalty_of(problem, on, 1.0, model == "3pl")
    top = em.climb(table, start, marginal.SHARED[model], penalty)
    found = marginal.to_items(top.state.x)
    return {"a": found.a, "b": found.b, "theta": top.state.mean[table.row_of]}


def fitted(method: str, given: bool = False) -> Callable[[irt.Simulation, str], Any]:
    """Everything `irt.fit` gives, by a method; with `given` priors for 2pl, too, where `mml` has none by itself."""

    def run(sim: irt.Simulation, model: str) -> Any:
        return irt.fit(sim.data, model, method, priors=Priors() if given or model == "3pl" else None)

    return run


RUNS: dict[str, Callable[[irt.Simulation, str], Any]] = {
    "climb": climb,
    "mml-priors": fitted("mml", True),
    **{method: fitted(method) for method in ("mml", "map", "svi", "laplace")},
}


def timed(run: Callable[..., Any], sim: irt.Simulation, model: str) -> tuple[float, float, Any]:
    """Wall and processor seconds without compilation, and the point estimates."""
    begin = time.perf_counter(), time.process_time()
    result = run(sim, model)
    wall, processor = time.perf_counter() - begin[0], time.process_time() - begin[1]
    if not isinstance(result, irt.Fit):
        return wall, processor, result
    if not result.converged:
        print(f"{result.method} did not converge: {' '.join(result.warnings)}")
    return wall - result.seconds["compile"], processor, result.point


def row(size: str, model: str, tool: str, seconds: list[float], point: Any, sim: irt.Simulation) -> None:
    start = f"{size:>10} {model:>5} {tool:>10}"
    if isinstance(point, str):
        print(f"{start}   {point}", flush=True)
        return
    errors = [np.sqrt(np.mean((point[name] - getattr(sim.truth, name)) ** 2)) for name in ("a", "b", "theta")]
    print(f"{start} {seconds[0]:9.3f} {seconds[1]:9.3f}   {' / '.join(f'{error:.3f}' for error in errors)}", flush=True)


def save(sim: irt.Simulation, stem: Path) -> None:
    """Answers, and the true items (a, b) and abilities."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(f"{stem}.csv", sim.data.scores, fmt="%d", delimiter=",")
    np.savetxt(f"{stem}_items.txt", np.column_stack([sim.truth.a, sim.truth.b]))
    np.savetxt(f"{stem}_theta.txt", sim.truth.theta)


if __name__ == "__main__":
    main()
