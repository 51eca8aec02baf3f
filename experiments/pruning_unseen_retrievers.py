"""Does an exam pruned without a retriever measure the pipelines of that retriever better than random questions do?

    python experiments/pruning_unseen_retrievers.py --replications 20 --sizes 0 1 3 --out unseen.csv
    python experiments/pruning_unseen_retrievers.py --tables experiments/*/released/responses.csv --out unseen.csv

Each level of `retriever` is left out in turn. The others' answers are fitted (2pl by `map`) in three ways, and the
questions with the largest expected discrimination (or information over the abilities fitted) are kept:

- `effects`: facets with effects of their levels on questions, as `irt.prune` refits; the discrimination is that for
  levels not seen before;
- `without`: facets without these effects (`item_effects=False`);
- `free`: abilities free, Normal(0, 1), as `irt.prune` refits with `item_effects=False`;
- `truth`, of simulated tables: by the true discriminations and abilities, which no fit can beat by more than chance.

The left-out pipelines are then placed by the questions kept (posterior means; discriminations and difficulties those
of `effects`, whoever chose) and their differences compared with the truth, or in a real table with their places by the
whole exam. What a shorter exam loses is measured in two ways, pooled over the levels left out: `order`, the share of
the variance of true differences that its differences do not tell, and `error`, their squared error relative to that
variance, which too large differences add to. `gain` is the log of the mean loss of 200 random subsets of the same size
over that of the choice: .1 is a loss a tenth smaller. Every table, way, criterion, share kept and loss is a line of the
file; the summary has the mean gain with a 90 % interval over simulated tables, for real ones an interval over the
levels left out (jackknife), and the share of random subsets that the choice beats.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

import irt
from irt import Floats, kernels

LEFT_OUT = "retriever"
FACETS = {"llm": 4, "retriever": 4}
ITEMS = 60
WAYS: Mapping[str, irt.FitSettings] = {
    "effects": irt.FitSettings(method="map"),
    "without": irt.FitSettings(method="map", item_effects=False),
    "free": irt.FitSettings(method="map", facets=()),
}
CRITERIA = ("discrimination", "information")
KEEPS = (0.7, 0.5)
SUBSETS = 200
NODES = np.linspace(-6, 6, 121)
"""Abilities on which posteriors are computed: a tenth of the population's deviation apart."""


class Table(NamedTuple):
    """Answers, and what is true of them if it is known."""

    name: str
    data: irt.ResponseMatrix
    truth: irt.Truth | None


class Products(NamedTuple):
    """Sums of squares of true and of estimated deviations from a level's mean, and of their products; `[K]` subsets."""

    true: Floats
    found: Floats
    both: Floats


LOSSES: Mapping[str, Callable[[Products], Floats]] = {
    "order": lambda sums: 1 - sums.both * np.abs(sums.both) / np.maximum(sums.true * sums.found, LEAST),
    "error": lambda sums: (sums.true + sums.found - 2 * sums.both) / sums.true,
}
LEAST = 1e-6
"""A loss below it counts as this, so that logs exist."""


def main() -> None:
    """Prune every table, a line a choice; print the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, nargs="*", default=[])
    parser.add_argument("--replications", type=int, default=0)
    parser.add_argument("--sizes", type=float, nargs="+", default=[0.0, 1.0, 3.0], help="logits of effects on items")
    parser.add_argument("--spread", type=float, default=0.5, help="sd of log discriminations")
    parser.add_argument("--out", type=Path, required=True)
    words = parser.parse_args()
    done = set() if not words.out.exists() else set(pd.read_csv(words.out)["table"])
    for table in tables(words):
        if table.name not in done:
            begin = time.process_time()
            rows = judged(table).assign(seconds=lambda _, begin=begin: time.process_time() - begin)
            rows.to_csv(words.out, mode="a", header=not words.out.exists(), index=False)
    print(summary(pd.read_csv(words.out)).round(3).to_string(index=False))


def tables(words: argparse.Namespace) -> Iterator[Table]:
    """Real tables, then simulated ones."""
    for path in words.tables:
        name = path.parent.parent.name if path.parent.name == "released" else path.stem
        yield Table(name, irt.without_constant_facets(irt.read_responses(path)), None)
    for seed, size in itertools.product(range(words.replications), words.sizes):
        shared = dict.fromkeys(FACETS, size) if size else None
        made = irt.simulate(items=ITEMS, facets=FACETS, seed=seed, log_a_sd=words.spread, shared_sd=shared)
        yield Table(f"size {size:g}, sd(log a) {words.spread:g}, seed {seed}", made.data, made.truth)


def judged(table: Table) -> pd.DataFrame:
    """`table,way,criterion,keep,loss,gain,low,high,beaten`, the interval over the levels left out."""
    levels = irt.levels(table.data, LEFT_OUT)
    found = [unseen(table, level, number) for number, level in enumerate(levels)]
    rows = []
    for (way, criterion, keep), (name, loss) in itertools.product(found[0], LOSSES.items()):
        parts = [each[way, criterion, keep] for each in found]
        gain, beaten = worth(parts, loss)
        less = np.array([worth(parts[:at] + parts[at + 1 :], loss)[0] for at in range(len(parts))])
        error = np.sqrt((len(parts) - 1) * less.var())
        reach = student_t.ppf(0.95, len(parts) - 1) * error
        rows.append((table.name, way, criterion, keep, name, gain, gain - reach, gain + reach, beaten))
    columns = ["table", "way", "criterion", "keep", "loss", "gain", "low", "high", "beaten"]
    return pd.DataFrame(rows, columns=columns)


def worth(parts: list[Products], loss: Callable[[Products], Floats]) -> tuple[float, float]:
    """The gain of the first subset over all others, and the share of them that it beats."""
    losses = np.maximum(loss(Products(*(np.sum(each, axis=0) for each in zip(*parts, strict=True)))), LEAST)
    own, others = losses[0], losses[1:]
    return float(np.log(others.mean() / own)), float(np.mean(own < others) + np.mean(own == others) / 2)


def unseen(table: Table, level: str, seed: int) -> dict[tuple[str, str, float], Products]:
    """What each choice made without `level` tells of its pipelines: the choice first, then random subsets."""
    data, facets = table.data, table.data.facets
    assert facets is not None
    own = (facets[LEFT_OUT] == level).to_numpy()
    names = np.array(data.students, dtype=object)
    left, rest = data.select_students(tuple(names[own])), data.select_students(tuple(names[~own]))
    fits = {way: irt.fit(rest, settings=settings) for way, settings in WAYS.items()}
    each = log_likelihoods(fits["effects"], left)
    whole = np.ones((1, len(data.items)))
    true = abilities(whole, each)[0] if table.truth is None else table.truth.theta[own] / table.truth.theta[~own].std()
    worths = {(way, name): value(fit, name) for way, fit in fits.items() for name in CRITERIA}
    if table.truth is not None:
        worths |= {("truth", name): true_value(table.truth, name) for name in CRITERIA}
    rng = np.random.default_rng([seed, 11])
    result = {}
    for keep in KEEPS:
        count = round(keep * len(data.items))
        random = rng.permuted(np.tile(np.arange(len(data.items)) < count, (SUBSETS, 1)), axis=1)
        for (way, criterion), worth_of in worths.items():
            chosen = np.argsort(np.argsort(-worth_of, kind="stable")) < count
            result[way, criterion, keep] = products(true, abilities(np.vstack([chosen, random]).astype(float), each))
    return result


def value(fit: irt.Fit, criterion: str) -> Floats:
    """What `irt.prune` expects each item to be worth `[I]`."""
    if criterion == "discrimination":
        return np.asarray(fit.draws["a"].mean(axis=0))
    return fit.information(np.quantile(fit.draws["theta"], (np.arange(15) + 0.5) / 15)).mean.mean(axis=1)


def true_value(truth: irt.Truth, criterion: str) -> Floats:
    """The same of the items as they are `[I]`."""
    if criterion == "discrimination":
        return truth.a
    return np.asarray(kernels.information(truth.theta[:, None], truth.a, truth.b).mean(axis=0))


def log_likelihoods(fit: irt.Fit, data: irt.ResponseMatrix) -> Floats:
    """Of each answer at each node of ability `[S, I, Q]`."""
    p = np.clip(kernels.probability(NODES[:, None], *fit.parameters), 1e-12, 1 - 1e-12).T
    right, wrong = data.successes[..., None], (data.attempts - data.successes)[..., None]
    return np.asarray(right * np.log(p) + wrong * np.log1p(-p))


def abilities(subsets: Floats, each: Floats) -> Floats:
    """Posterior means `[K, S]` by each subset `[K, I]` of the items."""
    log = np.einsum("ki,siq->ksq", subsets, each, optimize=True) - NODES**2 / 2
    weights = np.exp(log - log.max(axis=2, keepdims=True))
    return np.asarray(weights @ NODES / weights.sum(axis=2))


def products(true: Floats, found: Floats) -> Products:
    """Of abilities `[S]` and their estimates `[K, S]`, both less their means."""
    true, found = true - true.mean(), found - found.mean(axis=1, keepdims=True)
    return Products(np.full(len(found), (true**2).sum()), (found**2).sum(axis=1), found @ true)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean gains over simulated tables of a kind, of real ones as they are; `effects_lead`: that of `effects` less."""
    keys = ["criterion", "keep", "loss"]
    base = rows[rows["way"] == "effects"].set_index(["table", *keys])["gain"].rename("base")
    rows = rows.join(base, on=["table", *keys])
    rows["lead"] = rows["base"] - rows["gain"]
    rows["kind"] = rows["table"].str.replace(r", seed \d+", "", regex=True)
    lines = []
    for names, group in rows.groupby(["kind", *keys, "way"], sort=False):
        line = dict(zip(("kind", *keys, "way"), names, strict=True)) | {"tables": len(group)}
        gain, lead = (over_tables(group[name]) for name in ("gain", "lead"))
        if len(group) == 1:
            gain = tuple(group[["gain", "low", "high"]].iloc[0])
        line |= dict(zip(("gain", "low", "high"), gain, strict=True))
        line |= dict(zip(("effects_lead", "lead_low", "lead_high"), lead, strict=True))
        lines.append(line | {"beaten": group["beaten"].mean()})
    return pd.DataFrame(lines)


def over_tables(values: pd.Series) -> tuple[float, float, float]:
    """Mean and 90 % interval; of one table the value alone."""
    mean, count = float(values.mean()), len(values)
    reach = float(student_t.ppf(0.95, count - 1) * values.std(ddof=1) / np.sqrt(count)) if count > 1 else np.nan
    return mean, mean - reach, mean + reach


if __name__ == "__main__":
    main()
