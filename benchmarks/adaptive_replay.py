"""How much of an exam an adaptive version needs: recorded answers replayed over held-out language models.

Run: `python benchmarks/adaptive_replay.py accuracy_math500.csv [--splits 3] [--within 0.2]`. The table is wide, one row
per student called `LLM_one_shot` or `LLM_zero_shot`. Items are calibrated on part of the LLMs; the others, which no
item has seen in any form, take an adaptive exam that stops at (1 + within) times the standard error of their full exam,
and the same with items in random order.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd

import irt
from irt import kernels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--splits", type=int, default=3, help="random halves of the LLMs (default 3)")
    parser.add_argument("--calibration", type=float, default=0.7, help="share of the LLMs that calibrate (default .7)")
    parser.add_argument("--method", default="nuts", help="method of the calibration (default nuts)")
    parser.add_argument("--within", type=float, default=0.2, help="error above the full exam's (default .2)")
    parser.add_argument("--model", default="2pl")
    parser.add_argument("--choices", default="information,posterior,kl,random")
    options = parser.parse_args()
    data = irt.read_responses(options.table, [])
    results = [
        replay_split(data, options.calibration, options.within, (options.model, options.method), choice, seed)
        for seed in range(options.splits)
        for choice in options.choices.split(",")
    ]
    table = pd.concat(results, ignore_index=True)
    print(summary(table, options.within).round(3).to_string())
    print(by_ability(table[table["choice"] == options.choices.split(",")[0]]).round(3).to_string())


def replay_split(
    data: irt.ResponseMatrix, calibration: float, within: float, how: tuple[str, str], choice: str, seed: int
) -> pd.DataFrame:
    """Replay the held-out LLMs of one random split."""
    models = sorted({llm(student) for student in data.students})
    chosen = set(np.random.default_rng(seed).permutation(models)[: round(calibration * len(models))].tolist())
    known = [student for student in data.students if llm(student) in chosen]
    fresh = [student for student in data.students if llm(student) not in chosen]
    fit = irt.fit(data.select_students(known), *how, facets=(), seed=seed)
    begin = time.perf_counter()
    table = irt.replay(fit, data.select_students(fresh), irt.Rules(choice=choice, seed=seed), within=within)
    seconds = time.perf_counter() - begin
    least = [fewest(fit, float(theta), within) / len(data.items) for theta in table["full_theta"]]
    return table.assign(choice=choice, split=seed, seconds=seconds, least=least)


def fewest(fit: irt.Fit, theta: float, within: float) -> int:
    """Items that somebody who knew the ability beforehand would need: the most informative ones first."""
    information = np.sort(kernels.information(theta, *fit.parameters))[::-1]
    precision = 1 + np.cumsum(information)
    return int(np.searchsorted(precision, precision[-1] / (1 + within) ** 2)) + 1


def llm(student: str) -> str:
    """The LLM of a row name: what stands before `_one_shot` or `_zero_shot`; one LLM is spelt in two cases."""
    return re.sub(r"_(one|zero)_?shot$", "", student).lower()


def summary(table: pd.DataFrame, within: float) -> pd.DataFrame:
    """One row per choice of items, over all held-out students of all splits."""
    rows = {}
    for choice, part in table.groupby("choice", sort=False):
        gap = part["theta"] - part["full_theta"]
        rows[choice] = {
            "students": len(part),
            "median items": part["items"].median(),
            "median share": part["share"].median(),
            "least possible": part["least"].median(),
            "90 % share": part["share"].quantile(0.9),
            f"SE +{within:.0%} reached": part["reached"].mean(),
            "by a third": (part["reached"] & (part["share"] <= 1 / 3)).mean(),
            "bias": gap.mean(),
            "median gap": gap.abs().median(),
            "rmse": float(np.sqrt((gap**2).mean())),
            "full SE": part["full_sd"].median(),
            "r": float(np.corrcoef(part["theta"], part["full_theta"])[0, 1]),
            "full in interval": ((part["low"] <= part["full_theta"]) & (part["full_theta"] <= part["high"])).mean(),
            "s/student": part["seconds"].iloc[0] / (len(part) / part["split"].nunique()),
        }
    return pd.DataFrame(rows).T


def by_ability(table: pd.DataFrame) -> pd.DataFrame:
    """Where the exam is short and where it is long: by quarters of full-exam ability."""
    table = table.assign(gap=table["theta"] - table["full_theta"])
    quarter = pd.qcut(table["full_theta"], 4, labels=["lowest", "second", "third", "highest"])
    grouped = table.groupby(quarter, observed=True)
    result = grouped[["full_theta", "full_sd", "share", "least", "sd"]].median()
    inside = (table["low"] <= table["full_theta"]) & (table["full_theta"] <= table["high"])
    return result.assign(
        by_a_third=grouped["share"].apply(third),
        bias=grouped["gap"].mean(),
        median_gap=grouped["gap"].apply(lambda gap: gap.abs().median()),
        full_in_interval=inside.groupby(quarter, observed=True).mean(),
    )


def third(share: pd.Series) -> float:
    """Share of students who needed at most a third of the items."""
    return float((share <= 1 / 3).mean())


if __name__ == "__main__":
    main()
