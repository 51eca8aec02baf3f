"""Integrals over ability agree with adaptive quadrature and with limits."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from irt import kernels
from irt._quadrature import nodes_for, posterior
from irt.kernels import ItemParameters


def items_of(count: int, seed: int = 0) -> ItemParameters:
    rng = np.random.default_rng(seed)
    return ItemParameters(
        rng.lognormal(0, 0.4, count), rng.normal(0, 1.2, count), rng.beta(4, 14, count), 1 - rng.beta(1, 20, count)
    )


@pytest.mark.parametrize("count", [1, 5, 40, 2000])
def test_marginal_likelihood_and_moments_equal_adaptive_quadrature(count: int) -> None:
    items = items_of(count)
    rng = np.random.default_rng(1)
    theta = np.array([-1.5, 0.0, 2.0])
    scores = rng.binomial(1, kernels.probability(theta[:, None], *items)).astype(float)
    found = posterior(scores, np.ones_like(scores), items)
    for row in range(3):
        top = float(found.log_marginal[row])

        def density(ability: float, row: int = row, top: float = top) -> float:
            cells = kernels.log_likelihood(scores[row][None], 1.0, np.array([ability]), *items)
            return float(np.exp(cells.sum() - top - ability**2 / 2) / np.sqrt(2 * np.pi))

        near = [float(found.mean[row] + k * found.sd[row]) for k in (-8, -2, 0, 2, 8)]
        total, first = (
            sum(
                quad(f, low, high, epsabs=1e-12, epsrel=1e-10)[0]
                for low, high in zip([-12, *near], [*near, 12], strict=True)
            )
            for f in (density, lambda x, density=density: x * density(x))
        )
        assert np.log(total) == pytest.approx(0, abs=1e-6)
        assert first / total == pytest.approx(found.mean[row], abs=1e-6)


def test_nodes_are_finer_than_the_narrowest_posterior() -> None:
    items = items_of(3000)
    nodes = nodes_for(items)
    scores = (np.arange(3000) % 2).astype(float)[None]
    assert np.diff(nodes)[0] < posterior(scores, np.ones_like(scores), items).sd[0]


def test_a_student_who_was_asked_nothing_keeps_the_population() -> None:
    items = items_of(4)
    found = posterior(np.zeros((1, 4)), np.zeros((1, 4)), items)
    assert found.mean[0] == pytest.approx(0, abs=1e-12)
    assert found.sd[0] == pytest.approx(1, abs=1e-6)
    assert found.log_marginal[0] == pytest.approx(0, abs=1e-8)


def test_an_impossible_answer_gives_finite_weights() -> None:
    items = ItemParameters(np.ones(2), np.zeros(2), np.array([0.0, 0.0]), np.ones(2))
    found = posterior(np.array([[3.0, 0.0]]), np.array([[3.0, 3.0]]), items)
    assert np.isfinite(found.weights).all()
    assert found.log_marginal[0] == pytest.approx(
        np.log(quad(lambda x: expit(x) ** 3 * expit(-x) ** 3 * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), -10, 10)[0]),
        abs=1e-8,
    )
