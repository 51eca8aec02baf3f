"""Intervals over questions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

import irt
from paper_figs._question_resampling import interval, jeffreys, over_questions, share_interval, shares, weights


def table(scores: np.ndarray) -> irt.ResponseMatrix:
    students, items = scores.shape
    return irt.ResponseMatrix(scores, tuple(f"s{n}" for n in range(students)), tuple(f"q{n}" for n in range(items)))


def test_the_first_row_is_the_sample_itself() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (3, 40)).astype(float)
    found = shares(table(scores), [0, 2], weights(40))
    assert found[0] == pytest.approx(scores[[0, 2]].mean())
    assert weights(40).sum(axis=1) == pytest.approx(np.full(4001, 40))


def test_questions_not_asked_count_for_nothing() -> None:
    scores = np.array([[1.0, np.nan, 0.0, 1.0], [np.nan, np.nan, 1.0, 1.0]])
    assert shares(table(scores), [0, 1], weights(4))[0] == pytest.approx((2 / 3 + 1) / 2)


def test_the_interval_of_one_student_is_that_of_a_binomial_share() -> None:
    scores = np.zeros((1, 400))
    scores[0, :280] = 1
    found = over_questions(table(scores), [0])
    half = 1.6449 * np.sqrt(0.7 * 0.3 / 400)
    assert found.estimate == pytest.approx(0.7)
    assert (found.low, found.high) == pytest.approx((0.7 - half, 0.7 + half), abs=0.003)


def test_a_difference_over_the_same_questions_is_certain_where_answers_are_equal() -> None:
    scores = np.random.default_rng(1).integers(0, 2, (1, 50)).astype(float).repeat(2, axis=0)
    drawn = weights(50)
    difference = interval(shares(table(scores), [0], drawn) - shares(table(scores), [1], drawn))
    assert difference == (0.0, 0.0, 0.0)


def test_all_right_has_the_limit_of_jeffreys() -> None:
    found = over_questions(table(np.ones((2, 20))), [0, 1])
    assert found == (1.0, pytest.approx(beta.ppf(0.05, 20.5, 0.5)), 1.0)
    assert jeffreys(0, 20) == (0.0, 0.0, pytest.approx(beta.ppf(0.95, 0.5, 20.5)))


def test_one_question_has_no_interval() -> None:
    found = share_interval(shares(table(np.ones((2, 1))), [0, 1], weights(1)), 1)
    assert found.estimate == 1
    assert np.isnan([found.low, found.high]).all()
