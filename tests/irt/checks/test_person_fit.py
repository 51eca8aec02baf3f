"""Person fit: definitions by enumeration, nominal rejection at estimated abilities, power."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import irt
from irt._likelihoods import likelihood
from irt._quadrature import posterior
from irt.checks import student_fit
from irt.checks._person_fit import corrected_fit, modal_ability, standardised_fit
from irt.kernels import ItemParameters, log_probability


def some_items(count: int = 7, guessing: float = 0.2) -> ItemParameters:
    rng = np.random.default_rng(0)
    return ItemParameters(
        rng.lognormal(0, 0.3, count), rng.standard_normal(count), np.full(count, guessing), np.ones(count)
    )


def test_lz_is_the_log_likelihood_standardised_over_all_answer_patterns() -> None:
    items, theta = some_items(), np.array([0.4])
    patterns = np.array(list(itertools.product([0, 1], repeat=7)), dtype=float)
    right, wrong = log_probability(theta[:, None], *items)
    log = np.where(patterns == 1, right, wrong).sum(axis=1)
    mean = np.exp(log) @ log
    sd = np.sqrt(np.exp(log) @ log**2 - mean**2)
    found = standardised_fit(likelihood(patterns, np.ones_like(patterns), items), np.full(len(patterns), 0.4))
    np.testing.assert_allclose(found, (log - mean) / sd, rtol=1e-10)


def test_modal_ability_is_the_top_of_the_posterior() -> None:
    items = some_items()
    scores = np.random.default_rng(1).integers(0, 2, (5, 7)).astype(float)
    once = np.ones_like(scores)
    found = modal_ability(likelihood(scores, once, items), posterior(scores, once, items))
    for row, theta in zip(scores, found, strict=True):

        def loss(ability: float, row: Any = row) -> float:
            right, wrong = log_probability(ability, *items)
            return float(ability**2 / 2 - np.where(row == 1, right, wrong).sum())

        assert theta == pytest.approx(minimize_scalar(loss, bounds=(-5, 5), method="bounded").x, abs=1e-4)


def test_abilities_are_modal_even_where_a_step_like_item_makes_newton_jump() -> None:
    items = ItemParameters(np.r_[12.0, np.ones(9)], np.r_[2.0, np.linspace(-2, 2, 9)], np.zeros(10), np.ones(10))
    scores, once = np.ones((1, 10)), np.ones((1, 10))
    found = modal_ability(likelihood(scores, once, items), posterior(scores, once, items))
    grid = np.linspace(-4, 6, 200_001)
    right, _ = log_probability(grid[:, None], *items)
    assert found[0] == pytest.approx(grid[np.argmax(right.sum(axis=1) - grid**2 / 2)], abs=1e-4)


def test_counts_weigh_like_repeated_items() -> None:
    items = some_items()
    scores = np.random.default_rng(2).integers(0, 3, (6, 7)).astype(float)
    twice = ItemParameters(*(np.tile(values, 2) for values in items))
    split = np.hstack([(scores > 0).astype(float), (scores > 1).astype(float)])
    double, once, theta = np.full_like(scores, 2), np.ones_like(split), np.linspace(-1, 1, 6)
    doubled, repeated = likelihood(scores, double, items), likelihood(split, once, twice)
    np.testing.assert_allclose(standardised_fit(doubled, theta), standardised_fit(repeated, theta))
    counted, apart = corrected_fit(doubled, theta), corrected_fit(repeated, theta)
    np.testing.assert_allclose(counted.lz_star, apart.lz_star)


def test_rejections_are_nominal_although_abilities_are_estimated(draw: Callable[..., Any]) -> None:
    one = draw(3000, 25, seed=0, guessing=0.2)
    table = student_fit(one.data, one.items)
    assert (table["p"] < 0.05).mean() == pytest.approx(0.05, abs=0.02)
    assert (table["p"] < 0.005).mean() == pytest.approx(0.005, abs=0.004)
    assert table["lz_star"].std() == pytest.approx(1, abs=0.12)
    assert table["flag"].mean() < 0.002


def test_a_student_who_fails_the_easy_half_is_flagged(draw: Callable[..., Any]) -> None:
    one = draw(60, 60, seed=1)
    scores = one.data.scores.copy()
    scores[5] = one.items.b > 0
    table = student_fit(irt.ResponseMatrix(scores, one.data.students, one.data.items), one.items)
    assert table.index[table["flag"]].tolist() == [5]
    assert "Student 's5' misses easy items and solves hard ones" in table.loc[5, "sentence"]


def test_a_student_with_few_answers_is_empty_with_a_note(draw: Callable[..., Any]) -> None:
    one = draw(20, 10, seed=2)
    scores = one.data.scores.copy()
    scores[3, 2:] = np.nan
    scores[4, :] = np.nan
    table = student_fit(irt.ResponseMatrix(scores, one.data.students, one.data.items), one.items)
    assert table.loc[3:4, "lz"].isna().all()
    assert (table.loc[3:4, "note"] == "fewer than 5 informative answers").all()
    assert np.isfinite(table["theta"]).all()


def test_expected_abilities_are_those_of_mirt(classic: Callable[..., Any]) -> None:
    data, items, said, _ = classic("SAT12", "3PL")
    np.testing.assert_allclose(student_fit(data, items)["theta"][:10], said["EAP_first10"], atol=1e-5)
