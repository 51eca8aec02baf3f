"""Two leaderboards of the same systems compared: rank correlations, their intervals, and the effect of ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import (
    RANDOM_TIES,
    RANK_CORRELATIONS,
    IntervalEstimate,
    RankCorrelation,
    break_ties,
    in_batches,
    percentile_interval,
)
from grading._records import SAMPLING, Sampling
from grading.formats._score_tables import ScoreTable
from grading.leaderboards._paired import counted_means, topic_counts

FEW = 10
"""With fewer systems than this the interval over systems is too short and unstable: it comes with a warning."""

TIE_DRAWS = 1000
"""How often ties are broken at random: the standard deviation is known to about 2 %."""

Floats = NDArray[np.float64]
Intervals = dict[str, IntervalEstimate]


class RandomTies(NamedTuple):
    """A coefficient when ties are broken at random: its expectation with interval, and its standard deviation."""

    mean: IntervalEstimate
    sd: float

    def as_dict(self) -> dict[str, float | None]:
        """`estimate, low, high, sd` for JSON."""
        return {**self.mean.as_dict(), "sd": None if np.isnan(self.sd) else self.sd}


class Correlations(NamedTuple):
    """How far two leaderboards agree: every coefficient by name, with percentile bootstrap intervals.

    `systems` are those in both; `only_first` and `only_second` are in one leaderboard and are ignored. `over_systems`
    resamples systems (would other systems agree as well?), `over_topics` topics, `over_both` systems and topics; the
    latter two are None if neither leaderboard has topics. `tied` counts the systems of each leaderboard that share
    their score with another.
    """

    systems: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    over_systems: Intervals
    over_topics: Intervals | None
    over_both: Intervals | None
    random_ties: Mapping[str, RandomTies]
    tied: tuple[int, int]
    warnings: tuple[str, ...]


def correlate(first: ScoreTable, second: ScoreTable, sampling: Sampling = SAMPLING) -> Correlations:
    """Compare two leaderboards; tau_AP takes `first` as the truth.

    Raises `ValueError` when fewer than two systems are in both.
    """
    systems = tuple(one for one in first.systems if one in set(second.systems))
    if len(systems) < 2:
        raise ValueError(
            f"{second.name}: {len(systems)} systems are also in {first.name}; wanted at least 2 that both rank"
        )
    pair = (first.select(systems), second.select(systems))
    x, y = (_rounded(table.means) for table in pair)
    found = over_systems(x, y, sampling)
    with_topics = any(len(table.topics) > 1 for table in pair)
    return Correlations(
        systems,
        tuple(one for one in first.systems if one not in systems),
        tuple(one for one in second.systems if one not in systems),
        found,
        over_topics(*pair, sampling) if with_topics else None,
        over_topics(*pair, sampling, systems_too=True) if with_topics else None,
        {name: _random_ties(name, x, y, sampling) for name in RANDOM_TIES},
        (_tied(x), _tied(y)),
        tuple(_warnings(x, y, found)),
    )


def over_systems(
    x: Floats, y: Floats, sampling: Sampling, coefficients: Mapping[str, RankCorrelation] = RANK_CORRELATIONS
) -> Intervals:
    """Each coefficient of the scores `x`, `y` `[n]` with its interval over resampled systems.

    Copies of one system in a resample do not form a pair.
    """
    size = len(x)
    weights = topic_counts(size, sampling.draws, np.random.default_rng(sampling.seed))
    return {
        name: percentile_interval(float(one(x, y, np.ones(size))), in_batches(one, x, y, weights), sampling.level)
        for name, one in coefficients.items()
    }


def over_topics(first: ScoreTable, second: ScoreTable, sampling: Sampling, *, systems_too: bool = False) -> Intervals:
    """Each coefficient with its interval over resampled topics (and systems); a table without topics stays as it is.

    Tables with common topics share one sample of topics; tables of different topics are resampled independently.
    Resampling adds noise to both rankings and so lowers every resampled coefficient; the resampled values are shifted
    to have the estimate as their mean, which gives the interval of the correlation of rankings by as many topics.
    """
    rng = np.random.default_rng(sampling.seed)
    first, second, counts = _drawn_topics(first, second, sampling.draws, rng)
    x, y = (_rounded(counted_means(one.values, drawn)) for one, drawn in zip((first, second), counts, strict=True))
    size = len(first.systems)
    weights = topic_counts(size, sampling.draws, rng)
    complete = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    x, y, weights = x[complete], y[complete], weights[complete] if systems_too else np.ones_like(weights[complete])
    observed = (_rounded(first.means), _rounded(second.means), np.ones(size))
    return {
        name: _shifted(float(one(*observed)), in_batches(one, x, y, weights), sampling.level)
        for name, one in RANK_CORRELATIONS.items()
    }


def _drawn_topics(
    first: ScoreTable, second: ScoreTable, draws: int, rng: np.random.Generator
) -> tuple[ScoreTable, ScoreTable, tuple[Floats, Floats]]:
    """Both tables and how often each of their topics occurs in each resample `[draws, T]`."""
    if set(first.topics) & set(second.topics):
        topics = tuple(dict.fromkeys((*first.topics, *second.topics)))
        first, second = (_laid_out(table, topics) for table in (first, second))
        counts = topic_counts(len(topics), draws, rng)
        return first, second, (counts, counts)
    one, two = (topic_counts(table.values.shape[1], draws, rng) for table in (first, second))
    return first, second, (one, two)


def _laid_out(table: ScoreTable, topics: Sequence[str]) -> ScoreTable:
    """The table with a column for each of the topics, NaN where it has none."""
    values = np.full((len(table.systems), len(topics)), np.nan)
    values[:, [topics.index(one) for one in table.topics]] = table.values
    return table._replace(topics=tuple(topics), values=values)


def _rounded(scores: Floats) -> Floats:
    """The scores without their last digits, in which equal means differ by the order of summation."""
    return np.round(scores, 12)


def _random_ties(name: str, x: Floats, y: Floats, sampling: Sampling) -> RandomTies:
    mean = over_systems(x, y, sampling, {name: RANDOM_TIES[name]})[name]
    if not _tied(x) and not _tied(y):
        return RandomTies(mean, 0.0)
    return RandomTies(mean, break_ties(RANK_CORRELATIONS[name], x, y, draws=TIE_DRAWS, seed=sampling.seed).sd)


def _shifted(estimate: float, values: Floats, level: float) -> IntervalEstimate:
    """The interval of the values, shifted to have the estimate as their mean and clipped to -1 and 1."""
    values = values[np.isfinite(values)]
    shifted = np.clip(values - values.mean() + estimate, -1, 1) if values.size else values
    return percentile_interval(estimate, shifted, level)


def _tied(scores: Floats) -> int:
    """How many systems share their score with another."""
    _, counts = np.unique(scores, return_counts=True)
    return int(counts[counts > 1].sum())


def _warnings(x: Floats, y: Floats, found: Intervals) -> list[str]:
    size = len(x)
    few = f"{size} systems: an interval over so few systems is only a rough guide; wanted at least {FEW}."
    tied = [
        f"all systems of the {name} leaderboard are tied: no rank correlation is defined."
        for name, scores in (("first", x), ("second", y))
        if len(np.unique(scores)) == 1
    ]
    flat = [name for name, one in found.items() if one.low == one.high]
    sure = f"no resample of the systems changes {', '.join(flat)}: an interval of width 0 does not mean certainty."
    return [*([few] if size < FEW else []), *tied, *([sure] if flat else [])]
