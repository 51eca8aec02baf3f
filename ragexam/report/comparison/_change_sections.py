"""The comparison in words and tables: what changed, how sure that is, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from examcore import INTERVAL_LEVEL
from examcore.page import chance, clipped, isolated, joined, p_value, plain_number, points, signed
from irt.plots import records
from ragexam.report._component_names import facet_name, facet_plural, level_name
from ragexam.report._component_verdicts import FacetVerdict
from ragexam.report._page_parts import (
    PageSection,
    PageTable,
    TableCell,
    change_cell,
    column_heads,
    interval_cell,
    number_cell,
    percent_cell,
    points_cell,
    table_row,
    text_cell,
)
from ragexam.report._response_scores import facets_of, levels_of, row_interval
from ragexam.report._run_findings import find_all
from ragexam.report.comparison._changes import AbilityChanges, AccuracyChanges, PairedRuns

SHOWN = 200
"""Pipelines in a table: more are slow to sort in a browser, and the clearest come first."""
_BARS = "|−\u00a0to\u00a0+"


def verdict_section(both: PairedRuns, accuracy: AccuracyChanges | None, ability: AbilityChanges | str) -> PageSection:
    """What changed in a sentence or two, what to know before trusting it, and the verdicts of both runs."""
    lead = [_overall(both, accuracy), *_clearest(accuracy)]
    warnings = [*(ability.link.warnings if isinstance(ability, AbilityChanges) else ()), *_settings(both)]
    return PageSection(lead, warnings, (_verdict_table(both),))


def _overall(both: PairedRuns, accuracy: AccuracyChanges | None) -> str:
    if accuracy is None:
        return "No pipeline answered a common question in both runs: the answers do not say what changed."
    n = len(both.pipelines)
    tried = "the one pipeline that both tried" if n == 1 else f"the {n} pipelines that both tried"
    size = f"On the {accuracy.n_questions} questions that both runs asked, {tried}"
    if accuracy.identical:
        return f"{size} gave the same right and wrong answers in both."
    change = accuracy.overall
    if change.excludes_zero:
        way = "better" if change.estimate > 0 else "worse"
        return f"{size} {'is' if n == 1 else 'are'} {way} in B: {points(change)} of accuracy."
    return f"{size} did not measurably change: {points(change)} of accuracy."


def _clearest(accuracy: AccuracyChanges | None) -> list[str]:
    if accuracy is None or accuracy.identical:
        return []
    levels = accuracy.levels[accuracy.levels["p_adjusted"] <= 1 - INTERVAL_LEVEL]
    if levels.empty:
        return ["No component changed clearly, all levels tested together."]
    told = [
        f"the {facet_name(row['facet'])} {level_name(row['facet'], clipped(row['level'], 60))} "
        f"({points(row_interval(row))})"
        for row in levels.to_dict("records")[:4]
    ]
    more = f" and {len(levels) - 4} more" if len(levels) > 4 else ""
    return [f"Changed clearly, all levels of components tested together: {joined(told)}{more}."]


def accuracy_section(both: PairedRuns, accuracy: AccuracyChanges | None) -> PageSection:
    """Changes of accuracy by component and by pipeline."""
    if accuracy is None:
        return PageSection(("Needs pipelines that answered the same questions in both runs.",))
    clear = int((accuracy.pipelines["p_adjusted"] <= 1 - INTERVAL_LEVEL).sum())
    lines = [
        "Accuracy in B minus accuracy in A, paired question by question; intervals (90\u00a0%) and p hold for all "
        f"rows of a table at once. {clear} of {len(both.pipelines)} pipelines changed clearly."
    ]
    if accuracy.left_out:
        lines.append(f"{accuracy.left_out} common questions were left out, because some pipeline did not answer them.")
    shown = accuracy.pipelines.head(SHOWN)
    more = f", the {SHOWN} clearest of {len(both.pipelines)}" if len(shown) < len(accuracy.pipelines) else ""
    captions = {
        "Change of accuracy by component, averaged over the pipelines that both runs tried": accuracy.levels,
        f"Change of accuracy by pipeline, the clearest first{more}": shown,
    }
    heads = ("#in A", "#in B", "#change", _BARS, "#adjusted p", "verdict")
    return PageSection(lines, tables=_tables(captions, heads, _accuracy_cells))


def ability_section(ability: AbilityChanges | str) -> PageSection:
    """Changes of ability on the scale of A, by component and by pipeline."""
    if isinstance(ability, str):
        return PageSection((ability,))
    line = ability.link
    lines = [
        f"Abilities of B were put on the scale of A by {len(line.anchors)} common questions: ability in A = "
        f"{plain_number(line.slope.estimate)} × ability in B {'−' if line.intercept.estimate < 0 else '+'} "
        f"{plain_number(abs(line.intercept.estimate))} "
        f"(slope {plain_number(line.slope.low)} to {plain_number(line.slope.high)}, intercept "
        f"{signed(line.intercept.low)} to {signed(line.intercept.high)})."
    ]
    if line.dropped:
        lines.append(f"{len(line.dropped)} questions drifted and were left out of the line.")
    if line.scatter > 1:
        lines.append(
            f"Difficulties scatter around the line by {plain_number(line.scatter, 1)} times their error; its interval "
            "is wider by that factor."
        )
    lines.append("Intervals (90\u00a0%) take the two fits as independent.")
    leads = (
        "How much the lead of a level over the mean of the common levels has grown, on the scale of A; bounds left out"
    )
    pipelines = ability.pipelines.sort_values("estimate", ascending=False).head(SHOWN)
    risen = "Change of each pipeline's ability on the scale of A, the largest rise first"
    heads = ("#change", _BARS, "verdict")
    tables = _tables({leads: ability.levels}, heads, _ability_cells)
    tables += _tables({risen: pipelines}, ("#in A", "#in B", *heads), _ability_cells)
    return PageSection(lines, tables=tables)


def _settings(both: PairedRuns) -> list[str]:
    """Differences of the fits that make a comparison of abilities questionable."""
    first, second = both.a.model, both.b.model
    if first is None or second is None:
        return []
    lines = []
    if first.fit.model != second.fit.model:
        lines.append(f"A was fitted by a {first.fit.model.upper()} model and B by a {second.fit.model.upper()} model.")
    for name, model in ((both.name_a, first), (both.name_b, second)):
        if not model.converged:
            lines.append(f"The fit of {name} did not converge: its abilities are provisional.")
    return lines


def not_compared(both: PairedRuns, accuracy: AccuracyChanges | None) -> list[str]:
    """What is not compared, and why: each a sentence."""
    lines = [
        f"{both.only_a} questions are only in A and {both.only_b} only in B: nothing is said about them.",
    ]
    if not both.questions:
        lines.append("No question is word for word the same in both runs: accuracies and abilities are not compared.")
    if both.reworded:
        lines.append(
            f"{len(both.reworded)} questions have the same id and another text, key or choices: they count as "
            f"different questions ({_some(list(both.reworded))})."
        )
    for name, mine, other in ((both.name_a, both.a, both.b), (both.name_b, both.b, both.a)):
        others = set(other.scores["student"])
        own = [str(one) for one in dict.fromkeys(mine.scores["student"]) if one not in others]
        if own:
            lines.append(f"{len(own)} pipelines are only in {name} ({_some(own)}).")
    for facet in facets_of(both.a.scores):
        if facet not in both.levels:
            lines.append(f"The runs share no {facet_name(facet)}.")
            continue
        for name, mine in ((both.name_a, both.a), (both.name_b, both.b)):
            own = [one for one in levels_of(mine.scores, facet) if one not in both.levels[facet]]
            if own:
                lines.append(
                    f"Only {name} tried the {facet_plural(facet)} {_some([level_name(facet, one) for one in own])}."
                )
    if accuracy is None and both.questions:
        lines.append("The common questions were answered by no pipeline in both runs.")
    return lines


def _some(names: list[str]) -> str:
    shown = ", ".join(isolated(clipped(name, 60)) for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _verdict_table(both: PairedRuns) -> PageTable:
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
    heads = column_heads("component", f"~in A: {both.name_a}", f"~in B: {both.name_b}", "~together")
    return PageTable(caption, heads, rows)


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


def _accuracy_cells(row: Mapping[Any, Any], reach: float) -> list[TableCell]:
    change, p = row_interval(row), row["p_adjusted"]
    verdict = ("better" if change.estimate > 0 else "worse") if p <= 1 - INTERVAL_LEVEL else "no clear change"
    return [
        percent_cell(row["before"]),
        percent_cell(row["after"]),
        points_cell(change),
        interval_cell(change.low, change.estimate, change.high, reach),
        number_cell(p_value(p), p),
        TableCell(verdict, kind="told"),
    ]


def _ability_cells(row: Mapping[Any, Any], reach: float) -> list[TableCell]:
    change = row_interval(row)
    verdict = ("risen" if change.estimate > 0 else "fallen") if change.excludes_zero else "no clear change"
    return [
        *(number_cell(signed(row[name]), row[name]) for name in ("before", "after") if name in row),
        change_cell(change),
        interval_cell(change.low, change.estimate, change.high, reach),
        TableCell(verdict, kind="told"),
    ]


def _tables(
    by_caption: Mapping[str, pd.DataFrame],
    heads: Sequence[str],
    cells: Callable[[Mapping[Any, Any], float], list[TableCell]],
) -> list[PageTable]:
    """Rows by component and level, or by pipeline, where there are any; bars are on a scale that holds the longest."""
    found = []
    for caption, table in by_caption.items():
        ends = table[["low", "high", "estimate"]].abs().to_numpy(float)
        reach = float(np.nanmax(ends)) if np.isfinite(ends).any() else 0.0
        names = ("pipeline",) if "student" in table else ("component", "level")
        rows = tuple(table_row(*_named(row), *cells(row, reach)) for row in records(table))
        found += [PageTable(caption, column_heads(*names, *heads), rows, sortable=True)] if rows else []
    return found


def _named(row: Mapping[Any, Any]) -> tuple[str, ...]:
    if "student" in row:
        return (clipped(row["student"], 80),)
    return facet_name(row["facet"]), level_name(row["facet"], clipped(row["level"], 60))
