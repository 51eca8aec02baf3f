"""Coverage of contrasts when students that share a facet's level answer alike: before and after widening.

    python experiments/calibration/shared_answers.py --replications 200 --out shared_answers.csv

Simulates 3 x 5 x 3 pipelines whose retrievers and language models have a random effect of a given size on every item
(`irt.simulate(shared_sd=...)`); 0 is local independence. The truth of a contrast is its estimate from 6,000 items for
the same pipelines. Each replication appends a line: how many of the 90 % intervals hold it, as the posterior has them
and as `irt.fit` reports them, and whether anything was widened. A second run goes on where the first stopped.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

import irt
from irt import _estimation as estimation
from irt._item_clusters import Refit, widened

FACETS = {"llm": 3, "retriever": 5, "icl": 3}
SHARED = ("llm", "retriever")
SIZES, ITEMS = (0.0, 0.7, 1.4), (60,)
MANY = 6000


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--method", default="map")
    parser.add_argument("--out", type=Path, required=True)
    words = parser.parse_args()
    done = (
        set()
        if not words.out.exists()
        else set(map(tuple, pd.read_csv(words.out)[["size", "items", "seed"]].to_numpy()))
    )
    for seed, size in itertools.product(range(words.replications), SIZES):
        if all((size, items, seed) in done for items in ITEMS):
            continue
        with mock.patch.object(estimation, "widened", lambda fit, _: fit):
            truth = contrasts(fitted(size, MANY, seed, "map"), "point")
        for items in ITEMS:
            if (size, items, seed) not in done:
                row = {"size": size, "items": items, "seed": seed} | replicate(size, items, seed, truth, words.method)
                pd.DataFrame([row]).to_csv(words.out, mode="a", header=not words.out.exists(), index=False)
    rows = pd.read_csv(words.out).drop(columns="seed")
    print(rows.groupby(["size", "items"]).mean().round(3).to_string())


def fitted(size: float, items: int, seed: int, method: str) -> irt.Fit:
    """A fit of simulated answers; the pipelines depend on the seed alone."""
    made = irt.simulate(items=items, facets=FACETS, seed=seed, shared_sd=dict.fromkeys(SHARED, size))
    return irt.fit(made.data, model="2pl", method=method, seed=seed)


def contrasts(fit: irt.Fit, kind: str) -> dict[str, np.ndarray]:
    """All pairwise contrasts by facet: of the point estimates `[C]`, or of the draws `[D, C]`."""
    values = fit.point if kind == "point" else fit.draws
    return {
        name: np.stack(
            [
                values[f"effect.{name}"][..., i] - values[f"effect.{name}"][..., j]
                for i, j in itertools.combinations(range(count), 2)
            ],
            axis=-1,
        )
        for name, count in FACETS.items()
    }


def replicate(size: float, items: int, seed: int, truth: dict[str, np.ndarray], method: str) -> dict[str, float]:
    """Coverage and width before and after, and what was flagged, by facet."""
    posterior, reported = before_and_after(size, items, seed, method)
    found: dict[str, float] = {}
    for word, each in (("posterior", posterior), ("reported", reported)):
        for name, draws in contrasts(each, "draws").items():
            low, high = np.quantile(draws, (0.05, 0.95), axis=0)
            found[f"{name}.{word}"] = float(np.mean((low <= truth[name]) & (truth[name] <= high)))
            found[f"{name}.{word}.width"] = float(np.mean(high - low))
    return found | {"widened": float(any(name.startswith("design_effect") for name in reported.diagnostics))}


def before_and_after(size: float, items: int, seed: int, method: str) -> tuple[irt.Fit, irt.Fit]:
    """A fit with the posterior's own draws, and as it is reported."""
    kept: list[irt.Fit] = []

    def noted(fit: irt.Fit, refit: Refit) -> irt.Fit:
        kept.append(fit)
        return widened(fit, refit)

    with mock.patch.object(estimation, "widened", noted):
        reported = fitted(size, items, seed, method)
    return kept[0], reported


if __name__ == "__main__":
    main()
