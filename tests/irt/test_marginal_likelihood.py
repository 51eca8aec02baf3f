"""Marginal maximum likelihood: exact derivatives and information, and draws by them."""

import numpy as np
import pytest

import irt
from irt._quadrature import posterior
from irt._responses import Floats
from irt.fitting import _em as em
from irt.fitting._coordinates import (
    SHARED,
    curvature,
    curves,
    gradient_and_information,
    item_errors,
    signed_draws,
    to_items,
)
from irt.fitting._item_priors import Penalty
from irt.fitting._marginal_maximum import starting_point
from irt.fitting._observed_information import _low_rank, observe
from tests.irt.lsat import lsat6
from tests.irt.marginal import MODELS, directions, mml, problem_of, small_table


@pytest.mark.parametrize("model", MODELS)
def test_gradient_is_that_of_the_marginal_likelihood(model: str) -> None:
    answers, x, nodes = small_table(model)
    none = Penalty(*np.zeros((4, *x.shape)))
    state = em.evaluate(answers, x, nodes, SHARED[model], none)
    for step in directions(x, model):
        ends = [em.evaluate(answers, x + sign * 1e-5 * step, nodes, SHARED[model], none).value for sign in (1, -1)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(float(np.sum(state.gradient * step)), abs=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_observed_information_is_minus_the_hessian(model: str) -> None:
    problem = problem_of(irt.simulate(300, 6, "2pl", seed=4).data, model)
    answers, nodes, shared = em.compress(problem.successes, problem.attempts), np.linspace(-6, 6, 121), SHARED[model]
    x = starting_point(problem)
    # Information has to be positive definite for its inverse to be taken: priors see to that away from a maximum.
    ones = np.ones_like(x)
    prior = Penalty(0 * ones, 40 * ones, 40 * ones, 90 * ones)
    seen = observe(answers, x, nodes, shared, prior, np.zeros_like(x))
    assert seen.curvature is not None
    for step in directions(x, model):
        ends = [em.evaluate(answers, x + sign * 1e-5 * step, nodes, shared, prior).gradient for sign in (1, -1)]
        bent = (ends[1] - ends[0]) / 2e-5
        np.testing.assert_allclose(seen.curvature.solve(bent), step, atol=2e-5)


@pytest.mark.parametrize("model", MODELS)
def test_item_derivatives_equal_differences(model: str) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(0, 1, (max(2, int(model[0])), 3))
    nodes = np.linspace(-3, 3, 7)
    asked = rng.uniform(1, 5, (7, 3))
    right = asked * rng.random((7, 3))

    def gradient(at: Floats) -> Floats:
        return gradient_and_information(curves(at, nodes), right, asked)[0]

    exact = curvature(curves(x, nodes), right, asked)
    for row in range(len(x)):
        step = np.zeros_like(x)
        step[row] = 1e-6
        np.testing.assert_allclose(
            -(gradient(x + step) - gradient(x - step)) / 2e-6, exact[:, row].T, rtol=1e-6, atol=1e-6
        )
    expected = gradient_and_information(curves(x, nodes), asked * curves(x, nodes).p, asked)
    np.testing.assert_allclose(expected[0], 0, atol=1e-12)
    np.testing.assert_allclose(expected[1], curvature(curves(x, nodes), asked * curves(x, nodes).p, asked), atol=1e-12)


def test_penalty_derivatives_equal_differences() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, (4, 5))
    penalty = Penalty(*(rng.random(x.shape) for _ in range(4)))
    for step in directions(x, "4pl"):
        high, low = x + 1e-6 * step, x - 1e-6 * step
        slope = (penalty.value(high) - penalty.value(low)) / 2e-6
        assert slope == pytest.approx(float(np.sum(penalty.gradient(x) * step)), abs=1e-7)
        bent = float(np.sum((penalty.gradient(low) - penalty.gradient(high)) / 2e-6 * step))
        own = np.einsum("ki,ikl,li->", step, penalty.information(x, observed=True), step)
        assert bent == pytest.approx(float(own), abs=1e-6)


@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl"])
def test_both_forms_of_the_inverse_information_agree(model: str) -> None:
    answers, x, nodes = small_table(model)
    shared = SHARED[model]
    ones = np.ones_like(x)
    prior = Penalty(0 * ones, 3 * ones, 3 * ones, 9 * ones)
    dense = observe(answers, x, nodes, shared, prior, np.zeros_like(x)).curvature
    assert dense is not None
    from irt.fitting._item_blocks import ItemBlocks
    from irt.fitting._observed_information import _complete, score_coefficients

    every = slice(0, len(answers.counts))
    scores = np.concatenate([part for part, _ in score_coefficients(answers, x, nodes, every)])
    low, _ = _low_rank(ItemBlocks(_complete(answers, x, nodes, prior), shared), scores)
    assert low is not None
    np.testing.assert_allclose(low.covariance, dense.covariance, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(low.solve(x), dense.solve(x), rtol=1e-5, atol=1e-7)
    for each in (low, dense):
        drawn = each.draw(np.random.default_rng(0), 40_000)
        np.testing.assert_allclose(
            np.einsum("dki,dli->ikl", drawn, drawn) / len(drawn), dense.covariance, rtol=0.05, atol=0.02
        )


def test_every_step_raises_the_likelihood_until_nodes_change() -> None:
    for model in MODELS:
        problem = problem_of(irt.simulate(150, 30, "3pl", seed=5).data, model)
        answers, start = em.compress(problem.successes, problem.attempts), starting_point(problem)
        top = em.climb(answers, start, SHARED[model], Penalty(*np.zeros((4, *start.shape))))
        rises = np.diff(top.values)
        changed = np.isin(np.arange(1, len(top.values)), [r + n for n, r in enumerate(top.renewed) if r])
        assert np.all(rises[~changed] >= 0)


def test_nodes_follow_the_narrowest_posterior() -> None:
    sim = irt.simulate(100, 500, seed=6)
    fit = mml(sim.data)
    assert fit.converged
    fine = np.linspace(-6, 6, 1201)
    exact = posterior(sim.data.successes, sim.data.attempts, fit.parameters, fine)
    assert fit.log_likelihood == pytest.approx(float(exact.log_marginal.sum()), abs=1e-3)
    np.testing.assert_allclose(fit.errors["theta"], exact.sd, rtol=1e-4)
    assert int(fit.diagnostics["nodes"]) < 200


def test_repeated_rows_are_counted_once_and_change_nothing() -> None:
    data = lsat6()
    answers = em.compress(data.successes, data.attempts)
    assert len(answers.counts) == 30
    np.testing.assert_array_equal(answers.successes[answers.row_of], data.successes)
    whole = em.AnswerPatterns(data.successes, None, np.ones(5), np.ones(1000), np.arange(1000))
    x, nodes = np.vstack([np.ones(5), np.linspace(3, 0, 5)]), np.linspace(-6, 6, 61)
    once, all_ = em.expect(answers, x, nodes), em.expect(whole, x, nodes)
    assert once.log_likelihood == pytest.approx(all_.log_likelihood, abs=1e-8)
    np.testing.assert_allclose(once.right, all_.right, atol=1e-9)


def test_signed_draws_are_normal_to_first_order_and_turn_about_where_the_curve_is_known() -> None:
    x, covariance = np.array([[0.1], [0.8]]), np.array([[[0.04, -0.02], [-0.02, 0.05]]])
    rng = np.random.default_rng(0)
    moves = rng.multivariate_normal([0, 0], covariance[0], 20_000)[:, :, None]
    small = signed_draws(x, covariance * 1e-6, 1e-3 * moves)
    np.testing.assert_allclose(small, x + 1e-3 * moves, atol=1e-5)
    drawn = signed_draws(x, covariance, moves)
    assert drawn[:, 0].min() > 0
    # log a moves by asinh(u), so that a^2 has the expectation a^2 + 2 se^2, and its inverse (1 + 2 cv^2) / a^2.
    assert np.mean(drawn[:, 0] ** 2) == pytest.approx(0.1**2 + 2 * 0.04, rel=0.05)
    assert np.mean(drawn[:, 0] ** -2.0) == pytest.approx((1 + 2 * 4) / 0.1**2, rel=0.05)
    # The height at theta = .5, where slope and logit are uncorrelated, is drawn as the normal distribution has it.
    height = drawn[:, 1, 0] + 0.5 * drawn[:, 0, 0]
    np.testing.assert_allclose(height, x[1] + 0.5 * x[0] + moves[:, 1, 0] + 0.5 * moves[:, 0, 0], atol=1e-12)


def test_errors_of_difficulty_are_those_of_the_ratio() -> None:
    x = np.array([[1.5], [0.9], [-1.0]])
    covariance = np.array([[[0.04, 0.01, 0.02], [0.01, 0.09, -0.03], [0.02, -0.03, 0.25]]])
    drawn = (
        x[None, :, :]
        + np.random.default_rng(0).multivariate_normal(np.zeros(3), covariance[0] * 1e-4, 100_000)[..., None]
    )
    for name, error in zip("abc", item_errors(x, covariance), strict=False):
        values = getattr(to_items(drawn), name)
        assert float(error[0]) == pytest.approx(100 * float(values.std()), rel=0.02)
