"""Systems beside one another: means over topics, with intervals, and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grading.intervals import DRAWS, LEVEL, Estimate, bootstrap_mean

Table = Mapping[str, Mapping[str, float]]
"""System -> topic -> score; NaN where the data cannot say it."""


class Standing(NamedTuple):
    """A system's mean over the `topics` that have a score, with its interval."""

    system: str
    score: Estimate
    topics: int


class Difference(NamedTuple):
    """Mean of `first - second` over the topics that both have a score for; `told_apart`: the interval leaves 0 out."""

    first: str
    second: str
    difference: Estimate
    topics: int

    @property
    def told_apart(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return bool(self.difference.low > 0 or self.difference.high < 0)

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        names = {"first": self.first, "second": self.second, "topics": self.topics}
        return {**names, **self.difference.as_dict(), "told_apart": self.told_apart}


def standings(table: Table, *, level: float = LEVEL, draws: int = DRAWS, seed: int = 0) -> list[Standing]:
    """The systems by their means, the best first; those without any score last."""
    found = []
    for system, scores in table.items():
        values = _values(scores, list(scores))
        values = values[~np.isnan(values)]
        mean = bootstrap_mean(values, level=level, draws=draws, seed=seed)
        found.append(Standing(system, mean, len(values)))
    return sorted(found, key=lambda one: -np.inf if np.isnan(one.score.estimate) else one.score.estimate, reverse=True)


def differences(table: Table, *, level: float = LEVEL, draws: int = DRAWS, seed: int = 0) -> list[Difference]:
    """Every pair of systems, the better one first, compared topic by topic."""
    order = [one.system for one in standings(table, level=level, draws=0, seed=seed)]
    return [_difference(table, pair, level, draws, seed) for pair in combinations(order, 2)]


def _difference(table: Table, pair: tuple[str, str], level: float, draws: int, seed: int) -> Difference:
    topics = [topic for topic in table[pair[0]] if topic in table[pair[1]]]
    values = _values(table[pair[0]], topics) - _values(table[pair[1]], topics)
    values = values[~np.isnan(values)]
    return Difference(*pair, bootstrap_mean(values, level=level, draws=draws, seed=seed), len(values))


def _values(scores: Mapping[str, float], topics: Sequence[str]) -> NDArray[np.float64]:
    return np.array([scores[topic] for topic in topics], dtype=np.float64)
