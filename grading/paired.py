"""Systems compared in pairs over the topics they share: differences, intervals, tests, the chance of being best."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from grading.intervals import DRAWS, LEVEL, Estimate
from grading.score_tables import ScoreTable

PERMUTATIONS = 10_000
POWER = 0.8

Floats = NDArray[np.float64]


class Pair(NamedTuple):
    """Two systems on `n` common topics: the mean difference of the first less the second, and its two-sided test.

    `p` is of the sign-flip permutation test (Fisher 1935), `p_adjusted` Holm's (1979) over all pairs compared;
    `detectable` is the difference that so many topics tell with a power of .8 at the unadjusted level.
    """

    first: str
    second: str
    n: int
    difference: Estimate
    p: float
    p_adjusted: float
    detectable: float

    def as_dict(self) -> dict[str, object]:
        """The fields for JSON."""
        return {**self._asdict(), "difference": self.difference.as_dict()}


class Comparison(NamedTuple):
    """All pairs of a table's systems, and for each system how often it is the best over resampled topics."""

    pairs: tuple[Pair, ...]
    best: dict[str, float]
    level: float

    def apart(self) -> list[Pair]:
        """The pairs that differ at the level 1 - `level`, by Holm's adjusted p."""
        return [pair for pair in self.pairs if pair.p_adjusted < 1 - self.level]


def compare_systems(
    table: ScoreTable, *, level: float = LEVEL, draws: int = DRAWS, permutations: int = PERMUTATIONS, seed: int = 0
) -> Comparison:
    """Every pair of systems over the topics that both have; a pair with fewer than two is left undefined (NaN)."""
    first, second = (np.array(one) for one in zip(*itertools.combinations(range(len(table.systems)), 2), strict=True))
    differences = table.values[first] - table.values[second]
    rng = np.random.default_rng(seed)
    ends = _intervals(differences, level, draws, rng)
    p = sign_flip(differences, permutations, rng)
    adjusted = holm(p)
    detectable = _detectable(differences, level)
    pairs = tuple(
        Pair(
            table.systems[one],
            table.systems[two],
            int(np.isfinite(differences[at]).sum()),
            ends[at],
            float(p[at]),
            float(adjusted[at]),
            float(detectable[at]),
        )
        for at, (one, two) in enumerate(zip(first, second, strict=True))
    )
    return Comparison(pairs, probability_best(table, draws=draws, seed=seed), level)


def sign_flip(differences: Floats, permutations: int, rng: np.random.Generator) -> Floats:
    """Two-sided p `[P]` of the differences `[P, T]`: how often flipped signs make a mean as far from 0.

    All sign vectors where there are no more than `permutations`, else that many at random and the one observed
    (Phipson and Smyth 2010). NaN cells take no part; NaN where fewer than two are left.
    """
    known = np.nan_to_num(differences)
    topics = known.shape[1]
    found = np.abs(known.sum(axis=1)) * (1 - 1e-12) - 1e-12
    if topics < 31 and 2**topics <= permutations:
        p = (np.abs(_all_signs(topics) @ known.T) >= found).mean(axis=0)
    else:
        blocks = (rng.integers(2, size=(size, topics)) * 2.0 - 1 for size in _blocks(permutations))
        as_far = sum((np.abs(signs @ known.T) >= found).sum(axis=0) for signs in blocks)
        p = (as_far + 1) / (permutations + 1)
    return np.where(np.isfinite(differences).sum(axis=1) > 1, p, np.nan)


def holm(p: Floats) -> Floats:
    """Holm's step-down adjustment of the p-values that are known; the others stay NaN."""
    adjusted = np.full(len(p), np.nan)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    steps = np.arange(len(order), 0, -1) * p[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1) if len(order) else steps
    return adjusted


def probability_best(table: ScoreTable, *, draws: int = DRAWS, seed: int = 0) -> dict[str, float]:
    """How often each system has the highest mean over resampled topics; the tied share. NaN with fewer than two."""
    if table.values.shape[1] < 2:
        return dict.fromkeys(table.systems, np.nan)
    means = resampled_means(table.values, draws, np.random.default_rng(seed))
    means = means[np.isfinite(means).all(axis=1)]
    best = means >= means.max(axis=1, keepdims=True) - 1e-12
    shares = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return dict(zip(table.systems, map(float, shares), strict=True))


def resampled_means(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Means `[draws, S]` of `values` `[S, T]` over topics drawn with replacement, the same for all; NaN if none."""
    topics = values.shape[1]
    counts = rng.multinomial(topics, np.full(topics, 1 / topics), size=draws).astype(float)
    return counted_means(values, counts)


def counted_means(values: Floats, counts: Floats) -> Floats:
    """Means `[draws, S]` of `values` `[S, T]` with each topic as often as `counts` `[draws, T]` says."""
    sums, numbers = counts @ np.nan_to_num(values).T, counts @ np.isfinite(values).T
    means: Floats = np.divide(sums, numbers, out=np.full(sums.shape, np.nan), where=numbers > 0)
    return means


def in_words(comparison: Comparison, what: str) -> str:
    """One plain sentence on what the pairs of one table say."""
    pairs, apart = comparison.pairs, comparison.apart()
    systems = len(comparison.best)
    topics = sorted({pair.n for pair in pairs})
    over = f"over {topics[0]} topics" if len(topics) == 1 else f"over {topics[0]} to {topics[-1]} topics"
    known = [pair.p_adjusted for pair in pairs if np.isfinite(pair.p_adjusted)]
    if not known:
        return f"{what}: no pair of systems shares two topics, so nothing can be said of their differences."
    if not apart:
        return (
            f"{what}: the {systems} systems cannot be told apart {over} "
            f"(smallest Holm-adjusted p = {min(known):.3f} of {len(pairs)} pairs, level {1 - comparison.level:.2f})."
        )
    shown = "; ".join(f"{_ordered(pair)} (p = {pair.p_adjusted:.3f})" for pair in apart[:5])
    more = f"; and {len(apart) - 5} more" if len(apart) > 5 else ""
    return f"{what}: {len(apart)} of {len(pairs)} pairs differ {over} (Holm-adjusted): {shown}{more}."


def _ordered(pair: Pair) -> str:
    names = (pair.first, pair.second) if pair.difference.estimate > 0 else (pair.second, pair.first)
    return f"{names[0]} above {names[1]}"


def _blocks(total: int, size: int = 1000) -> list[int]:
    return [min(size, total - start) for start in range(0, total, size)]


def _all_signs(topics: int) -> Floats:
    return np.array(list(itertools.product((1.0, -1.0), repeat=topics)))


def _intervals(differences: Floats, level: float, draws: int, rng: np.random.Generator) -> list[Estimate]:
    """The mean `[P]` of each row of `differences` `[P, T]` with its interval over resampled topics."""
    means = resampled_means(differences, draws, rng)
    return [_estimate(row[np.isfinite(row)], drawn, level) for row, drawn in zip(differences, means.T, strict=True)]


def _estimate(values: Floats, drawn: Floats, level: float) -> Estimate:
    if len(values) < 2:
        return Estimate(float(values[0]) if len(values) else np.nan, np.nan, np.nan)
    low, high = np.quantile(drawn[np.isfinite(drawn)], [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(values.mean()), float(low), float(high))


def _detectable(differences: Floats, level: float) -> Floats:
    """The gap `[P]` that a two-sided t test at 1 - `level` finds with power .8, by the normal approximation."""
    counted = np.isfinite(differences).sum(axis=1)
    result = np.full(len(differences), np.nan)
    for at in np.flatnonzero(counted > 1):
        deviation = float(np.nanstd(differences[at], ddof=1))
        quantiles = np.sum(stats.t.ppf([(1 + level) / 2, POWER], counted[at] - 1))
        result[at] = quantiles * deviation / np.sqrt(counted[at])
    return result
