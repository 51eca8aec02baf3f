"""Measures of retrieval against their closed forms, and the ranks they are computed from."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("ir_measures")

from dataclasses import replace

from examcore import Chunk, Question
from rag import ClosedBook
from rag.retrieval import SourceRank, find_sources
from rag.retrieval._protocol import Oracle


class InOrder:
    name = "in-order"

    def __init__(self, chunks: list[Chunk]) -> None:
        self._chunks = chunks

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        return self._chunks[:k]


def test_measures_equal_their_closed_forms() -> None:
    ranks = np.array([*range(1, 11), math.nan])
    found = SourceRank("r", tuple(f"q{n}" for n in range(11)), ranks, 10).measured((1, 3, 10))
    known = np.nan_to_num(ranks, nan=math.inf)
    assert list(found) == ["hit@1", "hit@3", "hit@10", "mrr@10", "ndcg@10"]
    assert found["hit@1"] == pytest.approx((known <= 1).astype(float))
    assert found["hit@3"] == pytest.approx((known <= 3).astype(float))
    assert found["hit@10"] == pytest.approx((known <= 10).astype(float))
    assert found["mrr@10"] == pytest.approx(1 / known)
    assert found["ndcg@10"] == pytest.approx(1 / np.log2(1 + known))


def test_ranks_below_the_cutoff_are_worth_nothing_and_cutoffs_below_the_lists_are_left_out() -> None:
    found = SourceRank("r", ("q0", "q1"), np.array([2.0, 5.0]), 5)
    assert found.measured((3,))["mrr@3"] == pytest.approx([0.5, 0])
    assert found.measured((3,))["ndcg@3"] == pytest.approx([1 / math.log2(3), 0])
    assert list(found.measured((1, 5, 10))) == ["hit@1", "hit@5", "mrr@5", "ndcg@5"]
    assert found.measured((10,)) == {}


def test_the_rank_is_where_the_source_stands(chunks: list[Chunk], questions: list[Question]) -> None:
    seen: list[tuple[int, int]] = []
    retrievers = {"in-order": InOrder(chunks), "oracle": Oracle(chunks), "closed-book": ClosedBook()}
    found = find_sources(retrievers, questions, depth=4, progress=lambda *at: seen.append(at))
    assert [one.retriever for one in found] == list(retrievers)
    assert found[0].ranks == pytest.approx([1, 2, 3, 4, math.nan, math.nan], nan_ok=True)
    assert found[1].ranks == pytest.approx([1] * 6)
    assert np.isnan(found[2].ranks).all()
    assert found[2].measured((1, 4))["hit@4"] == pytest.approx([0] * 6)
    assert seen == [(n, 18) for n in range(18)]


def test_a_question_without_a_source_is_refused(chunks: list[Chunk], questions: list[Question]) -> None:
    with pytest.raises(ValueError, match="question 'q-oder': names no chunk"):
        find_sources({"oracle": Oracle(chunks)}, [replace(questions[0], chunk_id="")])
