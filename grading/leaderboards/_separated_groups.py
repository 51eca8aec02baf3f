"""Systems beside one another: means over topics, with intervals, and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import BOOTSTRAP_DRAWS, INTERVAL_LEVEL, IntervalEstimate, bootstrap_mean
from grading.formats._score_tables import table_of
from grading.leaderboards._paired import SystemPair, compare_systems

Table = Mapping[str, Mapping[str, float]]
"""System -> topic -> score; NaN where the data cannot say it."""


class Standing(NamedTuple):
    """A system's mean over the `topics` that have a score, with its interval."""

    system: str
    score: IntervalEstimate
    topics: int


def standings(
    table: Table, *, level: float = INTERVAL_LEVEL, draws: int = BOOTSTRAP_DRAWS, seed: int = 0
) -> list[Standing]:
    """The systems by their means, the best first; those without any score last."""
    found = []
    for system, scores in table.items():
        values = _values(scores, list(scores))
        values = values[~np.isnan(values)]
        mean = bootstrap_mean(values, level=level, draws=draws, seed=seed)
        found.append(Standing(system, mean, len(values)))
    return sorted(found, key=lambda one: -np.inf if np.isnan(one.score.estimate) else one.score.estimate, reverse=True)


def differences(
    table: Table, *, level: float = INTERVAL_LEVEL, draws: int = BOOTSTRAP_DRAWS, seed: int = 0
) -> list[SystemPair]:
    """Every pair of systems that have scores, the better one first, compared over the topics both have."""
    order = [one.system for one in standings(table, level=level, draws=0, seed=seed) if table[one.system]]
    if len(order) < 2:
        return []
    cells = {(system, topic): score for system in order for topic, score in table[system].items()}
    return list(compare_systems(table_of(cells), level=level, draws=draws, seed=seed).pairs)


def _values(scores: Mapping[str, float], topics: Sequence[str]) -> NDArray[np.float64]:
    return np.array([scores[topic] for topic in topics], dtype=np.float64)
