"""What pipelines cost, and which are worth it, in words and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from examcore.page import chance, percent, plain_number
from ragexam.report._component_names import facet_name, level_name, pipeline_names
from ragexam.report._cost_frontier import COLUMNS, CostFrontier
from ragexam.report._figure_files import Picture
from ragexam.report._page_sections import PageSection
from ragexam.report._page_tables import PageTable, TableCell, TableRow, column_heads, number_cell, text_cell
from ragexam.report._response_scores import facets_of

LIKELY = 0.1
"""Pipelines on the frontier with at least this chance are listed."""


def costs_section(
    scores: pd.DataFrame, costs: pd.DataFrame, found: CostFrontier | None, figure: Picture | None
) -> PageSection:
    """What each component costs, and the frontier of quality and cost as a table and a figure."""
    if found is None:
        return PageSection(("No tokens and no seconds are stored with the answers, so costs are unknown.",))
    names = pipeline_names(scores)
    lines = [_trade_off(found, names), *_cautions(costs, found.measure)]
    tables = (_frontier_table(found, costs, names), *_component_tables(scores, costs))
    return PageSection(lines, tables=tables, figure=figure)


def _trade_off(found: CostFrontier, names: Mapping[str, str]) -> str:
    on = found.pipelines[found.pipelines["on"]]
    cheapest, best = on.iloc[0], on.iloc[-1]
    unit = found.unit
    if len(on) == 1:
        name = names[cheapest["student"]]
        return f"{name} is both the cheapest (by {unit}) and the most accurate: nothing is traded off."
    ratio = float(best["x"]) / float(cheapest["x"]) if cheapest["x"] > 0 else math.inf
    return (
        f"{len(on)} of {len(found.pipelines)} pipelines are worth their cost: no cheaper one is as accurate. From the "
        f"cheapest, {names[cheapest['student']]} ({percent(cheapest['accuracy'])}), to the most accurate, "
        f"{names[best['student']]} ({percent(best['accuracy'])}), the {unit} grow {plain_number(ratio, 1)}-fold."
    )


def _cautions(costs: pd.DataFrame, measure: str) -> list[str]:
    lines = []
    if measure != "cost":
        lines.append(
            "No prices are configured (price_per_million of a server), so cost is counted in "
            f"{'time' if measure == 'seconds' else 'tokens'}."
        )
    if costs["seconds"].notna().any():
        lines.append(
            "Seconds are each answer's share of its batch on the machine that sat the exam, under its load at the "
            "time: compare them with one another, not with a server of your own."
        )
    return lines


def _frontier_table(found: CostFrontier, costs: pd.DataFrame, names: Mapping[str, str]) -> PageTable:
    listed = found.pipelines[found.pipelines["on"] | (found.pipelines["chance"] >= LIKELY)]
    by_name = costs.set_index("student")
    marks = found.marks
    rows = tuple(
        TableRow(
            (
                number_cell(f"{marks[row['student']]}" if row["on"] else "–", marks.get(row["student"], math.nan)),
                text_cell(names[str(row["student"])]),
                number_cell(percent(row["accuracy"]), row["accuracy"]),
                *measured_cells(by_name.loc[row["student"]], costs),
                number_cell(chance(row["chance"]), row["chance"]),
            )
        )
        for row in listed.to_dict("records")
    )
    caption = (
        f"The frontier by {found.unit}, and pipelines that may be on it: chance over samples of questions, "
        "costs taken as known; bounds left out"
    )
    heading = column_heads(
        "#mark", "pipeline", "#accuracy", *measure_heads(costs), "#chance on the frontier", words=("pipeline",)
    )
    return PageTable(caption, heading, rows, sortable=True, headed=False)


def _component_tables(scores: pd.DataFrame, costs: pd.DataFrame) -> list[PageTable]:
    """Means by level of each facet, all else equal only in a full grid."""
    facets = [facet for facet in facets_of(scores) if scores[facet].nunique() > 1]
    joined = scores.drop_duplicates("student").merge(costs, on="student")
    rows = [
        TableRow(
            (
                TableCell(facet_name(facet)),
                TableCell(level_name(facet, str(level))),
                *measured_cells(part[list(COLUMNS[1:])].mean(), costs),
            )
        )
        for facet in facets
        for level, part in joined.groupby(facet, sort=False)
    ]
    heading = column_heads("component", "level", *measure_heads(costs))
    return (
        [PageTable("What a question costs by component, averaged over its pipelines", heading, tuple(rows))]
        if rows
        else []
    )


def measure_heads(costs: pd.DataFrame) -> list[str]:
    """The heads of `measured_cells`; cost only where any pipeline has a price."""
    return ["#tokens", "#seconds", *(["#cost of 1,000"] if priced(costs) else [])]


def priced(costs: pd.DataFrame) -> bool:
    """Whether the price of any pipeline is known."""
    return bool(costs["cost"].notna().any())


def measured_cells(row: Any, costs: pd.DataFrame) -> tuple[TableCell, ...]:
    """Tokens and seconds for a question and, where any is known, the cost of 1,000, as cells; `row` may be None."""
    tokens, seconds, cost = (math.nan if row is None else float(row[name]) for name in COLUMNS[1:])
    cells = (
        number_cell(f"{tokens:,.0f}" if math.isfinite(tokens) else "–", tokens),
        number_cell(_in_seconds(seconds), seconds),
        number_cell(f"{cost:.4g}" if math.isfinite(cost) else "–", cost),
    )
    return cells if priced(costs) else cells[:2]


def _in_seconds(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "–"
    return "< 0.001" if 0 < seconds < 0.0005 else f"{seconds:.3f}" if seconds < 1 else f"{seconds:.3g}"
