"""Closed forms, and agreement with automatic differentiation."""

import numpy as np
import pytest

from irt import kernels

THETA = np.linspace(-4, 4, 33)


def test_probability_is_halfway_between_the_asymptotes_at_the_difficulty() -> None:
    assert kernels.probability(0.7, 1.3, 0.7, 0.2, 0.9) == pytest.approx(0.55)


def test_three_parameter_information_is_lords_formula() -> None:
    a, b, c = 1.4, -0.3, 0.22
    p = kernels.probability(THETA, a, b, c)
    lord = a**2 * (1 - p) / p * ((p - c) / (1 - c)) ** 2
    np.testing.assert_allclose(kernels.information(THETA, a, b, c), lord, rtol=1e-10)


def test_information_is_the_expected_squared_score_by_automatic_differentiation() -> None:
    import jax

    a, b, c, d = 1.4, -0.3, 0.22, 0.93
    with jax.enable_x64(True):
        right = jax.vmap(jax.grad(lambda t: kernels.log_probability(t, a, b, c, d)[0]))(jax.numpy.asarray(THETA))
        wrong = jax.vmap(jax.grad(lambda t: kernels.log_probability(t, a, b, c, d)[1]))(jax.numpy.asarray(THETA))
    p = kernels.probability(THETA, a, b, c, d)
    expected = p * np.asarray(right) ** 2 + (1 - p) * np.asarray(wrong) ** 2
    np.testing.assert_allclose(kernels.information(THETA, a, b, c, d), expected, rtol=1e-9)


def test_information_peaks_above_difficulty_when_guessing() -> None:
    a, b, c = 1.7, 0.4, 0.25
    grid = np.linspace(-2, 3, 200_001)
    best = grid[np.argmax(kernels.information(grid, a, b, c))]
    closed = b + np.log((1 + np.sqrt(1 + 8 * c)) / 2) / a
    assert best == pytest.approx(closed, abs=1e-4)


def test_log_probabilities_stay_finite_far_from_the_difficulty() -> None:
    right, wrong = kernels.log_probability(np.array([-800.0, 800.0]), 1.0, 0.0)
    np.testing.assert_allclose(right, [-800.0, 0.0])
    np.testing.assert_allclose(wrong, [0.0, -800.0])


def test_log_likelihood_of_counts_is_that_of_repeated_answers() -> None:
    theta, a, b = np.array([0.3]), np.array([1.2]), np.array([-0.5])
    many = kernels.log_likelihood(np.array([[3.0]]), np.array([[5.0]]), theta, a, b)
    one = [kernels.log_likelihood(np.array([[k]]), np.ones((1, 1)), theta, a, b) for k in (1.0, 0.0)]
    np.testing.assert_allclose(many, 3 * one[0] + 2 * one[1])
    assert kernels.log_likelihood(np.zeros((1, 1)), np.zeros((1, 1)), theta, a, b) == 0
