"""Kendall's tau and how sure it is."""

import numpy as np
import pytest
from scipy.stats import kendalltau

import irt
from irt.selecting._heldout_evaluation import agreement, scored


@pytest.mark.parametrize("ties", [False, True])
def test_tau_is_scipys(ties: bool) -> None:
    rng = np.random.default_rng(0)
    first = rng.standard_normal(30)
    second = first + rng.standard_normal(30)
    if ties:
        first, second = np.round(first), np.round(second)
    assert agreement(first, second, 0.9, 0).estimate == pytest.approx(kendalltau(first, second).statistic)


def test_resampled_interval_covers_the_tau_of_the_population() -> None:
    rho, rng = 0.8, np.random.default_rng(1)
    truth = 2 / np.pi * np.arcsin(rho)
    covered = 0
    for seed in range(100):
        first = rng.standard_normal(25)
        second = rho * first + np.sqrt(1 - rho**2) * rng.standard_normal(25)
        found = agreement(first, second, 0.9, seed)
        covered += found.low <= truth <= found.high
    assert 80 <= covered <= 97


def test_few_students_in_the_same_order_prove_little() -> None:
    found = agreement(np.arange(4.0), np.arange(4.0), 0.9, 0)
    assert found.estimate == pytest.approx(1.0)
    assert found.low < 0.1
    assert found.high == pytest.approx(1.0)


def test_an_order_without_differences_agrees_with_nothing() -> None:
    assert agreement(np.zeros(12), np.arange(12.0), 0.9, 0) == (0.0, 0.0, 0.0)


def test_scored_abilities_follow_the_truth() -> None:
    sim = irt.simulate(200, 40, seed=3)
    fit = irt.fit(sim.data, method="map")
    assert np.corrcoef(scored(sim.data, fit), sim.truth.theta)[0, 1] > 0.9
