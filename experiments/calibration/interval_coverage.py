"""How often 90 % intervals hold the truth: 3 x 7 x 3 pipelines, 150 questions, `map`, `laplace` and `nuts`.

    python experiments/calibration/interval_coverage.py --replications 200 --out coverage.csv

Each replication simulates answers from a known truth (`irt.simulate`), fits every method and appends a line per method:
for every family of quantities the share of intervals that hold the truth, their mean width and the mean error of the
estimates. A second run goes on where the first stopped. The means over replications are printed and written beside it.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
import pandas as pd

import irt
from irt import Floats, kernels

FACETS = {"llm": 3, "retriever": 7, "icl": 3}
ITEMS, INTERVAL = 150, 0.9
POINTS = np.array([-1.0, 0.0, 1.0])
METHODS = ("map", "laplace", "nuts")


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    done: set[tuple[int, str]] = set()
    if options.out.exists():
        kept = pd.read_csv(options.out)
        done = set(zip(kept["replication"], kept["method"], strict=True))
    for index in range(options.replications):
        for method in options.methods:
            if (index, method) not in done:
                row = {"replication": index, "method": method} | replicate(options.seed + index, method)
                pd.DataFrame([row]).to_csv(options.out, mode="a", header=not options.out.exists(), index=False)
    table = summary(pd.read_csv(options.out))
    table.to_csv(options.out.with_name(f"{options.out.stem}_summary.csv"), index=False)
    print(table.to_string(index=False))


def replicate(seed: int, method: str) -> dict[str, float | bool]:
    """Coverage, width and bias of one fit, by family of quantities."""
    simulation = irt.simulate(items=ITEMS, facets=FACETS, seed=seed)
    fit = irt.fit(simulation.data, method=method, seed=seed, interval=INTERVAL)
    result: dict[str, float | bool] = {"converged": fit.converged, "seconds": fit.seconds["fit"]}
    for family, (truth, draws) in quantities(simulation.truth, fit).items():
        low, high = np.quantile(draws, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2], axis=0)
        result[f"{family}.coverage"] = float(np.mean((low <= truth) & (truth <= high)))
        result[f"{family}.width"] = float(np.mean(high - low))
        result[f"{family}.bias"] = float(np.mean(draws.mean(axis=0) - truth))
    return result


def quantities(truth: irt.Truth, fit: irt.Fit) -> dict[str, tuple[Floats, Floats]]:
    """Truth `[Q]` and draws `[D, Q]` by family."""
    result = {name: (getattr(truth, name), fit.draws[name]) for name in ("theta", "a", "b")}
    true, drawn = [], []
    for name, effects in truth.effects.items():
        for i, j in itertools.combinations(range(len(effects)), 2):
            true.append(effects[i] - effects[j])
            drawn.append(fit.draws[f"effect.{name}"][:, i] - fit.draws[f"effect.{name}"][:, j])
    result["contrast"] = np.array(true), np.stack(drawn, axis=1)
    thin = fit.thinned(500)
    items = (thin["a"][:, None], thin["b"][:, None])
    result["information"] = (
        kernels.information(POINTS[:, None], truth.a, truth.b).ravel(),
        kernels.information(POINTS[:, None], *items).reshape(len(thin["a"]), -1),
    )
    result["exam_information"] = (
        kernels.information(POINTS[:, None], truth.a, truth.b).sum(axis=1),
        kernels.information(POINTS[:, None], *items).sum(axis=2),
    )
    result["residual_scale"] = np.array([truth.residual_scale]), fit.draws["residual_scale"][:, None]
    return result


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean coverage with its standard error over replications, mean width and bias, per method and family."""
    table: list[dict[str, float | int | str]] = []
    for method, group in rows.groupby("method", sort=False):
        for name in (column for column in rows.columns if column.endswith(".coverage")):
            family, values = name.removesuffix(".coverage"), group[name]
            table.append(
                {
                    "method": str(method),
                    "family": family,
                    "replications": len(group),
                    "coverage": float(values.mean()),
                    "standard_error": float(values.std(ddof=1) / np.sqrt(len(values))),
                    "width": float(group[f"{family}.width"].mean()),
                    "bias": float(group[f"{family}.bias"].mean()),
                    "converged": float(group["converged"].mean()),
                }
            )
    return pd.DataFrame(table).round(4)


if __name__ == "__main__":
    main()
