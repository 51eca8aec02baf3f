"""Questions as items: counts, what is redundant, recovery of simulated difficulties, and when nothing can be said."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import irt
from grading._records import Grade
from grading.formats._grades import ReadGrades
from grading.formats._trec import TrecRun
from grading.scores._items import at_level, classical, fit_items, redundant, responses, table_of_passages, table_of_runs
from grading.scores._nuggets import graded_nuggets, is_assignments, read_all_assignments
from tests import shared_data

SHARED = shared_data.SHARED / "data" / "rag24_nuggets" / "data"
NAN = math.nan


def of_matrix(grades: np.ndarray, query: str = "q") -> ReadGrades:
    """Rows are systems, columns questions."""
    return ReadGrades(
        tuple(
            Grade(query, f"s{row}", f"r{column}", float(grades[row, column]))
            for row, column in np.ndindex(*grades.shape)
        )
    )


def test_the_counts_of_a_question() -> None:
    table = table_of_passages(of_matrix(np.array([[0, 1, 5, NAN], [0, 1, 0, 3], [0, 2, 3, 0]])))
    items = classical(table)
    assert [(one.graded, one.supported, one.dead, one.universal) for one in items] == [
        (3, 0, True, False),
        (3, 3, False, True),
        (3, 2, False, False),
        (2, 1, False, False),
    ]
    assert items[2].mean == pytest.approx(8 / 3)
    assert classical(table, tau=5)[2].supported == 1
    assert math.isnan(items[0].rest_correlation)
    rest = [(0 + 1) / 2, (0 + 1 + 3) / 3, (0 + 2 + 0) / 3]
    assert items[2].rest_correlation == pytest.approx(np.corrcoef([5, 0, 3], rest)[0, 1])


def test_a_run_of_other_queries_is_refused_for_that() -> None:
    graded = of_matrix(np.array([[0.0, 5.0], [3.0, 2.0]]))
    with pytest.raises(ValueError, match="run 'other': queries such as 'q7'; wanted some of the bank's, such as 'q'"):
        table_of_runs(graded, [TrecRun("other", {"q7": [("p1", 1.0)]})])


def test_copies_are_found_among_grades_that_reach_no_tau() -> None:
    """A page looks for them query by query, and in one of them nobody may have answered."""
    table = table_of_passages(of_matrix(np.tile(np.arange(12)[:, None] % 4, (1, 2))))
    with pytest.raises(ValueError, match="tau: 4; no grade reaches it, the highest is 3"):
        classical(table, tau=4)
    assert redundant(table, {}) == {1: ("r0", "answered alike")}


def test_the_grade_of_a_run_is_the_best_among_its_first_passages() -> None:
    rows = [("q", "a", "r1", 1), ("q", "b", "r1", 4), ("q", "c", "r1", 5), ("q", "a", "r2", NAN), ("z", "a", "r1", 2)]
    graded = ReadGrades(tuple(Grade(*row) for row in rows))
    runs = [
        TrecRun("one", {"q": [("a", 2.0), ("b", 1.0), ("c", 0.5)], "z": [("x", 1.0)]}),
        TrecRun("two", {"q": [("a", 2.0)]}),
    ]
    table = table_of_runs(graded, runs, k=2)
    assert table.students == ("one", "two")
    assert table.names == ("q/r1", "r2", "z/r1")
    assert np.array_equal(table.grades, [[4, NAN, NAN], [1, NAN, 0]], equal_nan=True)


def test_questions_answered_alike_or_worded_alike_are_redundant() -> None:
    rng = np.random.default_rng(0)
    column = rng.integers(0, 2, 12)
    grades = np.column_stack([column, rng.integers(0, 2, 12), column, np.ones(12), np.ones(12)])
    found = classical(table_of_passages(of_matrix(grades)))
    assert [(one.redundant_with, one.redundant_why) for one in found] == [
        ("", ""), ("", ""), ("r0", "answered alike"), ("", ""), ("", ""),
    ]  # fmt: skip
    few = classical(table_of_passages(of_matrix(grades[:9])))
    assert not any(one.redundant_with for one in few)
    texts = {("q", "r0"): "What are the layers of the skin?", ("q", "r1"): "What are the layers of the skin ?"}
    assert classical(table_of_passages(of_matrix(grades[:3])), texts=texts)[1].redundant_with == ""
    texts["q", "r1"] = "what are the layers of the skin?"
    assert classical(table_of_passages(of_matrix(grades[:3])), texts=texts)[1].redundant_why == "near copy"


def test_difficulties_and_discriminations_of_simulated_ratings_are_recovered() -> None:
    simulated = irt.simulate_graded(150, 15, top=5, seed=2)
    table = table_of_passages(of_matrix(simulated.data.scores))
    fit = fit_items(responses(table))
    assert fit.model == "grm"
    truth = simulated.truth
    assert np.corrcoef(fit.items["b"], truth.b)[0, 1] > 0.95
    assert np.corrcoef(fit.items["a"], truth.a)[0, 1] > 0.7
    difficulty = np.array([one.mean for one in classical(table)])
    assert np.corrcoef(fit.items["b"], difficulty)[0, 1] < -0.9


def test_right_and_wrong_go_to_the_two_parameter_model_and_constant_questions_do_not() -> None:
    simulated = irt.simulate(40, 12, seed=3).data.scores
    grades = np.column_stack([simulated, np.zeros(40), np.ones(40)])
    data = responses(table_of_passages(of_matrix(grades)))
    assert data.items == tuple(f"r{column}" for column in range(12))
    fit = fit_items(data)
    assert (fit.model, data.top) == ("2pl", None)
    assert np.corrcoef(fit.items["b"], simulated.mean(axis=0))[0, 1] < -0.9


def test_halves_are_doubled_and_other_fractions_refused() -> None:
    grades = np.tile([[0, 0.5], [1, 0], [0.5, 1]], (4, 1))
    assert responses(table_of_passages(of_matrix(grades))).top.tolist() == [2, 2]  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="grades with fractions; wanted whole numbers, or halves"):
        responses(table_of_passages(of_matrix(grades / 3)))


def test_few_systems_are_refused_in_a_sentence() -> None:
    with pytest.raises(
        ValueError, match=r"3 systems or passages cannot tell the difficulty .* of 2 questions; wanted at"
    ):
        responses(table_of_passages(of_matrix(np.array([[0, 1], [1, 0], [1, 1]]))))
    with pytest.raises(ValueError, match=r"1 questions vary between systems; wanted at least 2"):
        responses(table_of_passages(of_matrix(np.column_stack([np.arange(12) % 2, np.ones(12)]))))


def test_passages_of_different_queries_are_blocks() -> None:
    one, other = of_matrix(np.eye(3)), of_matrix(np.eye(3), "z")
    apart = ReadGrades((*one.grades, *(Grade(g.query, f"z{g.passage}", g.question, g.grade) for g in other.grades)))
    assert table_of_passages(apart).blocks == 2
    assert table_of_passages(ReadGrades((*one.grades, *other.grades))).blocks == 1


def test_ratings_at_a_level_are_right_and_wrong() -> None:
    grades = np.array([[0, 5, 3], [4, 1, 5], [2, 2, 4]] * 4, dtype=float)
    table = table_of_passages(of_matrix(grades))
    data = at_level(responses(table), table, 3)
    assert data.items == ("r0", "r1")
    assert data.scores[:3].tolist() == [[0, 1], [1, 0], [0, 0]]


def test_assignments_are_grades_and_what_is_odd_among_them_is_counted(tmp_path: Path) -> None:
    for system, labels in (
        ("a", ["support", "partial_support", "historical", "support"]),
        ("b", ["not_support", "support", "", "support"]),
    ):
        texts = ["x", "y", "z", "z"] if system == "a" else ["x", "y", "w", "z"]
        pairs = zip(texts, labels, strict=True)
        nuggets = [{"text": text, "importance": "vital", "assignment": label} for text, label in pairs]
        (tmp_path / f"{system}.jsonl").write_text(json.dumps({"qid": "1", "run_id": system, "nuggets": nuggets}) + "\n")
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    assert all(is_assignments(path) for path in paths)
    found = graded_nuggets(read_all_assignments(paths))
    assert {(one.passage, one.question): one.grade for one in found.grades} == {
        ("a", "x"): 1.0, ("a", "y"): 0.5, ("b", "x"): 0.0, ("b", "y"): 1.0,
    }  # fmt: skip
    assert found.notes == (
        '2 labels are outside the vocabulary and count as no support: 1 "historical", 1 "".',
        "1 nuggets occur twice in their topic and are left out.",
        "1 nuggets were not judged for all 2 systems and are left out.",
    )
    (tmp_path / "c.jsonl").write_text('{"qid": "1", "run_id": "c", "nuggets": "x"}\n')
    with pytest.raises(ValueError, match=r"c\.jsonl:1: nuggets are JSON string; wanted a list"):
        read_all_assignments([tmp_path / "c.jsonl"])
    (tmp_path / "c.jsonl").write_text((tmp_path / "a.jsonl").read_text())
    with pytest.raises(ValueError, match=r"c\.jsonl: run 'a' is also in .*a\.jsonl; wanted distinct runs"):
        read_all_assignments([*paths, tmp_path / "c.jsonl"])


@pytest.mark.skipif(not SHARED.is_dir(), reason="the TREC RAG 2024 assignments are not here")
def test_of_6127_nuggets_of_trec_rag_24_nobody_supports_3508_and_all_support_1148() -> None:
    graded = graded_nuggets(read_all_assignments(sorted((SHARED / "assignments").glob("*.jsonl"))))
    items = classical(table_of_passages(graded))
    assert len(items) == 6127
    assert [sum(one.supported == count for one in items) for count in range(4)] == [3508, 804, 667, 1148]
    assert (sum(one.dead for one in items), sum(one.universal for one in items)) == (3508, 1148)
