"""Tables behind the pictures say what they should."""

from dataclasses import replace

import numpy as np
import pytest

import irt
from irt import curves
from irt.checks import item_residuals


@pytest.fixture(scope="module")
def simulation() -> irt.Simulation:
    return irt.simulate(120, 80, seed=1)


@pytest.fixture(scope="module")
def fit(simulation: irt.Simulation) -> irt.Fit:
    return irt.fit(simulation.data, method="map")


def test_an_item_curve_rises_within_its_band_and_groups_hold_everyone(fit: irt.Fit) -> None:
    curve, observed = curves.item_curve(fit, "q3", groups=5)
    assert np.all(np.diff(curve["mean"]) > 0)
    assert np.all((curve["low"] <= curve["mean"]) & (curve["mean"] <= curve["high"]))
    assert observed["students"].sum() == 120
    assert np.all((observed["low"] <= observed["share"]) & (observed["share"] <= observed["high"]))
    assert np.all(np.diff(observed["theta"]) > 0)


def test_observed_shares_lie_near_the_curve_of_a_model_that_holds(fit: irt.Fit) -> None:
    inside = []
    for item in fit.data.items:
        curve, observed = curves.item_curve(fit, item)
        p = np.interp(observed["theta"], curve["theta"], curve["mean"])
        inside += list((observed["low"] <= p) & (p <= observed["high"]))
    assert np.mean(inside) > 0.85


def test_students_not_asked_are_not_observed(simulation: irt.Simulation) -> None:
    scores = simulation.data.scores.copy()
    scores[:70, 0] = np.nan
    data = irt.ResponseMatrix(scores, simulation.data.students, simulation.data.items)
    assert curves.item_curve(irt.fit(data, method="map"), "q0").observed["students"].sum() == 50


def test_information_of_items_adds_up_to_the_exams_and_its_error(fit: irt.Fit) -> None:
    theta = [-1.0, 0.0, 1.0]
    items, exam = curves.item_information(fit, theta=theta), curves.exam_precision(fit, theta=theta)
    assert items.groupby("theta")["mean"].sum().to_numpy() == pytest.approx(exam["total"].to_numpy())
    assert exam["error"].to_numpy() ** -2 == pytest.approx(exam["total"].to_numpy())
    assert np.all((exam["error_low"] <= exam["error"]) & (exam["error"] <= exam["error_high"]))


def test_the_map_holds_every_student_and_item_once(fit: irt.Fit) -> None:
    table = curves.person_item_map(fit)
    assert table["kind"].value_counts().to_dict() == {"student": 120, "item": 80}
    assert table.loc[table["kind"] == "item", "location"].to_numpy() == pytest.approx(fit.point["b"])


def test_mean_squares_of_a_model_that_holds_are_standardised(fit: irt.Fit) -> None:
    table = curves.item_misfit(fit)
    for name in ("infit_z", "outfit_z"):
        assert abs(table[name].mean()) < 0.6
        assert 0.4 < table[name].std() < 1.4
    assert (table["flag"] != "").sum() <= 3


def test_an_item_of_random_answers_is_erratic(simulation: irt.Simulation) -> None:
    scores = simulation.data.scores.copy()
    scores[:, 5] = np.random.default_rng(0).permutation(scores[:, 5])
    data = irt.ResponseMatrix(scores, simulation.data.students, simulation.data.items)
    table = curves.item_misfit(irt.fit(data, "1pl", method="map")).set_index("item")
    assert table["infit_z"].idxmax() == "q5"
    assert table.loc["q5", "flag"] == "erratic"


def test_the_picture_of_misfit_has_the_verdicts_of_the_check(simulation: irt.Simulation) -> None:
    scores = simulation.data.scores.copy()
    scores[:, 5] = np.random.default_rng(0).permutation(scores[:, 5])
    fit = irt.fit(irt.ResponseMatrix(scores, simulation.data.students, simulation.data.items), "1pl", method="map")
    check = item_residuals(fit.data, fit.parameters, seed=fit.seed)
    table = curves.item_misfit(fit)
    np.testing.assert_array_equal(table["flag"] != "", check["flag"])
    np.testing.assert_allclose(table["z"], check["z"].to_numpy(float))
    # Items beyond the limits of a normal distribution that the check, which counts all items, does not flag.
    assert ((table[["infit_z", "outfit_z"]].abs().max(axis=1) > 1.96) & (table["flag"] == "")).any()


def test_an_answer_does_not_choose_the_group_it_is_counted_in() -> None:
    """Five coins: who solved one says nothing about the others, whatever a fit makes of it."""
    scores = np.random.default_rng(1).binomial(1, 0.5, (600, 5)).astype(float)
    data = irt.ResponseMatrix(scores, tuple(f"s{row}" for row in range(600)), tuple(f"q{n}" for n in range(5)))
    fit = irt.fit(data, "1pl", "mml")
    free = replace(fit, point={**fit.point, "a": np.full(5, 1.5)})
    observed = curves.item_curve(free, "q2").observed
    rest = np.delete(scores, 2, axis=1).sum(axis=1)
    shares = [scores[rest == each, 2].mean() for each in np.unique(rest)]
    np.testing.assert_allclose(observed["share"], shares)
    assert observed["students"].sum() == 600
    assert np.ptp(observed["share"]) < 0.35
    turned = data.select_students(data.students[::-1])
    again = curves.item_curve(replace(free, data=turned), "q2").observed
    np.testing.assert_allclose(again["share"], observed["share"])


def test_predicted_scores_count_every_student(fit: irt.Fit) -> None:
    table = curves.score_distribution(fit, bins=10)
    assert table["observed"].sum() == 120
    assert table["expected"].sum() == pytest.approx(120)
    inside = (table["low"] <= table["observed"]) & (table["observed"] <= table["high"])
    assert inside.mean() >= 0.7
    assert not curves.student_scores(fit)["surprising"].mean() > 0.03


@pytest.mark.parametrize(("items", "bins", "scores"), [(32, 12, 3), (30, 12, 3), (9, 12, 1), (20, 6, 4)])
def test_bins_of_scores_hold_as_many_possible_scores(items: int, bins: int, scores: int) -> None:
    data = irt.simulate(400, items, seed=3).data
    table = curves.score_distribution(irt.fit(data, "1pl", "mml", seed=0), bins)
    edges = np.append(table["start"], table["end"].iloc[-1])
    possible = np.histogram(np.arange(items + 1) / items, edges)[0]
    assert len(table) <= bins
    assert (possible[:-1] == scores).all()
    assert 1 <= possible[-1] <= scores
    assert table["observed"].sum() == 400


def test_students_asked_different_numbers_are_all_counted_by_score() -> None:
    fit = irt.fit(irt.simulate(80, 25, seed=3, missing=0.3).data, "1pl", "mml", seed=0)
    table = curves.score_distribution(fit)
    assert table["observed"].sum() == 80
    assert table["expected"].sum() == pytest.approx(80)


def test_pruning_gains_start_at_nothing() -> None:
    table = curves.pruning_gains(irt.prune(irt.simulate(30, 40, seed=2).data))
    assert table.iloc[0].drop("n_items").eq(0).all()
    assert np.all(table["random_low"] <= table["random_high"])
    assert list(table["n_items"]) == [40, 36, 32, 29, 28]


def test_an_unknown_item_is_refused(fit: irt.Fit) -> None:
    with pytest.raises(ValueError, match="unknown item 'nope'"):
        curves.item_curve(fit, "nope")
