"""Measures of retrieval against their closed forms, and the ranks they are computed from."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from examcore import STEM, Chunk, Query, Question
from rag import ClosedBook
from rag.retrieval import Search, SourceRank, find_sources, searches_of
from rag.retrieval._protocol import Oracle


class InOrder:
    name = "in-order"

    def __init__(self, chunks: list[Chunk]) -> None:
        self._chunks = chunks

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        return self._chunks[:k]


def search(name: str, kind: str = STEM, sources: int = 1) -> Search:
    return Search(Question(name, f"about {name}?", (), 0), kind, [f"s{n}" for n in range(sources)])


def ranked(*ranks: tuple[int, ...], depth: int = 10, sources: int = 1) -> SourceRank:
    return SourceRank("r", tuple(search(f"q{n}", sources=sources) for n in range(len(ranks))), ranks, depth)


def test_measures_equal_their_closed_forms() -> None:
    known = np.array([*range(1, 11), math.inf])
    found = ranked(*((n,) for n in range(1, 11)), ()).measured(STEM, (1, 3, 10))
    assert list(found) == ["hit@1", "hit@3", "hit@10", "mrr@10", "ndcg@10"]
    assert found["hit@1"] == pytest.approx((known <= 1).astype(float))
    assert found["hit@3"] == pytest.approx((known <= 3).astype(float))
    assert found["hit@10"] == pytest.approx((known <= 10).astype(float))
    assert found["mrr@10"] == pytest.approx(1 / known)
    assert found["ndcg@10"] == pytest.approx(1 / np.log2(1 + known))


def test_several_sources_share_the_gain_that_is_possible() -> None:
    found = ranked((2, 5), (1, 2, 3), sources=3).measured()
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert found["ndcg@10"] == pytest.approx([(1 / math.log2(3) + 1 / math.log2(6)) / ideal, 1.0])
    assert found["mrr@10"] == pytest.approx([0.5, 1.0])


def test_measures_are_those_of_ir_measures() -> None:
    ir = pytest.importorskip("ir_measures")
    ranks = ((2, 5, 9), (1, 2, 3), (), (7,), (4, 10))
    found = ranked(*ranks, sources=3).measured()
    wanted = {"hit@3": ir.Success @ 3, "mrr@10": ir.RR @ 10, "ndcg@10": ir.nDCG @ 10}
    for place, mine in enumerate(ranks):
        sources = [ir.Qrel("q", f"at {rank}", 1) for rank in (*mine, *range(11, 14 - len(mine)))]
        results = [ir.ScoredDoc("q", f"at {rank}", -float(rank)) for rank in range(1, 11)]
        for name, measure in wanted.items():
            assert found[name][place] == pytest.approx(ir.calc_aggregate([measure], sources, results)[measure])


def test_ranks_below_the_cutoff_are_worth_nothing_and_cutoffs_below_the_lists_are_left_out() -> None:
    found = ranked((2,), (5,), depth=5)
    assert found.measured(STEM, (3,))["mrr@3"] == pytest.approx([0.5, 0])
    assert found.measured(STEM, (3,))["ndcg@3"] == pytest.approx([1 / math.log2(3), 0])
    assert list(found.measured(STEM, (1, 5, 10))) == ["hit@1", "hit@5", "mrr@5", "ndcg@5"]
    assert found.measured(STEM, (10,)) == {}


def test_a_question_with_several_queries_of_a_kind_counts_once() -> None:
    searches = (search("q0", "question"), search("q0", "question"), search("q1", "question"), search("q1"))
    found = SourceRank("r", searches, ((1,), (), (2,), (1,)), 10)
    assert found.measured("question")["mrr@10"] == pytest.approx([0.5, 0.5])
    assert found.questions("question") == ("q0", "q1")
    assert found.measured()["mrr@10"] == pytest.approx([1.0])
    assert found.measured("keywords") == {}


def test_every_query_is_searched_for_its_chunk_or_document(chunks: list[Chunk], questions: list[Question]) -> None:
    one = replace(questions[0], queries=(Query("question", "in other words?"), Query("keywords", "words")))
    found = searches_of([one])
    assert [(search.kind, search.asked.stem) for search in found] == [
        (STEM, one.stem),
        ("question", "in other words?"),
        ("keywords", "words"),
    ]
    assert {tuple(search.sources) for search in found} == {(one.chunk_id,)}
    two = [chunks[0], replace(chunks[0], id="again"), chunks[1]]
    asked = [Search(one, STEM, (chunks[1].document_id,), by_document=True)]
    assert find_sources({"in-order": InOrder(two)}, asked)[0].ranks == ((2,),)


def test_the_rank_is_where_the_source_stands(chunks: list[Chunk], questions: list[Question]) -> None:
    seen: list[tuple[int, int]] = []
    retrievers = {"in-order": InOrder(chunks), "oracle": Oracle(chunks), "closed-book": ClosedBook()}
    found = find_sources(retrievers, searches_of(questions), depth=4, progress=lambda *at: seen.append(at))
    assert [one.retriever for one in found] == list(retrievers)
    assert found[0].ranks == ((1,), (2,), (3,), (4,), (), ())
    assert found[1].ranks == ((1,),) * 6
    assert found[2].ranks == ((),) * 6
    assert found[2].measured(STEM, (1, 4))["hit@4"] == pytest.approx([0] * 6)
    assert seen == [(n, 18) for n in range(18)]


def test_a_question_without_a_source_is_refused(questions: list[Question]) -> None:
    with pytest.raises(ValueError, match="question 'q-oder': names no chunk"):
        searches_of([replace(questions[0], chunk_id="")])
