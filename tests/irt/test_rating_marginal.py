"""Marginal maximum likelihood of ratings: derivatives, direct maximisation, simulated truth, published numbers."""

import numpy as np
import pytest

import irt
from irt import _graded as graded
from irt import _quadrature as quadrature
from irt._simulation import GradedSimulation, simulate_graded
from irt.fitting import _rating_maximum as marginal
from irt.fitting._rating_curvature import RATING_MODELS, maximise
from irt.kernels import ItemParameters
from tests.irt.lsat import lsat6, lsat7

MODELS = tuple(RATING_MODELS)


@pytest.fixture(scope="module")
def small() -> GradedSimulation:
    return simulate_graded(120, 4, [3, 2, 1, 3], seed=3, missing=0.1)


@pytest.fixture(scope="module")
def large() -> GradedSimulation:
    return simulate_graded(500, 20, seed=1)


@pytest.fixture(scope="module")
def fitted(large: GradedSimulation) -> irt.Fit:
    return irt.fit(large.data, "grm", "mml")


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_of_an_items_expected_likelihood_are_those_of_finite_differences(name: str) -> None:
    model = RATING_MODELS[name]
    rng = np.random.default_rng(0)
    top, nodes = np.array([3, 2]), np.linspace(-3, 3, 9)
    x = np.array([[1.2, 1.0, 0.1, -1.5], [-0.8, 0.7, -0.6, 0.0]])
    counts = rng.random((2, 4, 9)) * (np.arange(4) <= top[:, None])[:, :, None]
    real = graded.real_thresholds(top)
    here = model.expected_slopes(x, nodes, counts, real)
    logs = marginal.parameters(model, x, top).log_categories(nodes[:, None])
    wanted = (counts * np.where(np.isfinite(logs), logs, 0.0).transpose(1, 2, 0)).sum(axis=(1, 2))
    np.testing.assert_allclose(here.value, wanted, rtol=1e-12)
    step = 1e-5
    for item, coordinate in [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2)]:
        move = np.zeros_like(x)
        move[item, coordinate] = step
        up, down = (model.expected_slopes(x + sign * move, nodes, counts, real) for sign in (1, -1))
        assert here.gradient[item, coordinate] == pytest.approx((up.value - down.value)[item] / (2 * step), rel=1e-6)
        found = (up.gradient - down.gradient)[item] / (2 * step)
        size = top[item] + 1
        np.testing.assert_allclose(here.hessian[item, coordinate, :size], found[:size], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_newton_steps_reach_the_one_maximum_in_order(name: str) -> None:
    model = RATING_MODELS[name]
    rng = np.random.default_rng(1)
    nodes, real = np.linspace(-4, 4, 41), graded.real_thresholds(np.array([4]))
    truth = np.array([[1.7, 2.0, 1.9, -0.5, -2.0]])
    p = np.exp(marginal.parameters(model, truth, np.array([4])).log_categories(nodes[:, None]))
    counts = (1000 * np.exp(-0.5 * nodes[:, None, None] ** 2) * p).transpose(1, 2, 0)
    for start in ([[0.1, 3.0, 1.0, -1.0, -3.0]], [[-2.0, 0.3, 0.2, 0.1, 0.0]]):
        x = np.array(start) + 0.01 * rng.random()
        for _ in range(10):
            x = maximise(model, x, nodes, counts, real)
        np.testing.assert_allclose(x, truth, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_gradient_and_observed_information_are_those_of_finite_differences(small: GradedSimulation, name: str) -> None:
    assert small.data.top is not None
    best = marginal.maximum(RATING_MODELS[name], small.data.scores, small.data.top)
    own, spread = marginal.own(best.answers.real), best.answers.spread.toarray()
    x = best.x + 0.1 * own * np.array([1.0, 0.5, 0.0, -0.5])
    here = marginal.expect(best.answers, x)
    gradient = marginal.gradient(best.answers, x, here)
    information = marginal.observed_information(best.answers, x, here)
    step = 1e-5
    assert len(gradient) == best.parameters == len(spread)
    for index, row in enumerate(spread):
        move = np.zeros_like(x)
        move[own] = step * row
        ends = [(x + sign * move, marginal.expect(best.answers, x + sign * move)) for sign in (1, -1)]
        assert gradient[index] == pytest.approx((ends[0][1].value - ends[1][1].value) / (2 * step), abs=1e-4)
        slopes = [marginal.gradient(best.answers, *end) for end in ends]
        np.testing.assert_allclose(information[index], (slopes[1] - slopes[0]) / (2 * step), atol=1e-3, rtol=1e-4)
    at_best = marginal.gradient(best.answers, best.x, best.expected)
    np.testing.assert_allclose(at_best, 0, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_the_maximum_is_that_of_direct_maximisation(small: GradedSimulation, name: str) -> None:
    from scipy.optimize import minimize

    data = small.data
    assert data.top is not None
    best = marginal.maximum(RATING_MODELS[name], data.scores, data.top)
    own, spread = marginal.own(best.answers.real), best.answers.spread.toarray()
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    log_weights = np.log(weights / weights.sum())

    def loss(free: np.ndarray) -> float:
        x = np.zeros_like(best.x)
        x[own] = free @ spread
        items = marginal.parameters(best.answers.model, x, best.answers.top)
        logs = [items.log_likelihood(data.scores, np.full(120, node)).sum(axis=1) for node in nodes]
        return -float(np.logaddexp.reduce(np.array(logs) + log_weights[:, None]).sum())

    start = np.linalg.lstsq(spread.T, marginal._start(best.answers)[own])[0]
    found = minimize(loss, start, method="BFGS", options={"gtol": 1e-2})
    assert best.log_likelihood == pytest.approx(-found.fun, abs=1e-3)
    np.testing.assert_allclose(best.x[own], found.x @ spread, atol=0.01)


@pytest.mark.parametrize("name", MODELS)
def test_no_cycle_of_em_lowers_the_likelihood(small: GradedSimulation, name: str) -> None:
    assert small.data.top is not None
    answers = marginal._answers(RATING_MODELS[name], small.data.scores, small.data.top)
    x = marginal._start(answers)
    values = []
    for _ in range(15):
        expected = marginal.expect(answers, x)
        values.append(expected.value)
        x = maximise(answers.model, x, expected.posterior.nodes, expected.counts, answers.real)
    assert (np.diff(values) > -1e-9).all()


@pytest.mark.parametrize("name", MODELS)
def test_two_categories_have_the_likelihood_of_the_two_parameter_model(name: str) -> None:
    data = irt.simulate(200, 10, seed=4).data
    best = marginal.maximum(RATING_MODELS[name], data.scores, np.ones(10, dtype=np.int64))
    a, thresholds, _ = marginal.parameters(best.answers.model, best.x, best.answers.top)
    items = ItemParameters(a, thresholds[:, 0], np.zeros(10), np.ones(10))
    same = quadrature.posterior(data.successes, data.attempts, items)
    assert best.log_likelihood == pytest.approx(float(same.log_marginal.sum()), abs=1e-6)
    np.testing.assert_allclose(best.expected.posterior.mean, same.mean, atol=1e-6)
    plain = irt.fit(data, "1pl" if best.answers.model.common else "2pl", "mml")
    assert best.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-5)
    np.testing.assert_allclose(best.x[:, 0], plain.point["a"], atol=1e-4)


def test_lsat7_has_the_published_slopes_intercepts_and_likelihood() -> None:
    """R's mirt documents these of its 2PL fit to LSAT7."""
    data = lsat7()
    assert len(data.students) == 1000
    fit = irt.fit(data, "grm", "mml")
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(-2658.805, abs=2e-3)
    np.testing.assert_allclose(fit.point["a"], [0.988, 1.081, 1.706, 0.765, 0.736], atol=2e-3)
    intercepts = -fit.point["a"] * fit.point["b"]
    np.testing.assert_allclose(intercepts, [1.8561, 0.808, 1.8043, 0.486, 1.8545], atol=2e-3)


def test_lsat6_has_the_published_difficulties_and_standard_errors() -> None:
    """R's ltm documents these of its 2PL fit to LSAT6 (Bock & Lieberman's data)."""
    fit = irt.fit(lsat6(), "grm", "mml")
    assert fit.log_likelihood == pytest.approx(-2466.653, abs=2e-3)
    np.testing.assert_allclose(fit.point["b"], [-3.3597, -1.3696, -0.2799, -1.8659, -3.1236], atol=5e-3)
    np.testing.assert_allclose(fit.point["a"], [0.8254, 0.7229, 0.8905, 0.6886, 0.6575], atol=2e-3)
    np.testing.assert_allclose(fit.errors["b"], [0.8669, 0.3073, 0.0997, 0.4341, 0.8700], rtol=0.02)


def test_ratings_recover_simulated_truth_within_their_errors(large: GradedSimulation, fitted: irt.Fit) -> None:
    assert fitted.converged
    # The unit of the fit is the population's; that of these students is their own spread.
    unit = large.truth.theta.std()
    for name, factor, limit in (("a", unit, 0.15), ("thresholds", 1 / unit, 0.25), ("theta", 1 / unit, 0.3)):
        error = fitted.point[name] - factor * getattr(large.truth, name)
        assert np.sqrt(np.mean(error**2)) < limit, name
        assert 0.8 < np.sqrt(np.mean((error / fitted.errors[name]) ** 2)) < 1.25, name


def test_draws_have_the_spread_of_the_standard_errors(fitted: irt.Fit) -> None:
    for name, tolerance in (("a", 0.1), ("b", 0.1), ("thresholds", 0.15), ("theta", 0.1)):
        np.testing.assert_allclose(fitted.draws[name].std(axis=0), fitted.errors[name], rtol=tolerance)
        error = (fitted.draws[name].mean(axis=0) - fitted.point[name]) / fitted.errors[name]
        assert np.abs(error).max() < 0.3, name
    assert (np.diff(fitted.draws["thresholds"], axis=2) * np.sign(fitted.draws["a"])[:, :, None] > 0).all()


def test_a_reversed_item_has_a_negative_slope_and_is_flagged(large: GradedSimulation, fitted: irt.Fit) -> None:
    scores = large.data.scores.copy()
    scores[:, 3] = 4 - scores[:, 3]
    fit = irt.fit(irt.ResponseMatrix(scores, large.data.students, large.data.items, top=4), "grm", "mml")  # type: ignore[arg-type]
    assert fit.point["a"][3] == pytest.approx(-fitted.point["a"][3], abs=1e-4)
    np.testing.assert_allclose(fit.point["thresholds"][3], fitted.point["thresholds"][3][::-1], atol=1e-4)
    assert fit.items.loc[3, "flags"] == "negative discrimination; perhaps scored in reverse"


def test_unused_scores_and_perfect_items_get_finite_named_estimates() -> None:
    data = simulate_graded(80, 8, 3, seed=5).data
    scores = data.scores.copy()
    scores[:, 0] = np.where(scores[:, 0] == 1, 2, scores[:, 0])
    scores[:, 1] = 3
    fit = irt.fit(irt.ResponseMatrix(scores, data.students, data.items, top=np.full(8, 3)), "grm", "mml")
    assert not fit.items.isna().to_numpy().any()
    assert all(np.isfinite(values).all() for values in (*fit.draws.values(), *fit.errors.values()))
    assert fit.items["flags"][:2].tolist() == ["nobody scored 1", "nobody scored 0, 1, 2"]
    assert any("2 items with a score nobody got (q0, q1)" in sentence for sentence in fit.warnings)
    other = irt.fit(data.select(data.items[2:]), "grm", "mml")
    np.testing.assert_allclose(fit.point["a"][2:], other.point["a"], rtol=0.2)


def test_copied_items_that_run_off_are_held_and_named() -> None:
    rng = np.random.default_rng(6)
    rows = rng.integers(0, 3, 60).astype(float)
    scores = np.stack([rows, rows, rows, rng.integers(0, 3, 60)], axis=1)
    data = irt.ResponseMatrix(scores, tuple(map(str, range(60))), tuple("abcd"), top=np.full(4, 2))
    fit = irt.fit(data, "grm", "mml")
    assert np.isfinite(fit.items.drop(columns=["item", "flags"]).to_numpy(dtype=float)).all()
    assert any("with a runaway estimate" in sentence for sentence in fit.warnings)


def test_the_same_seed_gives_the_same_draws(small: GradedSimulation) -> None:
    assert small.data.top is not None
    first, second = (irt.fit(small.data, "grm", "mml", seed=2).draws for _ in range(2))
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


def test_where_parameters_are_too_many_for_the_full_information_the_note_says_so(
    small: GradedSimulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = irt.fit(small.data, "grm", "mml")
    monkeypatch.setattr(marginal, "FULL", 5)
    fit = irt.fit(small.data, "grm", "mml")
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(whole.log_likelihood, abs=1e-4)
    assert any(sentence.startswith("Standard errors take abilities as known") for sentence in fit.warnings)
    assert (fit.errors["a"] < whole.errors["a"]).all()
    np.testing.assert_allclose(fit.draws["a"].std(axis=0), fit.errors["a"], rtol=0.1)


def test_draws_of_ratings_keep_the_sign_of_a_slope() -> None:
    data = simulate_graded(200, 8, 3, seed=2).data
    scores = data.scores.copy()
    scores[:, 0] = np.random.default_rng(1).permutation(scores[:, 0])
    fit = irt.fit(irt.ResponseMatrix(scores, data.students, data.items, top=np.full(8, 3)), "grm", "mml")
    assert (np.sign(fit.draws["a"]) == np.sign(fit.point["a"])).all()
    assert fit.draws["b"].std(axis=0)[0] < 3 * fit.errors["b"][0]
    assert fit.items.loc[0, "flags"] == "hardly discriminates; sign uncertain"
