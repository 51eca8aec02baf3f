"""Remembered steps find the fixed point of a slow linear iteration, as Krylov methods do."""

import numpy as np
import pytest

from irt.fitting._gaussian import Point
from irt.fitting._linearised import DEPTH, Acceleration, largest


@pytest.mark.parametrize("damping", [1.0, 0.7])
def test_a_linear_iteration_of_few_rates_ends_in_as_many_steps(damping: float) -> None:
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    rates = np.repeat([0.95, 0.8, 0.5, -0.3, 0.1], 6)
    goal, matrix = rng.standard_normal(30), basis @ np.diag(rates) @ basis.T
    point, acceleration = Point(np.zeros(10), np.zeros((2, 10))), Acceleration(damping)
    sizes = []
    for _ in range(DEPTH - 1):
        ahead = (matrix - np.eye(30)) @ (np.concatenate([point.w, point.x.ravel()]) - goal)
        step = Point(ahead[:10], ahead[10:].reshape(2, 10))
        sizes.append(largest(step))
        point = acceleration.move(point, step)
    np.testing.assert_allclose(np.concatenate([point.w, point.x.ravel()]), goal, atol=1e-7)
    assert sizes[-1] < 1e-7 < sizes[3]


def test_forgetting_leaves_the_plain_step() -> None:
    rng = np.random.default_rng(1)
    points = [Point(rng.standard_normal(3), rng.standard_normal((2, 4))) for _ in range(4)]
    acceleration = Acceleration(0.5)
    acceleration.move(points[0], points[1])
    acceleration.forget()
    moved = acceleration.move(points[2], points[3])
    np.testing.assert_array_equal(moved.w, points[2].w + 0.5 * points[3].w)
    np.testing.assert_array_equal(moved.x, points[2].x + 0.5 * points[3].x)
