"""Power: textbook sample sizes, simulated tests at the planned size, and variance components of simulated truth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from grading._records import Sampling
from grading.leaderboards._power import Plan, Scores, detectable_gap, moments, needs, power_of, topics_needed, variances


def pilot(topics: int, questions: int, *, gap: float = 0.1, seed: int = 0) -> Scores:
    """Two systems whose difference varies by .3 over topics and by .5 over questions of a topic."""
    rng = np.random.default_rng(seed)
    scores = {}
    for topic in range(topics):
        level, shift = rng.normal(size=2) * (1, 0.3)
        for question in range(questions):
            key = (f"t{topic}", f"q{question}")
            scores[("a", *key)] = level + gap + shift + 0.5 * rng.normal()
            scores[("b", *key)] = level
    return scores


@pytest.mark.parametrize(("effect", "wanted"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_sizes_of_cohens_small_medium_and_large_effects(effect: float, wanted: int) -> None:
    # A paired t test, two-sided at .05, power .8: the values that G*Power and Cohen's tables give.
    assert topics_needed(effect, 1) == wanted
    assert topics_needed(effect / 10, 0.1) == wanted
    assert detectable_gap(wanted, 1) <= effect < detectable_gap(wanted - 1, 1)


def test_power_is_the_share_of_simulated_tests_that_find_the_gap() -> None:
    draws = np.random.default_rng(0).normal(0.4, 1, size=(4000, 25))
    found = np.mean(stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05)
    assert power_of(25, 0.4, 1) == pytest.approx(found, abs=0.025)
    assert power_of(25, 0, 1, alpha=0.1) == pytest.approx(0.1)


@pytest.mark.parametrize("topics", [2, 5, 40, 2000, 200_000])
def test_power_grows_with_the_gap_from_alpha_to_one(topics: int) -> None:
    powers = [power_of(topics, shift / math.sqrt(topics), 1) for shift in np.linspace(0, 40, 80)]
    assert powers[0] == pytest.approx(0.05, abs=1e-6)
    assert all(b >= a - 1e-6 for a, b in itertools.pairwise(powers))
    assert powers[-1] > 0.99


def test_no_number_of_topics_finds_no_gap_and_two_find_a_constant_one() -> None:
    assert topics_needed(0, 1) == math.inf
    assert topics_needed(1e-6, 1) == math.inf
    assert topics_needed(0.1, 0) == 2
    assert detectable_gap(10, 0) == 0


def test_the_two_deviations_are_recovered() -> None:
    between, within = variances(moments(pilot(800, 6), "a", "b"))
    assert math.sqrt(between) == pytest.approx(0.3, abs=0.03)
    assert math.sqrt(within) == pytest.approx(0.5, abs=0.02)


def test_unbalanced_topics_recover_them_too() -> None:
    rng = np.random.default_rng(1)
    scores = {key: one for key, one in pilot(1500, 5, seed=2).items() if key[2] == "q0" or rng.random() < 0.6}
    between, within = variances(moments(scores, "a", "b"))
    assert math.sqrt(between) == pytest.approx(0.3, abs=0.04)
    assert math.sqrt(within) == pytest.approx(0.5, abs=0.03)


def test_the_planned_numbers_of_topics_and_questions_reach_the_power_that_was_asked_for() -> None:
    need = needs(pilot(600, 8), Plan(gap=0.12, sampling=Sampling(draws=20)))[0]
    for questions in (1, 5):
        topics = int(need.by_questions[questions])
        rng = np.random.default_rng(questions)
        noise = 0.3 * rng.normal(size=(1500, topics)) + 0.5 * rng.normal(size=(1500, topics)) / math.sqrt(questions)
        found = np.mean(stats.ttest_1samp(0.12 + noise, 0, axis=1).pvalue < 0.05)
        assert found == pytest.approx(0.8, abs=0.06)
    assert need.by_questions[50] < need.by_questions[5] < need.by_questions[1]


def test_the_interval_of_the_need_holds_the_truth_as_often_as_it_says() -> None:
    truth = topics_needed(0.2, math.sqrt(0.09 + 0.25))
    hits = 0
    for seed in range(60):
        found = needs(pilot(60, 1, seed=seed), Plan(gap=0.2, sampling=Sampling(draws=200)))[0].topics
        hits += found.low <= truth <= found.high
    assert 0.75 <= hits / 60 <= 0.99


def test_without_questions_only_the_topics_are_planned() -> None:
    need = needs(pilot(50, 1), Plan(gap=0.1, sampling=Sampling(draws=20)))[0]
    assert math.isnan(need.question_sd)
    assert need.by_questions == {}
    assert need.topic_sd == pytest.approx(math.sqrt(0.34), abs=0.12)


def test_a_pilots_own_gap_may_be_no_gap() -> None:
    need = needs(pilot(8, 1, gap=0.05), Plan(sampling=Sampling(draws=200)))[0]
    assert need.observed.low < 0 < need.observed.high
    assert need.topics.high == math.inf
    assert need.topics.low < need.topics.estimate


@pytest.mark.parametrize("shift", [20, 29, 31, 45, 120])
def test_few_topics_and_a_strict_level_need_more_than_a_large_gap(shift: float) -> None:
    """Three topics at .001 ask for a t of 31.6: simulated."""
    gap = shift / math.sqrt(3)
    draws = np.random.default_rng(1).normal(gap, 1, size=(20_000, 3))
    found = np.mean(stats.ttest_1samp(draws, 0, axis=1).pvalue < 1e-3)
    assert power_of(3, gap, 1, 1e-3) == pytest.approx(found, abs=0.01)


def test_three_topics_find_no_gap_at_a_level_that_they_cannot_reach() -> None:
    assert detectable_gap(3, 1, alpha=1e-12) == math.inf
    top = detectable_gap(3, 1, alpha=1e-3)
    assert power_of(3, top, 1, 1e-3) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize("questions", [1, 3])
@pytest.mark.parametrize("gap", [None, 0.1])
def test_a_difference_that_never_varies_plans_nothing(questions: int, gap: float | None) -> None:
    keys = [(f"t{topic}", f"q{question}") for topic in range(6) for question in range(questions)]
    scores = {(system, *key): score for key in keys for system, score in (("a", 0.7), ("b", 0.6))}
    need = needs(scores, Plan(gap=gap, sampling=Sampling(draws=20)))[0]
    assert need.observed == pytest.approx((0.1, 0.1, 0.1))
    assert np.isnan([*need.topics, need.detectable]).all()
    assert need.by_questions == {}


def test_what_no_plan_can_be_made_of_is_refused() -> None:
    with pytest.raises(ValueError, match="pilot: 'a' and 'b' have 2 topics in common; wanted at least 3"):
        needs(pilot(2, 5), Plan())
    shares = {key: 1 / (1 + math.exp(-one)) for key, one in pilot(5, 1).items()}
    with pytest.raises(
        ValueError, match=r"gap: 1\.5 between scores that are from 0 to 1 in the pilot; wanted at most 1"
    ):
        needs(shares, Plan(gap=1.5))
    assert needs(pilot(5, 1), Plan(gap=1.5, sampling=Sampling(draws=20)))[0].topics.estimate >= 2
    with pytest.raises(ValueError, match="pilot: has no system 'c'; wanted one of a, b"):
        needs(pilot(5, 1), Plan(), [("a", "c")])
    for plan, message in (
        (Plan(power=1.2), "power: 1.2; wanted a share between 0 and 1"),
        (Plan(alpha=0), "alpha: 0; wanted a share"),
        (Plan(power=0.04), "power: 0.04; wanted more than alpha, 0.05"),
        (Plan(gap=-1), "gap: -1; wanted a finite number above 0"),
        (Plan(gap=math.inf), "gap: inf; wanted a finite number above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            needs(pilot(5, 1), plan)
