"""What differences between answers come from, what more questions would buy, and which questions speak for what."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from examcore import Question
from examcore.page import chance, joined, percent, plain_number, signed
from irt import DStudy, Fit
from irt.plots import records
from ragexam.report._component_names import facet_name, facet_plural, level_name
from ragexam.report._component_verdicts import FacetVerdict
from ragexam.report._fitted_model import FittedModel, LevelDraws
from ragexam.report._page_parts import (
    PageSection,
    PageTable,
    TableCell,
    column_heads,
    number_cell,
    question_cell,
    share_cell,
    table_row,
)
from ragexam.report._questions_section import LISTED
from ragexam.report._response_scores import row_interval

_STEM = 100
"""Characters of a question in the table of those that speak for and against a component."""
_ORIGINS = {
    "questions": "which questions were asked, for some suit one of the two",
    "answers": "chance in single answers",
    "pipelines": "pipelines that do better or worse than the sum of their parts",
}
"""What the squared error of a comparison is made of, in words."""


def variance_section(
    model: FittedModel | None, verdicts: Sequence[FacetVerdict], questions: Sequence[Question]
) -> PageSection:
    """The variance components, what follows for each comparison, and questions for and against each level.

    Empty for a fit without effects of levels on questions, which cannot say it.
    """
    if model is None or not model.fit.design.item_facets:
        return PageSection()
    known = {one.facet: one for one in model.draws}
    compared = [one for one in verdicts if one.compared and one.facet in model.fit.design.item_facets]
    lines = [_outlook(model.fit, known[verdict.facet], verdict) for verdict in compared]
    of_levels = _level_questions(model, questions)
    return PageSection(lines, tables=[_components(model.fit)], folded=[of_levels] if of_levels.rows else [])


def _components(fit: Fit) -> PageTable:
    """Each source in plain words, with its variance and its share."""
    rows = tuple(
        table_row(
            _source(fit, row["source"], row["kind"]),
            number_cell(plain_number(row["variance"]), row["variance"]),
            share_cell(row_interval(row, "share", "share_low", "share_high")),
        )
        for row in records(fit.variance_components().table)
    )
    caption = (
        "What differences between answers come from: variances in squared logits and their shares (90\u00a0% "
        "intervals), for these components, bounds included, on questions like these"
    )
    return PageTable(caption, column_heads("source", "#variance", "#share"), rows)


def _source(fit: Fit, source: str, kind: str) -> str:
    if kind == "item x facet":
        return f"Which {facet_name(source.removeprefix('item x '))} suits which question"
    if kind == "interaction":
        return f"Combinations of {joined([facet_name(facet) for facet in fit.design.term(source).facets])}"
    plain = {
        "residual": "Pipelines beyond the sum of their parts",
        "item": "Which question: its difficulty",
        "answer": "Chance in a single answer",
    }
    return plain.get(kind, f"Which {facet_name(source)}")


def _outlook(fit: Fit, draws: LevelDraws, verdict: FacetVerdict) -> str:
    """Where the uncertainty between the best two levels comes from, and what more questions would buy."""
    names = fit.design.term(verdict.facet).levels
    first, second = (names[draws.levels.index(level)] for level in (verdict.best, verdict.runner_up or ""))
    count = len(fit.data.items)
    study = fit.d_study(verdict.facet, (first, second), questions=[count, 2 * count])
    origin = max(records(study.sources), key=lambda row: float(row["share"]))
    now, doubled = study.table["right_order"]
    pair = joined([level_name(verdict.facet, level) for level in (verdict.best, verdict.runner_up or "")])
    part = "most" if origin["share"] > 0.5 else "the largest part"
    return (
        f"Between the {facet_plural(verdict.facet)} {pair}, {part} of the uncertainty ({percent(origin['share'])} of "
        f"the squared error) comes from {_ORIGINS[origin['source']]}. An exam like this one puts the two in their true "
        f"order with probability {chance(now)}, one with {count} more questions {chance(doubled)}.{_needed(fit, study)}"
    )


def _needed(fit: Fit, study: DStudy) -> str:
    """From how many questions on the order is certain enough; nothing where this exam has them."""
    questions = study.needed.iloc[0]["questions"]
    if questions <= len(fit.data.items):
        return ""
    if math.isfinite(questions):
        return f" For {chance(study.certainty)} it takes {questions:,.0f} questions."
    others = joined([facet_plural(facet) for facet in fit.design.item_facets if facet != study.facet])
    more = f": try them with more {others}" if others else ""
    return f" No number of questions gives {chance(study.certainty)}{more}."


def _level_questions(model: FittedModel, questions: Sequence[Question]) -> PageTable:
    """For each level the question that speaks for it most, and the one against it.

    Levels of whose effects neither is larger than its standard deviation are left out.
    """
    # Linked to the card of the question where the page has one.
    cells = {
        question.id: replace(question_cell(question, _STEM), link=f"#question-{place}" if place <= LISTED else "")
        for place, question in enumerate(questions, start=1)
    }
    rows = []
    for draws in model.draws:
        if draws.facet in model.fit.design.item_facets:
            table = model.fit.level_items(draws.facet).groupby("level", sort=False)
            for shown, (_, of_level) in zip(draws.levels, table, strict=True):
                ends = records(of_level.iloc[[0, -1]])
                if any(abs(row["effect"]) > row["sd"] for row in ends):
                    found = [cell for row in ends for cell in (cells[row["item"]], _effect(row))]
                    rows.append(table_row(facet_name(draws.facet), level_name(draws.facet, shown), *found))
    heads = column_heads("component", "level", "~for it", "#effect", "~against it", "#effect")
    caption = (
        "The question that speaks for each level most, and the one against it: effects beyond ability in logits, "
        "shrunk towards 0, with standard deviations"
    )
    return PageTable(caption, heads, tuple(rows))


def _effect(row: Mapping[Any, Any]) -> TableCell:
    return number_cell(f"{signed(row['effect'], 1)} ± {plain_number(row['sd'], 1)}", row["effect"])
