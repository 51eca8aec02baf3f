"""The choice of tau: simulated truth, hindsight that flatters, and kappa against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from grading._records import Grade
from grading.formats._grades import ReadGrades
from grading.scores._thresholds import candidates, choose_by_leaderboard, choose_by_passages, kappa


def test_kappa_is_that_of_the_library() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        one, other = rng.integers(0, 2, (2, 30))
        table = np.array([[np.sum((one == i) & (other == j)) for j in (0, 1)] for i in (0, 1)], dtype=float)
        assert kappa(table) == pytest.approx(cohen_kappa_score(one, other))
    assert math.isnan(kappa(np.array([[5.0, 0.0], [0.0, 0.0]])))


def simulated(queries: int, informative: bool, seed: int) -> tuple[ReadGrades, dict[str, dict[str, int]]]:
    """Relevant passages are rated 4 or 5, others 0 to 3; without information all are rated alike."""
    rng = np.random.default_rng(seed)
    grades, official = [], {}
    for query in range(queries):
        relevant = rng.integers(0, 2, 20)
        official[f"q{query}"] = {f"p{place}": int(one) for place, one in enumerate(relevant)}
        for place, one in enumerate(relevant):
            rating = rng.integers(0, 6) if not informative else rng.integers(4, 6) if one else rng.integers(0, 4)
            grades.append(Grade(f"q{query}", f"p{place}", "r", float(rating)))
    return ReadGrades(tuple(grades)), official


def test_the_tau_that_divides_the_ratings_is_found() -> None:
    graded, official = simulated(12, True, 1)
    found = choose_by_passages(graded, official)
    assert found.tau == 4
    assert found.held_out == pytest.approx((1, 1, 1))
    assert found.chosen == {4.0: 12}
    assert list(found.curve) == list(candidates(graded)) == [1, 2, 3, 4, 5]
    assert found.curve[2.0].estimate < 0.8


def test_hindsight_flatters_where_grades_say_nothing_and_held_out_queries_do_not() -> None:
    best, held_out = [], []
    for seed in range(12):
        found = choose_by_passages(*simulated(10, False, seed))
        best.append(max(one.estimate for one in found.curve.values()))
        held_out.append(found.held_out.estimate)
    assert np.mean(best) > 0.05
    assert abs(np.mean(held_out)) < 0.04


def test_the_tau_whose_leaderboard_is_the_official_one_is_found() -> None:
    rng = np.random.default_rng(3)
    official = {f"s{place}": place / 10 for place in range(8)}
    noise = {system: dict(zip(map(str, range(30)), rng.random(30), strict=True)) for system in official}
    good = {
        system: {query: official[system] + value / 3 for query, value in scores.items()}
        for system, scores in noise.items()
    }
    found = choose_by_leaderboard({1.0: noise, 4.0: good}, official)
    assert found.tau == 4
    assert found.held_out.estimate > 0.9
    assert found.held_out.low > found.curve[1.0].estimate


def test_what_cannot_be_judged_is_refused() -> None:
    graded, official = simulated(1, True, 1)
    with pytest.raises(ValueError, match=r"queries: 1 with grades and judgements; wanted at least 2"):
        choose_by_passages(graded, official)
    with pytest.raises(ValueError, match=r"grades: none is above 0; wanted grades to choose a tau from"):
        candidates(ReadGrades((Grade("q", "p", "r", 0.0),)))
    table = {"a": {"1": 0.1, "2": 0.2}, "b": {"1": 0.1, "2": 0.2}}
    with pytest.raises(ValueError, match=r"leaderboards: 2 systems in both; wanted at least 3"):
        choose_by_leaderboard({1.0: table}, {"a": 1.0, "b": 2.0})
