"""Tails of sums agree with enumeration; adjusted p-values agree with hand calculation."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, norm

from irt.checks._inputs import false_discovery_rates
from irt.checks._tails import holm, upper_tail


def test_tail_of_a_weighted_sum_equals_enumeration() -> None:
    rng = np.random.default_rng(0)
    count = 14
    p, values = rng.uniform(0.05, 0.95, count), rng.standard_normal((count, 2))
    combinations = np.array(list(itertools.product([0, 1], repeat=count)))
    sums = values[np.arange(count), combinations].sum(axis=1)
    chances = np.where(combinations == 0, p, 1 - p).prod(axis=1)
    points = np.array([-4.5, -2.5, -0.5, 0.5, 2.5, 4.0, 4.9])
    exact = np.array([chances[sums >= point].sum() for point in points])
    every = (
        np.broadcast_to(values, (len(points), count, 2)),
        np.broadcast_to(np.stack([p, 1 - p], axis=1), (len(points), count, 2)),
    )
    np.testing.assert_allclose(upper_tail(*every, points), exact, rtol=0.25, atol=2e-5)


def test_far_tail_of_a_skewed_sum_is_right_where_the_normal_is_wrong_by_orders_of_magnitude() -> None:
    count, p, seen = 200, 0.02, 16
    values = np.broadcast_to(np.array([1.0, 0.0]), (1, count, 2))
    chances = np.broadcast_to(np.array([p, 1 - p]), (1, count, 2))
    middle = (binom.sf(seen, count, p) + binom.sf(seen - 1, count, p)) / 2  # a continuous formula on a lattice
    assert upper_tail(values, chances, np.array([float(seen)]))[0] == pytest.approx(middle, rel=0.2)
    assert norm.sf((seen - count * p) / np.sqrt(count * p * (1 - p))) < middle / 1000


def test_below_its_mean_a_sum_of_rare_large_steps_is_not_extreme() -> None:
    chance, count = 0.01, 10
    values = np.broadcast_to(np.array([1.0, 0.0]), (1, count, 2)) + np.linspace(0, 0.01, count)[:, None]
    chances = np.broadcast_to(np.array([chance, 1 - chance]), (1, count, 2))
    assert upper_tail(values, chances, np.array([np.linspace(0, 0.01, count).sum() + 0.02]))[0] >= 0.05


def test_tail_at_the_largest_value_is_its_probability_and_a_constant_has_tail_one() -> None:
    values = np.array([[[1.0, 0.0]] * 6, [[2.0, 2.0]] * 6])
    chances = np.broadcast_to(np.array([0.3, 0.7]), (2, 6, 2))
    np.testing.assert_allclose(upper_tail(values, chances, np.array([6.0, 12.0])), [0.3**6, 1.0])
    assert len(upper_tail(np.empty((0, 6, 2)), np.empty((0, 6, 2)), np.empty(0))) == 0


def test_adjusted_p_values_equal_hand_calculation() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.5])
    np.testing.assert_allclose(holm(p), [0.04, 0.09, 0.09, 0.5])
    np.testing.assert_allclose(false_discovery_rates(p, p <= 1), [0.04, 0.16 / 3, 0.16 / 3, 0.5])
    np.testing.assert_allclose(false_discovery_rates(p, p > 1), 1.0)
    assert len(holm(np.empty(0))) == 0
