"""The systems at one tau: their leaderboard, what tells them apart, what all passages answer; ids as they are shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examcore import IntervalEstimate
from examcore.page import HeatCell, HeatRow, HeatTable, clipped, joined, percent, percent_range, plain_number
from grading.leaderboards._paired import Comparison, Standing, SystemPair, ranking, standings
from grading.page._evidence import GradingEvidence
from grading.scores._cover import Cover, cover
from grading.scores._thresholds import Choice

View = dict[str, Any]
"""What the template reads of a section."""
COLUMNS = 8
"""Systems side by side that fit the width of a page, the best ones."""
TAUS = 8
"""Taus in the table: where grades have more levels, some evenly among them."""


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
    graded, bank, sampling = evidence.graded, evidence.bank, evidence.sampling
    covers = {run.name: cover(graded, run, tau, evidence.sources.k, bank) for run in evidence.systems.runs}
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


def shown_taus(known: Sequence[float], used: float) -> list[float]:
    """The taus that are compared: all grades above 0 that occur, some of very many, and the one used."""
    step = max(1, math.ceil(len(known) / TAUS))
    return sorted({*known[::step], used})


def tau_view(
    evidence: GradingEvidence, used: Board, boards: Sequence[Board], choice: Choice | None, origin: str
) -> View:
    """The section on tau."""
    return {
        "sentences": [
            f"Tau is the least grade that counts as an answer. Used here: {used.tau:g}, {origin}.",
            *_choice(choice, evidence.sampling.interval),
        ],
        "systems": _heat(used, boards),
        "boards": boards,
        "kappa": {} if choice is None else {tau: _kappa(one) for tau, one in choice.curve.items()},
    }


def _choice(choice: Choice | None, level: float) -> list[str]:
    if choice is None:
        return []
    lines = [
        f"Official judgements of {choice.queries} queries agree best with the labels at tau {choice.tau:g}. On queries "
        f"that had no part in the choice kappa is {_kappa(choice.held_out, level)}."
    ]
    if len(choice.chosen) > 1:
        taus = joined([f"{tau:g} for {count} queries" for tau, count in choice.chosen.items()])
        lines.append(f"The parts of the queries chose different taus, {taus}: the judgements do not settle it.")
    return lines


def _kappa(found: IntervalEstimate, level: float = 0.0) -> str:
    if math.isnan(found.low):
        return f"{plain_number(found.estimate)} (interval unknown)"
    told = f"{percent(level)} interval " if level else ""
    return f"{plain_number(found.estimate)} ({told}{plain_number(found.low)} to {plain_number(found.high)})"


def _heat(used: Board, boards: Sequence[Board]) -> HeatTable | None:
    systems = [one.system for one in used.ranked[:COLUMNS]]
    if not systems:
        return None
    rows = []
    for one in boards:
        scores = {standing.system: standing.score for standing in one.ranked}
        mark = " (used)" if one.tau == used.tau else ""
        rows.append(HeatRow(f"tau {one.tau:g}{mark}", tuple(_cell(scores[system]) for system in systems)))
    some = f"; the best {COLUMNS} of {len(used.ranked)} systems" if len(used.ranked) > COLUMNS else ""
    return HeatTable(
        f"Share of questions answered, by tau and system{some}", "tau", tuple(map(name, systems)), tuple(rows)
    )


def _cell(score: IntervalEstimate) -> HeatCell:
    share = None if math.isnan(score.estimate) else round(100 * score.estimate)
    return HeatCell(share, percent(score.estimate), percent_range(score))
