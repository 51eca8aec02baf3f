"""The figures of a run: which are drawn, from what table, with what caption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from examcore import Question
from irt import plots
from ragexam.report import _costs as costs
from ragexam.report import _source_reading as reading
from ragexam.report._accuracy_tables import accuracy_table, axes_of
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._figure_files import Picture, picture
from ragexam.report._fitted_model import THETA, FittedModel
from ragexam.report._pruning_record import rounds_table
from ragexam.report._question_groupings import BLOOM, FORM, QuestionGrouping
from ragexam.report._run_evidence import RunEvidence

FIGURE_NAMES = (
    "accuracy",
    "component_contrasts",
    "exam_information",
    "information_by_bloom",
    "information_by_question_word",
    "information_over_pruning",
    costs.NAME,
    reading.NAME,
)
"""The figures a report may have."""


@dataclass(frozen=True)
class RunFigures:
    """The figures that could be drawn."""

    components: Picture | None = None
    information: Picture | None = None
    kinds: tuple[Picture, ...] = ()
    pruning: Picture | None = None


_CAPTIONS = {
    BLOOM: "Mean information of a question; in brackets the number of questions, which may have several levels. "
    "Bars: 90 % interval at the peak.",
    FORM: "Mean information of a question; in brackets the number of questions. Bars: 90 % interval at the peak.",
}


def draw_figures(evidence: RunEvidence) -> RunFigures:
    """Draw every figure that the run folder has the files for, and write them to its `figures/`."""
    folder = evidence.folder.path / "figures"
    _clear(folder)
    _accuracy(evidence, folder)
    measured = evidence.measured
    pruning = None if evidence.pruning is None else _pruning(evidence.pruning, folder)
    if measured is None:
        return RunFigures(pruning=pruning)
    kinds = [
        picture(
            folder,
            kind.figure,
            kind.title,
            caption,
            grouped_information(measured, evidence.questions, kind),
            plots.grouped_information,
            3.4,
        )
        for kind, caption in _CAPTIONS.items()
    ]
    return RunFigures(
        components=None if measured.components.empty else _components(measured, folder),
        information=_information(measured, folder),
        kinds=tuple(kinds),
        pruning=pruning,
    )


def _clear(folder: Path) -> None:
    """Remove figures of an earlier report, so that none is left that the files no longer support."""
    for name in FIGURE_NAMES:
        for suffix in ("csv", "pdf", "png"):
            (folder / f"{name}.{suffix}").unlink(missing_ok=True)


def grouped_information(measured: FittedModel, questions: Sequence[Question], kind: QuestionGrouping) -> pd.DataFrame:
    """`group, theta, n_items, total…, mean…` of the questions under each label."""
    known = set(measured.fit.data.items)
    asked = [question for question in questions if question.id in known]
    return measured.fit.information_by(kind.groups(asked), THETA)


def _components(measured: FittedModel, folder: Path) -> Picture:
    table = measured.components
    facets = [str(name) for name in table["facet"]]
    levels = [level_name(facet, str(level)) for facet, level in zip(facets, table["level"], strict=True)]
    named = table.assign(facet=[facet_name(facet) for facet in facets], level=levels)
    caption = "Effect of each level on ability with its 90 % interval; the average level of a component is 0."
    return picture(
        folder,
        "component_contrasts",
        "What each component is worth",
        caption,
        table,
        lambda ax, _: plots.component_forest(ax, named),
        plots.forest_height(table),
    )


def _information(measured: FittedModel, folder: Path) -> Picture:
    abilities = measured.abilities[["student", "theta"]]
    table = pd.concat([measured.curve, abilities], ignore_index=True)
    caption = "Information of the whole exam with its 90 % band; each mark below is a pipeline's ability."
    return picture(
        folder,
        "exam_information",
        "Where the exam measures well",
        caption,
        table,
        lambda ax, _: plots.exam_information(ax, measured.curve, np.asarray(abilities["theta"], float)),
    )


def _pruning(pruning: Mapping[str, Any], folder: Path) -> Picture:
    caption = "Mean information of a question after each round, as the pipelines that did the choosing see it."
    table = rounds_table(pruning)
    title = "Information over pruning rounds"
    return picture(folder, "information_over_pruning", title, caption, table, plots.pruning_rounds, 3.2)


def _accuracy(evidence: RunEvidence, folder: Path) -> None:
    """The heat map as files only: in the page it is a table."""
    axes = axes_of(evidence.scores)
    if axes is None:
        return
    row, column, _ = axes
    table = accuracy_table(evidence.scores, row, column)
    named = table.assign(
        row=[level_name(row, str(name)) for name in table["row"]],
        column=[level_name(column, str(name)) for name in table["column"]],
    )
    height = 0.95 + 0.5 * table["row"].nunique()
    picture(folder, "accuracy", "Accuracy", "", table, lambda ax, _: plots.heat_map(ax, named), height)
