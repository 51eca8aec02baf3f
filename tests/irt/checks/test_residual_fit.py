"""Mean squares: closed forms, calibration against replicas, and power."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import irt
from irt import kernels
from irt._likelihoods import expected_mean_squares, likelihood, likelihood_of
from irt._quadrature import posterior
from irt.checks import item_residuals
from irt.checks._residual_fit import replicas
from irt.curves import item_misfit
from irt.kernels import ItemParameters


def test_mean_squares_equal_their_definition_item_by_item() -> None:
    rng = np.random.default_rng(0)
    theta, b, n = rng.uniform(-2, 2, 7), rng.uniform(-1, 1, 3), rng.integers(1, 4, (7, 3)).astype(float)
    p = kernels.probability(theta[:, None], 1.0, b)
    n[2, 1] = 0
    k = rng.binomial(n.astype(int), p).astype(float)
    found = likelihood(k, n, ItemParameters(np.ones(3), b, np.zeros(3), np.ones(3))).mean_squares(theta, 0)
    for item in range(3):
        asked = n[:, item] > 0
        gap, w = (k - n * p)[asked, item], (n * p * (1 - p))[asked, item]
        assert found.outfit[item] == pytest.approx(np.mean(gap**2 / w))
        assert found.infit[item] == pytest.approx((gap**2).sum() / w.sum())
        fourth = np.array(
            [
                sum(binom.pmf(x, m, q) * (x - m * q) ** 4 for x in range(int(m) + 1))
                for m, q in zip(n[asked, item], p[asked, item], strict=True)
            ]
        )
        sd = np.sqrt((fourth / w**2).sum() / len(w) ** 2 - 1 / len(w))
        assert found.outfit_z[item] == pytest.approx((np.cbrt(found.outfit[item]) - 1) * 3 / sd + sd / 3)
        sd = np.sqrt((fourth - w**2).sum()) / w.sum()
        assert found.infit_z[item] == pytest.approx((np.cbrt(found.infit[item]) - 1) * 3 / sd + sd / 3)


def test_a_fits_items_and_its_check_tell_the_same_mean_squares() -> None:
    data = irt.simulate(None, 20, facets={"llm": 4, "retriever": 8}, seed=2).data
    scores = data.scores.copy()
    scores[1:, 3] = scores[0, :4] = np.nan
    scores[3, 3] = 1
    fit = irt.fit(replace(data, scores=scores, facets=None), method="map", seed=0)
    checked, drawn = item_residuals(fit.data, fit.parameters, seed=fit.seed), item_misfit(fit)
    for name in ("infit", "outfit"):
        wanted = checked[name].to_numpy(float, na_value=np.nan)
        assert np.isnan(wanted).tolist() == [item == "q3" for item in data.items]
        np.testing.assert_array_equal(fit.items[name], wanted)
        np.testing.assert_array_equal(drawn[name], wanted)
        np.testing.assert_array_equal(drawn[f"{name}_z"], checked[f"{name}_z"].to_numpy(float, na_value=np.nan))


def test_mean_squares_do_not_depend_on_how_a_table_is_cut(
    draw: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = draw(40, 9, seed=6)
    whole = expected_mean_squares(one.data, one.items)
    monkeypatch.setattr("irt._responses.CELLS", 100)
    for name, values in expected_mean_squares(one.data, one.items)._asdict().items():
        np.testing.assert_allclose(values, getattr(whole, name), rtol=1e-10)


def test_standardised_mean_squares_are_standard_normal_at_the_true_abilities(draw: Callable[..., Any]) -> None:
    z = []
    for seed in range(10):
        one = draw(300, 30, seed=seed)
        found = likelihood_of(one.data, one.items).mean_squares(one.theta, 0)
        z += [found.infit_z, found.outfit_z]
    assert np.mean(z) == pytest.approx(0, abs=0.1)
    assert np.std(z) == pytest.approx(1, abs=0.1)


def test_replicas_keep_the_cells_that_were_asked_and_the_expected_share_right(draw: Callable[..., Any]) -> None:
    one = draw(200, 20, seed=0)
    attempts = one.data.attempts
    attempts[:50, :5] = 0
    own = posterior(one.data.successes * (attempts > 0), attempts, one.items)
    answered = likelihood(one.data.successes, attempts, one.items)
    drawn = np.stack([each.answers[..., 0] for each in replicas(own, answered, 30, seed=1)])
    assert (drawn[:, attempts == 0] == 0).all()
    assert drawn.mean() == pytest.approx((one.data.successes * (attempts > 0)).mean(), abs=0.02)


def test_rejections_are_nominal_at_true_items_although_abilities_are_estimated(draw: Callable[..., Any]) -> None:
    p = [item_residuals((one := draw(80, 25, seed=seed)).data, one.items, seed=seed)["p"] for seed in range(12)]
    assert np.mean(np.concatenate(p) < 0.05) == pytest.approx(0.05, abs=0.03)


def test_an_item_answered_by_luck_is_flagged_with_what_to_look_for(draw: Callable[..., Any]) -> None:
    one = draw(150, 25, seed=3)
    scores = one.data.scores.copy()
    scores[:, 7] = np.random.default_rng(0).integers(0, 2, 150)
    scores[0, 3] = np.nan
    table = item_residuals(irt.ResponseMatrix(scores, one.data.students, one.data.items), one.items)
    assert table.loc[7, "flag"]
    assert "Item 'q7' is answered less predictably than its curve says" in table.loc[7, "sentence"]
    assert table.loc[3, "answers"] == 149


def test_a_large_outfit_alone_is_laid_to_a_few_answers_far_from_the_difficulty() -> None:
    theta, b = np.linspace(-3, 3, 200)[:, None], np.linspace(-2, 2, 25)
    items = ItemParameters(np.full(25, 2.0), b, np.zeros(25), np.ones(25))
    p = kernels.probability(theta, *items)
    scores = (np.random.default_rng(1).random(p.shape) < p).astype(float)
    scores[:3, 24], scores[3:150, 24] = 1.0, 0.0
    students, names = tuple(f"s{n}" for n in range(200)), tuple(f"q{n}" for n in range(25))
    row = item_residuals(irt.ResponseMatrix(scores, students, names), items).loc[24]
    assert row["infit"] < 1.2
    assert row["outfit"] > 3
    assert row["sentence"].startswith("Item 'q24' has a few unexpected answers by students far from its difficulty (")


def test_an_item_nobody_was_asked_is_empty_with_a_note() -> None:
    data = irt.ResponseMatrix(np.array([[1.0, np.nan], [0.0, np.nan]]), ("s", "t"), ("q", "r"))
    table = item_residuals(data, ItemParameters(*np.array([[1.0, 1], [0, 0], [0, 0], [1, 1]])))
    assert table["infit"].isna().tolist() == [False, True]
    assert table.loc[1, "note"] == "fewer than 2 students were asked"


def test_standardised_mean_squares_of_a_short_exam_that_fits_lie_around_0() -> None:
    """Of five items, with abilities estimated from them, mean squares lie far below 1."""
    found = [
        item_residuals(one.data, ItemParameters(*(getattr(one.truth, name) for name in "abcd")), seed=seed)
        for seed in range(12)
        for one in [irt.simulate(400, 5, seed=seed)]
    ]
    infit, outfit, z, p = (
        np.concatenate([table[name].to_numpy(float) for table in found]) for name in ("infit_z", "outfit_z", "z", "p")
    )
    assert np.concatenate([table["infit"].to_numpy(float) for table in found]).mean() < 0.95
    for values in (infit, outfit):
        assert abs(values.mean()) < 0.35
        assert values.std() == pytest.approx(1, abs=0.3)
    np.testing.assert_array_equal(np.abs(z), np.maximum(np.abs(infit), np.abs(outfit)))
    assert ((np.abs(z) > 3) == (p < 4 * 0.00135)).all()
