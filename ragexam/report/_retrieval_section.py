"""Retrieval beside answers, in words and as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from examcore import IntervalEstimate
from examcore.page import joined, percent, percent_range, points
from irt.plots import records
from ragexam.report._component_names import level_name
from ragexam.report._figure_files import Picture
from ragexam.report._page_parts import (
    PageSection,
    PageTable,
    TableCell,
    column_heads,
    number_cell,
    percent_cell,
    table_row,
)
from ragexam.report._response_scores import NOTHING, bound_of, levels_of, row_interval

_FACET = "retriever"


def retrieval_section(
    scores: pd.DataFrame,
    found: pd.DataFrame,
    worth: IntervalEstimate,
    measures: Mapping[str, Mapping[str, IntervalEstimate]],
    figure: Picture | None,
) -> PageSection:
    """Retrieval beside answers: `found` is `reading_table`, `worth` that of the source, `measures` by retriever."""
    if _FACET not in scores.columns:
        return PageSection(("The answers name no retrievers.",))
    names = list(dict.fromkeys(name for one in measures.values() for name in one))
    hits = [name for name in names if name.startswith("hit@")]
    shown = [*dict.fromkeys([*hits[:1], *hits[-1:]]), *(name for name in names if name.startswith("mrr@"))]
    if found.empty and not shown:
        return PageSection(
            ("Neither the store of answers nor retrieval.csv says what was retrieved: run ragexam retrieval.",)
        )
    return PageSection(_sentences(found, worth), tables=(_table(scores, found, measures, shown),), figure=figure)


def _sentences(found: pd.DataFrame, worth: IntervalEstimate) -> list[str]:
    lines = []
    if not found.empty:
        lines.append(
            "Read means that the passage the question was written from was among those given to the model. Another "
            "passage may say the same: then an answer without the source can be right all the same."
        )
    if math.isfinite(worth.estimate):
        lines.append(
            f"For the same question and the same model, reading the source is worth {points(worth)} of accuracy (90 % "
            "interval over questions)."
        )
    searching = found[found["retriever"].map(bound_of).isna()]
    unread = searching.dropna(subset=["unread_accuracy"])
    if unread["unread_n"].sum():
        share = float((unread["unread_accuracy"] * unread["unread_n"]).sum() / unread["unread_n"].sum())
        lines.append(f"Where a retriever missed it, {percent(share)} of the answers were right.")
    if len(searching) > 2:
        by_found, by_right = _order(searching, "found"), _order(searching, "accuracy")
        if by_found == by_right:
            lines.append("Retrievers rank by answers as they rank by finding the source.")
        else:
            lines.append(f"By finding the source the order is {by_found}; by answers it is {by_right}.")
    return lines


def _order(table: pd.DataFrame, column: str) -> str:
    """The retrievers from best to worst in words, ties together."""
    ranked = table.assign(value=table[column].round(9)).groupby("value", sort=True)["retriever"]
    return ", then ".join(joined(sorted(map(str, names))) for _, names in reversed(list(ranked)))


def _table(
    scores: pd.DataFrame,
    found: pd.DataFrame,
    measures: Mapping[str, Mapping[str, IntervalEstimate]],
    shown: Sequence[str],
) -> PageTable:
    by_name = {row["retriever"]: row for row in records(found)}
    names = ["retriever", *(f"#{name}" for name in shown)]
    names += ["#source read", "#accuracy", "#right when read", "#right when not"] if by_name else []
    rows = []
    for level in levels_of(scores, _FACET):
        cells: list[TableCell | str] = [level_name(_FACET, level)]
        cells += [_share(measures.get(level, {}).get(name, NOTHING)) for name in shown]
        if by_name:
            row = by_name[level]
            cells += [
                percent_cell(row["found"]),
                _share(row_interval(row, "accuracy", "accuracy_low", "accuracy_high")),
            ]
            cells += [_half(row["read_accuracy"], row["read_n"]), _half(row["unread_accuracy"], row["unread_n"])]
        rows.append(table_row(*cells))
    caption = "Retrieval beside answers; hit and MRR with 90 % intervals, accuracy with 95 % intervals over questions"
    return PageTable(caption, column_heads(*names), tuple(rows), sortable=True)


def _share(interval: IntervalEstimate) -> TableCell:
    if not math.isfinite(interval.estimate):
        return number_cell("–")
    return number_cell(f"{percent(interval.estimate)} ({percent_range(interval)})", interval.estimate)


def _half(share: float, count: float) -> TableCell:
    return number_cell(f"{percent(share)} of {int(count):,}", share) if count else number_cell("–")
