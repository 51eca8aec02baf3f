"""Questions whose difficulty moved between two runs beyond what the change of all of them explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri

from examcore import IntervalEstimate, Question
from examcore.page import clipped, percent, plain_number, points, signed
from ragexam.report._level_draws import INTERVAL
from ragexam.report._page_tables import PageTable, TableRow, column_heads, number_cell, text_cell
from ragexam.report._question_cards import HEADING, PASSAGE, QuestionCard, card_choices
from ragexam.report._questions_section import LISTED_STEM
from ragexam.report.comparison._ability_changes import AbilityChanges
from ragexam.report.comparison._accuracy_changes import AccuracyChanges
from ragexam.report.comparison._paired_runs import PairedRuns

SHOWN = 20
_REACH = float(ndtri((1 + INTERVAL) / 2))


@dataclass(frozen=True)
class DriftSection:
    """Questions that moved, as tables, and each of them to read."""

    sentences: Sequence[str]
    tables: Sequence[PageTable]
    cards: Sequence[QuestionCard]


def drift_section(both: PairedRuns, accuracy: AccuracyChanges | None, ability: AbilityChanges | str) -> DriftSection:
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
            rows = [{str(key): value for key, value in row.items()} for row in drifted.head(SHOWN).to_dict("records")]
            shown += [str(row["item"]) for row in rows]
            tables.append(_drift_table(rows, known))
    if accuracy is not None and not accuracy.identical:
        most = accuracy.questions[accuracy.questions["estimate"] != 0].head(SHOWN)
        rows = [{str(key): value for key, value in row.items()} for row in most.to_dict("records")]
        changed = int((accuracy.questions["estimate"] != 0).sum())
        lines.append(
            f"{changed} of {accuracy.n_questions} questions were answered rightly by more or fewer pipelines than "
            "before; single questions change by chance, so read these as places to look."
        )
        shown += [str(row["item"]) for row in rows if str(row["item"]) not in shown]
        tables.append(_change_table(rows, known, len(both.pipelines)))
    if not lines:
        lines.append("Needs common questions.")
    return DriftSection(lines, tables, [_card(known[item]) for item in shown])


def _drift_table(rows: list[dict[str, Any]], known: Mapping[str, Question]) -> PageTable:
    caption = (
        "Questions that drifted, the clearest first: change of the share right beyond what moved all questions, from A "
        "to B, with 90\u00a0% interval"
    )
    lines = tuple(
        TableRow(
            (
                text_cell(clipped(known[str(row["item"])].stem, LISTED_STEM)),
                number_cell(points(_shift(row)), float(row["share_shift"])),
                number_cell(signed(float(row["z"]), 1), float(row["z"])),
                number_cell(signed(float(row["z_discrimination"]), 1), float(row["z_discrimination"])),
            )
        )
        for row in rows
    )
    names = ("question", "#shift of the share right", "#z of it", "#z of discrimination")
    return PageTable(caption, column_heads(*names, words=("question",)), lines, sortable=True, headed=False)


def _shift(row: Mapping[str, Any]) -> IntervalEstimate:
    centre, error = float(row["share_shift"]), float(row["share_shift_sd"])
    return IntervalEstimate(centre, centre - _REACH * error, centre + _REACH * error)


def _change_table(rows: list[dict[str, Any]], known: Mapping[str, Question], pipelines: int) -> PageTable:
    lines = tuple(
        TableRow(
            (
                text_cell(clipped(known[str(row["item"])].stem, LISTED_STEM)),
                number_cell(percent(row["before"]), row["before"]),
                number_cell(percent(row["after"]), row["after"]),
                number_cell(f"{signed(100 * row['estimate'], 0)} points", row["estimate"]),
            )
        )
        for row in rows
    )
    shared = plain_number(pipelines, 0)
    caption = f"Questions whose share right changed most, over the {shared} pipelines that both runs tried"
    return PageTable(
        caption, column_heads("question", "#in A", "#in B", "#change", words=("question",)), lines, True, False
    )


def _card(question: Question) -> QuestionCard:
    heading, passage = clipped(question.stem, HEADING), clipped(question.context, PASSAGE)
    return QuestionCard(0, heading, "", card_choices(question), passage)
