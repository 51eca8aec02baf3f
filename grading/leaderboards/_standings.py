"""The order of systems by their means over topics, and the differences of their pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examcore import BOOTSTRAP_DRAWS, INTERVAL_LEVEL, IntervalEstimate, bootstrap_mean
from grading._records import SystemScores
from grading.formats._score_tables import table_of
from grading.leaderboards._paired import SystemPair, compare_systems


class Standing(NamedTuple):
    """A system's mean over the `topics` that have a score, with its interval."""

    system: str
    score: IntervalEstimate
    topics: int


def standings(
    table: SystemScores, *, level: float = INTERVAL_LEVEL, draws: int = BOOTSTRAP_DRAWS, seed: int = 0
) -> list[Standing]:
    """The systems by their means, the best first; those without a score last."""
    found = []
    for system, scores in table.items():
        values = np.array(list(scores.values()), dtype=np.float64)
        values = values[~np.isnan(values)]
        mean = bootstrap_mean(values, level=level, draws=draws, seed=seed)
        found.append(Standing(system, mean, len(values)))
    return sorted(found, key=lambda one: -np.inf if np.isnan(one.score.estimate) else one.score.estimate, reverse=True)


def differences(
    table: SystemScores, *, level: float = INTERVAL_LEVEL, draws: int = BOOTSTRAP_DRAWS, seed: int = 0
) -> list[SystemPair]:
    """Compare every pair of systems that have scores over the topics both have, the better system first."""
    order = [one.system for one in standings(table, level=level, draws=0, seed=seed) if table[one.system]]
    if len(order) < 2:
        return []
    cells = {(system, topic): score for system in order for topic, score in table[system].items()}
    return list(compare_systems(table_of(cells), level=level, draws=draws, seed=seed).pairs)
