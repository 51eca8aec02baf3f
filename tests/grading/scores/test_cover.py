"""EXAM-Cover and EXAM-Label: closed forms, what changes nothing, and what is not known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading._records import Grade
from grading.formats._grades import ReadGrades
from grading.formats._trec import TrecRun
from grading.scores._cover import cover, exam_labels, exam_qrels, outside


def graded(*rows: tuple[str, str, str, float]) -> ReadGrades:
    return ReadGrades(tuple(Grade(*row) for row in rows))


def run_of(**queries: str) -> TrecRun:
    return TrecRun(
        "r", {query: [(one, -float(place)) for place, one in enumerate(ids)] for query, ids in queries.items()}
    )


GRADES = graded(
    ("q", "a", "r1", 5), ("q", "a", "r2", 0), ("q", "b", "r1", 2), ("q", "b", "r2", 4), ("q", "c", "r3", 4),
    ("s", "a", "r4", 3),
)  # fmt: skip


def test_cover_is_the_union_over_the_first_k_passages_over_the_bank() -> None:
    run = run_of(q="abc", s="a")
    assert cover(GRADES, run, 4).scores == {"q": 1.0, "s": 0.0}
    assert cover(GRADES, run, 4, k=2).scores["q"] == pytest.approx(2 / 3)
    assert cover(GRADES, run, 5).scores["q"] == pytest.approx(1 / 3)
    assert cover(GRADES, run, 3, k=1).scores == {"q": pytest.approx(1 / 3), "s": 1.0}
    assert cover(GRADES, run, 4).queries["q"].questions == ("r1", "r2", "r3")


def test_the_bank_and_not_what_was_graded_is_the_denominator() -> None:
    bank = {"q": [f"r{place}" for place in range(1, 11)], "s": ["r4"]}
    assert cover(GRADES, run_of(q="abc", s="a"), 4, bank=bank).scores["q"] == pytest.approx(3 / 10)
    assert cover(GRADES, run_of(q="abc"), 4, bank={"q": ["r1", "r9"]}).scores["q"] == 0.5
    assert outside(GRADES, {"q": ["r1", "r9"]}) == 4


def test_k_counts_along_the_query_and_not_per_facet() -> None:
    # Twenty passages on one facet leave no room for those on another, wherever these come from.
    rows = [("q", f"p{place:02d}", "f1/x", 5.0) for place in range(20)] + [("q", "p20", "f2/y", 5.0)]
    run = TrecRun("r", {"q": [(f"p{place:02d}", -float(place)) for place in range(21)]})
    assert cover(graded(*rows), run, 4).scores == {"q": 0.5}
    assert cover(graded(*rows), run, 4, k=21).scores == {"q": 1.0}


def test_a_skipped_query_counts_zero_and_an_ungraded_one_is_unknown() -> None:
    found = cover(GRADES, run_of(q="xy", z="a"), 4)
    assert math.isnan(found.scores["q"])
    assert found.scores["s"] == 0.0
    assert (found.skipped, found.without_bank, found.ungraded) == (("s",), ("z",), 2)


def test_passages_that_were_never_graded_are_named_and_those_unparsed_are_among_them() -> None:
    table = graded(("q", "a", "r1", 5), ("q", "b", "r2", math.nan))
    found = cover(table, run_of(q="abx"), 4)
    assert found.queries["q"].ungraded == ("b", "x")
    assert found.scores == {"q": 0.5}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tau": 0}, r"tau: 0; wanted above 0"),
        ({"tau": math.nan}, r"tau: nan; wanted above 0"),
        ({"tau": 1, "k": 0}, r"k: 0; wanted at least 1"),
        ({"tau": 1, "bank": {"z": ["r"]}}, r"run 'r': queries such as 'q'; wanted some of the bank's, such as 'z'"),
    ],
)
def test_what_cannot_be_scored_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cover(GRADES, run_of(q="a"), **options)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=1, max_size=8),
    st.integers(1, 5),
    st.integers(1, 9),
)
def test_cover_is_what_a_matrix_of_grades_says_and_grows_with_k(rows: list[list[int]], tau: int, k: int) -> None:
    table = graded(*(("q", f"p{i}", f"r{j}", float(one)) for i, row in enumerate(rows) for j, one in enumerate(row)))
    run = TrecRun("r", {"q": [(f"p{place}", -float(place)) for place in range(len(rows))]})
    found = cover(table, run, tau, k).scores["q"]
    assert found == pytest.approx(np.mean(np.max(np.array(rows)[:k], axis=0) >= tau))
    assert cover(table, run, tau, k + 1).scores["q"] >= found >= cover(table, run, tau + 1, k).scores["q"]


def test_a_label_is_the_best_grade_and_tau_divides_it() -> None:
    labels = exam_labels(GRADES)
    assert labels.best == {"q": {"a": 5, "b": 4, "c": 4}, "s": {"a": 3}}
    assert exam_qrels(labels) == {"q": {"a": 5, "b": 4, "c": 4}, "s": {"a": 3}}
    assert exam_qrels(labels, 4) == {"q": {"a": 1, "b": 1, "c": 1}, "s": {"a": 0}}
    assert exam_qrels(labels, 5) == {"q": {"a": 1, "b": 0, "c": 0}, "s": {"a": 0}}


def test_a_passage_with_unparsed_grades_only_has_no_label() -> None:
    labels = exam_labels(graded(("q", "a", "r1", math.nan), ("q", "b", "r1", math.nan), ("q", "b", "r2", 0)))
    assert labels.best == {"q": {"b": 0}}
    assert labels.unlabelled == (("q", "a"),)


def test_labels_with_fractions_need_a_tau() -> None:
    labels = exam_labels(graded(("q", "a", "r1", 0.5)))
    with pytest.raises(ValueError, match=r"passage 'a' of query 'q': label 0\.5; wanted whole grades, or --tau"):
        exam_qrels(labels)
    assert exam_qrels(labels, 0.5) == {"q": {"a": 1}}
    with pytest.raises(ValueError, match=r"tau: 0; wanted above 0"):
        exam_qrels(labels, 0)
