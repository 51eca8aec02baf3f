"""Retrieval beside answers: how often the source passage was read and what that is worth, in words and a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from examcore import STEM, IntervalEstimate, Question, bootstrap_mean, counted
from examcore.page import joined, percent, points
from irt.plots import records
from rag import AnswerStore
from ragexam._retrieval import PEOPLES_OVERLAP, RetrievalTable
from ragexam.report._component_names import level_name
from ragexam.report._page_parts import (
    PageSection,
    PageTable,
    Picture,
    TableCell,
    column_heads,
    number_cell,
    percent_cell,
    points_cell,
    share_cell,
    table_row,
)
from ragexam.report._response_scores import NOTHING, accuracy, bound_of, facets_of, levels_of, row_interval
from ragexam.validity import CHECKED, ValidityTable

_FACET = "retriever"
VERDICTS = {
    "agreed": "agrees",
    "silent": "cannot tell",
    "contradicted": "contradicts",
    "untold": "users cannot tell",
}
"""What is said of a pair of retrievers, by its verdict."""
COLUMNS = (
    *("retriever", "found", "found_low", "found_high", "accuracy", "accuracy_low", "accuracy_high"),
    *("read_accuracy", "read_n", "unread_accuracy", "unread_n"),
)


def read_answers(path: Path, questions: Sequence[Question]) -> pd.DataFrame | None:
    """`student,item,chosen,source,prompt_tokens,seconds` of the exam's questions; None without a store.

    `source` is 1 where the passage that the question was written from was read, 0 where it was not, NaN for a question
    that names none. Raises ValueError for a file that is no store.
    """
    if not path.is_file():
        return None
    written_from = {question.id: question.chunk_id for question in questions}
    rows = []
    with AnswerStore(path) as store:
        for one in store.answers():
            if (source := written_from.get(one.question)) is not None:
                read = float(source in one.passages) if source else math.nan
                rows.append((one.pipeline, one.question, one.chosen, read, one.prompt_tokens, one.seconds))
    return pd.DataFrame(rows, columns=["student", "item", "chosen", "source", "prompt_tokens", "seconds"])


def reading_table(scores: pd.DataFrame, answers: pd.DataFrame | None) -> pd.DataFrame:
    """By retriever: share of answers for which the source passage was read, and accuracy, over questions (95 %).

    `read_n` and `unread_n` count answers, `read_accuracy` and `unread_accuracy` are the shares right among them.
    """
    table = _joined(scores, answers)
    if table is None:
        return pd.DataFrame(columns=list(COLUMNS))
    rows = []
    for level in levels_of(scores, _FACET):
        part = table[table[_FACET] == level]
        found, right = accuracy(part.assign(score=part["source"])), accuracy(part)
        halves = [part[part["source"] == value]["score"].dropna() for value in (1.0, 0.0)]
        shares = [value for half in halves for value in (half.mean() if len(half) else math.nan, len(half))]
        rows.append((level, *found, *right, *shares))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def worth_of_source(scores: pd.DataFrame, answers: pd.DataFrame | None) -> IntervalEstimate:
    """Accuracy with the source passage read minus without, for one question and all else equal (90 %).

    Compared are pipelines with a retriever that searches, which differ in the retriever alone, on questions where some
    had the source and some had not: neither easy questions nor able models are counted as reading.
    """
    table = _joined(scores, answers)
    if table is None:
        return NOTHING
    searching = table[table[_FACET].map(bound_of).isna()].dropna(subset=["source", "score"])
    others = [name for name in facets_of(scores) if name != _FACET]
    means = searching.pivot_table(index=["item", *others], columns="source", values="score", aggfunc="mean")
    if not {0.0, 1.0} <= set(means.columns):
        return NOTHING
    gaps = (means[1.0] - means[0.0]).dropna().groupby("item").mean()
    return bootstrap_mean(gaps.to_numpy(float))


def _joined(scores: pd.DataFrame, answers: pd.DataFrame | None) -> pd.DataFrame | None:
    """Scores with whether the source was read; None where that is not known."""
    if answers is None or _FACET not in scores.columns or answers["source"].isna().all():
        return None
    return scores.merge(answers[["student", "item", "source"]], on=["student", "item"], how="left")


def retrieval_section(
    scores: pd.DataFrame,
    found: pd.DataFrame,
    worth: IntervalEstimate,
    retrieval: RetrievalTable,
    validity: ValidityTable | None,
    figure: Picture | None,
) -> PageSection:
    """Retrieval beside answers: `found` is `reading_table`, `worth` that of the source."""
    if _FACET not in scores.columns:
        return PageSection(("The answers name no retrievers.",))
    measures = retrieval.retrievers
    names = list(dict.fromkeys(name for one in measures.values() for name in one))
    hits = [name for name in names if name.startswith("hit@")]
    shown = [*dict.fromkeys([*hits[:1], *hits[-1:]]), *(name for name in names if name.startswith("mrr@"))]
    if found.empty and not shown:
        return PageSection(
            ("Neither the store of answers nor retrieval.csv says what was retrieved: run ragexam retrieval.",)
        )
    tables = [_table(scores, found, measures, shown), *([_kinds_table(retrieval)] if len(retrieval.kinds) > 1 else [])]
    lines = [*_asked(retrieval), *_sentences(found, worth)]
    if validity is not None:
        lines += validity_sentences(validity)
        tables.append(_validity_table(validity))
    return PageSection(lines, tables=tuple(tables), figure=figure)


def validity_sentences(validity: ValidityTable) -> list[str]:
    """How the exam's order of retrievers stands beside that of the users' own questions."""
    shares = (
        f"{percent(validity.overlap_people)} of their content words are in the {validity.unit}s that answer them; of "
        f"those of the exam's queries, {percent(validity.overlap_exam)}."
    )
    if not validity.n_people:
        return [
            f"Your users' questions name no sources, so the order of retrievers was not checked with them. {shares} "
            "The table shows what the exam says at their overlap, by a straight line through its differences."
        ]
    told = len([one for one in validity.differences if one.verdict != "untold"])
    agreed, silent, wrong = (validity.counted(name) for name in ("agreed", "silent", "contradicted"))
    pairs = (
        f"of the {counted(told, 'pair')} of retrievers that they tell apart, the exam agrees on {agreed}, cannot tell "
        f"{silent} and contradicts {wrong}"
        if told
        else "they tell no two retrievers apart"
    )
    there = [f"{count} {name}" for name in CHECKED if (count := validity.counted(name, adjusted=True))]
    adjusted = f" At their overlap, by a straight line through its differences: {joined(there)}." if there else ""
    return [f"Checked with {validity.n_people} questions of your users: {pairs}. {shares}{adjusted}"]


def _validity_table(validity: ValidityTable) -> PageTable:
    rows = [
        table_row(
            f"{level_name(_FACET, one.first)} minus {level_name(_FACET, one.second)}",
            *map(points_cell, (one.people, one.exam, one.gap, one.adjusted)),
            VERDICTS[one.verdict] if validity.n_people else "–",
        )
        for one in validity.differences
    ]
    caption = (
        f"nDCG of the first ten {validity.unit}s by users' questions and by the exam's, with 90 % intervals; beside "
        "them the exam's for queries with as many of the passage's words as users' questions have"
    )
    heads = column_heads("pair", "#users", "#exam", "#gap", "#exam at users' overlap", "the exam")
    return PageTable(caption, heads, tuple(rows), sortable=True)


def _asked(retrieval: RetrievalTable) -> list[str]:
    """What retrievers searched for, and how much of it stands in the passages."""
    if not retrieval.kinds or math.isnan(retrieval.overlap[retrieval.main]):
        return []
    words = "the questions in other words" if retrieval.main != STEM else "the questions as they stand in the exam"
    share = retrieval.overlap[retrieval.main]
    low, high = (percent(one) for one in PEOPLES_OVERLAP)
    count = counted(retrieval.questions[retrieval.main], "question")
    return [
        f"Retrievers searched for {words}: {percent(share)} of their content words are in the passage, on average "
        f"(of questions that people ask, {low} to {high}). Hit rates and ranks are over {count}, which may include "
        "some that were dropped for their choices alone; answers are over the exam's."
    ]


def _kinds_table(retrieval: RetrievalTable) -> PageTable:
    """nDCG of each retriever for each kind of queries, the main kind first."""
    kinds = sorted(retrieval.kinds, key=lambda one: one != retrieval.main)
    measure = list(next(iter(retrieval.retrievers.values())))[-1]
    rows = []
    for name in retrieval.retrievers:
        found = [retrieval.kinds[kind].get(name, {}).get(measure, NOTHING) for kind in kinds]
        rows.append(table_row(level_name(_FACET, name), *map(share_cell, found)))
    heads = column_heads("retriever", *(f"#{kind} (overlap {percent(retrieval.overlap[kind])})" for kind in kinds))
    caption = f"{measure} by kind of query, with 90 % intervals over questions"
    return PageTable(caption, heads, tuple(rows), sortable=True)


def _sentences(found: pd.DataFrame, worth: IntervalEstimate) -> list[str]:
    lines = []
    if not found.empty:
        lines.append(
            "Read means that the passage the question was written from was among those given to the model. Another "
            "passage may say the same, so an answer without the source can still be right."
        )
    if math.isfinite(worth.estimate):
        lines.append(
            f"For the same question and the same model, reading the source is worth {points(worth)} of accuracy (90 % "
            "interval over questions)."
        )
    searching = found[found["retriever"].map(bound_of).isna()]
    unread = searching.dropna(subset=["unread_accuracy"])
    if unread["unread_n"].sum():
        share = float((unread["unread_accuracy"] * unread["unread_n"]).sum() / unread["unread_n"].sum())
        lines.append(f"Where a retriever missed it, {percent(share)} of the answers were right.")
    if len(searching) > 2:
        by_found, by_right = _order(searching, "found"), _order(searching, "accuracy")
        if by_found == by_right:
            lines.append("Retrievers rank by right answers as they rank by how often the source was read.")
        else:
            lines.append(f"By how often the source was read the order is {by_found}; by right answers, {by_right}.")
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
    by_name = {row["retriever"]: row for row in records(found)}
    names = ["retriever", *(f"#{name}" for name in shown)]
    names += ["#source read", "#accuracy", "#right when read", "#right when not"] if by_name else []
    rows = []
    for level in levels_of(scores, _FACET):
        cells: list[TableCell | str] = [level_name(_FACET, level)]
        cells += [share_cell(measures.get(level, {}).get(name, NOTHING)) for name in shown]
        if by_name:
            row = by_name[level]
            cells += [
                percent_cell(row["found"]),
                share_cell(row_interval(row, "accuracy", "accuracy_low", "accuracy_high")),
            ]
            cells += [_half(row["read_accuracy"], row["read_n"]), _half(row["unread_accuracy"], row["unread_n"])]
        rows.append(table_row(*cells))
    caption = "Retrieval beside answers; hit and MRR with 90 % intervals, accuracy with 95 % intervals over questions"
    return PageTable(caption, column_heads(*names), tuple(rows), sortable=True)


def _half(share: float, count: float) -> TableCell:
    return number_cell(f"{percent(share)} of {int(count):,}", share) if count else number_cell("–")
