"""What the store of answers knows beyond right and wrong, and what reading the source passage is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from examcore import IntervalEstimate, Question, bootstrap_mean
from rag import AnswerStore
from ragexam.report._level_draws import INTERVAL
from ragexam.report._response_scores import NOTHING, accuracy, bound_of, facets_of, levels_of

_FACET = "retriever"
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
    with AnswerStore(path) as store:
        answers = [one for one in store.answers() if one.question in written_from]
    sources = [(written_from[one.question], one.passages) for one in answers]
    return pd.DataFrame(
        {
            "student": [one.pipeline for one in answers],
            "item": [one.question for one in answers],
            "chosen": [one.chosen for one in answers],
            "source": [float(source in passages) if source else math.nan for source, passages in sources],
            "prompt_tokens": [one.prompt_tokens for one in answers],
            "seconds": [one.seconds for one in answers],
        }
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
    searching = table[table[_FACET].map(bound_of).isna()].dropna(subset=["source", "score"])
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
