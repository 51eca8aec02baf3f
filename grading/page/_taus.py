"""What tau was used, what other taus would say, and which one official judgements would choose."""

from __future__ import annotations

import math
from collections.abc import Sequence

from examcore import IntervalEstimate
from examcore.page import HeatCell, HeatRow, HeatTable, joined, percent, percent_range, plain_number
from grading.page._evidence import GradingEvidence
from grading.page._scores import COLUMNS, Board, View, name
from grading.scores._thresholds import Choice

TAUS = 8
"""Taus in the table: where grades have more levels, some evenly among them."""


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
