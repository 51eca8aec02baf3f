"""Whole pipelines: which is best and how sure that is, and all of them to sort and filter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from examcore import IntervalEstimate
from examcore.page import chance, percent, percent_range, plain_number, signed
from ragexam.report._component_names import facet_name, level_name, pipeline_names
from ragexam.report._costs_section import measure_heads, measured_cells
from ragexam.report._fitted_model import FittedModel
from ragexam.report._level_draws import probabilities_best
from ragexam.report._page_tables import (
    PageTable,
    TableCell,
    TableFilters,
    TableRow,
    column_heads,
    filter_menu,
    filter_tokens,
    number_cell,
)
from ragexam.report._response_scores import NOTHING, accuracy, bound_of, facets_of

ID = "pipeline-list"
FEW = 12
"""Pipelines up to which the list stands open."""


@dataclass(frozen=True)
class PipelinesSection:
    """The best pipeline in words, and the table of all with its filters; it stands `open` where they are few."""

    sentences: Sequence[str]
    title: str
    table: PageTable
    filters: TableFilters
    open: bool


def pipelines_section(scores: pd.DataFrame, model: FittedModel | None, costs: pd.DataFrame) -> PipelinesSection:
    """Whole pipelines: which is best, and all of them as a table."""
    facets = facets_of(scores)
    first = scores.drop_duplicates("student").set_index("student")
    marks = {
        facet: filter_tokens(f"p{place}l", first[facet].astype(str).tolist()) for place, facet in enumerate(facets)
    }
    by_cost = costs.set_index("student") if len(costs) else None
    abilities = None if model is None else model.abilities.set_index("student")
    rows = [
        _row(str(name), part, facets, marks, abilities, by_cost) for name, part in scores.groupby("student", sort=False)
    ]
    rows.sort(key=lambda row: -_accuracy(row, len(facets) or 1))
    names = [facet_name(facet) for facet in facets] or ["pipeline"]
    names += ["#accuracy", "#95\u00a0% interval"]
    names += [] if abilities is None else ["#ability", "#90\u00a0% interval"]
    names += [] if by_cost is None else measure_heads(costs)
    caption = "Each pipeline, the most accurate first; tokens and seconds are those of a question"
    shown = [filter_menu(facet_name(facet), marks[facet]) for facet in facets if len(marks[facet]) > 1]
    return PipelinesSection(
        best_pipelines(model, scores),
        f"All {len(rows)} pipelines{', with ability' if abilities is not None else ''}",
        PageTable(caption, column_heads(*names), tuple(rows), sortable=True, headed=False),
        TableFilters(ID, "pipelines", tuple(shown)),
        open=len(rows) <= FEW,
    )


def best_pipelines(model: FittedModel | None, scores: pd.DataFrame) -> list[str]:
    """The pipeline most probably best among those one could choose, and how many cannot be told from it."""
    if model is None:
        return []
    facets = facets_of(scores)
    first = scores.drop_duplicates("student").set_index("student")
    fit = model.fit
    students = fit.data.students
    choosable = [
        place
        for place, name in enumerate(students)
        if name in first.index and all(bound_of(str(first.at[name, facet])) is None for facet in facets)
    ]
    if len(choosable) < 2:
        return []
    share = probabilities_best(fit.draws["theta"][:, choosable])
    best = int(np.argmax(fit.point["theta"][choosable]))
    winner = students[choosable[best]]
    rivals = [students[place] for place in choosable if students[place] != winner]
    ties = sum(fit.compare_students(winner, other).low <= 0 for other in rivals)
    others = (
        "all others are measurably behind it"
        if ties == 0
        else f"{ties} of the {len(choosable) - 1} others cannot be told apart from it"
    )
    return [
        f"The best whole pipeline is {pipeline_names(scores)[winner]} (probability of being best: "
        f"{chance(share[best])}); {others}."
    ]


def _row(
    name: str,
    part: pd.DataFrame,
    facets: Sequence[str],
    marks: Mapping[str, Mapping[str, str]],
    abilities: pd.DataFrame | None,
    costs: pd.DataFrame | None,
) -> TableRow:
    levels = {facet: str(part[facet].iloc[0]) for facet in facets}
    found = accuracy(part)
    cells = [TableCell(level_name(facet, level)) for facet, level in levels.items()] or [TableCell(name)]
    cells += [number_cell(percent(found.estimate), found.estimate), number_cell(percent_range(found), found.low)]
    if abilities is not None:
        theta = _ability(abilities, name)
        cells += [
            number_cell(signed(theta.estimate), theta.estimate),
            number_cell(
                f"{plain_number(theta.low)} to {plain_number(theta.high)}" if math.isfinite(theta.low) else "–",
                theta.low,
            ),
        ]
    if costs is not None:
        cells += measured_cells(costs.loc[name] if name in costs.index else None, costs)
    return TableRow(tuple(cells), " ".join(marks[facet][level] for facet, level in levels.items()))


def _accuracy(row: TableRow, place: int) -> float:
    value = row.cells[place].value
    return float(value) if value else -1.0


def _ability(abilities: pd.DataFrame, name: str) -> IntervalEstimate:
    if name not in abilities.index:
        return NOTHING
    found: Any = abilities.loc[name]
    return IntervalEstimate(*(float(found[column]) for column in ("theta", "theta_low", "theta_high")))
