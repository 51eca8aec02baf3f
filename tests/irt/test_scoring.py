"""Abilities on calibrated items: closed forms, brute force, coverage, and the reliabilities that mirt gives."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri

import irt
from irt import kernels
from irt._scoring import METHODS, Scores, crossing, marginal_reliability, score
from irt.kernels import ItemParameters
from tests.irt.counted_scores import score_counts
from tests.irt.lsat import LSAT7_2PL
from tests.shared_data import SHARED

CLASSIC = SHARED / "data" / "irt_classic"
TEN = ItemParameters(np.full(10, 1.3), np.full(10, 0.4), np.zeros(10), np.ones(10))


def some_items(count: int, seed: int, model: str = "3pl") -> ItemParameters:
    rng = np.random.default_rng(seed)
    c = rng.beta(5, 15, count) if model in ("3pl", "4pl") else np.zeros(count)
    d = 1 - rng.beta(1, 19, count) if model == "4pl" else np.ones(count)
    return ItemParameters(rng.lognormal(0.2, 0.3, count), rng.normal(0, 1, count), c, d)


def one_student(right: int) -> tuple[np.ndarray, np.ndarray]:
    return (np.arange(10) < right).astype(float)[None], np.ones((1, 10))


@pytest.mark.parametrize("right", [1, 4, 9])
def test_equal_items_have_closed_forms(right: int) -> None:
    counts = one_student(right)
    ml = score_counts(*counts, TEN, "ml")
    assert ml.theta[0] == pytest.approx(0.4 + logit(right / 10) / 1.3, abs=1e-8)
    assert ml.sd[0] == pytest.approx(1 / (1.3 * np.sqrt(10 * right / 10 * (1 - right / 10))), abs=1e-8)
    # Warm's weight is the square root of the information: half an answer more on either side.
    wle = score_counts(*counts, TEN, "wle")
    assert wle.theta[0] == pytest.approx(0.4 + logit((right + 0.5) / 11) / 1.3, abs=1e-8)
    mode = score_counts(*counts, TEN, "map").theta[0]
    assert 1.3 * (right - 10 * expit(1.3 * (mode - 0.4))) == pytest.approx(mode, abs=1e-7)


def test_all_right_is_unbounded_above_with_a_finite_bound_and_warm_and_bayes_stay_finite() -> None:
    for right, side in ((10, 1), (0, -1)):
        ml = score_counts(*one_student(right), TEN, "ml", interval=0.9)
        assert ml.theta[0] == side * np.inf
        bound, open_end = (ml.low, ml.high) if side > 0 else (ml.high, ml.low)
        assert open_end[0] == side * np.inf
        # -2 log P(all right) reaches the squared normal quantile at the bound.
        share = np.exp(-(ndtri(0.95) ** 2) / 20)
        assert bound[0] == pytest.approx(0.4 + side * logit(share) / 1.3, abs=0.01)
        for method in ("eap", "map", "wle"):
            assert all(np.isfinite(value).all() for value in score_counts(*one_student(right), TEN, method))


@pytest.mark.parametrize("model", ["2pl", "3pl", "4pl"])
@pytest.mark.parametrize("method", METHODS)
def test_estimates_equal_brute_force_with_missing_answers_and_counts(method: str, model: str) -> None:
    items = some_items(25, 3, model)
    rng = np.random.default_rng(5)
    attempts = rng.integers(0, 4, (6, 25)).astype(float)
    theta = rng.normal(0, 1, 6)
    successes = rng.binomial(attempts.astype(int), kernels.probability(theta[:, None], *items)).astype(float)
    grid = np.linspace(-8, 8, 160_001) if method != "eap" else np.linspace(-6, 6, 4001)
    right, wrong = kernels.log_probability(grid[:, None], *items)
    value = successes @ right.T + (attempts - successes) @ wrong.T
    if method in ("eap", "map"):
        value = value - grid**2 / 2
    if method == "wle":  # numerical derivative of P gives Warm's term without our formula
        p = kernels.probability(grid[:, None], *items)
        slope, bend = np.gradient(p, grid, axis=0), np.gradient(np.gradient(p, grid, axis=0), grid, axis=0)
        term = attempts @ (slope * bend / (p * (1 - p))).T / (2 * (attempts @ (slope**2 / (p * (1 - p))).T))
        value = value + np.cumsum(term, axis=1) * (grid[1] - grid[0])
    found = score_counts(successes, attempts, items, method)
    if method == "eap":
        density = np.exp(value - value.max(axis=1, keepdims=True))
        density /= density.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.theta, density @ grid, atol=1e-6)
        bounds = [np.interp(0.95, row, grid) for row in np.cumsum(density, axis=1)]
        np.testing.assert_allclose(found.high, bounds, atol=0.01)
    else:
        np.testing.assert_allclose(np.clip(found.theta, -8, 8), grid[np.argmax(value, axis=1)], atol=3e-4)


def test_the_quantile_of_a_normal_curve_is_exact_between_nodes() -> None:
    nodes = np.linspace(-4, 4, 17)
    curve = np.array([[0.5 * (1 + np.tanh(x)) for x in nodes]])
    from scipy.special import ndtr

    assert crossing(nodes, ndtr(nodes)[None], 0.1)[0] == pytest.approx(ndtri(0.1), abs=1e-9)
    assert crossing(nodes, curve * 0.9, 0.95)[0] == np.inf
    assert crossing(nodes, 0.2 + curve * 0.8, 0.05)[0] == -np.inf


def test_warm_is_less_biased_than_maximum_likelihood_and_bayes() -> None:
    items = some_items(40, 1, "2pl")
    rng = np.random.default_rng(2)
    answers = rng.binomial(1, kernels.probability(1.2, *items), (5000, 40)).astype(float)
    assert answers.sum(axis=1).max() < 40
    bias = {m: abs(score_counts(answers, np.ones_like(answers), items, m).theta.mean() - 1.2) for m in METHODS}
    assert bias["wle"] < min(bias["ml"], bias["eap"], bias["map"])


@pytest.mark.parametrize("model", ["2pl", "3pl"])
@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover_the_truth_at_their_nominal_rate(method: str, model: str) -> None:
    items = some_items(40, 7, model)
    rng = np.random.default_rng(11)
    theta = rng.normal(0, 1, 3000)
    answers = rng.binomial(1, kernels.probability(theta[:, None], *items)).astype(float)
    found = score_counts(answers, np.ones_like(answers), items, method, 0.9)
    covered = np.mean((found.low <= theta) & (theta <= found.high))
    assert covered == pytest.approx(0.9, abs=0.015 if method == "eap" else 0.03)


@pytest.mark.parametrize("method", ["eap", "ml"])
def test_uncertain_items_are_carried_into_intervals_that_cover(method: str) -> None:
    rng = np.random.default_rng(3)
    count, middle = 40, some_items(40, 8, "2pl")

    def drawn(common: float) -> ItemParameters:
        shift = 0.25 * common + 0.3 * rng.standard_normal(count)
        return ItemParameters(middle.a * np.exp(0.2 * rng.standard_normal(count)), middle.b + shift, *middle[2:])

    cloud = [drawn(float(ndtri((place + 0.5) / 40))) for place in range(40)]
    covered: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(100):  # the true items are one more draw
        theta = rng.normal(0, 1, 10)
        answers = rng.binomial(1, kernels.probability(theta[:, None], *drawn(rng.standard_normal()))).astype(float)
        for known in covered:
            found = score_counts(answers, np.ones_like(answers), middle, method, 0.9, () if known else cloud)
            covered[known] += ((found.low <= theta) & (theta <= found.high)).tolist()
    assert np.mean(covered[True]) < 0.85
    assert np.mean(covered[False]) == pytest.approx(0.9, abs=0.03)


@pytest.fixture(scope="module")
def fit() -> irt.Fit:
    return irt.fit(irt.simulate(80, 12, seed=4).data, method="map")


def test_students_of_the_fit_score_near_their_own_abilities(fit: irt.Fit) -> None:
    scores = score(fit, fit.data)
    assert np.corrcoef(scores.theta, fit.abilities["theta"])[0, 1] > 0.99
    assert list(scores.table.columns) == [
        "student", "answered", "theta", "theta_sd", "theta_low", "theta_high", "note",
    ]  # fmt: skip
    assert 0.3 < scores.reliability < 0.95


@pytest.mark.parametrize("method", METHODS)
def test_items_in_another_order_and_items_left_out_are_matched_by_name(fit: irt.Fit, method: str) -> None:
    names = fit.data.items[:8]
    few = fit.data.select(names)
    there, back = score(fit, few, method), score(fit, few.select(names[::-1]), method)
    np.testing.assert_allclose(there.theta, back.theta, atol=1e-6)
    blank = fit.data.scores.copy()
    blank[:, 8:] = np.nan
    missing = irt.ResponseMatrix(blank, fit.data.students, fit.data.items)
    assert np.allclose(there.theta, score(fit, missing, method).theta, atol=0.01)


def test_strange_requests_are_refused(fit: irt.Fit) -> None:
    with pytest.raises(ValueError, match="unknown method 'mle'; wanted eap, map, ml, wle"):
        score(fit, fit.data, "mle")
    with pytest.raises(ValueError, match="unknown item 'z'"):
        score(fit, irt.ResponseMatrix(np.ones((1, 1)), ("s",), ("z",)))
    silent = irt.ResponseMatrix(np.full((1, 1), np.nan), ("mute",), ("q0",))
    with pytest.raises(ValueError, match="student 'mute' answered nothing; 'wle' needs an answer"):
        score(fit, silent, "wle")
    assert score(fit, silent).theta[0] == pytest.approx(0, abs=1e-6)
    assert "population" in score(fit, silent).notes[0]
    sure = irt.ResponseMatrix(np.ones((2, 12)), ("x", "y"), fit.data.items)
    assert "unbounded above" in score(fit, sure, "ml").notes[0]
    with pytest.raises(ValueError, match="at least 2 students with finite estimates"):
        _ = score(fit, sure, "ml").reliability
    with pytest.raises(ValueError, match="interval 1 is not"):
        score(fit, sure, interval=1.0)


def test_marginal_reliability_of_lsat7_is_the_one_of_mirt() -> None:
    assert marginal_reliability(LSAT7_2PL) == pytest.approx(0.44181848, abs=1e-6)  # mirt 1.47, marginal_rxx


@pytest.mark.skipif(not CLASSIC.exists(), reason="the shared reference estimates are not here")
@pytest.mark.parametrize("name", ["LSAT6", "LSAT7", "SAT12", "SAT12_fixed32"])
@pytest.mark.parametrize("model", ["Rasch", "2PL", "3PL"])
def test_scores_reliability_and_information_are_those_of_mirt(name: str, model: str) -> None:
    wanted = json.loads((CLASSIC / "reference_estimates.json").read_text())[name][model]
    answers = np.genfromtxt(CLASSIC / f"{name.lower()}.csv", delimiter=",", skip_header=1)
    scale = np.sqrt(wanted["theta_var"])  # mirt's Rasch model frees the variance instead of the slope
    a, b, c = (np.array(wanted[key], dtype=float) for key in "abc")
    theirs = ItemParameters(a, b, c, np.ones_like(a))
    ours = ItemParameters(a * scale, b / scale, c, np.ones_like(a))
    found = score_counts(answers, np.ones_like(answers), ours)
    np.testing.assert_allclose(found.theta[:10] * scale, wanted["EAP_first10"], atol=1e-4)
    np.testing.assert_allclose(found.sd[:10] * scale, wanted["EAP_SE_first10"], atol=1e-4)
    assert Scores("eap", (), (), *found, (), 0.9).reliability == pytest.approx(wanted["EAP_reliability"], abs=1e-5)
    grid = np.array(wanted["info_grid"])[:, None]
    np.testing.assert_allclose(kernels.information(grid, *theirs).sum(axis=1), wanted["test_info"], atol=1e-6)
    if model == "Rasch":
        # mirt 1.47 adds the population's variance where the population's information, 1 / variance, belongs.
        nodes = np.linspace(-10, 10, 4001)[:, None]
        told, density = kernels.information(nodes, *theirs).sum(axis=1), np.exp(-(nodes[:, 0] ** 2) / 2)
        theirs_marginal = np.average(told / (told + wanted["theta_var"]), weights=density)
        assert theirs_marginal == pytest.approx(wanted["marginal_rxx"], abs=1e-5)
    else:
        assert marginal_reliability(ours) == pytest.approx(wanted["marginal_rxx"], abs=1e-5)
