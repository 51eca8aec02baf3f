"""Systems compared in pairs: exact tests, a second implementation, and error rates under simulated truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from grading._records import Sampling
from grading.formats._score_tables import ScoreTable
from grading.leaderboards._paired import compare_systems, probability_best, sign_flip


def table(values: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> ScoreTable:
    systems, topics = values.shape
    return ScoreTable("t", tuple(f"s{at}" for at in range(systems)), tuple(f"t{at}" for at in range(topics)), values)


def test_the_sign_flip_test_is_exact_in_closed_form() -> None:
    # Five differences of one sign: only all-plus and all-minus are as far, 2 of 32.
    p, adjusted = sign_flip(np.array([[1.0, 2, 3, 4, 5], [1.0, -1, 0, 2, -2]]), 100, np.random.default_rng(0))
    assert p.tolist() == [2 / 32, 1]
    # The second is as far as the first where it is 1, 1, 0, 2, 2 or its opposite: with either sign of the third.
    assert adjusted.tolist() == [2 / 32, 1]


@pytest.mark.parametrize("size", [8, 60])
def test_the_sign_flip_test_is_scipys(size: int) -> None:
    differences = np.random.default_rng(size).normal(0.3, 1, size)
    wanted = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(0)
    ).pvalue
    found, adjusted = (one[0] for one in sign_flip(differences[None], 20_000, np.random.default_rng(1)))
    assert found == adjusted
    assert found == pytest.approx(wanted, abs=1e-9 if size == 8 else 0.01)


def test_topics_that_a_pair_lacks_take_no_part() -> None:
    differences = np.array([[1.0, 2, np.nan, 3, 1, np.nan, 2]])
    rng = np.random.default_rng(0)
    alone = differences[:, np.isfinite(differences[0])]
    assert sign_flip(differences, 1000, rng)[0] == sign_flip(alone, 1000, rng)[0]
    assert np.isnan(sign_flip(np.array([[1.0, np.nan]]), 10, rng)).all()


def test_adjusting_lies_between_no_adjustment_and_bonferronis() -> None:
    rng = np.random.default_rng(6)
    differences = rng.normal(rng.normal(0, 0.3, (10, 1)), 1, size=(10, 9))
    p, adjusted = sign_flip(differences, 1000, rng)
    assert np.all(adjusted >= p)
    assert np.all(adjusted <= np.minimum(1, 10 * p) + 1e-12)


def test_copies_of_one_pair_cost_nothing_to_test() -> None:
    # Bonferroni and Holm would multiply by five; the maximum over equal statistics is the statistic.
    one = np.random.default_rng(7).normal(0.5, 1, size=10)
    p, adjusted = sign_flip(np.tile(one, (5, 1)), 2000, np.random.default_rng(0))
    assert adjusted.tolist() == p.tolist()


def test_many_clear_pairs_are_told_apart_whatever_the_number_of_permutations() -> None:
    values = np.random.default_rng(8).normal(np.arange(40.0)[:, None], 1, size=(40, 40))
    found = compare_systems(table(values), Sampling(draws=5), permutations=200)
    assert len(found.pairs) == 780
    assert len(found.significant) > 700


def test_equal_systems_are_told_apart_no_more_often_than_the_level_says() -> None:
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(200):
        values = rng.normal(size=(3, 25)) + rng.normal(size=25)
        wrong += bool(compare_systems(table(values), Sampling(draws=10), permutations=400).significant)
    assert wrong / 200 < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_intervals_of_the_difference_are_those_of_the_t_test() -> None:
    values = np.random.default_rng(2).normal(size=(2, 200))
    values[0] += 0.5
    pair = compare_systems(table(values)).pairs[0]
    wanted = stats.ttest_rel(values[0], values[1]).confidence_interval(0.9)
    assert pair.difference[1:] == pytest.approx((wanted.low, wanted.high), abs=0.02)
    assert pair.n == 200


def test_a_detectable_gap_is_detected_four_times_in_five() -> None:
    rng = np.random.default_rng(3)
    gap = compare_systems(table(rng.normal(size=(2, 50))), Sampling(draws=10)).pairs[0].detectable
    found = [
        bool(
            compare_systems(
                table(rng.normal([[gap], [0]], 1, (2, 50))), Sampling(draws=5), permutations=300
            ).significant
        )
        for _ in range(200)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.12)


def test_the_chance_of_being_best() -> None:
    # Two systems whose difference is Normal(.1, 1 / sqrt(n)): Phi(.1 sqrt n) of resamples.
    rng = np.random.default_rng(4)
    values = np.zeros((2, 100))
    noise = rng.normal(size=100)
    values[0] = 0.1 + (noise - noise.mean()) / noise.std()
    found = probability_best(table(values), draws=4000)
    assert found["s0"] == pytest.approx(stats.norm.cdf(1), abs=0.02)
    assert sum(found.values()) == pytest.approx(1)
    same = probability_best(table(np.ones((4, 10))))
    assert list(same.values()) == [0.25] * 4
    assert np.isnan(list(probability_best(table(np.ones((2, 1)))).values())).all()


def test_sentences_say_who_can_be_told_apart() -> None:
    rng = np.random.default_rng(5)
    equal = compare_systems(table(rng.normal(size=(3, 30))))
    assert equal.sentence.startswith("t: the 3 systems cannot be told apart over 30 topics (smallest")
    apart = compare_systems(table(np.vstack([rng.normal(size=30), rng.normal(size=30) + 5])))
    assert apart.sentence.startswith("t: 1 of 2 pairs") is False
    assert apart.sentence.startswith("t: 1 of 1 pairs differ over 30 topics (p adjusted): s1 above s0")
    nothing = compare_systems(table(np.array([[1.0, np.nan], [np.nan, 2.0]])))
    assert nothing.sentence.endswith("nothing can be said of their differences.")
    assert np.isnan(nothing.pairs[0].difference).all()
