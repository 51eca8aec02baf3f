"""Two leaderboards of the same systems compared: rank correlations, their intervals, and the effect of ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from examcore import (
    RANDOM_TIES,
    RANK_CORRELATIONS,
    IntervalEstimate,
    RankCorrelation,
    break_ties,
    in_batches,
    percentile_interval,
)
from examcore.console import interval_text
from grading._printing import shortened
from grading._records import SAMPLING, Floats, Sampling
from grading.formats._score_tables import ScoreTable, read_scores
from grading.leaderboards._paired import Comparison, Pairs, compare_systems, counted_means, topic_counts

FEW = 10
"""With fewer systems than this the interval over systems is too short and unstable: it comes with a warning."""

PRINTED = ("spearman", "kendall", "tau_ap", "tau_ap_b")
"""The coefficients that are printed; JSON has all."""
TIE_DRAWS = 1000
"""How often ties are broken at random: the standard deviation is known to about 2 %."""
Intervals = dict[str, IntervalEstimate]


class RandomTies(NamedTuple):
    """A coefficient when ties are broken at random: its expectation with interval, and its standard deviation."""

    estimate: float
    low: float
    high: float
    sd: float


@dataclass(frozen=True)
class Correlations:
    """How far two leaderboards agree: every coefficient by name, with percentile bootstrap intervals.

    `systems` are those in both; those `alone` in one leaderboard are ignored. `over_systems`
    resamples systems (would other systems agree as well?), `over_topics` topics, `over_both` systems and topics; the
    latter two are None if neither leaderboard has topics. `tied` counts the systems of each leaderboard that share
    their score with another; `shown` are the pairs of systems of each of the `tables` that are printed.
    """

    systems: tuple[str, ...]
    alone: Mapping[str, tuple[str, ...]]
    over_systems: Intervals
    over_topics: Intervals | None
    over_both: Intervals | None
    random_ties: Mapping[str, RandomTies]
    tied: tuple[int, int]
    warnings: tuple[str, ...]
    tables: tuple[ScoreTable, ScoreTable]
    sampling: Sampling
    shown: Pairs

    @property
    def _boards(self) -> dict[str, ScoreTable]:
        return dict(zip("ab", self.tables, strict=True))

    @cached_property
    def compared(self) -> dict[str, Comparison]:
        """The systems of each leaderboard with topics, in pairs."""
        tested = {name: one for name, one in self._boards.items() if len(one.topics) >= 2 and len(one.systems) >= 2}
        return {name: compare_systems(one, self.sampling) for name, one in tested.items()}

    @property
    def notes(self) -> list[str]:
        """What makes the correlations uncertain."""
        gaps = {one.name: len(one.missing()) for one in self.tables if one.missing()}
        about = "systems lack topics that others have; their scores are means over the topics they have."
        return [*self.warnings, *(f"{name}: {count} {about}" for name, count in gaps.items())]

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "n": len(self.systems),
            **self.over_systems,
            "random_ties": self.random_ties,
            "tied": dict(zip("ab", self.tied, strict=True)),
            "interval": self.sampling.interval,
            "interval_over": "systems",
            "over_topics": self.over_topics,
            "over_systems_and_topics": self.over_both,
            **{f"only_in_{which}": one for which, one in self.alone.items()},
            **{which: self._board(which) for which in self._boards},
            "warnings": self.notes,
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        over = {
            "systems resampled": self.over_systems,
            "topics resampled": self.over_topics,
            "systems and topics resampled": self.over_both,
        }
        lines = [f"{len(self.systems)} systems in both; {self.sampling.interval:.0%} intervals"]
        for title, part in over.items():
            if part is not None:
                lines += [title, *(f"  {name:<9} {interval_text(part[name])}" for name in PRINTED)]
        if sum(self.tied):
            lines.append(f"ties broken at random ({self.tied[0]} systems tied in A, {self.tied[1]} in B)")
            for name, one in self.random_ties.items():
                lines.append(f"  {name:<9} {interval_text(one[:3])}, standard deviation {one.sd:.3f}")
        for which, table in self._boards.items():
            some = self.alone[which]
            lines += [f"only in {which.upper()}: {len(some)} systems: {shortened(some)}"] if some else []
            lines += [f"{table.name}: left out {one}" for one in table.left_out]
            lines += self.compared[which].lines(self.shown) if which in self.compared else []
        return [*lines, *self.notes]

    def _board(self, which: str) -> dict[str, Any]:
        """One leaderboard by itself, the best first; its systems are compared only where it has topics."""
        table, compared = self._boards[which], self.compared.get(which)
        ranked = sorted(zip(table.systems, map(float, table.means), strict=True), key=lambda one: -one[1])
        untested = {"pairs": [], "best": {}, "sentence": f"{table.name}: without topics no systems can be tested."}
        return {
            "file": table.name,
            "scores": dict(ranked),
            "n_topics": len(table.topics),
            "missing_topics": table.missing(),
            "left_out": table.left_out,
            **(untested if compared is None else compared.record()),
        }


def correlate_files(
    first: Path, second: Path, measures: Sequence[str], sampling: Sampling, shown: Pairs
) -> Correlations:
    """Compare the leaderboards of two files, by one measure for both or one for each where they have several."""
    if len(measures) > 2:
        raise ValueError(f"--measure: {len(measures)} times; wanted one for both leaderboards, or one for each")
    of_first, of_second = (measures[0], measures[-1]) if measures else (None, None)
    return correlate(read_scores(first, of_first), read_scores(second, of_second), sampling, shown)


def correlate(
    first: ScoreTable, second: ScoreTable, sampling: Sampling = SAMPLING, shown: Pairs = "neighbours"
) -> Correlations:
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
        {
            which: tuple(one for one in has.systems if one not in systems)
            for which, has in (("a", first), ("b", second))
        },
        found,
        over_topics(*pair, sampling) if with_topics else None,
        over_topics(*pair, sampling, systems_too=True) if with_topics else None,
        {name: _random_ties(name, x, y, sampling) for name in RANDOM_TIES},
        (_tied(x), _tied(y)),
        tuple(_warnings(x, y, found)),
        (first, second),
        sampling,
        shown,
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
        name: percentile_interval(float(one(x, y, np.ones(size))), in_batches(one, x, y, weights), sampling.interval)
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
        name: _shifted(float(one(*observed)), in_batches(one, x, y, weights), sampling.interval)
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
        return RandomTies(*mean, sd=0.0)
    return RandomTies(*mean, break_ties(RANK_CORRELATIONS[name], x, y, draws=TIE_DRAWS, seed=sampling.seed).sd)


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
