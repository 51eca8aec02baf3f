"""Kinds of questions: levels of Bloom's taxonomy, question words and whatever else questions are labelled with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from examcore import Question
from examcore.page import clipped, plain_number
from irt import kernels
from ragexam.report._fitted_model import FittedModel, interval_of
from ragexam.report._page_parts import (
    PageSection,
    PageTable,
    Picture,
    TableCell,
    TableRow,
    column_heads,
    number_cell,
    share_cell,
    table_row,
)
from ragexam.report._response_scores import NOTHING, accuracy
from taxonomy import FORMS, LEVELS, bloom, labels

FEW = 5
"""Questions of a kind below which nothing is read from its numbers."""
_LABELS = 30
"""Rows of a table."""
_DRAWS = 200
"""Draws of the information: the limits of its 90 % interval then rest on ten draws beyond each."""


@dataclass(frozen=True)
class QuestionGrouping:
    """A way of grouping questions: where labels may be stored, else how they are read off a text in a language."""

    stored: str
    title: str
    label: Callable[[str, str], Sequence[str]] = lambda _text, _language: ()
    order: Sequence[str] = ()
    figure: str = ""

    def groups(self, questions: Sequence[Question]) -> dict[str, list[str]]:
        """The ids of the questions under each label, in the order of the kind; a question may have several."""
        found: dict[str, list[str]] = {name: [] for name in self.order}
        for question in questions:
            for name in question.labels.get(self.stored) or self.label(question.stem, question.language):
                found.setdefault(name, []).append(question.id)
        return {name: ids for name, ids in found.items() if ids}


BLOOM = QuestionGrouping("bloom", "By level of Bloom's taxonomy", bloom, LEVELS, "information_by_bloom")
FORM = QuestionGrouping(
    "form",
    "By question word",
    lambda text, code: labels(text, code).get("form", ()),
    FORMS,
    "information_by_question_word",
)
_NAMED = {"knowledge": "By kind of knowledge", "topic": "By topic", "cluster": "By cluster"}
_HIDDEN = frozenset({BLOOM.stored, FORM.stored, "words"})
"""Not shown as kinds of their own; all words of a question are what its form is chosen from."""


def groupings_of(questions: Sequence[Question]) -> list[QuestionGrouping]:
    """Bloom's levels, question words, and every other label that the exam's questions carry."""
    stored = dict.fromkeys(name for question in questions for name in question.labels)
    more = [name for name in stored if name not in _HIDDEN]
    return [BLOOM, FORM, *(QuestionGrouping(name, _NAMED.get(name, f"By {clipped(name, 40)}")) for name in more)]


def item_information(model: FittedModel) -> tuple[tuple[str, ...], np.ndarray]:
    """The fit's items, and draws `[D, I]` of their information averaged over the pipelines' abilities."""
    fit = model.fit
    theta = np.asarray(fit.point["theta"], float)[:, None]
    thin = fit.thinned(_DRAWS)
    each = zip(*(thin[name] for name in "abcd"), strict=True)
    return fit.data.items, np.array([kernels.information(theta, *one).mean(axis=0) for one in each])


def groupings_section(
    model: FittedModel | None, questions: Sequence[Question], scores: pd.DataFrame, figures: Mapping[str, Picture]
) -> PageSection:
    """How to read it, a warning on the labels, a figure or a table for each grouping."""
    draws = None if model is None or model.fit.graded is not None else item_information(model)
    parts = [
        PageSection(title=one.title, tables=(_table(one, questions, scores, draws),), figure=figures.get(one.figure))
        for one in groupings_of(questions)
    ]
    lines = [
        "Information is what one question of a kind tells about a pipeline, averaged over these pipelines' abilities; "
        "accuracy is the share right. A question may have several levels and then counts for each."
        if draws is not None
        else "Accuracy is the share right; information needs a fitted measurement model."
    ]
    warning = (
        "Unless the exam brings its own, labels are read off the wording by lists of verbs and question words, so a "
        "verb in the subject of a question counts as its task. Nobody checked them here: differences between levels "
        f"are hints, and kinds with fewer than {FEW} questions say nothing."
    )
    return PageSection(lines, (warning,), parts=parts)


def _table(
    grouping: QuestionGrouping,
    questions: Sequence[Question],
    scores: pd.DataFrame,
    draws: tuple[tuple[str, ...], np.ndarray] | None,
) -> PageTable:
    groups = grouping.groups(questions)
    ranked = list(groups) if grouping.order else sorted(groups, key=lambda name: -len(groups[name]))
    rows = tuple(_row(name, groups[name], scores, draws) for name in ranked[:_LABELS])
    more = f", the {_LABELS} largest of {len(groups)}" if len(groups) > _LABELS else ""
    names = ["label", "#questions", "#accuracy", *(["#information"] if draws is not None else [])]
    caption = f"{grouping.title}{more}; 95\u00a0% intervals of accuracy, 90\u00a0% of a question's information"
    return PageTable(caption, column_heads(*names), rows, sortable=True)


def _row(
    name: str, ids: Sequence[str], scores: pd.DataFrame, draws: tuple[tuple[str, ...], np.ndarray] | None
) -> TableRow:
    count = f"{len(ids)}{' (few)' if len(ids) < FEW else ''}"
    cells: list[TableCell | str] = [
        clipped(name, 60) or "no label",
        number_cell(count, len(ids)),
        share_cell(accuracy(scores[scores["item"].isin(ids)])),
    ]
    if draws is not None:
        known = set(ids)
        where = [place for place, item in enumerate(draws[0]) if item in known]
        found = interval_of(draws[1][:, where].mean(axis=1)) if where else NOTHING
        text = f"{plain_number(found.estimate)} ({plain_number(found.low)} to {plain_number(found.high)})"
        cells.append(number_cell(text, found.estimate))
    return table_row(*cells)
