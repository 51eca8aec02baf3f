"""The tables of the comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from examcore import IntervalEstimate
from examcore.page import chance, clipped, p_value, percent, points, signed, signed_range
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._component_verdicts import FacetVerdict
from ragexam.report._page_tables import (
    PageTable,
    TableCell,
    TableRow,
    column_heads,
    interval_cell,
    number_cell,
    text_cell,
)
from ragexam.report._run_findings import find_all
from ragexam.report._simultaneous_intervals import LEVEL
from ragexam.report.comparison._ability_changes import AbilityChanges
from ragexam.report.comparison._accuracy_changes import AccuracyChanges
from ragexam.report.comparison._change_sentences import change_interval
from ragexam.report.comparison._paired_runs import PairedRuns

SHOWN = 200


def verdict_table(both: PairedRuns) -> PageTable:
    """What each run says is best, component by component, on its own questions."""
    found = [{one.facet: one for one in find_all(evidence).verdicts} for evidence in (both.a, both.b)]
    facets = list(dict.fromkeys([*found[0], *found[1]]))
    rows = tuple(
        TableRow(
            (
                TableCell(facet_name(facet)),
                *(text_cell(_best(each.get(facet))) for each in found),
                text_cell(_moved(facet, found)),
            )
        )
        for facet in facets
    )
    caption = "What each run by itself says is best, with the probability of being best among what it tried"
    names = ("component", f"in A: {both.name_a}", f"in B: {both.name_b}", "together")
    return PageTable(caption, column_heads(*names, words=names[1:]), rows)


def _bests(facet: str, found: list[dict[str, FacetVerdict]]) -> list[str]:
    return [_best(each.get(facet)) for each in found]


def _best(verdict: FacetVerdict | None) -> str:
    if verdict is None or not verdict.best:
        return "not tried"
    name = level_name(verdict.facet, verdict.best)
    if not verdict.compared:
        return f"{name}, the only one tried"
    return f"{name} ({chance(verdict.probability)}){'' if verdict.told_apart else ', not told apart'}"


def _moved(facet: str, found: list[dict[str, FacetVerdict]]) -> str:
    verdicts = [each[facet] for each in found if facet in each and each[facet].compared]
    if len(verdicts) < 2:
        return "not compared"
    if verdicts[0].best == verdicts[1].best:
        return "the same"
    return "another one" if all(one.told_apart for one in verdicts) else "another one, but not told apart in both runs"


def accuracy_tables(both: PairedRuns, changes: AccuracyChanges | None) -> list[PageTable]:
    """Changes of accuracy by component and by pipeline."""
    if changes is None:
        return []
    tables = []
    if not changes.levels.empty:
        caption = "Change of accuracy by component, averaged over the pipelines that both runs tried"
        names = ["component", "level"]
        rows = [
            (row, [facet_name(str(row["facet"])), level_name(str(row["facet"]), clipped(str(row["level"]), 60))])
            for row in _records(changes.levels)
        ]
        tables.append(_accuracy_table(caption, names, rows))
    shown = changes.pipelines.head(SHOWN)
    more = f", the {SHOWN} clearest of {len(both.pipelines)}" if len(shown) < len(changes.pipelines) else ""
    rows = [(row, [clipped(str(row["student"]), 80)]) for row in _records(shown)]
    tables.append(_accuracy_table(f"Change of accuracy by pipeline, the clearest first{more}", ["pipeline"], rows))
    return tables


def _accuracy_table(caption: str, names: list[str], rows: list[tuple[dict[str, Any], list[str]]]) -> PageTable:
    reach = _reach([row for row, _ in rows])
    heading = column_heads(*names, "#in A", "#in B", "#change", "|−\u00a0to\u00a0+", "#adjusted p", "verdict")
    return PageTable(caption, heading, tuple(_accuracy_line(row, named, reach) for row, named in rows), sortable=True)


def _accuracy_line(row: Mapping[str, Any], named: list[str], reach: float) -> TableRow:
    change, p = change_interval(dict(row)), float(row["p_adjusted"])
    clear = p <= 1 - LEVEL
    verdict = ("better" if change.estimate > 0 else "worse") if clear else "no clear change"
    return TableRow(
        (
            *(TableCell(name) for name in named),
            number_cell(percent(row["before"]), row["before"]),
            number_cell(percent(row["after"]), row["after"]),
            number_cell(points(change), change.estimate),
            interval_cell(change.low, change.estimate, change.high, reach),
            number_cell(p_value(p), p),
            TableCell(verdict, kind="told"),
        )
    )


def ability_tables(ability: AbilityChanges | str) -> list[PageTable]:
    """Changes of ability on the scale of A, by component and by pipeline."""
    if isinstance(ability, str):
        return []
    tables = []
    if not ability.levels.empty:
        rows = _records(ability.levels)
        reach = _reach(rows)
        caption = (
            "How much the lead of a level over the mean of the common levels has grown, on the scale of A; bounds left "
            "out"
        )
        lines = tuple(
            TableRow(
                (
                    TableCell(facet_name(str(row["facet"]))),
                    TableCell(level_name(str(row["facet"]), clipped(str(row["level"]), 60))),
                    *_ability_cells(change_interval(row), reach),
                )
            )
            for row in rows
        )
        tables.append(PageTable(caption, column_heads("component", "level", *_ABILITY), lines, sortable=True))
    if not ability.pipelines.empty:
        rows = _records(ability.pipelines.sort_values("estimate", ascending=False).head(SHOWN))
        reach = _reach(rows)
        lines = tuple(
            TableRow(
                (
                    TableCell(clipped(str(row["student"]), 80)),
                    number_cell(signed(row["before"]), row["before"]),
                    number_cell(signed(row["after"]), row["after"]),
                    *_ability_cells(change_interval(row), reach),
                )
            )
            for row in rows
        )
        caption = "Change of each pipeline's ability on the scale of A, the largest rise first"
        tables.append(PageTable(caption, column_heads("pipeline", "#in A", "#in B", *_ABILITY), lines, sortable=True))
    return tables


_ABILITY = ("#change", "|−\u00a0to\u00a0+", "verdict")


def _ability_cells(change: IntervalEstimate, reach: float) -> tuple[TableCell, TableCell, TableCell]:
    verdict = ("risen" if change.estimate > 0 else "fallen") if change.excludes_zero else "no clear change"
    return (
        number_cell(f"{signed(change.estimate)} ({signed_range(change)})", change.estimate),
        interval_cell(change.low, change.estimate, change.high, reach),
        TableCell(verdict, kind="told"),
    )


def _reach(rows: list[dict[str, Any]]) -> float:
    """Half the width of the scale that bars are drawn on."""
    ends = [abs(float(row[name])) for row in rows for name in ("low", "high", "estimate")]
    return max((end for end in ends if end == end), default=0.0)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
