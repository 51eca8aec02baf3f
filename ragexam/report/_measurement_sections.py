"""What the fitted model says: what each component is worth, and where the exam measures well."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from examcore.page import joined, plain_number, signed
from irt.plots import records
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._fitted_model import FittedModel
from ragexam.report._page_parts import (
    NO_MODEL,
    PageSection,
    PageTable,
    Picture,
    column_heads,
    effect_cells,
    table_row,
)
from ragexam.report._response_scores import bound_of

_LARGE_RESIDUAL = 0.25
"""Of the typical effect: a residual that may be smaller than this changes no choice of a component."""
_CLEAR_RESIDUAL = 0.15
"""In standard deviations of ability: a lower limit below this is what the prior alone would give."""


def components_section(model: FittedModel | None, figure: Picture | None) -> PageSection:
    """Effects of the levels, and a warning where they do not add up."""
    if model is None:
        return NO_MODEL
    if model.components.empty:
        return PageSection(("The model was fitted without components.",))
    lines = [
        "Effects are in units of ability and add up to zero within a component; only differences between levels of the "
        "same component mean anything.",
        *_spread(model.components),
    ]
    warnings = []
    if model.residual is not None:
        scale = model.residual
        lines.append(
            f"What the components do not explain has a scale of {plain_number(scale.estimate)} "
            f"(90 % interval {plain_number(scale.low)} to {plain_number(scale.high)})."
        )
        if scale.low > max(_LARGE_RESIDUAL * _typical(model.components), _CLEAR_RESIDUAL):
            warnings.append(
                "The effects of the components do not add up here: what a component is worth depends on what it is "
                "combined with. Compare whole pipelines, not components."
            )
    return PageSection(lines, warnings, figure=figure, folded=(_effects(model.components),))


def _effects(components: pd.DataFrame) -> PageTable:
    rows = tuple(
        table_row(
            facet_name(row["facet"]),
            level_name(row["facet"], row["level"]),
            *effect_cells(row),
        )
        for row in records(components)
    )
    caption = "Effect of each level on ability, zero on average within a component, with 90\u00a0% intervals"
    return PageTable(caption, column_heads("component", "level", "#effect", "#90\u00a0% interval"), rows, sortable=True)


def _typical(components: pd.DataFrame) -> float:
    """Standard deviation of the effects one could choose between, around their components' means."""
    chosen = components[components["level"].map(bound_of).isna()]
    centred = chosen["effect"] - chosen.groupby("facet")["effect"].transform("mean")
    return float(np.sqrt((centred**2).mean()))


def _spread(components: pd.DataFrame) -> Iterator[str]:
    """Which component matters most: the distance between its best and its worst level, bounds left out."""
    chosen = components[components["level"].map(bound_of).isna()]
    effects = [(facet_name(str(facet)), rows["effect"]) for facet, rows in chosen.groupby("facet", sort=False)]
    spans = {name: one.max() - one.min() for name, one in effects if len(one) > 1}
    if len(spans) > 1:
        ordered = sorted(spans.items(), key=lambda pair: -pair[1])
        spans_in_words = joined([f"{name} {plain_number(span)}" for name, span in ordered])
        yield f"In ability, the best choice is ahead of the worst by: {spans_in_words}."


def information_section(model: FittedModel | None, figure: Picture | None) -> PageSection:
    """Where on the ability scale the exam measures, and whether the pipelines are there."""
    if model is None:
        return NO_MODEL
    theta, information = model.curve["theta"].to_numpy(float), model.curve["total"].to_numpy(float)
    peak = int(np.nanargmax(information))
    abilities = model.abilities["theta"].to_numpy(float)
    at_pipelines = np.interp(abilities, theta, information)
    errors = 1 / np.sqrt(np.maximum(at_pipelines, 1e-9))
    lines = [
        "Ability is measured in standard deviations of these pipelines; 0 is their average. "
        f"The exam is most precise at ability {signed(float(theta[peak]), 1)}, with a standard error of "
        f"{plain_number(1 / math.sqrt(max(float(information[peak]), 1e-9)))}. The pipelines lie between "
        f"{signed(float(abilities.min()), 1)} and {signed(float(abilities.max()), 1)}, where the standard error is "
        f"{plain_number(float(errors.min()))} to {plain_number(float(errors.max()))}.",
        _placement(float(theta[peak]), abilities),
    ]
    return PageSection(lines, figure=figure)


def _placement(peak: float, abilities: np.ndarray) -> str:
    above = float((abilities > peak).mean())
    if above >= 0.75:
        return "Most pipelines are above that: harder questions would separate the good ones better."
    if above <= 0.25:
        return "Most pipelines are below that: easier questions would separate the weak ones better."
    return "The pipelines are around that: the exam suits them."
