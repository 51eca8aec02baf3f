"""The accuracy part of the page: heat maps of two facets, and of topics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from examcore import IntervalEstimate, Question
from examcore.page import HeatCell, HeatRow, HeatTable, clipped, isolated
from irt.plots import records
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._page_parts import PageSection
from ragexam.report._response_scores import (
    CEILING,
    FLOOR,
    accuracy,
    bound_of,
    bounds_in,
    facets_of,
    levels_of,
    row_interval,
)


def accuracy_table(scores: pd.DataFrame, row: str, column: str) -> pd.DataFrame:
    """`row, column, accuracy, low, high` over the levels of two facets, averaged over all others (95 %)."""
    found = []
    for one in levels_of(scores, row):
        for other in levels_of(scores, column):
            part = scores[(scores[row] == one) & (scores[column] == other)]
            found.append((one, other, *accuracy(part)))
    return pd.DataFrame(found, columns=["row", "column", "accuracy", "low", "high"])


def axes_of(scores: pd.DataFrame) -> tuple[str, str, str | None] | None:
    """The facets of the heat map: rows, columns, and the one to split by; None with fewer than two facets.

    Rows are language models and columns retrievers where the table has them, else its first two facets.
    """
    facets = facets_of(scores)
    if {"llm", "retriever"} <= set(facets):
        return "llm", "retriever", next((name for name in facets if name not in ("llm", "retriever")), None)
    if len(facets) < 2:
        return None
    return facets[0], facets[1], facets[2] if len(facets) > 2 else None


def accuracy_section(scores: pd.DataFrame) -> PageSection:
    """Heat maps averaged and split, bounds in words."""
    tables, details = _heat_tables(scores)
    return PageSection((_bounds(scores),), tables=tables, folded=details)


def _heat_tables(scores: pd.DataFrame) -> tuple[list[HeatTable], list[HeatTable]]:
    """The heat maps to show, and those to fold away: one for each level of the third facet."""
    axes = axes_of(scores)
    if axes is None:
        return [], []
    row, column, third = axes
    averaged = "" if third is None else f", averaged over {facet_name(third)}s"
    tables = [heat_table(scores, row, column, f"{_title(row)} by {facet_name(column)}{averaged} (percent correct)")]
    if third is None or scores[third].nunique() < 2:
        return tables, []
    tables.append(heat_table(scores, third, column, f"{_title(third)} by {facet_name(column)} (percent correct)"))
    if scores[row].nunique() < 2:
        return tables, []
    caption = f"{_title(row)} by {facet_name(column)}, {{}} (percent correct)"
    parts = {level: scores[scores[third] == level] for level in levels_of(scores, third)}
    details = [heat_table(part, row, column, caption.format(level_name(third, level))) for level, part in parts.items()]
    return tables, details


def pipeline_accuracy(scores: pd.DataFrame) -> dict[str, IntervalEstimate]:
    """Accuracy of each pipeline with its 95 % interval, in the order of the response table."""
    return {str(name): accuracy(part) for name, part in scores.groupby("student", sort=False)}


def heat_table(scores: pd.DataFrame, row: str, column: str, caption: str) -> HeatTable:
    """Accuracy by the levels of two columns as a heat map."""
    table = accuracy_table(scores, row, column)
    columns, by_row = table["column"].unique(), table.groupby("row", sort=False)
    cells = {name: [_cell(row_interval(one, "accuracy")) for one in records(part)] for name, part in by_row}
    rows = tuple(HeatRow(level_name(row, str(name)), tuple(found)) for name, found in cells.items())
    marks = {FLOOR: f"{FLOOR} (floor)", CEILING: f"{CEILING} (ceiling)"}
    heads = tuple(marks.get(bound_of(level) or "", level_name(column, level)) for level in columns)
    return HeatTable(caption, facet_name(row), heads, rows)


def _cell(found: IntervalEstimate) -> HeatCell:
    estimate, low, high = (100 * value for value in found)
    if not math.isfinite(estimate):
        return HeatCell(None, "–", "")
    return HeatCell(round(estimate), f"{estimate:.0f}", f"{low:.0f} to {high:.0f}")


def _bounds(scores: pd.DataFrame) -> str:
    found = bounds_in(scores)
    if {FLOOR, CEILING} <= found:
        return (
            "Closed book answers without a passage and oracle is handed the passage the question was written from: "
            "they are the floor and the ceiling, not choices."
        )
    if CEILING in found:
        return "Oracle is handed the passage the question was written from: a ceiling, not a choice. There is no floor."
    if FLOOR in found:
        return "Closed book answers without a passage: a floor, not a choice. There is no oracle to show the ceiling."
    return "Neither closed book nor oracle took part, so there is no floor or ceiling to compare with."


def _title(facet: str) -> str:
    name = facet_name(facet)
    return name[:1].upper() + name[1:]


SHOWN = 15
"""Rows of the table; smaller topics share the last one."""
_FEW = 10
"""Questions of a topic below which its accuracy is known to 15 points at best."""


def topics_section(questions: Sequence[Question], scores: pd.DataFrame) -> PageSection:
    """A heat map of topics by retriever (or the first facet), the largest topics first; the smallest pooled."""
    counts = Counter(question.topic for question in questions)
    if len(counts) < 2:
        return PageSection(("All questions have the same topic, or none.",))
    names = _names(counts)
    topic_of = {question.id: names[question.topic] for question in questions}
    by_topic = scores.assign(topic=scores["item"].map(topic_of))
    facets = facets_of(scores)
    column = "retriever" if "retriever" in facets else facets[0] if facets else "exam"
    if not facets:
        by_topic = by_topic.assign(exam="all pipelines")
    order = list(dict.fromkeys(names[topic] for topic, _ in counts.most_common()))
    lines = ["Intervals are wide where a topic has few questions: compare topics with care, and freely within one."]
    few = [topic for topic, count in counts.items() if count < _FEW]
    if few:
        lines.append(f"{len(few)} of {len(counts)} topics have fewer than {_FEW} questions.")
    caption = f"Topic (number of questions) by {facet_name(column)} (percent correct, 95\u00a0% intervals)"
    table = heat_table(by_topic, "topic", column, caption)
    ranked = tuple(sorted(table.rows, key=lambda row: order.index(row.name)))
    return PageSection(lines, tables=(replace(table, rows=ranked),))


def _names(counts: Counter[str]) -> dict[str, str]:
    """How each topic is shown: with its number of questions, the smallest pooled."""
    ranked = counts.most_common()
    alone = ranked if len(ranked) <= SHOWN else ranked[: SHOWN - 1]
    names = {topic: f"{isolated(clipped(topic, 60)) or 'no topic'} ({count})" for topic, count in alone}
    rest = ranked[len(alone) :]
    pooled = f"{len(rest)} other topics ({sum(count for _, count in rest)})"
    return names | {topic: pooled for topic, _ in rest}
