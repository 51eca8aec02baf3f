"""The figures of a run: which are drawn, from what table, with what caption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from examcore import Question
from irt import plots
from ragexam.report import _cost_figure, _retrieval_figure
from ragexam.report._accuracy_tables import accuracy_table, axes_of
from ragexam.report._component_names import facet_name, level_name, pipeline_names
from ragexam.report._figure_files import Picture, picture
from ragexam.report._fitted_model import THETA, FittedModel
from ragexam.report._pruning_record import PruningRecord
from ragexam.report._question_groupings import BLOOM, FORM, QuestionGrouping
from ragexam.report._run_findings import RunFindings

FIGURE_NAMES = (
    "accuracy",
    "component_contrasts",
    "exam_information",
    "information_by_bloom",
    "information_by_question_word",
    "information_over_pruning",
    _cost_figure.NAME,
    _retrieval_figure.NAME,
)
"""The figures a report may have."""
_FEWEST_RETRIEVERS = 3
"""With fewer, the table of retrieval says all that a figure would."""


@dataclass(frozen=True)
class RunFigures:
    """The figures that could be drawn."""

    components: Picture | None = None
    information: Picture | None = None
    groupings: tuple[Picture, ...] = ()
    pruning: Picture | None = None
    retrieval: Picture | None = None
    costs: Picture | None = None


_CAPTIONS = {
    BLOOM: "Mean information of a question; in brackets the number of questions, which may have several levels. "
    "Bars: 90 % interval at the peak.",
    FORM: "Mean information of a question; in brackets the number of questions. Bars: 90 % interval at the peak.",
}


def draw_figures(findings: RunFindings) -> RunFigures:
    """Draw every figure that the run folder has the files for, and write them to its `figures/`."""
    evidence = findings.evidence
    folder, scores, model = evidence.folder.path / "figures", evidence.scores, evidence.model
    _clear(folder)
    _accuracy(scores, folder)
    frontier, reading = findings.frontier, findings.reading
    return RunFigures(
        components=None if model is None or model.components.empty else _components(model, folder),
        information=None if model is None else _information(model, folder),
        groupings=() if model is None else _groupings(model, evidence.questions, folder),
        pruning=None if evidence.pruning is None else _pruning(evidence.pruning, folder),
        retrieval=None if len(reading) < _FEWEST_RETRIEVERS else _retrieval_figure.retrieval_figure(reading, folder),
        costs=None if frontier is None else _cost_figure.cost_figure(frontier, pipeline_names(scores), folder),
    )


def _groupings(model: FittedModel, questions: Sequence[Question], folder: Path) -> tuple[Picture, ...]:
    return tuple(
        picture(
            folder,
            grouping.figure,
            grouping.title,
            caption,
            grouped_information(model, questions, grouping),
            plots.grouped_information,
            3.4,
        )
        for grouping, caption in _CAPTIONS.items()
    )


def _clear(folder: Path) -> None:
    """Remove figures of an earlier report, so that none is left that the files no longer support."""
    for name in FIGURE_NAMES:
        for suffix in ("csv", "pdf", "png"):
            (folder / f"{name}.{suffix}").unlink(missing_ok=True)


def grouped_information(model: FittedModel, questions: Sequence[Question], grouping: QuestionGrouping) -> pd.DataFrame:
    """`group, theta, n_items, total…, mean…` of the questions under each label."""
    known = set(model.fit.data.items)
    asked = [question for question in questions if question.id in known]
    return model.fit.information_by(grouping.groups(asked), THETA)


def _components(model: FittedModel, folder: Path) -> Picture:
    table = model.components
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


def _information(model: FittedModel, folder: Path) -> Picture:
    abilities = model.abilities[["student", "theta"]]
    table = pd.concat([model.curve, abilities], ignore_index=True)
    caption = "Information of the whole exam with its 90 % band; each mark below is a pipeline's ability."
    return picture(
        folder,
        "exam_information",
        "Where the exam measures well",
        caption,
        table,
        lambda ax, _: plots.exam_information(ax, model.curve, np.asarray(abilities["theta"], float)),
    )


def _pruning(pruning: PruningRecord, folder: Path) -> Picture:
    caption = "Mean information of a question after each round, as the pipelines that did the choosing see it."
    table = pruning.information_by_round()
    title = "Information over pruning rounds"
    return picture(folder, "information_over_pruning", title, caption, table, plots.pruning_rounds, 3.2)


def _accuracy(scores: pd.DataFrame, folder: Path) -> None:
    """The heat map as files only: in the page it is a table."""
    axes = axes_of(scores)
    if axes is None:
        return
    row, column, _ = axes
    table = accuracy_table(scores, row, column)
    named = table.assign(
        row=[level_name(row, str(name)) for name in table["row"]],
        column=[level_name(column, str(name)) for name in table["column"]],
    )
    height = 0.95 + 0.5 * table["row"].nunique()
    picture(folder, "accuracy", "Accuracy", "", table, lambda ax, _: plots.heat_map(ax, named), height)
