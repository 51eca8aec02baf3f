"""Answers drawn from a known truth."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from irt.kernels import probability
from irt.model import MODELS
from irt.responses import Floats, ResponseMatrix

Facets = Mapping[str, int | Sequence[str]]


@dataclass(frozen=True)
class Truth:
    """Parameters behind simulated answers, on the reported scale; `effects` `[L]` per facet."""

    a: Floats
    b: Floats
    c: Floats
    d: Floats
    theta: Floats
    effects: Mapping[str, Floats]
    residual_scale: float


@dataclass(frozen=True)
class Simulation:
    """Simulated answers and the truth they came from."""

    data: ResponseMatrix
    truth: Truth


def simulate(
    students: int | None = None,
    items: int = 50,
    model: str = "2pl",
    facets: Facets | None = None,
    *,
    seed: int,
    effect_sd: float = 1.0,
    residual_sd: float = 0.3,
    log_a_sd: float = 0.3,
    mean_a: float = 1.0,
    b_sd: float = 1.0,
    options: int = 4,
    trials: int | None = None,
    missing: float = 0.0,
) -> Simulation:
    """Draw a table from the model; the same seed gives the same table.

    With `facets` (levels by name, or their number) students are the full crossing, repeated to reach `students` (a
    multiple; by default once), and ability is zero-sum facet effects plus a residual, scaled to mean 0 and standard
    deviation 1. Without, ability is Normal(0, 1), moved to mean 0 over the students. `missing` is the share of cells
    not asked. Raises ValueError for an unknown model or a number of students the facets do not divide.
    """
    if model not in MODELS:
        raise ValueError(f"unknown model '{model}'; {', '.join(MODELS)} were wanted")
    rng = np.random.default_rng(seed)
    table = _crossing(facets, students) if facets else None
    if table is None and students is None:
        raise ValueError("a number of students was wanted")
    count = students if table is None else len(table)
    assert count is not None
    theta, effects, residual = _abilities(rng, count, table, effect_sd, residual_sd)
    a = np.full(items, mean_a) if model == "1pl" else mean_a * np.exp(log_a_sd * rng.standard_normal(items))
    b = b_sd * rng.standard_normal(items)
    guesses = rng.beta(20 / options, 20 * (1 - 1 / options), items)
    c = guesses if model in ("3pl", "4pl") else np.zeros(items)
    d = c + (1 - c) * rng.beta(19, 1, items) if model == "4pl" else np.ones(items)
    p = probability(theta[:, None], a, b, c, d)
    scores = rng.binomial(trials or 1, p).astype(np.float64)
    if missing:
        scores[rng.random(scores.shape) < missing] = np.nan
    names = tuple(f"s{index}" for index in range(count)) if table is None else tuple(table.index)
    tries = None if trials is None else np.full(scores.shape, float(trials))
    data = ResponseMatrix(scores, names, tuple(f"q{index}" for index in range(items)), tries, table)
    return Simulation(data, Truth(a, b, c, d, theta, effects, residual))


def _crossing(facets: Facets, students: int | None) -> pd.DataFrame:
    named = {
        name: [f"{name}{index}" for index in range(value)] if isinstance(value, int) else list(value)
        for name, value in facets.items()
    }
    cells = list(itertools.product(*named.values()))
    copies = 1 if students is None else students // len(cells)
    if copies < 1 or (students is not None and copies * len(cells) != students):
        raise ValueError(f"{students} students do not fill the {len(cells)} combinations of the facets evenly")
    rows = cells * copies
    ids = ["|".join(row) + (f"|{index // len(cells)}" if copies > 1 else "") for index, row in enumerate(rows)]
    return pd.DataFrame(rows, columns=pd.Index(list(named)), index=pd.Index(ids, name="student"), dtype=str)


def _abilities(
    rng: np.random.Generator, count: int, table: pd.DataFrame | None, effect_sd: float, residual_sd: float
) -> tuple[Floats, dict[str, Floats], float]:
    if table is None:
        theta = rng.standard_normal(count)
        return theta - theta.mean(), {}, 1.0
    theta = residual_sd * rng.standard_normal(count)
    effects = {}
    for name in table.columns:
        codes, labels = pd.factorize(table[name])
        effect = effect_sd * rng.standard_normal(len(labels))
        effects[str(name)] = effect - effect.mean()
        theta = theta + effects[str(name)][codes]
    unit = float(theta.std())
    return (theta - theta.mean()) / unit, {name: e / unit for name, e in effects.items()}, residual_sd / unit
