"""Conditional likelihood finds slopes without estimating difficulties."""

import itertools

import numpy as np
import pytest

import irt
from irt.selecting import _conditional_slopes as module
from irt.selecting._conditional_slopes import conditional_slopes, group_shift


def enumerated(slope: float, theta: np.ndarray, attempts: np.ndarray, total: int) -> tuple[float, float]:
    """Mean and variance of `sum theta y` given `sum y`, from every pattern of every trial."""
    each = np.repeat(theta, attempts)
    patterns = np.array([p for p in itertools.product((0, 1), repeat=len(each)) if sum(p) == total])
    found = patterns @ each
    weight = np.exp(slope * found)
    mean = float(weight @ found / weight.sum())
    return mean, float(weight @ (found - mean) ** 2 / weight.sum())


@pytest.mark.parametrize("attempts", [[1, 1, 1, 1, 1], [2, 1, 3, 1, 0]])
def test_conditional_moments_are_those_of_all_patterns(attempts: list[int]) -> None:
    theta = np.array([-1.3, -0.2, 0.1, 0.8, 2.0])
    n = np.array(attempts)
    for total in range(1, int(n.sum())):
        k = np.zeros(5)
        left = total
        for student in range(5):
            k[student] = min(n[student], left)
            left -= int(k[student])
        mean, variance = module._moments(np.array([0.7, 2.0]), k[:, None], n[:, None].astype(float), theta[:, None])
        for place, slope in enumerate((0.7, 2.0)):
            assert (mean[place, 0], variance[place, 0]) == pytest.approx(enumerated(slope, theta, n, total))


def test_an_item_that_all_or_none_solved_says_nothing() -> None:
    theta = np.linspace(-1, 1, 6)[:, None] * np.ones((1, 3))
    scores = np.array([[1, 0, 0], [1, 0, 1], [1, 0, 0], [1, 0, 1], [1, 0, 1], [1, 0, 1]], float)
    found = conditional_slopes(scores, np.ones_like(scores), theta)
    assert np.all(found.information[:, :2] < 1e-9)
    assert group_shift(found, np.array([0, 1])) == (0.0, np.inf)


def test_slopes_are_recovered_from_known_abilities_however_extreme_the_items() -> None:
    sim = irt.simulate(40, 600, seed=1, log_a_sd=0.0, b_sd=1.5, mean_a=1.4)
    theta = np.broadcast_to(sim.truth.theta[:, None], sim.data.scores.shape)
    found = conditional_slopes(sim.data.successes, sim.data.attempts, theta)
    for group in (np.abs(sim.truth.b) < 1, np.abs(sim.truth.b) > 1.5):
        shift, error = group_shift(found, np.flatnonzero(group))
        assert abs(np.log(found.slope) + shift - np.log(1.4)) < 3 * error
        assert error < 0.08


def test_blocks_of_students_lose_little(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = irt.simulate(80, 40, seed=2)
    theta = np.broadcast_to(sim.truth.theta[:, None], sim.data.scores.shape)
    in_blocks = conditional_slopes(sim.data.successes, sim.data.attempts, theta)
    monkeypatch.setattr(module, "BLOCK", 80)
    whole = conditional_slopes(sim.data.successes, sim.data.attempts, theta)
    middle = len(module.SHIFTS) // 2
    assert in_blocks.slope == pytest.approx(whole.slope, rel=0.05)
    lost = 1 - in_blocks.information[middle].sum() / whole.information[middle].sum()
    assert -0.01 < lost < 0.08
