"""Seconds and errors of marginal maximum likelihood, of other methods, and of peers, on the same simulated tables.

    OMP_NUM_THREADS=1 python benchmarks/mml_speed.py [--seeds 0,1,2] [--repeats 3] [--sizes 1000x100,100x500]
        [--models 2pl,3pl] [--tools climb,mml,mml-priors,map,svi,girth,py-irt] [--peers-python PYTHON]

Prints one line per kind of table and tool: processor seconds, the least of the repeats (peers run once) and their mean
over the seeds, and root mean squared errors of a, b and theta, means over the seeds with their standard errors. For
each parameter and tool of ours there follows the difference to the best peer (the one of the least mean error), seed by
seed, as its mean with its standard error: negative where ours is better. `climb` is estimation alone; `mml`, `map` and
`svi` add standard errors, draws and all that `irt.fit` returns. Of `svi` compilation is left out where it is cached
(JAX_COMPILATION_CACHE_DIR=DIR and two repeats or more). `3pl` always takes priors, `2pl` in `mml-priors`, `map` and
`svi`. girth and py-irt run in the interpreter `--peers-python` (default the variable PEERS_PYTHON), py-irt for
`--epochs` with hierarchical priors, girth on the first `--girth-seeds` tables; a peer that is missing, or whose run
passes the limit, is skipped with a note. `--save DIR` writes the tables for `mml_speed.R`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import peers

import irt
from irt import Priors, fitting
from irt.fitting import build_design, build_problem

PEERS = ("girth", "py-irt")
NAMES = ("a", "b", "theta")
SMALL = (30, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", default="63x200,1000x100,100x500,400x5000")
    parser.add_argument("--models", default="2pl,3pl")
    parser.add_argument("--tools", default="climb,mml,mml-priors,girth,py-irt")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a peer may take")
    parser.add_argument("--peers-python", default=peers.PYTHON, help="interpreter that has girth and py-irt")
    parser.add_argument("--epochs", type=int, default=2000, help="of py-irt (default 2000, its own)")
    parser.add_argument("--girth-seeds", type=int, default=1, help="tables girth gets")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    print(f"{'table':>10} {'model':>5} {'tool':>10} {'tables':>6} {'process s':>9}   rmse a, b, theta")
    for size in options.sizes.split(","):
        students, items = (int(part) for part in size.split("x"))
        for model in options.models.split(","):
            found: dict[str, dict[int, Run]] = {}
            for number, seed in enumerate(seeds):
                sim = irt.simulate(students, items, model, seed=seed)
                if options.save:
                    save(sim, options.save / f"{model}_{size}_{seed}")
                for tool, run in measured(options, sim, model, number < options.girth_seeds):
                    if isinstance(run, str):
                        print(f"{size:>10} {model:>5} {tool:>10}   seed {seed}: {run}", flush=True)
                    else:
                        found.setdefault(tool, {})[seed] = run
            report(size, model, found)


class Run(NamedTuple):
    """Processor seconds, and root mean squared errors of a, b and theta."""

    seconds: float
    errors: Any


def measured(options: argparse.Namespace, sim: irt.Simulation, model: str, with_girth: bool) -> Any:
    """Tool and run (or why there is none): repeats interleaved, then each peer once."""
    tools = [tool for tool in options.tools.split(",") if with_girth or tool != "girth"]
    ours = [tool for tool in tools if tool not in PEERS]
    best: dict[str, float] = {}
    found: dict[str, Any] = {}
    for repeat in range(options.repeats):
        for tool in ours:
            run = RUNS[tool]
            if repeat == 0:
                run(irt.simulate(*SMALL, model, seed=1), model)
            seconds, found[tool] = timed(run, sim, model)
            best[tool] = min(best.get(tool, seconds), seconds)
    yield from ((tool, Run(best[tool], errors(found[tool], sim))) for tool in ours)
    for tool in tools:
        if tool in PEERS:
            given = peers.run(options.peers_python, tool, sim.data.scores, model, options.limit, options.epochs)
            if isinstance(given, str):
                yield tool, given
            else:
                point = peers.aligned(given) if tool == "py-irt" else given
                yield tool, Run(float(given["processor"]), errors(point, sim))


def errors(point: Any, sim: irt.Simulation) -> Any:
    return np.array([np.sqrt(np.mean((point[name] - getattr(sim.truth, name)) ** 2)) for name in NAMES])


def report(size: str, model: str, found: dict[str, dict[int, Run]]) -> None:
    """A line per tool, and one per tool of ours with its differences to the best peer of each parameter."""
    for tool, runs in found.items():
        seconds = np.mean([run.seconds for run in runs.values()])
        said = spread([run.errors for run in runs.values()])
        print(f"{size:>10} {model:>5} {tool:>10} {len(runs):6d} {seconds:9.3f}   {said}", flush=True)
    for tool in (tool for tool in found if tool not in PEERS):
        parts = [against(found, tool, place, name) for place, name in enumerate(NAMES)]
        if all(parts):
            print(f"{size:>10} {model:>5} {tool:>10}   less the best peer: {', '.join(parts)}", flush=True)


def against(found: dict[str, dict[int, Run]], tool: str, place: int, name: str) -> str:
    """Mean and standard error of a tool's error less that of the best peer, on the same tables.

    The best is the one of the least mean error, of those that fitted the most tables.
    """
    rivals = {peer: found[peer] for peer in PEERS if peer in found}
    if not rivals:
        return ""
    most = max(len(runs) for runs in rivals.values())
    means = {
        peer: np.mean([run.errors[place] for run in runs.values()])
        for peer, runs in rivals.items()
        if len(runs) == most
    }
    best = min(means, key=lambda peer: float(means[peer]))
    gaps = [found[tool][seed].errors[place] - run.errors[place] for seed, run in rivals[best].items()]
    return f"{name} {spread([np.array([gap]) for gap in gaps], sign='+')} ({best})"


def spread(rows: list[Any], sign: str = "") -> str:
    """Means of the columns with their standard errors."""
    means = np.mean(rows, axis=0)
    if len(rows) == 1:
        return " / ".join(f"{mean:{sign}.3f}" for mean in means)
    own = np.std(rows, axis=0, ddof=1) / np.sqrt(len(rows))
    return " / ".join(f"{mean:{sign}.3f} ± {error:.3f}" for mean, error in zip(means, own, strict=True))


def climb(sim: irt.Simulation, model: str) -> Any:
    """The maximum alone, of 3pl with the priors of `irt.Priors` on single items."""
    problem = build_problem(sim.data, build_design(sim.data), model, 4, Priors())
    table, start = fitting.compress(problem.successes, problem.attempts), fitting.starting_point(problem)
    on = np.full(start.shape, model == "3pl") | fitting.constant(problem)
    top = fitting.climb(table, start, fitting.SHARED[model], fitting.penalty_of(problem, on, 1.0))
    found = fitting.to_items(top.state.x)
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


def timed(run: Callable[..., Any], sim: irt.Simulation, model: str) -> tuple[float, Any]:
    """Processor seconds, and the point estimates."""
    begin = time.process_time()
    result = run(sim, model)
    processor = time.process_time() - begin
    if not isinstance(result, irt.Fit):
        return processor, result
    if not result.converged:
        print(f"{result.method} did not converge: {' '.join(result.warnings)}")
    return processor, result.point


def save(sim: irt.Simulation, stem: Path) -> None:
    """Answers, and the true items (a, b) and abilities."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(f"{stem}.csv", sim.data.scores, fmt="%d", delimiter=",")
    np.savetxt(f"{stem}_items.txt", np.column_stack([sim.truth.a, sim.truth.b]))
    np.savetxt(f"{stem}_theta.txt", sim.truth.theta)


if __name__ == "__main__":
    main()
