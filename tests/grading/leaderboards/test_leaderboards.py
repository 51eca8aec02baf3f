"""Leaderboards compared: EXAM 2021's published table, simulated truth, and what cannot be told."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from grading._records import Sampling
from grading.formats._score_tables import ScoreTable, table_of
from grading.leaderboards._leaderboards import correlate
from tests.shared_data import SHARED

CAR = SHARED / "data" / "exam2021_car_y3" / "table4.csv"


def board(scores: dict[str, float], name: str = "board") -> ScoreTable:
    return table_of({(system, ""): score for system, score in scores.items()}, name)._replace(topics=())


def simulated(systems: int, topics: int, noise: float, seed: int) -> tuple[ScoreTable, ScoreTable]:
    """Two leaderboards of the same abilities on the same topics, their noise independent."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=systems)
    names = tuple(f"s{at}" for at in range(systems))
    questions = tuple(f"t{at}" for at in range(topics))
    first, second = ability[None, :, None] + noise * rng.normal(size=(2, systems, topics))
    return ScoreTable("a", names, questions, first), ScoreTable("b", names, questions, second)


@pytest.mark.skipif(not CAR.exists(), reason="the shared data are not here")
@pytest.mark.parametrize(
    ("measure", "rho", "tau"), [("map", 0.748, 0.574), ("prec_at_r", 0.739, 0.568), ("ndcg20", 0.739, 0.567)]
)
def test_the_correlations_of_exam_2021s_table_2(measure: str, rho: float, tau: float) -> None:
    rows = list(csv.DictReader(CAR.read_text().splitlines()))
    official = board({row["system"]: float(row[measure]) for row in rows})
    exam = board({row["system"]: float(row["n_exam"]) for row in rows})
    found = correlate(official, exam, Sampling(interval=0.95))
    ties = found.random_ties
    # The published numbers are means over random breaks of the ties (ours: their expectation).
    assert ties["spearman"].estimate == pytest.approx(rho, abs=0.003)
    assert ties["kendall"].estimate == pytest.approx(tau, abs=0.004)
    if measure == "map":
        assert ties["spearman"].sd == pytest.approx(0.021, abs=0.002)
        assert ties["kendall"].sd == pytest.approx(0.030, abs=0.003)
        # [.31, .91] and [.23, .80] where a system's copies in a resample are broken as ties, which shifts them down.
        assert ties["spearman"][1:3] == pytest.approx((0.31, 0.91), abs=0.05)
        assert ties["kendall"][1:3] == pytest.approx((0.23, 0.80), abs=0.03)
        assert found.tied == (9, 7)


def test_an_interval_over_systems_holds_the_truth_as_often_as_it_says() -> None:
    # Bivariate normal scores of correlation .8 have tau = 2/pi asin(.8).
    truth = 2 / np.pi * np.arcsin(0.8)
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(150):
        x = rng.normal(size=40)
        y = 0.8 * x + 0.6 * rng.normal(size=40)
        names = [f"s{at}" for at in range(40)]
        first, second = (board(dict(zip(names, scores, strict=True))) for scores in (x, y))
        interval = correlate(first, second, Sampling(draws=200)).over_systems["kendall"]
        hits += interval.low <= truth <= interval.high
    assert 0.82 <= hits / 150 <= 0.97


def test_topics_add_their_part_of_the_uncertainty() -> None:
    first, second = simulated(systems=20, topics=30, noise=2.0, seed=1)
    found = correlate(first, second, Sampling(draws=500))
    assert found.over_topics is not None
    assert found.over_both is not None
    width = {
        name: part["kendall"].high - part["kendall"].low
        for name, part in (("systems", found.over_systems), ("topics", found.over_topics), ("both", found.over_both))
    }
    assert width["both"] > max(width["systems"], width["topics"])
    assert found.over_topics["kendall"].estimate == found.over_systems["kendall"].estimate


def test_more_topics_narrow_the_interval_over_topics() -> None:
    widths = []
    for topics in (10, 200):
        found = correlate(*simulated(15, topics, 2.0, seed=2), Sampling(draws=300)).over_topics
        assert found is not None
        widths.append(found["kendall"].high - found["kendall"].low)
    assert widths[1] < widths[0] / 1.5


def test_topics_that_both_leaderboards_have_are_drawn_together() -> None:
    # The same scores on the same topics always agree; on topics of other names they are resampled apart.
    first, _ = simulated(10, 8, 3.0, seed=3)
    same = correlate(first, first._replace(name="b"), Sampling(draws=200)).over_topics
    renamed = first._replace(topics=tuple(f"other {one}" for one in first.topics))
    apart = correlate(first, renamed, Sampling(draws=200)).over_topics
    assert same is not None
    assert apart is not None
    assert same["kendall"] == (1, 1, 1)
    assert apart["kendall"].low < 0.9


def test_systems_of_one_leaderboard_alone_are_named_and_take_no_part() -> None:
    first = board({"a": 1, "b": 2, "c": 3, "only here": 0})
    second = board({"b": 2, "a": 1, "c": 3, "and here": 9, "there": 8})
    found = correlate(first, second)
    assert found.systems == ("a", "b", "c")
    assert found.alone == {"a": ("only here",), "b": ("and here", "there")}
    assert found.over_systems["tau_ap"] == (1, 1, 1)
    assert found.warnings[0].startswith("3 systems: an interval over so few systems is only a rough guide")
    assert found.warnings[1].startswith("no resample of the systems changes spearman, kendall, tau_ap, tau_ap_b:")


def test_a_leaderboard_of_tied_systems_has_no_correlation() -> None:
    found = correlate(board({"a": 1, "b": 1, "c": 1}), board({"a": 1, "b": 2, "c": 3}))
    assert np.isnan(found.over_systems["spearman"]).all()
    assert np.isnan(found.over_systems["kendall"]).all()
    assert "all systems of the first leaderboard are tied" in found.warnings[1]


def test_leaderboards_without_common_systems_are_refused() -> None:
    with pytest.raises(ValueError, match="second: 1 systems are also in first; wanted at least 2"):
        correlate(board({"a": 1, "b": 2}, "first"), board({"a": 1, "c": 2}, "second"))


def test_equal_means_are_ties_whatever_the_order_of_summing() -> None:
    values = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.5, 0.5, 0.5]])
    table = ScoreTable("a", ("a", "b", "c"), ("1", "2", "3"), values)
    assert correlate(table, table).tied == (2, 2)


def test_an_interval_over_topics_holds_the_mean_correlation_of_as_many_topics() -> None:
    def drawn(seed: int) -> tuple[ScoreTable, ScoreTable]:
        rng = np.random.default_rng(seed)
        names, topics = tuple(f"s{at}" for at in range(15)), tuple(f"t{at}" for at in range(25))
        first, second = np.linspace(-1, 1, 15)[None, :, None] + 2 * rng.normal(size=(2, 15, 25))
        return ScoreTable("a", names, topics, first), ScoreTable("b", names, topics, second)

    found = [correlate(*drawn(seed), Sampling(draws=150)).over_topics for seed in range(80)]
    intervals = [one["kendall"] for one in found if one is not None]
    truth = np.mean([one.estimate for one in intervals])
    assert len(intervals) == 80
    assert np.mean([one.low <= truth <= one.high for one in intervals]) == pytest.approx(0.9, abs=0.09)
    assert all(one.low <= one.estimate <= one.high for one in intervals)
