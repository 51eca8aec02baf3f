"""The crossed model side by side with R's lme4: variance components, contrasts and processor seconds in one run.

    python benchmarks/lme4.py --replications 20 --sizes 1 3 --out crossed.csv
    python benchmarks/lme4.py --tables experiments/sec_filings/released/responses.csv --out crossed.csv

The model is `1pl` with facets, random items, pipelines beyond the sum of their parts, and effects of each facet's
levels on items. Simulated tables (`irt.simulate(shared_sd=...)`) have all their truth in logits.
`glmer` (`benchmarks/lme4.R`; Debian's r-cran-lme4) takes facets as fixed and maximises Laplace's approximation; ours
have half-normal scales and shrunken facets. `pymc` is the second implementation of the same model as `nuts`. Every
estimate is a line of the file, in logits given the effects; the summary is printed: for simulated tables the mean
estimate and the mean truth of each standard deviation; of contrasts the root mean squared error, the slope of estimates
on the truth (through 0) and how often 90 % intervals hold it.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from peers import Z

import irt
from irt import Floats

SCRIPT = Path(__file__).with_suffix(".R")
FLATTER = (16 * np.sqrt(3) / (15 * np.pi)) ** 2
"""By it times their variance, effects on items flatten the discriminations that a fit reports (Zeger et al. 1988)."""
TOOLS = ("glmer", "map", "laplace", "nuts", "pymc")


def main() -> None:
    """Fit every table by every tool, a line an estimate; print the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, nargs="*", default=[])
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=["glmer", "map"])
    parser.add_argument("--replications", type=int, default=0)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1.0, 3.0], help="logits of effects on items")
    parser.add_argument("--pipelines", default="3x5", help="models x retrievers")
    parser.add_argument("--items", type=int, default=56)
    parser.add_argument("--out", type=Path, required=True)
    words = parser.parse_args()
    done = set() if not words.out.exists() else set(pd.read_csv(words.out)[["table", "tool"]].itertuples(index=False))
    for name, data, truth in tables(words):
        for tool in words.tools:
            if (name, tool) not in done:
                rows = by_glmer(data) if tool == "glmer" else by_us(data, tool)
                rows.insert(0, "tool", tool)
                rows.insert(0, "table", name)
                rows["truth"] = rows["quantity"].map(truth).astype(float)
                rows.to_csv(words.out, mode="a", header=not words.out.exists(), index=False)
    tell(pd.read_csv(words.out))


def tables(words: argparse.Namespace) -> Iterator[tuple[str, irt.ResponseMatrix, dict[str, float]]]:
    """Name, answers and what is true of them (nothing is known of real ones)."""
    for path in words.tables:
        name = path.parent.parent.name if path.parent.name == "released" else path.stem
        yield name, irt.without_constant_facets(irt.read_responses(path)), {}
    facets = dict(zip(("llm", "retriever"), map(int, words.pipelines.split("x")), strict=True))
    for seed, size in itertools.product(range(words.replications), words.sizes):
        shared = dict.fromkeys(facets, size)
        made = irt.simulate(items=words.items, model="1pl", facets=facets, seed=seed, shared_sd=shared)
        name = f"{words.pipelines}x{words.items}, size {size:g}, seed {seed}"
        yield name, made.data, true(made.truth, made.data, size)


def true(truth: irt.Truth, data: irt.ResponseMatrix, size: float) -> dict[str, float]:
    """The quantities of a simulated table in logits: its discriminations and the spread of difficulties are 1."""
    found = {"sd item": 1.0, "sd residual": truth.residual_scale}
    for facet, effects in truth.effects.items():
        found[f"sd item x {facet}"] = size
        for (one, first), (other, second) in itertools.combinations(
            zip(irt.levels(data, facet), effects, strict=True), 2
        ):
            found[f"{facet}: {one} - {other}"] = first - second
    return found


def by_glmer(data: irt.ResponseMatrix) -> pd.DataFrame:
    """`quantity,estimate,low,high` of glmer's fit."""
    facets = irt.facet_names(data)
    with tempfile.TemporaryDirectory() as folder:
        answers, result = Path(folder) / "answers.csv", Path(folder) / "result.csv"
        irt.write_responses(data, answers)
        subprocess.run(["Rscript", str(SCRIPT), str(answers), str(result), ",".join(facets)], check=True)
        found = pd.read_csv(result)
    reach = Z * found["se"]
    return found.assign(low=found["estimate"] - reach, high=found["estimate"] + reach).drop(columns="se")


def by_us(data: irt.ResponseMatrix, tool: str) -> pd.DataFrame:
    """`quantity,estimate,low,high` of a fit: posterior means and intervals in logits given the effects on items."""
    backend = {"method": "nuts", "backend": "pymc", "draws": 1000} if tool == "pymc" else {"method": tool}
    begin = time.process_time()
    fit = irt.fit(data, model="1pl", seed=0, **backend)
    seconds = time.process_time() - begin
    rows = [("seconds", seconds, np.nan, np.nan)]
    for quantity, draws in drawn(fit):
        rows.append((quantity, float(draws.mean()), *np.quantile(draws, (0.05, 0.95))))
    return pd.DataFrame(rows, columns=["quantity", "estimate", "low", "high"])


def drawn(fit: irt.Fit) -> Iterator[tuple[str, Floats]]:
    """Draws of each quantity in logits."""
    scales = {facet: fit.draws[f"item_effect_scale.{facet}"] for facet in fit.design.item_facets}
    unit = fit.draws["a"][:, 0] * np.sqrt(1 + FLATTER * np.sum(np.square(list(scales.values())), axis=0))
    yield "sd item", fit.draws["spread_b"] * unit
    yield "sd residual", fit.draws["residual_scale"] * unit
    for facet, scale in scales.items():
        yield f"sd item x {facet}", scale
    for term in fit.design.terms:
        effects = fit.draws[f"effect.{term.name}"]
        for i, j in itertools.combinations(range(len(term.levels)), 2):
            yield f"{term.name}: {term.levels[i]} - {term.levels[j]}", (effects[:, i] - effects[:, j]) * unit


def tell(rows: pd.DataFrame) -> None:
    """Print the mean of each quantity over the tables of a kind, and what its errors were."""
    seeded = rows["table"].str.contains(", seed ")
    kind = rows["table"].str.replace(r", seed \d+", "", regex=True)
    quantity = rows["quantity"].where(
        ~(seeded & rows["quantity"].str.contains(": ")), rows["quantity"].str.split(":").str[0]
    )
    error, known = rows["estimate"] - rows["truth"], rows["truth"].notna() & rows["low"].notna()
    rows = rows.assign(
        kind=kind,
        quantity=quantity,
        error=error,
        squared=error**2,
        steepness=(rows["estimate"] * rows["truth"]).where(known),
        held=((rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"])).where(known).astype(float),
    )
    groups = rows.groupby(["kind", "quantity", "tool"], sort=False)
    summary = groups[["estimate", "low", "high", "truth", "error", "held"]].mean()
    summary["rmse"] = groups["squared"].mean() ** 0.5
    summary["slope"] = groups["steepness"].sum(min_count=1) / groups["truth"].agg(lambda true: (true**2).sum())
    summary["tables"] = groups["table"].nunique()
    print(summary.round(3).to_string())


if __name__ == "__main__":
    main()
