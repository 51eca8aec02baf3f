"""Rank correlations against scipy, brute force over tie breaks, and the values of the ircor package's tests."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from examcore import RANDOM_TIES, RANK_CORRELATIONS, RankCorrelation, break_ties, in_batches, kendall
from examcore._rank_correlation import Floats, spearman, tau_ap, tau_ap_b

TIED = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=9)


def ones(scores: Floats) -> Floats:
    return np.ones(scores.shape[-1])


def columns(pairs: list[tuple[int, int]]) -> tuple[Floats, Floats]:
    x, y = np.array(pairs, dtype=float).T
    return x, y


def yilmaz(truth: Floats, estimate: Floats) -> float:
    """The definition of tau_AP as it stands in the paper, for scores without ties."""
    order = np.argsort(-estimate)
    size = len(order)
    shares = [np.mean(truth[order[:at]] > truth[order[at]]) for at in range(1, size)]
    return float(2 / (size - 1) * np.sum(shares) - 1)


def every_break(scores: Floats) -> list[Floats]:
    """The ranks of all orders that the scores allow."""
    orders = itertools.permutations(range(len(scores)))
    allowed = [one for one in orders if all(scores[a] <= scores[b] for a, b in itertools.pairwise(one))]
    return [np.argsort(one).astype(float) for one in allowed]


@settings(deadline=None)
@given(TIED)
def test_spearman_and_kendall_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert spearman(x, y, ones(x)) == pytest.approx(stats.spearmanr(x, y).statistic)
        assert kendall(x, y, ones(x)) == pytest.approx(stats.kendalltau(x, y).statistic)
    else:
        assert np.isnan(spearman(x, y, ones(x)))
        assert np.isnan(kendall(x, y, ones(x)))


@settings(deadline=None)
@given(st.permutations(list(range(7))))
def test_tau_ap_is_its_definition_where_nothing_is_tied(order: list[int]) -> None:
    x, y = np.arange(7.0), np.array(order, dtype=float)
    assert tau_ap(x, y, ones(x)) == pytest.approx(yilmaz(x, y))
    both = (yilmaz(x, y) + yilmaz(y, x)) / 2
    assert tau_ap_b(x, y, ones(x)) == pytest.approx(both)


@pytest.mark.parametrize("name", RANDOM_TIES)
@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1, 1, 2, 3, 3], [2, 1, 1, 3, 3]),
        ([1, 1, 1, 1, 2], [1, 2, 3, 4, 4]),
        ([3, 2, 1, 4, 4], [1, 1, 1, 2, 2]),
        ([1, 2, 3, 4, 5], [1, 1, 1, 1, 1]),
    ],
)
def test_the_expectation_over_random_ties_is_the_mean_of_every_break(name: str, x: list[int], y: list[int]) -> None:
    first, second = np.array(x, dtype=float), np.array(y, dtype=float)
    broken = [RANK_CORRELATIONS[name](a, b, ones(a)) for a in every_break(first) for b in every_break(second)]
    assert RANDOM_TIES[name](first, second, ones(first)) == pytest.approx(np.mean(broken))
    found = break_ties(RANK_CORRELATIONS[name], first, second, draws=4000)
    assert found.mean == pytest.approx(np.mean(broken), abs=0.04)
    assert found.sd == pytest.approx(np.std(broken), abs=0.03)


# The vectors and values of the tests of Urbano's R package ircor 1.0, rounded to four digits there.
SETS = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        (0.8519, 0.7454, 0.8333, 0.7321),
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        (0.2504, 0.2692, 0.2880, 0.297),
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        (-0.6971, -0.5558, -0.668, -0.7047),
    ),
]


@pytest.mark.parametrize(("first", "second", "published"), SETS)
def test_tau_ap_with_and_without_ties_is_that_of_ircor(
    first: list[float], second: list[float], published: tuple[float, ...]
) -> None:
    x, y = np.array(first), np.array(second)
    x_tied, y_tied = np.round(x, 1), np.round(y, 1)
    found = (tau_ap(x, y, ones(x)), tau_ap(x, y_tied, ones(x)), tau_ap_b(x, y, ones(x)))
    assert found == pytest.approx(published[:3], abs=6e-5)
    assert tau_ap_b(x_tied, y_tied, ones(x)) == pytest.approx(published[3], abs=6e-5)
    assert tau_ap_b(y_tied, x_tied, ones(x)) == tau_ap_b(x_tied, y_tied, ones(x))


def test_a_mistake_at_the_top_costs_tau_ap_more_than_one_at_the_bottom() -> None:
    truth = np.arange(6.0)
    top, bottom = truth.copy(), truth.copy()
    top[[4, 5]], bottom[[0, 1]] = top[[5, 4]], bottom[[1, 0]]
    assert kendall(truth, top, ones(truth)) == kendall(truth, bottom, ones(truth))
    assert tau_ap(truth, top, ones(truth)) < tau_ap(truth, bottom, ones(truth))


@pytest.mark.parametrize("coefficient", [*RANK_CORRELATIONS.values(), *RANDOM_TIES.values()])
def test_copies_of_a_system_are_no_pairs(coefficient: RankCorrelation) -> None:
    # A resample of one ordered leaderboard agrees with itself as fully as the leaderboard does.
    x = np.arange(5.0)
    weights = np.array([3.0, 0.0, 1.0, 2.0, 2.0])
    assert coefficient(x, x, weights) == pytest.approx(1)
    assert coefficient(x, -x, weights) == pytest.approx(-1)
    assert np.isnan(coefficient(x, x, np.array([5.0, 0, 0, 0, 0])))


@pytest.mark.parametrize("coefficient", [spearman, kendall])
def test_weights_are_copies_for_tie_aware_coefficients(coefficient: RankCorrelation) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(4, size=(2, 8)).astype(float)
    drawn = rng.integers(8, size=8)
    weights = np.bincount(drawn, minlength=8).astype(float)
    assert coefficient(x, y, weights) == pytest.approx(coefficient(x[drawn], y[drawn], ones(x)))


@pytest.mark.parametrize("coefficient", RANK_CORRELATIONS.values())
def test_batches_are_the_single_values(coefficient: RankCorrelation) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 5, 300))
    weights = rng.integers(3, size=(5, 300)).astype(float)
    found = in_batches(coefficient, x, y, weights)
    single = [float(coefficient(*one)) for one in zip(x, y, weights, strict=True)]
    assert found == pytest.approx(single)
    assert in_batches(coefficient, x[0], y, weights[0])[1] == pytest.approx(coefficient(x[0], y[1], weights[0]))
