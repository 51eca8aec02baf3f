"""Retrieval beside answers: what was read is counted, and its worth is paired within questions and models."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from ragexam._retrieval import NO_RETRIEVAL
from ragexam.report._retrieval_section import reading_table, retrieval_section, worth_of_source

LIFT = 0.5


def sat(questions: int = 300) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Hard questions are found more often: read off raw, the source would seem worth less than it is."""
    rng = np.random.default_rng(103)
    rows = []
    for n, retriever, llm in itertools.product(range(questions), ("closed-book", "bm25", "dense"), ("m", "n")):
        hard = n % 2 == 0
        source = float(retriever != "closed-book" and rng.random() < (0.8 if hard else 0.3))
        right = float(rng.random() < (0.1 if hard else 0.5) + LIFT * source)
        rows.append((f"{llm}+{retriever}", f"q{n}", right, llm, retriever, source))
    table = pd.DataFrame(rows, columns=["student", "item", "score", "llm", "retriever", "source"])
    return table.drop(columns="source"), table[["student", "item", "source"]]


def test_worth_of_the_source_is_not_confounded_with_the_difficulty_of_questions() -> None:
    scores, answers = sat()
    found = worth_of_source(scores, answers)
    assert found.low < LIFT < found.high
    joined = scores.merge(answers)
    raw = joined[joined["retriever"] != "closed-book"].groupby("source")["score"].mean()
    assert raw[1.0] - raw[0.0] < LIFT - 0.1


def test_the_table_counts_answers_with_and_without_the_source() -> None:
    scores, answers = sat()
    found = reading_table(scores, answers).set_index("retriever")
    assert found.loc["closed-book", "read_n"] == 0
    assert math.isnan(found.loc["closed-book", "read_accuracy"])
    part = scores.merge(answers).query("retriever == 'bm25'")
    assert found.loc["bm25", "found"] == pytest.approx(part["source"].mean())
    assert found.loc["bm25", "read_accuracy"] == pytest.approx(part[part["source"] == 1]["score"].mean())
    assert found.loc["bm25", "read_n"] + found.loc["bm25", "unread_n"] == len(part)


def test_without_a_store_or_measures_nothing_is_claimed() -> None:
    scores, _ = sat(10)
    found, worth = reading_table(scores, None), worth_of_source(scores, None)
    assert math.isnan(worth.estimate)
    assert not retrieval_section(scores, found, worth, NO_RETRIEVAL, None, None).tables
    nameless = retrieval_section(scores.drop(columns="retriever"), found, worth, NO_RETRIEVAL, None, None)
    assert "no retrievers" in str(nameless.sentences)
