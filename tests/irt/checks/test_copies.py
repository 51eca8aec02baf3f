"""Duplicated students: found where planted, not by chance, and counted once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irt
from irt.checks import duplicates
from irt.kernels import ItemParameters


def with_scores(data: irt.ResponseMatrix, scores: Any) -> irt.ResponseMatrix:
    return irt.ResponseMatrix(scores, data.students, data.items)


def test_copies_and_near_copies_are_named_and_count_once(draw: Callable[..., Any]) -> None:
    one = draw(40, 100, seed=1)
    scores = one.data.scores.copy()
    scores[7], scores[9] = scores[3], scores[3]
    change = np.random.default_rng(0).random(100) < 0.1
    scores[11] = np.where(change, 1 - scores[5], scores[5])
    found = duplicates(with_scores(one.data, scores), one.items)
    assert found.pairs["flag"].sum() == 4
    exact = found.pairs[found.pairs["identical"]]
    assert {tuple(pair) for pair in exact[["student_a", "student_b"]].to_numpy()} == {
        ("s3", "s7"), ("s3", "s9"), ("s7", "s9"),
    }  # fmt: skip
    assert (exact["agreement"] == 1).all()
    assert (exact["expected"] < 0.8).all()
    assert found.groups["members"].tolist() == ["s3, s7, s9", "s5, s11"]
    assert found.groups["counts_as"][0] == pytest.approx(1)
    assert 37 < found.effective_students < 37.6
    assert found.groups["sentence"][0].endswith("Altogether the 40 students are worth about 37.")
    assert "Students 's3' and 's7' give identical answers on 100 items" in exact["sentence"].iloc[0]


def test_chance_pairs_are_not_flagged_although_items_are_easy_and_steep() -> None:
    flagged, p = [], []
    for seed in range(40):
        sim = irt.simulate(40, 50, seed=seed, b_sd=1.5, mean_a=1.3)
        items = ItemParameters(*(getattr(sim.truth, name) for name in "abcd"))
        found = duplicates(sim.data, items, least=0.0, largest=10_000)
        flagged.append(found.pairs["flag"].any())
        p.append(found.pairs["p"].to_numpy(float))
    every = np.concatenate(p)
    assert np.mean(flagged) < 0.13
    assert np.mean(every < 0.05) == pytest.approx(0.05, abs=0.02)
    assert np.mean(every < 0.001) < 0.002


def test_what_the_whole_table_shares_does_not_make_everybody_a_copy(draw: Callable[..., Any]) -> None:
    second = np.random.default_rng(0).standard_normal((40, 1)) * (np.arange(60) < 30)
    one = draw(40, 60, seed=2, shift=1.5 * second)
    assert duplicates(one.data, one.items).pairs["flag"].sum() <= 1


def test_students_who_are_merely_perfect_are_not_copies(draw: Callable[..., Any]) -> None:
    one = draw(40, 30, seed=3, theta=np.r_[[3.5] * 3, np.random.default_rng(0).standard_normal(37)])
    scores = one.data.scores.copy()
    scores[:3] = 1
    assert not duplicates(with_scores(one.data, scores), one.items).pairs["flag"].any()


def test_counts_of_trials_and_holes_are_handled_and_empty_overlap_refused(draw: Callable[..., Any]) -> None:
    sim = irt.simulate(20, 40, seed=0, trials=4, missing=0.1)
    scores, trials = sim.data.scores.copy(), np.asarray(sim.data.trials).copy()
    scores[2], trials[2] = scores[1], trials[1]
    items = ItemParameters(*(getattr(sim.truth, name) for name in "abcd"))
    found = duplicates(irt.ResponseMatrix(scores, sim.data.students, sim.data.items, trials), items)
    assert found.pairs.loc[0, ["student_a", "student_b"]].tolist() == ["s1", "s2"]
    assert found.pairs.loc[0, "flag"]
    assert found.pairs["agreement"].isna().all()
    one = draw(10, 9, seed=0)
    with pytest.raises(ValueError, match="no two students were asked 10 common items"):
        duplicates(one.data, one.items)


def test_students_who_answer_upside_down_are_no_copies_of_each_other_but_of_their_copies(
    draw: Callable[..., Any],
) -> None:
    """Their residuals are alike on extreme items; on the others they agree as strangers do."""
    alike = 0
    for seed in range(6):
        one = draw(200, 40, seed=seed)
        scores = one.data.scores.copy()
        scores[:5] = 1 - scores[:5]
        scores[5] = scores[4]
        found = duplicates(with_scores(one.data, scores), one.items)
        assert found.groups["members"].tolist() == ["s4, s5"]
        strangers = found.pairs[~found.pairs["flag"]]
        alike += int(((strangers["p_adjusted"] < 0.05) & (strangers["residual_correlation"] >= 0.5)).sum())
    assert alike > 0
