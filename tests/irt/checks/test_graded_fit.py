"""Fit of ratings: the statistics of right and wrong answers where the highest score is 1, and calibrated above."""

import numpy as np
import pytest

import irt
from irt import _graded as graded
from irt._graded import GradedParameters
from irt._likelihoods import likelihood_of
from irt.checks import item_residuals, report, student_fit
from irt.kernels import ItemParameters


def test_with_a_highest_score_of_one_they_are_those_of_the_2pl() -> None:
    sim = irt.simulate(80, 10, seed=1, missing=0.1)
    plain = ItemParameters(sim.truth.a, sim.truth.b, np.zeros(10), np.ones(10))
    rated = GradedParameters(sim.truth.a, sim.truth.b[:, None], np.ones(10, dtype=np.int64))
    found, wanted = student_fit(sim.data, rated), student_fit(sim.data, plain)
    for name in ("theta", "answers", "infit", "infit_z", "outfit", "outfit_z", "lz", "lz_star", "p"):
        np.testing.assert_allclose(found[name].astype(float), wanted[name].astype(float), atol=1e-5, err_msg=name)
    found, wanted = item_residuals(sim.data, rated), item_residuals(sim.data, plain)
    for name in ("answers", "infit", "outfit"):
        np.testing.assert_allclose(found[name].astype(float), wanted[name].astype(float), atol=1e-8, err_msg=name)
    # Replicas are drawn in another order.
    assert np.corrcoef(found["p"].astype(float), wanted["p"].astype(float))[0, 1] > 0.9


def test_mean_squares_at_the_true_abilities_are_standard_normal() -> None:
    z = []
    for seed in range(4):
        sim = irt.simulate_graded(300, 30, top=5, seed=seed)
        items = GradedParameters(sim.truth.a, sim.truth.thresholds, sim.truth.top)
        found = likelihood_of(sim.data, items).mean_squares(sim.truth.theta, 0)
        z += [found.infit_z, found.outfit_z]
    assert np.mean(z) == pytest.approx(0, abs=0.15)
    assert np.std(z) == pytest.approx(1, abs=0.15)


def test_five_percent_of_students_who_follow_the_model_are_below_the_five_percent_point() -> None:
    share = []
    for seed in range(3):
        sim = irt.simulate_graded(400, 20, top=4, seed=seed, missing=0.1)
        items = GradedParameters(sim.truth.a, sim.truth.thresholds, sim.truth.top)
        share.append(np.mean(student_fit(sim.data, items)["p"] < 0.05))
    assert 0.03 < np.mean(share) < 0.065


def test_noise_is_found_in_an_item_and_in_a_student() -> None:
    sim = irt.simulate_graded(200, 15, top=4, seed=3, mean_a=2.0)
    scores, rng = sim.data.scores.copy(), np.random.default_rng(0)
    scores[:, 4] = rng.integers(0, 5, 200)
    scores[7] = 4 * (graded.mean_threshold(sim.truth.thresholds, sim.truth.top) > 0)
    noisy = irt.ResponseMatrix(scores, sim.data.students, sim.data.items, top=sim.data.top)
    items = GradedParameters(sim.truth.a, sim.truth.thresholds, sim.truth.top)
    by_item, by_student = item_residuals(noisy, items), student_fit(noisy, items)
    assert by_item.loc[by_item["flag"], "item"].tolist() == ["q4"]
    assert by_item["infit"][4] > 1.5
    assert bool(by_student["flag"][7])
    assert by_student["flag"].sum() <= 3


def test_the_report_runs_what_reads_ratings_and_lists_the_rest() -> None:
    data = irt.simulate_graded(100, 8, top=3, seed=1).data
    fit = irt.fit(data, "grm", "mml")
    found = report(fit)
    items = found.tables["item residuals"].set_index("item").loc[list(data.items)]
    for name in ("infit", "outfit"):
        np.testing.assert_array_equal(items[name].to_numpy(float), fit.items[name])
    assert set(found.tables) == {"item residuals", "students", "predictive students", "predictive items"}
    assert found.skipped["overall"] == "it reads right and wrong answers, and this is a fit of ratings"
    assert "dependence" in str(found)
