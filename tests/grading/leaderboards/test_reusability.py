"""Reusability: leaving systems out by hand, where nothing may change, and the nuggets of TREC RAG 2024."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grading._records import Sampling
from grading.leaderboards._reusability import (
    at_least,
    contributions,
    contributions_of,
    leave_one_out,
    read_contributions,
    topic_scores,
    unique_units,
)
from grading.scores._nuggets import Assignments, Nugget, read_assignments
from tests.shared_data import SHARED

RAG24 = SHARED / "data" / "rag24_nuggets" / "data" / "assignments"

BANK = {
    ("x", "1", "q1"): 1.0,
    ("y", "1", "q1"): 1.0,
    ("x", "1", "q2"): 1.0,
    ("y", "1", "q2"): 0.0,
    ("z", "1", "q3"): 0.5,
    ("x", "1", "q4"): 0.0,
}


def test_a_bank_without_a_system_lacks_the_questions_that_it_alone_supports() -> None:
    data = contributions(BANK, "bank")
    assert topic_scores(data, None)[:, 0].tolist() == [2 / 4, 1 / 4, 0.5 / 4]
    assert [unique_units(data, at).tolist() for at in range(3)] == [
        [False, True, False, False],
        [False, False, False, False],
        [False, False, True, False],
    ]
    # Without x goes q2, for everybody.
    assert topic_scores(data, 0)[:, 0].tolist() == [1 / 3, 1 / 3, 0.5 / 3]
    found = leave_one_out(data, Sampling(draws=10))
    x = found.systems[0]
    assert (x.unique, x.score, x.change.estimate) == (1, 0.5, pytest.approx(1 / 3 - 1 / 2))
    assert (x.rank, x.rank_without) == (1, 1.5)
    # Of x > y > z with x = y > z: tau-b is 2 / sqrt(3 * 2).
    assert x.tau.estimate == pytest.approx(2 / np.sqrt(6))
    assert found.systems[1].tau.estimate == 1
    assert found.not_graded == 6


def test_a_pool_without_a_system_takes_the_judgement_of_its_own_passages_alone() -> None:
    cells = {
        ("x", "1", "p1"): 1.0,
        ("x", "1", "p2"): 1.0,
        ("y", "1", "p2"): 1.0,
        ("y", "1", "p3"): 0.0,
        ("z", "1", "p2"): 1.0,
        ("z", "1", "p1 other"): 1.0,
    }
    data = contributions(cells, "pool")
    assert topic_scores(data, None)[:, 0].tolist() == [1, 0.5, 1]
    assert topic_scores(data, 0)[:, 0].tolist() == [0.5, 0.5, 1]
    found = leave_one_out(data, Sampling(draws=10))
    assert [one.change.estimate for one in found.systems] == [-0.5, 0, -0.5]
    assert [(one.rank, one.rank_without) for one in found.systems] == [(1.5, 2.5), (3, 3), (1.5, 2.5)]
    assert found.not_graded == 0


def test_systems_that_share_everything_can_be_left_out_without_a_trace() -> None:
    rng = np.random.default_rng(0)
    quality = (0.5, 0.6, 0.7, 0.8)
    cells = {
        (f"s{at}", f"t{topic}", f"p{passage}"): float(rng.random() < share)
        for at, share in enumerate(quality)
        for topic in range(20)
        for passage in range(10)
    }
    found = leave_one_out(contributions(cells, "pool"), Sampling(draws=50))
    assert found.tau == (1, 1, 1)
    assert found.displacement == (0, 0, 0)
    assert all(one.change == (0, 0, 0) for one in found.systems)


def test_a_system_that_goes_its_own_way_loses_most() -> None:
    rng = np.random.default_rng(1)
    cells = {}
    for topic in range(30):
        for passage in range(8):
            for system in "abc":
                cells[system, f"t{topic}", f"p{passage}"] = float(rng.random() < 0.5)
            cells["lonely", f"t{topic}", f"only {passage}"] = float(rng.random() < 0.9)
    found = {one.system: one for one in leave_one_out(contributions(cells, "pool"), Sampling(draws=100)).systems}
    assert found["lonely"].unique == 240
    assert found["lonely"].change.high < -0.7
    assert (found["lonely"].rank, found["lonely"].rank_without) == (1, 4)
    assert found["a"].change == (0, 0, 0)


def test_a_topic_that_a_system_lacks_is_no_zero() -> None:
    data = contributions({("x", "1", "q"): 1.0, ("y", "1", "q"): 1.0, ("x", "2", "q"): 0.0}, "bank")
    assert np.isnan(topic_scores(data, None)[1, 1])


def test_grades_from_a_threshold_on_count_as_one() -> None:
    data = at_least(contributions({("x", "1", "q"): 4.0, ("y", "1", "q"): 3.0, ("z", "1", "r"): 5.0}, "bank"), 4)
    assert topic_scores(data, None)[:, 0].tolist() == [0.5, 0, 0.5]
    assert np.isnan(data.grades[2, 0])


def test_tables_are_banks_or_pools_by_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("system,topic,question,grade\nx,1,q,1\n")
    assert read_contributions([path]).kind == "bank"
    path.write_text("run,qid,docno,rel\nx,1,d,1\n")
    assert read_contributions([path]).kind == "pool"
    for text, message in (
        ("system,topic,grade\nx,1,1\n", r"table.csv:2: no question or passage; found"),
        ("system,topic,question,grade\nx,1,q,-1\n", r"table.csv:2: grade -1; wanted 0 or more"),
        ("system,topic,question,grade\nx,1,q,1\nx,1,q,1\n", r"table.csv:3: system 'x', topic '1', question 'q' stands"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_contributions([path])


def test_two_systems_are_too_few() -> None:
    with pytest.raises(ValueError, match="contributions: of 2 systems; wanted at least 3"):
        leave_one_out(contributions({("x", "1", "q"): 1.0, ("y", "1", "q"): 1.0}, "bank"))


def test_equal_texts_in_a_topic_stay_two_nuggets() -> None:
    nuggets = (Nugget("a", "vital", "support"), Nugget("a", "okay", "not_support"))
    data = contributions_of([Assignments(name, {"1": nuggets}) for name in "xyz"])
    assert data.grades.tolist() == [[1, 0]] * 3


@pytest.mark.skipif(not RAG24.exists(), reason="the shared data are not here")
def test_the_bank_of_rag_24_takes_its_first_rank_from_a_system_that_is_left_out() -> None:
    runs = [run for path in sorted(RAG24.glob("*.jsonl")) for run in read_assignments(path)]
    found = leave_one_out(contributions_of(runs), Sampling(draws=200))
    assert found.n_units == 6144
    best = min(found.systems, key=lambda one: one.rank)
    assert best.system == "baseline_rag24.test_command-r-plus_top20"
    assert (best.unique, best.rank_without) == (425, 3)
    assert best.change.high < 0
