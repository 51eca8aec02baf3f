"""Simulation-based calibration of the sampler (Talts et al. 2018).

    python experiments/calibration/sbc.py --model 2pl --replications 200 --out sbc_2pl.csv
    python experiments/calibration/sbc.py --model factorial --replications 200 --out sbc_factorial.csv

Truth is drawn from the model's own priors, answers from the truth, and the truth is ranked among posterior draws on
the reported scale: every ability, item parameter, effect, contrast and scale, and the log-likelihood. A line is
appended per replication; a second run goes on where the first stopped. The table then printed (and written beside the
ranks) says per family of quantities how many fall outside the 95 % band, and the smallest p-value times their number.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.calibration.prior_draws import Specification, draw_answers, draw_prior
from irt import FitSettings, Floats, ResponseMatrix, kernels
from irt.fitting import Design, Problem, build_design, counted, nuts, report_scale

NULL_TABLES = 4000
"""Tables of uniform ranks that the null distribution of the statistic is drawn from."""
KEPT = 99
FACETS = ("retriever", "shots")


def specification(name: str) -> Specification:
    """`2pl` and `3pl`: 20 students, 8 items, no facets; `factorial`: 2PL, 4 x 2 levels twice, with an interaction."""
    if name != "factorial":
        return Specification(Design(20, (), True), name, np.full(8, 0.25))
    cells = [*itertools.product("abcd", "xy")] * 2
    students = tuple(f"s{index}" for index in range(len(cells)))
    table = pd.DataFrame(cells, columns=list(FACETS), index=pd.Index(students))
    data = ResponseMatrix(np.zeros((len(cells), 8)), students, tuple(f"q{index}" for index in range(8)), None, table)
    return Specification(build_design(data, FACETS, [FACETS]), "2pl", np.full(8, 0.25))


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=("2pl", "3pl", "factorial"), default="2pl")
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    replicate(specification(options.model), options.replications, options.seed, options.out)
    table = summary(pd.read_csv(options.out))
    table.to_csv(options.out.with_name(f"{options.out.stem}_summary.csv"), index=False)
    print(table.to_string(index=False))


def replicate(given: Specification, replications: int, seed: int, out: Path) -> None:
    """Append the ranks of each replication that `out` does not hold yet."""
    truth = draw_prior(given, replications, seed)
    attempts = np.ones((given.design.students, len(given.chance)))
    done = set(pd.read_csv(out)["replication"]) if out.exists() else set()
    for index in range(replications):
        if index not in done:
            successes = draw_answers(truth, index, attempts, seed)
            problem = Problem(counted(successes, attempts), given.design, given.model, given.chance, given.priors)
            sampled = nuts.sample(problem, FitSettings(seed=index, warmup=400, draws=1000, chains=1))
            posterior = quantities(sampled.values, problem)
            wanted = {name: values[index : index + 1] for name, values in report_scale(truth, given.design).items()}
            ranks = {
                name: rank_of(value[0], posterior[name], KEPT) for name, value in quantities(wanted, problem).items()
            }
            row = {"replication": index, "divergences": sampled.divergences} | {
                f"{name}[{place}]": rank for name, each in ranks.items() for place, rank in enumerate(each)
            }
            pd.DataFrame([row]).to_csv(out, mode="a", header=not out.exists(), index=False)


def quantities(reported: dict[str, Floats], problem: Problem) -> dict[str, Floats]:
    """Everything that is ranked, `[D, Q]` per family; constants are left out."""
    result = {name: values.reshape(len(values), -1) for name, values in reported.items()}
    for term in problem.design.terms:
        effects = reported[f"effect.{term.name}"]
        pairs = list(itertools.combinations(range(len(term.levels)), 2))[:10]
        result[f"contrast.{term.name}"] = np.stack([effects[:, i] - effects[:, j] for i, j in pairs], axis=1)
    constant = {"c", "d"} - ({"c"} if problem.guessing else set()) - ({"d"} if problem.slipping else set())
    constant |= set() if problem.design.terms else {"residual_scale"}
    likelihood = [
        kernels.log_likelihood(problem.successes, problem.attempts, *each).sum()
        for each in zip(*(reported[name] for name in ("theta", "a", "b", "c", "d")), strict=True)
    ]
    result = {name: values for name, values in result.items() if name not in constant}
    return result | {"log_likelihood": np.array(likelihood)[:, None]}


def summary(ranks: pd.DataFrame) -> pd.DataFrame:
    """One row per family: share outside the 95 % band, smallest p-value times their number, mean rank, spread."""
    columns = [name for name in ranks.columns if "[" in name]
    tested = uniformity(ranks[columns].to_numpy(), KEPT)
    frame = pd.DataFrame(tested._asdict())
    frame["family"] = [name.split("[")[0] for name in columns]
    limit = band(len(ranks), KEPT)
    rows = [
        {
            "family": family,
            "replications": len(ranks),
            "quantities": len(group),
            "outside_band": float((group["distance"] > limit).mean()),
            "p_adjusted": min(1.0, float(group["p_value"].min()) * len(group)),
            "mean_rank": float(group["mean"].mean()),
            "spread": float(group["spread"].mean()),
        }
        for family, group in frame.groupby("family", sort=False)
    ]
    return pd.DataFrame(rows).round(4)


class Uniformity(NamedTuple):
    """Per quantity: largest standardised distance of the ranks' distribution from the uniform and its p-value, mean of
    the ranks (in units of their range; .5 where uniform) and their spread (1 where uniform)."""

    distance: Floats
    p_value: Floats
    mean: Floats
    spread: Floats


def rank_of(truth: Floats, draws: Floats, kept: int) -> Floats:
    """Ranks `[Q]` from 0 to `kept` of `truth` `[Q]` among `kept` evenly spaced rows of `draws` `[D, Q]`."""
    rows = np.linspace(0, len(draws) - 1, kept).round().astype(int)
    return np.asarray(np.sum(draws[rows] < truth, axis=0), dtype=np.float64)


def uniformity(ranks: Floats, kept: int, seed: int = 0) -> Uniformity:
    """Test ranks `[N, Q]` from 0 to `kept` against the discrete uniform distribution, quantity by quantity.

    The statistic is the simultaneous band of the empirical distribution function (Säilynoja, Bürkner & Vehtari 2022):
    its largest distance from the uniform in pointwise standard deviations; its null distribution is simulated.
    """
    count = len(ranks)
    reference = np.sort(_null(count, kept, seed))
    found = _distance(ranks, kept)
    above = NULL_TABLES - np.searchsorted(reference, found, side="left")
    share = (ranks + 0.5) / (kept + 1)
    spread = np.sqrt(12 * np.mean((share - 0.5) ** 2, axis=0))
    return Uniformity(found, (above + 1) / (NULL_TABLES + 1), share.mean(axis=0), spread)


def band(count: int, kept: int, level: float = 0.05, seed: int = 0) -> float:
    """Half-width, in pointwise deviations, of the band that `count` uniform ranks leave with chance `level`."""
    return float(np.quantile(_null(count, kept, seed), 1 - level))


def _null(count: int, kept: int, seed: int) -> Floats:
    """Distances of simulated uniform ranks."""
    ranks = np.random.default_rng(seed).integers(0, kept + 1, (count, NULL_TABLES))
    return _distance(ranks.astype(np.float64), kept)


def _distance(ranks: Floats, kept: int) -> Floats:
    """Largest distance per column `[Q]`, over twenty evenly spaced points."""
    points = np.unique(np.linspace(0, kept - 1, 20).round())
    wanted = (points + 1) / (kept + 1)
    found = np.stack([(ranks <= point).mean(axis=0) for point in points])
    error = np.sqrt(wanted * (1 - wanted) / len(ranks))
    return np.asarray(np.max(np.abs(found - wanted[:, None]) / error[:, None], axis=0))


if __name__ == "__main__":
    main()
