"""Questions whose difficulty moved between two runs beyond what the change of all of them explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from examcore import IntervalEstimate, Question, language_named
from examcore.page import clipped, signed
from irt.plots import records
from ragexam.report._page_parts import (
    PageSection,
    PageTable,
    QuestionCard,
    column_heads,
    number_cell,
    percent_cell,
    points_cell,
    question_cell,
    table_row,
)
from ragexam.report._question_cards import HEADING, PASSAGE, card_choices
from ragexam.report._questions_section import LISTED_STEM
from ragexam.report.comparison._changes import REACH, AbilityChanges, AccuracyChanges, PairedRuns

SHOWN = 20
"""Questions in a table, each of which is shown to be read."""


def drift_section(both: PairedRuns, accuracy: AccuracyChanges | None, ability: AbilityChanges | str) -> PageSection:
    """Questions that drifted by the link, and those whose share right changed most; each readable."""
    known = {question.id: question for question in both.b.questions}
    lines, tables, shown = [], [], []
    if isinstance(ability, AbilityChanges):
        drift = ability.link.drift
        drifted = drift[~drift["kept"]].sort_values("z", key=abs, ascending=False)
        lines.append(
            f"{len(drifted)} of {len(drift)} common questions drifted: they became easier or harder, or sharper or "
            "flatter, than the others did (robust z beyond 3)."
            if len(drifted)
            else f"None of the {len(drift)} common questions drifted: none moved beyond what moved all of them."
        )
        if len(drifted):
            rows = records(drifted.head(SHOWN))
            shown += [row["item"] for row in rows]
            tables.append(_drift_table(rows, known))
    if accuracy is not None and not accuracy.identical:
        most = accuracy.questions[accuracy.questions["estimate"] != 0].head(SHOWN)
        rows = records(most)
        changed = int((accuracy.questions["estimate"] != 0).sum())
        lines.append(
            f"More or fewer pipelines than before got {changed} of {accuracy.n_questions} questions right; single "
            "questions change by chance, so take these as places to look."
        )
        shown += [row["item"] for row in rows if row["item"] not in shown]
        tables.append(_change_table(rows, known, len(both.pipelines)))
    if not lines:
        lines.append("Needs common questions.")
    return PageSection(lines, tables=tables, questions=[_card(known[item]) for item in shown])


def _drift_table(rows: Sequence[Mapping[Any, Any]], known: Mapping[str, Question]) -> PageTable:
    caption = (
        "Questions that drifted, the clearest first: change of the share right beyond what moved all questions, from A "
        "to B, with 90\u00a0% interval"
    )
    lines = tuple(
        table_row(
            question_cell(known[row["item"]], LISTED_STEM),
            points_cell(IntervalEstimate(shift, shift - reach, shift + reach)),
            *(number_cell(signed(row[name], 1), row[name]) for name in ("z", "z_discrimination")),
        )
        for row in rows
        for shift, reach in ((row["share_shift"], REACH * row["share_shift_sd"]),)
    )
    names = ("~question", "#shift of the share right", "#z of it", "#z of discrimination")
    return PageTable(caption, column_heads(*names), lines, sortable=True, headed=False)


def _change_table(rows: Sequence[Mapping[Any, Any]], known: Mapping[str, Question], pipelines: int) -> PageTable:
    lines = tuple(
        table_row(
            question_cell(known[row["item"]], LISTED_STEM),
            percent_cell(row["before"]),
            percent_cell(row["after"]),
            number_cell(f"{signed(100 * row['estimate'], 0)} points", row["estimate"]),
        )
        for row in rows
    )
    caption = f"Questions whose share right changed most, over the {pipelines} pipelines that both runs tried"
    heads = column_heads("~question", "#in A", "#in B", "#change")
    return PageTable(caption, heads, lines, sortable=True, headed=False)


def _card(question: Question) -> QuestionCard:
    heading, passage = clipped(question.stem, HEADING), clipped(question.context, PASSAGE)
    return QuestionCard(0, heading, "", card_choices(question), passage, language_named(question.language))
