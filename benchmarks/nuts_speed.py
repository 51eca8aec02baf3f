"""NUTS side by side: effective draws per second of ours, of pymc's default sampler on the same model, and of peers.

    python benchmarks/nuts_speed.py --sizes 15x60 63x150 --rounds 2 [--draws 1000] [--peers-python PYTHON]

Per size and tool: seconds compiling, processor and wall seconds sampling (warm-up included), the smallest bulk
effective sample size over all reported quantities, that per processor second, and the share of 90 % intervals of a, b
and theta that hold the simulated truth. Two chains; ours ends when its gate passes, pymc's runs `--draws` after as many
of warm-up with a target acceptance of .8, as it does by default. The best of `--rounds` counts. In the interpreter
`--peers-python`: `py-irt`, whose trainer is variational (no draws: seconds to the answer and what its intervals hold),
and `py-irt-nuts`, Pyro's sampler on py-irt's model as its `fit_MCMC` sets it up (one chain, vague priors).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import peers

import irt
from irt import FitSettings, Priors, facet_names
from irt.checks import mixing
from irt.fitting import Problem, build_design, build_problem, gate, nuts, pymc_model

GRIDS = {15: {"retriever": 5, "icl": 3}, 63: {"llm": 3, "retriever": 7, "icl": 3}}
Row = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["15x60", "63x150"])
    parser.add_argument("--tools", nargs="+", default=["numpyro", "pymc", "py-irt", "py-irt-nuts"])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--draws", type=int, default=1000, help="draws of a chain of pymc and of py-irt-nuts")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds py-irt may take")
    parser.add_argument("--peers-python", default=peers.PYTHON, help="interpreter that has py-irt")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for size in options.sizes:
        sim = simulated(size)
        problem = build_problem(sim.data, build_design(sim.data, facet_names(sim.data)), "2pl", 4, Priors())
        for tool in options.tools:
            if tool.startswith("py-irt"):
                best = by_peer(tool, sim, options)
            else:
                found = [measure(tool, problem, sim.truth, seed, options.draws) for seed in range(options.rounds)]
                best = max(found, key=lambda row: row["ess_per_second"])
            rows.append({"size": size, "tool": tool} | best)
            print(rows[-1], flush=True)
    print(pd.DataFrame(rows).round(3).to_string(index=False))


def simulated(size: str) -> irt.Simulation:
    students, items = map(int, size.split("x"))
    facets = GRIDS.get(students)
    return irt.simulate(None if facets else students, items, facets=facets, seed=0, log_a_sd=0.5)


def measure(tool: str, problem: Problem, truth: irt.Truth, seed: int, draws: int) -> Row:
    clock, begin = Clock(), time.perf_counter()
    if tool == "pymc":
        sampled = pymc_model.sample(
            problem, FitSettings(seed=seed, warmup=draws, draws=draws, target_accept=0.8), clock
        )
    else:
        sampled = nuts.sample(problem, FitSettings(seed=seed), clock, lambda each: not gate(each)[1])
    bulk, processor = smallest(sampled.values, sampled.chains), clock.seconds()
    return {
        "compile": sampled.compile_seconds,
        "wall": time.perf_counter() - begin - sampled.compile_seconds,
        "processor": processor,
        "draws": sampled.draws,
        "ess": bulk,
        "leapfrogs": sampled.leapfrogs,
        "divergences": sampled.divergences,
        "ess_per_second": bulk / processor,
    } | held(sampled.values, truth)


def by_peer(tool: str, sim: irt.Simulation, options: argparse.Namespace) -> Row:
    steps = 2000 if tool == "py-irt" else options.draws
    found = peers.run(options.peers_python, tool, sim.data.scores, "2pl", options.limit, steps)
    if isinstance(found, str):
        print(f"{tool}: {found}")
        return {}
    row = {"wall": float(found["seconds"]), "processor": float(found["processor"])}
    if tool == "py-irt":
        return row | {f"held_{name}": share for name, share in peers.held(peers.aligned(found), sim.truth).items()}
    draws = {name: found[name] for name in ("a", "b", "theta")}
    bulk = smallest(draws, 1)
    return row | {"draws": len(draws["a"]), "ess": bulk, "ess_per_second": bulk / row["processor"]}


def held(draws: Mapping[str, Any], truth: irt.Truth) -> Row:
    """Share of 90 % intervals that hold the truth."""
    ends = {name: np.quantile(draws[name], (0.05, 0.95), axis=0) for name in ("a", "b", "theta")}
    true = {name: getattr(truth, name) for name in ends}
    return {
        f"held_{name}": float(np.mean((low <= true[name]) & (true[name] <= high))) for name, (low, high) in ends.items()
    }


class Clock:
    """Processor seconds of all iterations, told by the progress of a run; compilation falls before its first call."""

    def __init__(self) -> None:
        self.marks: list[tuple[int, float]] = []

    def __call__(self, done: int, total: int) -> None:
        del total
        self.marks.append((done, time.process_time()))

    def seconds(self) -> float:
        (first, begin), (last, end) = self.marks[0], self.marks[-1]
        return (end - begin) * last / (last - first)


def smallest(reported: Mapping[str, Any], chains: int) -> float:
    return min(
        float(mixing(values.reshape(chains, len(values) // chains, -1)).ess_bulk.min())
        for values in reported.values()
        if np.ptp(values) > 0
    )


if __name__ == "__main__":
    main()
