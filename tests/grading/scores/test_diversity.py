"""alpha-nDCG: closed forms, an implementation over arrays, what it rewards, and what is undefined."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading._records import Grade
from grading.formats._grades import ReadGrades
from grading.formats._trec import TrecRun
from grading.scores._diversity import alpha_ndcg
from tests.command_line import ragexam_here

ANSWERED = st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=6)


def graded(table: list[list[bool]]) -> ReadGrades:
    """Passages p0, p1, … by questions r0, r1, …: 5 for an answer, 1 for none."""
    return ReadGrades(
        tuple(
            Grade("q", f"p{at}", f"r{n}", 5.0 if hit else 1.0)
            for at, row in enumerate(table)
            for n, hit in enumerate(row)
        )
    )


def run_of(*passages: str) -> TrecRun:
    return TrecRun("r", {"q": [(one, -float(at)) for at, one in enumerate(passages)]})


def test_a_repeated_answer_gains_less_by_alpha() -> None:
    grades = graded([[True, True, False], [True, False, False], [False, False, True]])
    log3 = math.log2(3)
    ideal = 2 + 1 / log3 + 0.5 / 2
    assert alpha_ndcg(grades, run_of("p0", "p2", "p1"), 4)["q"] == pytest.approx(1)
    assert alpha_ndcg(grades, run_of("p0", "p1", "p2"), 4)["q"] == pytest.approx((2 + 0.5 / log3 + 1 / 2) / ideal)
    assert alpha_ndcg(grades, run_of("p1", "p0"), 4, 0.25)["q"] == pytest.approx(
        (1 + 1.75 / log3) / (2 + 1 / log3 + 0.75 / 2)
    )
    assert alpha_ndcg(grades, run_of("p1", "p0"), 4, k=1)["q"] == pytest.approx(1 / 2)


@given(table=ANSWERED, alpha=st.sampled_from([0.0, 0.25, 0.5, 1.0]), order=st.permutations(range(6)))
def test_it_agrees_with_an_implementation_over_arrays(table: list[list[bool]], alpha: float, order: list[int]) -> None:
    hits = np.array(table, dtype=float)

    def gain(ranking: list[int]) -> float:
        rows = hits[ranking]
        before = np.vstack([np.zeros(3), np.cumsum(rows, axis=0)[:-1]])
        return float((rows * (1 - alpha) ** before).sum(axis=1) @ (1 / np.log2(np.arange(len(rows)) + 2)))

    ideal: list[int] = []
    while len(ideal) < len(table):
        left = [at for at in range(len(table)) if at not in ideal]
        worth = [((1 - alpha) ** hits[ideal].sum(axis=0) * hits[at]).sum() for at in left]
        ideal.append(left[int(np.argmax(worth))])
    ranking = [at for at in order if at < len(table)]
    found = alpha_ndcg(graded(table), run_of(*(f"p{at}" for at in ranking)), 4, alpha)["q"]
    if hits.any():
        assert found == pytest.approx(gain(ranking) / gain(ideal))
    else:
        assert math.isnan(found)


def test_with_one_question_a_passage_it_is_ndcg() -> None:
    grades = graded([[True, False, False], [False, True, False], [False, False, False]])
    wanted = (1 / math.log2(3) + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    for alpha in (0, 0.5, 1):
        assert alpha_ndcg(grades, run_of("p2", "p1", "p0"), 4, alpha)["q"] == pytest.approx(wanted)


def test_a_question_outside_the_bank_gains_nothing() -> None:
    grades = graded([[True, True, False], [False, False, True]])
    assert alpha_ndcg(grades, run_of("p1", "p0"), 4, bank={"q": ("r2",)})["q"] == pytest.approx(1)


def test_a_skipped_query_is_0_and_one_without_graded_passages_unknown() -> None:
    grades = graded([[True, True, False]])
    assert math.isnan(alpha_ndcg(grades, run_of("other"), 4)["q"])
    more = ReadGrades((*grades.grades, Grade("s", "p", "r", 5.0)))
    assert alpha_ndcg(more, run_of("p0"), 4) == {"q": 1.0, "s": 0.0}


def test_alpha_outside_0_to_1_is_refused() -> None:
    with pytest.raises(ValueError, match="alpha: 2; wanted a number from 0 to 1"):
        alpha_ndcg(graded([[True, True, True]]), run_of("p0"), 4, 2)


def test_cover_prints_it_beside_the_cover(tmp_path: Path) -> None:
    grades, run = tmp_path / "grades.csv", tmp_path / "run"
    grades.write_text("query,passage,question,grade\nq,p0,r0,5\nq,p0,r1,5\nq,p1,r0,5\ns,p2,r2,1\n")
    run.write_text("q Q0 p1 1 2 bm25\nq Q0 p0 2 1 bm25\ns Q0 p2 1 1 bm25\n")
    words = ("grade", "cover", grades, run, "--tau", "4", "--alpha", "0.5")
    found = json.loads(ragexam_here(*words, "--json").stdout)
    one = found["runs"]["bm25"]
    assert found["alpha"] == 0.5
    assert one["per_query"]["q"]["alpha_ndcg"] == pytest.approx((1 + 1.5 / math.log2(3)) / (2 + 0.5 / math.log2(3)))
    # Nothing is known of s, where no passage answers.
    assert one["per_query"]["s"]["alpha_ndcg"] is None
    assert one["alpha_ndcg"]["estimate"] == one["per_query"]["q"]["alpha_ndcg"]
    printed = ragexam_here(*words).stdout
    assert "alpha-nDCG@20" in printed
    assert "without an answering passage: no alpha-nDCG" in printed
