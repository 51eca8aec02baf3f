"""The systems at one tau: their leaderboard, what tells them apart, what all passages answer; ids as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examcore import IntervalEstimate
from examcore.page import clipped, joined
from grading.leaderboards._paired import Comparison, Standing, SystemPair, ranking, standings
from grading.page._evidence import GradingEvidence
from grading.scores._cover import Cover, cover

View = dict[str, Any]
"""What the template reads of a section."""
COLUMNS = 8
"""Systems side by side that fit the width of a page, the best ones."""
NAMED = 5
"""Systems that a sentence can list."""
NAME = 60
"""Characters of a name that are shown."""


@dataclass(frozen=True)
class Board:
    """The systems at a tau, the best first; `pairs` leads from the best system to its comparison with each other."""

    tau: float
    ranked: tuple[Standing, ...]
    covers: Mapping[str, Cover]
    comparison: Comparison | None
    everything: Cover
    reachable: IntervalEstimate

    @property
    def best(self) -> Standing | None:
        """The system in front, None where no system has a score."""
        return self.ranked[0] if self.ranked and self.ranked[0].topics else None

    @property
    def against_best(self) -> dict[str, SystemPair]:
        """Each other system's comparison with the best one."""
        if self.best is None or self.comparison is None:
            return {}
        best = self.best.system
        return {
            pair.second if pair.first == best else pair.first: pair
            for pair in self.comparison.pairs
            if best in (pair.first, pair.second)
        }

    @property
    def leaders(self) -> list[str]:
        """The systems whose score is the highest: several where they tie."""
        best = self.best
        return [] if best is None else [one.system for one in self.ranked if one.score.estimate == best.score.estimate]


def board(evidence: GradingEvidence, tau: float) -> Board:
    """The leaderboard at a tau; `ValueError` for a tau of 0 or less and for runs of other queries than the bank's."""
    graded, systems, bank, sampling = evidence.graded, evidence.systems, evidence.bank, evidence.sampling
    covers = {run.name: cover(graded, run, tau, systems.k, bank) for run in systems.runs}
    every = evidence.everything
    longest = max(map(len, every.rankings.values()), default=1)
    everything = cover(graded, every, tau, max(longest, 1), bank)
    found = ranking({system: one.scores for system, one in covers.items()}, sampling)
    reachable = standings({every.name: everything.scores}, sampling)[0].score
    return Board(tau, tuple(found.standings), covers, found.comparison, everything, reachable)


def name(text: str) -> str:
    """An id as it is shown."""
    return clipped(text, NAME)


def names(found: Sequence[str], word: str = "and") -> str:
    """Ids in a sentence, the first few of many."""
    shown = [name(one) for one in found[:NAMED]]
    return joined([*shown, f"{len(found) - NAMED} more"] if len(found) > NAMED else shown, word)
