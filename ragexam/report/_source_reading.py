"""Retrieval beside answers: how often each retriever brings the source passage, and what reading it is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from examcore import IntervalEstimate, bootstrap_mean
from examcore.page import joined, percent, percent_range, points
from irt.plots import COLOURS, shorten
from ragexam.report._component_names import level_name
from ragexam.report._component_verdicts import INTERVAL
from ragexam.report._figure_files import Picture, picture
from ragexam.report._page_tables import PageTable, TableCell, TableRow, column_heads, number_cell
from ragexam.report._response_scores import NOTHING, accuracy, bound_of, facets_of, levels_of

NAME = "retrieval_and_answers"
_FACET = "retriever"
_NEAR = (8.0, 4.0)
"""Points nearer than so many percent along either axis share a line of names."""
COLUMNS = ("retriever", "found", "found_low", "found_high", "accuracy", "accuracy_low", "accuracy_high")


def reading_table(scores: pd.DataFrame, answers: pd.DataFrame | None) -> pd.DataFrame:
    """By retriever: share of answers for which the source passage was read, and accuracy, over questions (95 %).

    `read_n` and `unread_n` count answers, `read_accuracy` and `unread_accuracy` are the shares right among them.
    """
    table = _joined(scores, answers)
    if table is None:
        return pd.DataFrame(columns=[*COLUMNS, "read_accuracy", "read_n", "unread_accuracy", "unread_n"])
    rows = []
    for level in levels_of(scores, _FACET):
        part = table[table[_FACET] == level]
        found, right = accuracy(part.assign(score=part["source"])), accuracy(part)
        halves = [part[part["source"] == value]["score"].dropna() for value in (1.0, 0.0)]
        told = [value for half in halves for value in (half.mean() if len(half) else math.nan, len(half))]
        rows.append((level, *found, *right, *told))
    return pd.DataFrame(rows, columns=[*COLUMNS, "read_accuracy", "read_n", "unread_accuracy", "unread_n"])


def worth_of_source(scores: pd.DataFrame, answers: pd.DataFrame | None) -> IntervalEstimate:
    """Accuracy with the source passage read minus without, for one question and all else equal (90 %).

    Compared are pipelines with a retriever that searches, which differ in the retriever alone, on questions where some
    had the source and some had not: neither easy questions nor able models are counted as reading.
    """
    table = _joined(scores, answers)
    if table is None:
        return NOTHING
    searching = table[[bound_of(str(level)) is None for level in table[_FACET]]].dropna(subset=["source", "score"])
    others = [name for name in facets_of(scores) if name != _FACET]
    means = searching.pivot_table(index=["item", *others], columns="source", values="score", aggfunc="mean")
    if not {0.0, 1.0} <= set(means.columns):
        return NOTHING
    gaps = (means[1.0] - means[0.0]).dropna().groupby("item").mean()
    return bootstrap_mean(gaps.to_numpy(float), level=INTERVAL)


def _joined(scores: pd.DataFrame, answers: pd.DataFrame | None) -> pd.DataFrame | None:
    """Scores with whether the source was read; None where that is not known."""
    if answers is None or _FACET not in scores.columns or answers["source"].isna().all():
        return None
    return scores.merge(answers[["student", "item", "source"]], on=["student", "item"], how="left")


def reading_view(
    scores: pd.DataFrame,
    answers: pd.DataFrame | None,
    measures: Mapping[str, Mapping[str, IntervalEstimate]],
    figures: Path,
) -> Mapping[str, object]:
    """What the template shows of retrieval, with the figure that is drawn."""
    if _FACET not in scores.columns:
        return {"sentences": ["The answers name no retrievers."], "table": None, "figure": None}
    found = reading_table(scores, answers)
    names = list(dict.fromkeys(name for one in measures.values() for name in one))
    hits = [name for name in names if name.startswith("hit@")]
    shown = [*dict.fromkeys([*hits[:1], *hits[-1:]]), *(name for name in names if name.startswith("mrr@"))]
    if found.empty and not shown:
        lines = ["Neither the store of answers nor retrieval.csv says what was retrieved: see ragexam retrieval."]
        return {"sentences": lines, "table": None, "figure": None}
    worth = worth_of_source(scores, answers)
    return {
        "sentences": _sentences(found, worth),
        "table": _table(scores, found, measures, shown),
        "figure": None if found.empty or len(found) < 3 else _figure(found, figures),
    }


def _sentences(found: pd.DataFrame, worth: IntervalEstimate) -> list[str]:
    lines = []
    if not found.empty:
        lines.append(
            "Read means that the passage the question was written from was among those given to the model. Another "
            "passage may say the same: then an answer without the source can be right all the same."
        )
    if math.isfinite(worth.estimate):
        lines.append(
            f"For the same question and the same model, reading the source is worth {points(worth)} of accuracy (90 % "
            "interval over questions)."
        )
    searching = found[[bound_of(str(name)) is None for name in found["retriever"]]] if len(found) else found
    unread = searching.dropna(subset=["unread_accuracy"]) if len(searching) else searching
    if len(unread) and unread["unread_n"].sum():
        share = float((unread["unread_accuracy"] * unread["unread_n"]).sum() / unread["unread_n"].sum())
        lines.append(f"Where a retriever missed it, {percent(share)} of the answers were right.")
    if len(searching) > 2:
        by_found, by_right = _order(searching, "found"), _order(searching, "accuracy")
        if by_found == by_right:
            lines.append("Retrievers rank by answers as they rank by finding the source.")
        else:
            lines.append(f"By finding the source the order is {by_found}; by answers it is {by_right}.")
    return lines


def _order(table: pd.DataFrame, column: str) -> str:
    """The retrievers from best to worst in words, ties together."""
    ranked = table.assign(value=table[column].round(9)).groupby("value", sort=True)["retriever"]
    return ", then ".join(joined(sorted(map(str, names))) for _, names in reversed(list(ranked)))


def _table(
    scores: pd.DataFrame,
    found: pd.DataFrame,
    measures: Mapping[str, Mapping[str, IntervalEstimate]],
    shown: Sequence[str],
) -> PageTable:
    by_name = {str(row["retriever"]): row for row in found.to_dict("records")}
    names = ["retriever", *(f"#{name}" for name in shown)]
    names += ["#source read", "#accuracy", "#right when read", "#right when not"] if by_name else []
    rows = []
    for level in levels_of(scores, _FACET):
        cells = [TableCell(level_name(_FACET, level))]
        cells += [_share(measures.get(level, {}).get(name, NOTHING)) for name in shown]
        if by_name:
            row = by_name[level]
            cells += [number_cell(percent(row["found"]), row["found"])]
            cells += [_share(IntervalEstimate(row["accuracy"], row["accuracy_low"], row["accuracy_high"]))]
            cells += [_half(row["read_accuracy"], row["read_n"]), _half(row["unread_accuracy"], row["unread_n"])]
        rows.append(TableRow(tuple(cells)))
    caption = "Retrieval beside answers; hit and MRR with 90 % intervals, accuracy with 95 % intervals over questions"
    return PageTable(caption, column_heads(*names), tuple(rows), sortable=True)


def _share(interval: IntervalEstimate) -> TableCell:
    if not math.isfinite(interval.estimate):
        return number_cell("–")
    return number_cell(f"{percent(interval.estimate)} ({percent_range(interval)})", interval.estimate)


def _half(share: float, count: float) -> TableCell:
    return number_cell(f"{percent(share)} of {int(count):,}", share) if count else number_cell("–")


def _figure(found: pd.DataFrame, folder: Path) -> Picture:
    caption = (
        "How often the source passage was read, and how often the answer was right, by retriever, with 95 % intervals "
        "over questions."
    )
    title = "Retrieval beside answers"
    return picture(folder, NAME, title, caption, found, lambda ax, table: _draw(ax, table), 3.2)


def _labels(table: pd.DataFrame) -> list[tuple[tuple[float, float], str]]:
    """Where names stand: those of retrievers at almost one place (in percent) in one line."""
    found: list[tuple[tuple[float, float], list[str]]] = []
    for row in table.to_dict("records"):
        x, y = 100 * row["found"], 100 * row["accuracy"]
        name = shorten(level_name(_FACET, str(row["retriever"])), 18)
        near = next((names for (u, v), names in found if abs(u - x) < _NEAR[0] and abs(v - y) < _NEAR[1]), None)
        if near is None:
            found.append(((x, y), [name]))
        else:
            near.append(name)
    return [(place, ", ".join(names)) for place, names in found]


def _draw(ax: Axes, table: pd.DataFrame) -> None:
    for row in table.to_dict("records"):
        x, y = 100 * row["found"], 100 * row["accuracy"]
        colour = COLOURS[7] if bound_of(str(row["retriever"])) else COLOURS[0]
        ax.plot([100 * row["found_low"], 100 * row["found_high"]], [y, y], color=colour, alpha=0.45, linewidth=1.1)
        ax.plot(
            [x, x], [100 * row["accuracy_low"], 100 * row["accuracy_high"]], color=colour, alpha=0.45, linewidth=1.1
        )
        ax.plot(x, y, "o", color=colour, markersize=5)
    for (x, y), name in _labels(table):
        right = x > 60
        ax.annotate(
            name,
            (x, y),
            (-6 if right else 6, 5),
            textcoords="offset points",
            ha="right" if right else "left",
            fontsize=8,
        )
    ax.set_xlim(-4, 104)
    ax.set_ylim(max(-2.0, 100 * float(np.nanmin(table["accuracy_low"])) - 8), 104)
    ax.set_xlabel("Source passage read, % of answers")
    ax.set_ylabel("Right answers, %")
    ax.grid(color=COLOURS[7], alpha=0.2, linewidth=0.6)
    ax.set_axisbelow(True)
