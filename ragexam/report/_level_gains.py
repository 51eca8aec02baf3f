"""What to change first: what the best level of each component gains over the others, and what is still to be had."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from examcore import BOOTSTRAP_DRAWS, INTERVAL_LEVEL, IntervalEstimate
from examcore.page import chance, joined, points
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._component_verdicts import FacetVerdict, choosable
from ragexam.report._fitted_model import LevelDraws
from ragexam.report._page_parts import (
    PageSection,
    PageTable,
    TableRow,
    change_cell,
    column_heads,
    number_cell,
    points_cell,
    table_row,
)
from ragexam.report._response_scores import CEILING, NOTHING, bound_of, choices_of, levels_of, paired_difference

OTHERS = ""
"""The start of a change from the average of the other levels."""


@dataclass(frozen=True)
class LevelGain:
    """What going from one level of a facet to another is worth: in accuracy over questions, and in ability (90 %).

    `start` is `OTHERS` where the average of all other levels is meant. `probability` is that of a gain in the scale of
    the verdict.
    """

    facet: str
    start: str
    end: str
    accuracy: IntervalEstimate
    ability: IntervalEstimate
    probability: float


def first_changes(
    scores: pd.DataFrame, draws: Sequence[LevelDraws], verdicts: Sequence[FacetVerdict]
) -> list[LevelGain]:
    """For each compared facet, the best level against the average of the others; the largest gain first."""
    compared = [(one, verdict.best) for verdict, one in _drawn(draws, verdicts) if verdict.compared]
    found = [_gain(scores, one, OTHERS, best) for one, best in compared]
    return sorted(found, key=lambda gain: (math.isnan(gain.accuracy.estimate), -gain.accuracy.estimate))


def each_change(scores: pd.DataFrame, draws: Sequence[LevelDraws], verdicts: Sequence[FacetVerdict]) -> list[LevelGain]:
    """For each compared facet, the best level against every other, the largest gain of a facet first."""
    found = []
    for verdict, one in _drawn(draws, verdicts):
        if verdict.compared:
            starts = [level for level, _ in verdict.chances if level != verdict.best]
            some = [_gain(scores, one, start, verdict.best) for start in starts]
            found += sorted(some, key=lambda gain: -gain.accuracy.estimate)
    return found


def headroom(scores: pd.DataFrame, draws: Sequence[LevelDraws], verdicts: Sequence[FacetVerdict]) -> LevelGain | None:
    """What handing over the right passage would add to the best retriever; None without an oracle."""
    for verdict, one in _drawn(draws, verdicts):
        ceiling = next((level for level in levels_of(scores, verdict.facet) if bound_of(level) == CEILING), None)
        if ceiling and verdict.best:
            return _gain(scores, one, verdict.best, ceiling)
    return None


def _drawn(draws: Sequence[LevelDraws], verdicts: Sequence[FacetVerdict]) -> Iterator[tuple[FacetVerdict, LevelDraws]]:
    """The verdicts with the draws of their facet, where there are any."""
    known = {one.facet: one for one in draws}
    return ((verdict, known[verdict.facet]) for verdict in verdicts if verdict.facet in known)


def _gain(scores: pd.DataFrame, draws: LevelDraws, start: str, end: str) -> LevelGain:
    facet = draws.facet
    others = [level for level in choices_of(scores, facet) if level != end] if start == OTHERS else [start]
    known = [level for level in others if level in draws.levels]
    if end not in draws.levels or not known:
        return LevelGain(facet, start, end, NOTHING, NOTHING, math.nan)
    accuracy = paired_difference(
        choosable(scores, facet), facet, end, *others, level=INTERVAL_LEVEL, draws=BOOTSTRAP_DRAWS
    )
    gain = draws.contrast(end, *known)
    return LevelGain(facet, start, end, accuracy, gain, draws.probability_better(end, *known))


def change_section(
    scores: pd.DataFrame, draws: Sequence[LevelDraws], verdicts: Sequence[FacetVerdict], from_accuracy: bool
) -> PageSection:
    """What to change first in words, the gains of each component, and every single step."""
    first, left = first_changes(scores, draws, verdicts), headroom(scores, draws, verdicts)
    if not first:
        return PageSection(("No component has two levels to choose from: there is nothing to change.",))
    apart = {verdict.facet: verdict.told_apart for verdict in verdicts}
    steps = each_change(scores, draws, verdicts)
    lines = [*_change_words(first, apart), *_headroom_words(left)]
    shown = [*first, *([left] if left else [])]
    caption = (
        "Gain of the best level over the average of the others tried, all else equal, largest first; 90\u00a0% "
        "intervals: of accuracy over questions, of ability by the model"
    )
    return PageSection(
        lines,
        tables=(_table(caption, shown, from_accuracy),),
        folded=(_table("From each level to the best one of its component", steps, from_accuracy),),
    )


def _change_words(first: Sequence[LevelGain], apart: Mapping[str, bool]) -> Iterator[str]:
    seen = [gain for gain in first if _claimed(gain)]
    if seen:
        top = seen[0]
        yield (
            f"Change the {facet_name(top.facet)} first: {level_name(top.facet, top.end)} instead of another that was "
            f"tried gains {points(top.accuracy)} of accuracy on average."
            + ("" if apart[top.facet] else " (Which one is best is not settled; see the verdict.)")
        )
    for gain in seen[1:]:
        yield f"Then the {facet_name(gain.facet)}: {level_name(gain.facet, gain.end)} gains {points(gain.accuracy)}."
    rest = [gain for gain in first if not _claimed(gain)]
    for gain in rest:
        if gain.accuracy.low > 0:
            yield (
                f"On these questions {level_name(gain.facet, gain.end)} gained {points(gain.accuracy)}, but pipelines "
                f"with a {facet_name(gain.facet)} in common err on the same questions: on others the gain may be "
                f"nothing (probability of a gain {chance(gain.probability)})."
            )
    if even := [gain for gain in rest if not gain.accuracy.low > 0]:
        text = joined([f"the {facet_name(gain.facet)} ({points(gain.accuracy)})" for gain in even])
        yield f"No gain can be claimed for {text}: what you use now may be as good."


def _claimed(gain: LevelGain) -> bool:
    """Whether both say so: accuracy over questions, and the verdict's scale, which allows for shared answers."""
    return gain.accuracy.low > 0 and gain.probability >= INTERVAL_LEVEL


def _headroom_words(left: LevelGain | None) -> Iterator[str]:
    if left is None or not math.isfinite(left.accuracy.estimate):
        return
    best = level_name(left.facet, left.start)
    if left.accuracy.low > 0:
        yield (
            f"Being handed the right passage would still add {points(left.accuracy)} to {best}: that is the most that "
            "better retrieval can add."
        )
    else:
        yield f"{best} is not measurably behind being handed the right passage ({points(left.accuracy)})."


def _table(caption: str, gains: Sequence[LevelGain], from_accuracy: bool) -> PageTable:
    names = ["component", "from", "to", "#accuracy gained"]
    names += [] if from_accuracy else ["#ability gained"]
    return PageTable(
        caption, column_heads(*names, "#chance of a gain"), tuple(_line(gain, from_accuracy) for gain in gains)
    )


def _line(gain: LevelGain, from_accuracy: bool) -> TableRow:
    start = "the others tried" if gain.start == OTHERS else level_name(gain.facet, gain.start)
    end = level_name(gain.facet, gain.end)
    cells = [points_cell(gain.accuracy)]
    if not from_accuracy:
        cells.append(change_cell(gain.ability))
    cells.append(number_cell(chance(gain.probability), gain.probability))
    return table_row(
        facet_name(gain.facet), start, f"{end} (the ceiling, no choice)" if bound_of(gain.end) else end, *cells
    )
