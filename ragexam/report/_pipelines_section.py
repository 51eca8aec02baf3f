"""Whole pipelines: which is best and how sure that is, and all of them to sort and filter."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from examcore.page import chance, percent_range, plain_number, signed
from ragexam.report._accuracy_tables import pipeline_accuracy
from ragexam.report._component_names import facet_name, level_name, pipeline_names
from ragexam.report._costs_section import measure_heads, measured_cells
from ragexam.report._fitted_model import FittedModel, probabilities_best
from ragexam.report._page_parts import (
    PageSection,
    PageTable,
    TableCell,
    TableFilters,
    column_heads,
    filter_menu,
    filter_tokens,
    number_cell,
    percent_cell,
    table_row,
)
from ragexam.report._response_scores import NOTHING, bound_of, facets_of, pipelines_of, row_interval

ID = "pipeline-list"
FEW = 12
"""Pipelines up to which the list stands open."""


def pipelines_section(scores: pd.DataFrame, model: FittedModel | None, costs: pd.DataFrame) -> PageSection:
    """Whole pipelines: the best one in words, and the table of all with its filters."""
    facets, first = facets_of(scores), pipelines_of(scores)
    marks = {
        facet: filter_tokens(f"p{place}l", [one[facet] for one in first.values()]) for place, facet in enumerate(facets)
    }
    found = pipeline_accuracy(scores)
    ranked = sorted(found, key=lambda name: -found[name].estimate if math.isfinite(found[name].estimate) else 1.0)
    named = {name: [level_name(*one) for one in first[name].items()] or [name] for name in ranked}
    cells: dict[str, list[TableCell | str]] = {
        name: [*named[name], percent_cell(one.estimate), number_cell(percent_range(one), one.low)]
        for name, one in ((name, found[name]) for name in ranked)
    }
    heads = [*(map(facet_name, facets) if facets else ["pipeline"]), "#accuracy", "#95\u00a0% interval"]
    if model is not None:
        heads += ["#ability", "#90\u00a0% interval"]
        abilities = model.abilities.set_index("student")
        for name in ranked:
            cells[name] += _ability_cells(abilities, name)
    if len(costs):
        heads += measure_heads(costs)
        by_cost = costs.set_index("student")
        for name in ranked:
            cells[name] += measured_cells(by_cost.loc[name] if name in by_cost.index else None, costs)
    tokens = {name: " ".join(marks[facet][level] for facet, level in first[name].items()) for name in ranked}
    rows = tuple(table_row(*cells[name], tokens=tokens[name]) for name in ranked)
    caption = "Each pipeline, the most accurate first; tokens and seconds are those of a question"
    shown = [filter_menu(facet_name(facet), marks[facet]) for facet in facets if len(marks[facet]) > 1]
    return PageSection(
        best_pipelines(model, scores),
        tables=(PageTable(caption, column_heads(*heads), rows, sortable=True, headed=False),),
        filters=TableFilters(ID, "pipelines", tuple(shown)),
        is_folded=len(rows) > FEW,
        title=f"All {len(rows)} pipelines{', with ability' if model is not None else ''}",
    )


def best_pipelines(model: FittedModel | None, scores: pd.DataFrame) -> list[str]:
    """The pipeline most probably best among those one could choose, and how many cannot be told from it."""
    if model is None:
        return []
    first, fit = pipelines_of(scores), model.fit
    students = fit.data.students
    choosable = [
        place for place, name in enumerate(students) if name in first and not any(map(bound_of, first[name].values()))
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


def _ability_cells(abilities: pd.DataFrame, name: str) -> tuple[TableCell, TableCell]:
    known = name in abilities.index
    theta = row_interval(abilities.loc[name], "theta", "theta_low", "theta_high") if known else NOTHING
    limits = f"{plain_number(theta.low)} to {plain_number(theta.high)}" if math.isfinite(theta.low) else "–"
    return number_cell(signed(theta.estimate), theta.estimate), number_cell(limits, theta.low)
