"""The figures of a run: which are drawn, from what table, with what caption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from examcore import Question
from irt import plots
from irt.plots import COLOURS, records, shorten
from ragexam.report._accuracy_tables import accuracy_table, axes_of
from ragexam.report._component_names import facet_name, level_name, pipeline_names
from ragexam.report._costs_section import CostFrontier
from ragexam.report._fitted_model import THETA, FittedModel
from ragexam.report._page_parts import Picture, picture
from ragexam.report._pruning import PruningRecord
from ragexam.report._question_groupings import BLOOM, FORM, QuestionGrouping
from ragexam.report._response_scores import bound_of
from ragexam.report._run_findings import RunFindings

_COST, _RETRIEVAL = "quality_and_cost", "retrieval_and_answers"
FIGURE_NAMES = (
    *("accuracy", "component_contrasts", "exam_information", "information_by_bloom", "information_by_question_word"),
    *("information_over_pruning", _COST, _RETRIEVAL),
)
"""The figures a report may have."""
_FEWEST_RETRIEVERS = 3
"""With fewer, the table of retrieval says all that a figure would."""
_NEAR = (8.0, 4.0)
"""Points nearer than so many percent along either axis share one label: two labels would overlap."""
_CAPTIONS = {
    BLOOM: "Mean information of a question; in brackets the number of questions, which may have several levels. "
    "Bars: 90 % interval at the peak.",
    FORM: "Mean information of a question; in brackets the number of questions. Bars: 90 % interval at the peak.",
}


def draw_figures(findings: RunFindings) -> dict[str, Picture]:
    """Draw every figure that the run folder has the files for into its `figures/`; those of the page by name."""
    evidence = findings.evidence
    folder, scores, model = evidence.folder.path / "figures", evidence.scores, evidence.model
    for name in FIGURE_NAMES:  # none is left of an earlier report that the files no longer support
        for suffix in ("csv", "pdf", "png", "names.csv"):
            (folder / f"{name}.{suffix}").unlink(missing_ok=True)
    _accuracy(scores, folder)
    drawn: list[Picture] = []
    if model is not None:
        drawn += [] if model.components.empty else [_components(model, folder)]
        drawn += [_information(model, folder), *_groupings(model, evidence.questions, folder)]
    if evidence.pruning is not None:
        drawn.append(_pruning(evidence.pruning, folder))
    if len(findings.reading) >= _FEWEST_RETRIEVERS:
        drawn.append(_retrieval(findings.reading, folder))
    if findings.frontier is not None:
        drawn.append(cost_figure(findings.frontier, pipeline_names(scores), folder))
    return {one.name: one for one in drawn}


def _accuracy(scores: pd.DataFrame, folder: Path) -> None:
    """The heat map as files only: in the page it is a table."""
    axes = axes_of(scores)
    if axes is None:
        return
    row, column, _ = axes
    table = accuracy_table(scores, row, column)
    shown = {end: [level_name(facet, one) for one in table[end]] for end, facet in (("row", row), ("column", column))}
    named, height = table.assign(**shown), 0.95 + 0.5 * table["row"].nunique()
    picture(folder, "accuracy", "Accuracy", "", table, lambda ax, _: plots.heat_map(ax, named), height)


def _components(model: FittedModel, folder: Path) -> Picture:
    table = model.components
    levels = list(map(level_name, table["facet"], table["level"]))
    named = table.assign(facet=table["facet"].map(facet_name), level=levels)
    name, title = "component_contrasts", "What each component is worth"
    caption = "Effect of each level on ability with its 90 % interval; the average level of a component is 0."
    height = plots.forest_height(table)
    return picture(folder, name, title, caption, table, lambda ax, _: plots.component_forest(ax, named), height)


def _information(model: FittedModel, folder: Path) -> Picture:
    abilities = model.abilities[["student", "theta"]]
    marks = np.asarray(abilities["theta"], float)
    table = pd.concat([model.curve, abilities], ignore_index=True)
    name, title = "exam_information", "Where the exam measures well"
    caption = "Information of the whole exam with its 90 % band; each mark below is a pipeline's ability."
    return picture(folder, name, title, caption, table, lambda ax, _: plots.exam_information(ax, model.curve, marks))


def _groupings(model: FittedModel, questions: Sequence[Question], folder: Path) -> tuple[Picture, ...]:
    tables = {one: grouped_information(model, questions, one) for one in _CAPTIONS}
    return tuple(
        picture(folder, one.figure, one.title, caption, tables[one], plots.grouped_information, 3.4)
        for one, caption in _CAPTIONS.items()
    )


def grouped_information(model: FittedModel, questions: Sequence[Question], grouping: QuestionGrouping) -> pd.DataFrame:
    """`group, theta, n_items, total…, mean…` of the questions under each label."""
    known = set(model.fit.data.items)
    asked = [question for question in questions if question.id in known]
    return model.fit.information_by(grouping.groups(asked), THETA)


def _pruning(pruning: PruningRecord, folder: Path) -> Picture:
    caption = "Mean information of a question after each round, as the pipelines that did the choosing see it."
    table = pruning.information_by_round()
    title = "Information over pruning rounds"
    return picture(folder, "information_over_pruning", title, caption, table, plots.pruning_rounds, 3.2)


def cost_figure(found: CostFrontier, names: Mapping[str, str], folder: Path) -> Picture:
    """Accuracy against cost, the frontier numbered as in its table; `names` are shown where the pointer rests."""
    students = found.pipelines["student"]
    table = found.pipelines.assign(mark=[found.marks.get(name, "") for name in students])
    caption = (
        f"Accuracy against {found.unit}. Each dot is a pipeline one could choose; the numbered ones are the frontier "
        "of the table."
    )
    tips = {f"tip-{_COST}-{place}": names[name] for place, name in enumerate(students)}
    draw = partial(draw_costs, unit=found.unit)
    return picture(folder, _COST, "Quality and cost", caption, table, draw, 3.2, tips=tips)


def draw_costs(ax: Axes, table: pd.DataFrame, unit: str) -> Axes:
    """Accuracy against cost: `table` is `CostFrontier.pipelines`, `unit` its unit; the frontier is numbered."""
    x, y = table["x"].to_numpy(float), 100 * table["accuracy"].to_numpy(float)
    on = table["on"].to_numpy(bool)
    ax.step(x[on], y[on], where="post", color=COLOURS[0], linewidth=1.3, alpha=0.7)
    for place, (left, height, best) in enumerate(zip(x, y, on, strict=True)):
        colour = COLOURS[0] if best else COLOURS[7]
        (dot,) = ax.plot(left, height, "o", color=colour, markersize=6 if best else 4, alpha=1 if best else 0.6)
        dot.set_gid(f"tip-{_COST}-{place}")
    for place, end in enumerate(zip(x[on], y[on], strict=True), start=1):
        # Above and left of the frontier's dots, where its line never runs.
        ax.annotate(f"{place}", end, (-4, 4), textcoords="offset points", ha="right", fontsize=8)
    if x.min() > 0 and x.max() / x.min() > 4:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel(unit[:1].upper() + unit[1:])
    return _finished(ax)


def _retrieval(found: pd.DataFrame, folder: Path) -> Picture:
    caption = (
        "How often the source passage was read, and how often the answer was right, by retriever, with 95 % intervals "
        "over questions."
    )
    return picture(folder, _RETRIEVAL, "Retrieval beside answers", caption, found, draw_retrieval, 3.2)


def draw_retrieval(ax: Axes, table: pd.DataFrame) -> Axes:
    """Share right against how often the source passage was read, by retriever: `table` is `RunFindings.reading`."""
    numbers = table.select_dtypes("number").columns
    for row in records(table.assign(**{name: 100 * table[name] for name in numbers})):
        x, y = row["found"], row["accuracy"]
        colour = COLOURS[7] if bound_of(row["retriever"]) else COLOURS[0]
        ax.plot([row["found_low"], row["found_high"]], [y, y], color=colour, alpha=0.45, linewidth=1.1)
        ax.plot([x, x], [row["accuracy_low"], row["accuracy_high"]], color=colour, alpha=0.45, linewidth=1.1)
        ax.plot(x, y, "o", color=colour, markersize=5)
    for (x, y), name in _labels(table):
        side, shift = ("right", -6) if x > 60 else ("left", 6)
        ax.annotate(name, (x, y), (shift, 5), textcoords="offset points", ha=side, fontsize=8)
    ax.set_xlim(-4, 104)
    ax.set_ylim(max(-2.0, 100 * float(np.nanmin(table["accuracy_low"])) - 8), 104)
    ax.set_xlabel("Source passage read, % of answers")
    return _finished(ax)


def _finished(ax: Axes) -> Axes:
    ax.set_ylabel("Right answers, %")
    ax.grid(color=COLOURS[7], alpha=0.2, linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def _labels(table: pd.DataFrame) -> list[tuple[tuple[float, float], str]]:
    """Where names stand: those of retrievers at almost one place (in percent) in one line."""
    found: list[tuple[tuple[float, float], list[str]]] = []
    for row in records(table):
        x, y = 100 * row["found"], 100 * row["accuracy"]
        name = shorten(level_name("retriever", row["retriever"]), 18)
        near = next((names for (u, v), names in found if abs(u - x) < _NEAR[0] and abs(v - y) < _NEAR[1]), None)
        if near is None:
            found.append(((x, y), [name]))
        else:
            near.append(name)
    return [(place, ", ".join(names)) for place, names in found]
