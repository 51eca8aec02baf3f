"""Which level of each component is best, and whether the data can tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import pandas as pd

from examcore import INTERVAL_LEVEL, IntervalEstimate
from examcore.page import chance, joined, points, signed, signed_range
from ragexam.report._component_names import facet_name, facet_plural, level_name
from ragexam.report._fitted_model import LevelDraws, probabilities_best
from ragexam.report._response_scores import NOTHING, choices_of, facets_of, paired_difference

CONFIDENT = 0.8
"""The probability of being best below which no level is recommended."""
CONDITIONS = frozenset({"queries", "answers"})
"""Facets that nobody chooses: what people type and how an exam is answered are not parts of a pipeline."""
_ORDER = {"retriever": 0, "prompting mode": 1, "language model": 2}

TIE_DIGITS = 9
"""Estimates that differ by less are equal."""


@dataclass(frozen=True)
class FacetVerdict:
    """The best level of a facet among those one could choose, against the runner-up.

    `gap` is best minus runner-up (90 %) in `unit`, ability or accuracy, `accuracy_gap` the same in accuracy, paired
    over questions (90 %). `ties` are the levels, best first, that the data cannot tell from the best.
    """

    facet: str
    best: str
    runner_up: str | None
    probability: float
    gap: IntervalEstimate
    accuracy_gap: IntervalEstimate
    chances: tuple[tuple[str, float], ...]
    ties: tuple[str, ...]
    unit: str = "ability"

    @property
    def compared(self) -> bool:
        """False when there was nothing to choose from."""
        return self.runner_up is not None

    @property
    def told_apart(self) -> bool:
        """True when the best is probably best and its lead over the runner-up is not zero."""
        return self.compared and self.probability >= CONFIDENT and self.gap.excludes_zero


def judge_all(scores: pd.DataFrame, draws: Sequence[LevelDraws]) -> tuple[FacetVerdict, ...]:
    """A verdict for each component of the response table, the retriever first; bounds are left out before comparing."""
    known = {one.facet: one for one in draws}
    verdicts = [judge(scores, facet, known.get(facet)) for facet in facets_of(scores) if facet not in CONDITIONS]
    return tuple(sorted(verdicts, key=lambda verdict: _ORDER.get(facet_name(verdict.facet), len(_ORDER))))


def can_judge(scores: pd.DataFrame, draws: Sequence[LevelDraws]) -> bool:
    """True when there are draws for every level one could choose between."""
    known = {one.facet: one.levels for one in draws}
    asked = {facet: choices_of(scores, facet) for facet in facets_of(scores)}
    return all(set(levels) <= set(known.get(facet, ())) for facet, levels in asked.items() if len(levels) > 1)


def judge(scores: pd.DataFrame, facet: str, found: LevelDraws | None) -> FacetVerdict:
    """The verdict on one facet, from draws of what its levels are worth; nothing is compared without them."""
    levels = choices_of(scores, facet)
    if len(levels) < 2 or found is None:
        only = levels[0] if len(levels) == 1 else ""
        unit = "ability" if found is None else found.unit
        return FacetVerdict(facet, only, None, math.nan, NOTHING, NOTHING, (), tuple(levels), unit)
    estimates = np.round([found.estimates[found.levels.index(level)] for level in levels], TIE_DIGITS)
    # Levels of equal estimates, such as modes of equal totals, rank by the means of their draws.
    ranked = [levels[place] for place in np.lexsort((-found.of(levels).mean(axis=0), -estimates))]
    chances = probabilities_best(found.of(ranked))
    leads = [found.contrast(ranked[0], level) for level in ranked[1:]]
    ties = [level for level, lead in zip(ranked[1:], leads, strict=True) if not lead.excludes_zero]
    return FacetVerdict(
        facet=facet,
        best=ranked[0],
        runner_up=ranked[1],
        probability=float(chances[0]),
        gap=leads[0],
        accuracy_gap=paired_difference(choosable(scores, facet), facet, ranked[0], ranked[1], level=INTERVAL_LEVEL),
        chances=tuple(zip(ranked, chances.tolist(), strict=True)),
        ties=(ranked[0], *ties),
        unit=found.unit,
    )


def choosable(scores: pd.DataFrame, facet: str) -> pd.DataFrame:
    """The answers of pipelines that could be chosen: in the other facets, no floor and no ceiling."""
    for other in facets_of(scores):
        choices = choices_of(scores, other)
        if other != facet and choices:
            scores = scores[scores[other].isin(choices)]
    return scores


def sentences(verdicts: Sequence[FacetVerdict], own_words: bool = False) -> list[str]:
    """The verdict in one or two sentences: what to take, then what cannot be told apart.

    With `own_words`, questions in the passages' own words, no retriever is recommended: lexical ones cannot lose there.
    """
    lines = []
    unfit = [one for one in verdicts if own_words and one.compared and facet_name(one.facet) == "retriever"]
    if unfit:
        lines.append(
            "No retriever is recommended: the queries are in the passages' own words, which people who have not read "
            "them do not use."
        )
    verdicts = [one for one in verdicts if one not in unfit]
    clear = [verdict for verdict in verdicts if verdict.told_apart]
    if clear:
        named = [f"{_as_part(verdict)} ({chance(verdict.probability)})" for verdict in clear]
        lines.append(f"Best of what was tried, with the probability of being best: {joined(named)}.")
    undecided = [verdict for verdict in verdicts if verdict.compared and not verdict.told_apart]
    if undecided:
        parts = [_undecided(verdict) for verdict in undecided]
        lines.append(f"The data cannot tell apart {', nor '.join(parts)}.")
    if not lines:
        lines.append("Nothing was compared: no component has two levels to choose from.")
    return lines


def describe(verdict: FacetVerdict) -> str:
    """One sentence about the lead of the best level, or why there is none."""
    name = facet_name(verdict.facet)
    if not verdict.best:
        return f"Not compared: the bounds are the only {facet_plural(verdict.facet)} tried."
    best = level_name(verdict.facet, verdict.best)
    if verdict.runner_up is None:
        return f"Not compared: {best} is the only {name} tried."
    second = level_name(verdict.facet, verdict.runner_up)
    by_accuracy = verdict.unit == "accuracy"
    how_much = points(verdict.gap) if by_accuracy else f"{signed(verdict.gap.estimate)} ({signed_range(verdict.gap)})"
    lead = f"Lead of {best} over {second}: {how_much} in {verdict.unit}"
    return f"{lead}." if verdict.told_apart else f"{lead}, not enough to tell them apart."


def _undecided(verdict: FacetVerdict) -> str:
    """`the retrievers bm25 and hybrid (bm25 is best with probability 62 %)`."""
    levels = verdict.ties if len(verdict.ties) > 1 else (verdict.best, verdict.runner_up or "")
    names = [level_name(verdict.facet, level) for level in levels]
    likeliest, probability = max(verdict.chances, key=itemgetter(1))
    ahead = f"{level_name(verdict.facet, likeliest)} is best with probability {chance(probability)}"
    return f"the {facet_plural(verdict.facet)} {joined(names)} ({ahead})"


def _as_part(verdict: FacetVerdict) -> str:
    name, kind = level_name(verdict.facet, verdict.best), facet_name(verdict.facet)
    return f"{name} in the prompt" if kind == "prompting mode" else f"{name} as {kind}"
