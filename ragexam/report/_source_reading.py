"""How often each retriever brings the source passage, and what reading it is worth."""

from __future__ import annotations

import math

import pandas as pd

from examcore import IntervalEstimate, bootstrap_mean
from ragexam.report._level_draws import INTERVAL
from ragexam.report._response_scores import NOTHING, accuracy, bound_of, facets_of, levels_of

_FACET = "retriever"
COLUMNS = (
    *("retriever", "found", "found_low", "found_high", "accuracy", "accuracy_low", "accuracy_high"),
    *("read_accuracy", "read_n", "unread_accuracy", "unread_n"),
)


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
