"""Coverage of contrasts when students that share a facet's level answer alike.

    python experiments/calibration/shared_answers.py --replications 100 --out shared_answers.csv

Simulates pipelines and questions whose components have a random effect of a given size, in logits, on every question
(`irt.simulate(shared_sd=...)`); 0 is local independence, inf are models that answer identically, all else as with 0,
but that abilities have no residual: copies would share it, and it would be part of the retriever's effect.
Each replication appends a line: the share of the 90 % intervals of contrasts that hold the truth, their mean width and
squared error, by facet. A second run goes on where the first stopped; `--first` begins at another seed, `--sizes` names
the sizes, and after `--minutes` no replication begins. Of the kept rows, seconds of 3x5x56 are of the clock, not of
the processor.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import irt

DESIGNS = {
    "3x5x56": ({"llm": 3, "retriever": 5}, 56, "2pl"),
    "3x7x3x100": ({"llm": 3, "retriever": 7, "icl": 3}, 100, "2pl"),
    "3x4x30-grm": ({"llm": 3, "retriever": 4}, 30, "grm"),
    "3x4x30-gpcm": ({"llm": 3, "retriever": 4}, 30, "gpcm"),
}
"""Levels of each facet, questions, and the model: of ratings, which are from 0 to 3."""
SIZES = (0.0, 1.0, 3.0, 5.0, np.inf)


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--design", choices=DESIGNS, default="3x5x56")
    parser.add_argument("--method", default="nuts")
    parser.add_argument("--sizes", type=float, nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--out", type=Path, required=True)
    words = parser.parse_args()
    keys = ["design", "size", "method", "seed"]
    done = set() if not words.out.exists() else set(map(tuple, pd.read_csv(words.out)[keys].to_numpy()))
    begin = time.monotonic()
    for seed, size in itertools.product(range(words.first, words.replications), words.sizes):
        key = (words.design, size, words.method, seed)
        if key not in done and time.monotonic() - begin < 60 * words.minutes:
            row = dict(zip(keys, key, strict=True)) | replicate(words.design, size, seed, words.method)
            facets = ["icl", "llm", "retriever"]
            columns = [
                *keys,
                "converged",
                "seconds",
                *(f"{f}{c}" for f in facets for c in ("", ".width", ".squared_error")),
            ]
            line = pd.DataFrame([row]).reindex(columns=columns)
            line.to_csv(words.out, mode="a", header=not words.out.exists(), index=False)
    rows = pd.read_csv(words.out).drop(columns="seed")
    print(rows.groupby(["design", "size", "method"]).mean().round(3).to_string())


def simulated(design: str, size: float, seed: int) -> tuple[irt.ResponseMatrix, dict[str, np.ndarray]]:
    """A table and the true effects by facet."""
    facets, items, model = DESIGNS[design]
    if np.isfinite(size):
        shared = dict.fromkeys(facets, size) if size else {}
        if model != "2pl":
            rated = irt.simulate_graded(items=items, top=3, facets=facets, seed=seed, model=model, shared_sd=shared)
            return rated.data, dict(rated.truth.effects)
        made = irt.simulate(items=items, facets=facets, seed=seed, shared_sd=shared)
        return made.data, dict(made.truth.effects)
    others = {name: count for name, count in facets.items() if name != "llm"}
    made = irt.simulate(items=items, facets=others, seed=seed, residual_sd=0.0)
    one, copies = made.data, facets["llm"]
    assert one.facets is not None
    levels = np.repeat([f"llm{n}" for n in range(copies)], len(one.students))
    students = tuple(f"{llm}-{name}" for llm, name in zip(levels, copies * one.students, strict=True))
    table = pd.concat([one.facets] * copies).set_axis(pd.Index(students, name="student")).assign(llm=levels)
    data = replace(one, scores=np.tile(one.scores, (copies, 1)), students=students, facets=table)
    return data, {**made.truth.effects, "llm": np.zeros(copies)}


def replicate(design: str, size: float, seed: int, method: str) -> dict[str, float]:
    """Coverage, width and squared error by facet, whether the fit converged, and seconds."""
    data, effects = simulated(design, size, seed)
    begin = time.process_time()
    fit = irt.fit(data, model=DESIGNS[design][2], method=method, seed=seed)
    found = {"converged": float(fit.converged), "seconds": time.process_time() - begin}
    for name, truth in effects.items():
        draws, point = fit.draws[f"effect.{name}"], fit.point[f"effect.{name}"]
        first, second = np.array(list(itertools.combinations(range(len(truth)), 2))).T
        low, high = np.quantile(draws[:, first] - draws[:, second], (0.05, 0.95), axis=0)
        gap = truth[first] - truth[second]
        found[name] = float(np.mean((low <= gap) & (gap <= high)))
        found[f"{name}.width"] = float(np.mean(high - low))
        found[f"{name}.squared_error"] = float(np.mean((point[first] - point[second] - gap) ** 2))
    return found


if __name__ == "__main__":
    main()
