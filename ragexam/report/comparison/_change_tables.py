"""The tables of the comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from examcore.page import chance, clipped, p_value, signed, signed_range
from irt.plots import records
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._component_verdicts import FacetVerdict
from ragexam.report._page_parts import (
    PageTable,
    TableCell,
    column_heads,
    interval_cell,
    number_cell,
    percent_cell,
    points_cell,
    table_row,
    text_cell,
)
from ragexam.report._response_scores import LEVEL, row_interval
from ragexam.report._run_findings import find_all
from ragexam.report.comparison._changes import AbilityChanges, AccuracyChanges
from ragexam.report.comparison._paired_runs import PairedRuns

SHOWN = 200
"""Pipelines in a table: more are slow to sort in a browser, and the clearest come first."""
_BARS = "|−\u00a0to\u00a0+"


def verdict_table(both: PairedRuns) -> PageTable:
    """What each run says is best, component by component, on its own questions."""
    found = [{one.facet: one for one in find_all(evidence).verdicts} for evidence in (both.a, both.b)]
    rows = tuple(
        table_row(
            facet_name(facet),
            *(text_cell(_best(each.get(facet))) for each in found),
            text_cell(_moved([each[facet] for each in found if facet in each and each[facet].compared])),
        )
        for facet in {**found[0], **found[1]}
    )
    caption = "What each run by itself says is best, with the probability of being best among what it tried"
    names = ("component", f"in A: {both.name_a}", f"in B: {both.name_b}", "together")
    return PageTable(caption, column_heads(*names, words=names[1:]), rows)


def _best(verdict: FacetVerdict | None) -> str:
    if verdict is None or not verdict.best:
        return "not tried"
    name = level_name(verdict.facet, verdict.best)
    if not verdict.compared:
        return f"{name}, the only one tried"
    return f"{name} ({chance(verdict.probability)}){'' if verdict.told_apart else ', not told apart'}"


def _moved(verdicts: list[FacetVerdict]) -> str:
    if len(verdicts) < 2:
        return "not compared"
    if verdicts[0].best == verdicts[1].best:
        return "the same"
    return "another one" if all(one.told_apart for one in verdicts) else "another one, but not told apart in both runs"


def accuracy_tables(both: PairedRuns, changes: AccuracyChanges | None) -> list[PageTable]:
    """Changes of accuracy by component and by pipeline."""
    if changes is None:
        return []
    shown = changes.pipelines.head(SHOWN)
    more = f", the {SHOWN} clearest of {len(both.pipelines)}" if len(shown) < len(changes.pipelines) else ""
    captions = {
        "Change of accuracy by component, averaged over the pipelines that both runs tried": changes.levels,
        f"Change of accuracy by pipeline, the clearest first{more}": shown,
    }
    heads = ("#in A", "#in B", "#change", _BARS, "#adjusted p", "verdict")
    return [_table(caption, table, heads, _accuracy_cells) for caption, table in captions.items() if not table.empty]


def _accuracy_cells(row: Mapping[Any, Any], reach: float) -> list[TableCell]:
    change, p = row_interval(row), row["p_adjusted"]
    verdict = ("better" if change.estimate > 0 else "worse") if p <= 1 - LEVEL else "no clear change"
    return [
        percent_cell(row["before"]),
        percent_cell(row["after"]),
        points_cell(change),
        interval_cell(change.low, change.estimate, change.high, reach),
        number_cell(p_value(p), p),
        TableCell(verdict, kind="told"),
    ]


def ability_tables(ability: AbilityChanges | str) -> list[PageTable]:
    """Changes of ability on the scale of A, by component and by pipeline."""
    if isinstance(ability, str):
        return []
    leads = (
        "How much the lead of a level over the mean of the common levels has grown, on the scale of A; bounds left out"
    )
    pipelines = ability.pipelines.sort_values("estimate", ascending=False).head(SHOWN)
    risen = "Change of each pipeline's ability on the scale of A, the largest rise first"
    heads = ("#change", _BARS, "verdict")
    tables = [] if ability.levels.empty else [_table(leads, ability.levels, heads, _ability_cells)]
    return tables + ([] if pipelines.empty else [_table(risen, pipelines, ("#in A", "#in B", *heads), _ability_cells)])


def _ability_cells(row: Mapping[Any, Any], reach: float) -> list[TableCell]:
    change = row_interval(row)
    verdict = ("risen" if change.estimate > 0 else "fallen") if change.excludes_zero else "no clear change"
    return [
        *(number_cell(signed(row[name]), row[name]) for name in ("before", "after") if name in row),
        number_cell(f"{signed(change.estimate)} ({signed_range(change)})", change.estimate),
        interval_cell(change.low, change.estimate, change.high, reach),
        TableCell(verdict, kind="told"),
    ]


def _table(
    caption: str,
    table: pd.DataFrame,
    heads: Sequence[str],
    cells: Callable[[Mapping[Any, Any], float], list[TableCell]],
) -> PageTable:
    """Rows by component and level, or by pipeline; bars are drawn on a scale that holds the longest."""
    ends = table[["low", "high", "estimate"]].abs().to_numpy(float)
    reach = float(np.nanmax(ends)) if np.isfinite(ends).any() else 0.0
    names = ("pipeline",) if "student" in table else ("component", "level")
    rows = tuple(table_row(*_named(row), *cells(row, reach)) for row in records(table))
    return PageTable(caption, column_heads(*names, *heads), rows, sortable=True)


def _named(row: Mapping[Any, Any]) -> tuple[str, ...]:
    if "student" in row:
        return (clipped(row["student"], 80),)
    return facet_name(row["facet"]), level_name(row["facet"], clipped(row["level"], 60))
