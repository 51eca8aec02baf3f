"""Coverage of contrasts when students that share a facet's level answer alike.

    python experiments/calibration/shared_answers.py --replications 100 --out shared_answers.csv

Simulates 3 x 5 pipelines and 56 questions whose retrievers and language models have a random effect of a given size, in
logits, on every question (`irt.simulate(shared_sd=...)`); 0 is local independence. Each replication appends a line: the
share of the 90 % intervals of contrasts that hold the truth, their mean width and squared error, by facet. A second run
goes on where the first stopped.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import pandas as pd

import irt

FACETS = {"llm": 3, "retriever": 5}
SIZES = (0.0, 1.0, 3.0, 5.0)
ITEMS = 56


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--method", default="nuts")
    parser.add_argument("--out", type=Path, required=True)
    words = parser.parse_args()
    keys = ["size", "method", "seed"]
    done = set() if not words.out.exists() else set(map(tuple, pd.read_csv(words.out)[keys].to_numpy()))
    for seed, size in itertools.product(range(words.replications), SIZES):
        if (size, words.method, seed) not in done:
            row = {"size": size, "method": words.method, "seed": seed} | replicate(size, seed, words.method)
            pd.DataFrame([row]).to_csv(words.out, mode="a", header=not words.out.exists(), index=False)
    rows = pd.read_csv(words.out).drop(columns="seed")
    print(rows.groupby(["size", "method"]).mean().round(3).to_string())


def replicate(size: float, seed: int, method: str) -> dict[str, float]:
    """Coverage, width and squared error by facet, whether the fit converged, and seconds."""
    shared = dict.fromkeys(FACETS, size) if size else {}
    made = irt.simulate(items=ITEMS, facets=FACETS, seed=seed, shared_sd=shared)
    begin = time.perf_counter()
    fit = irt.fit(made.data, model="2pl", method=method, seed=seed)
    found = {"converged": float(fit.converged), "seconds": time.perf_counter() - begin}
    for name, count in FACETS.items():
        draws, point, truth = fit.draws[f"effect.{name}"], fit.point[f"effect.{name}"], made.truth.effects[name]
        first, second = np.array(list(itertools.combinations(range(count), 2))).T
        low, high = np.quantile(draws[:, first] - draws[:, second], (0.05, 0.95), axis=0)
        gap = truth[first] - truth[second]
        found[name] = float(np.mean((low <= gap) & (gap <= high)))
        found[f"{name}.width"] = float(np.mean(high - low))
        found[f"{name}.squared_error"] = float(np.mean((point[first] - point[second] - gap) ** 2))
    return found


if __name__ == "__main__":
    main()
