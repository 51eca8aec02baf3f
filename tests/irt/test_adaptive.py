"""Adaptive exams: what is asked next, when to stop, resuming, replay over recorded answers."""

import pickle

import numpy as np
import pytest

import irt
from irt import kernels
from irt._adaptive import CHOICES, AdaptiveExam, Rules, administer, begin, replay
from irt._scoring import score


@pytest.fixture(scope="module")
def simulation() -> irt.Simulation:
    return irt.simulate(150, 80, seed=2, b_sd=1.3, log_a_sd=0.5)


@pytest.fixture(scope="module")
def fit(simulation: irt.Simulation) -> irt.Fit:
    return irt.fit(simulation.data, method="map")


def answers_of(theta: float, truth: irt.Truth, seed: int) -> dict[str, int]:
    rng = np.random.default_rng(seed)
    drawn = rng.binomial(1, kernels.probability(theta, truth.a, truth.b))
    return {f"q{place}": int(value) for place, value in enumerate(drawn)}


def test_the_first_item_informs_most_at_the_population_mean(fit: irt.Fit) -> None:
    exam = begin(fit)
    info = exam.bank.information_at(0.0)
    assert exam.next_item() == fit.data.items[int(np.argmax(info))]
    # One draw is an item known exactly: its Fisher information. Uncertain items tell less.
    known = begin(fit, draws=1).bank
    np.testing.assert_allclose(known.information_at(0.3), kernels.information(0.3, *known.draws)[0])
    assert info.sum() < kernels.information(0.0, *exam.bank.draws).mean(axis=0).sum()


def test_all_items_asked_one_by_one_give_the_estimate_of_scoring_at_once(fit: irt.Fit) -> None:
    row = fit.data.select_students(["s3"])
    exam = administer(begin(fit), lambda item: float(row.select([item]).scores[0, 0]))
    whole = score(fit, row, draws=30)
    assert exam.stopped == "no items left"
    assert sorted(exam.asked) == sorted(fit.data.items)
    assert exam.theta == pytest.approx(whole.theta[0], abs=1e-6)
    assert exam.sd == pytest.approx(whole.sd[0], abs=1e-6)
    assert exam.bounds == pytest.approx((whole.low[0], whole.high[0]), abs=0.01)


@pytest.mark.parametrize("choice", CHOICES)
def test_an_exam_pickled_after_any_answer_goes_on_as_if_never_stopped(
    choice: str, fit: irt.Fit, simulation: irt.Simulation
) -> None:
    key = answers_of(0.7, simulation.truth, 5)
    rules = Rules(longest=12, choice=choice, among=3, seed=9)
    straight = administer(begin(fit, rules), key.__getitem__)
    assert len(set(straight.asked)) == len(straight.asked) == 12
    asked: list[str] = []

    def answer(item: str) -> int:
        asked.append(item)
        return key[item]

    exam = begin(fit, rules)
    while (item := exam.next_item()) is not None:
        exam = pickle.loads(pickle.dumps(exam.record(item, answer(item))))
    assert tuple(asked) == exam.asked == straight.asked
    assert exam.theta == pytest.approx(straight.theta)


def test_it_stops_at_the_wanted_error_and_not_before(fit: irt.Fit, simulation: irt.Simulation) -> None:
    key = answers_of(0.2, simulation.truth, 1)
    exam = administer(begin(fit, Rules(se=0.35)), key.__getitem__)
    assert exam.stopped == "se"
    assert exam.sd <= 0.35
    before = begin(fit, Rules(se=0.35))
    for item in exam.asked[:-1]:
        before = before.record(item, key[item])
    assert before.sd > 0.35
    assert len(administer(begin(fit, Rules(se=0.35, shortest=60)), key.__getitem__).asked) == 60


def test_informed_choices_need_fewer_items_than_random_ones(fit: irt.Fit, simulation: irt.Simulation) -> None:
    lengths = {
        choice: np.mean(
            [
                len(administer(begin(fit, Rules(se=0.35, choice=choice, seed=s)), key.__getitem__).asked)
                for s, theta in enumerate(np.linspace(-1.2, 1.2, 7))
                for key in [answers_of(theta, simulation.truth, s)]
            ]
        )
        for choice in CHOICES
    }
    assert max(lengths["information"], lengths["posterior"], lengths["kl"]) < 0.7 * lengths["random"]


@pytest.mark.parametrize("length", [7, 20])
def test_shares_of_the_groups_hold_at_every_length(length: int, fit: irt.Fit, simulation: irt.Simulation) -> None:
    groups = {item: "ab"[place % 10 < 2] if place % 2 else "c" for place, item in enumerate(fit.data.items)}
    shares = {"a": 0.5, "b": 0.2, "c": 0.3}
    exam = administer(
        begin(fit, Rules(longest=length, groups=groups, shares=shares)), answers_of(0, simulation.truth, 3).__getitem__
    )
    for name, share in shares.items():
        assert sum(groups[item] == name for item in exam.asked) == pytest.approx(share * length, abs=1)


def test_items_run_out_in_a_group_and_the_exam_goes_on(fit: irt.Fit) -> None:
    groups = {item: "rare" if item == "q0" else "common" for item in fit.data.items}
    rules = Rules(longest=10, groups=groups, shares={"rare": 0.5, "common": 0.5})
    exam = administer(begin(fit, rules), lambda item: 1)
    assert len(exam.asked) == 10
    assert "q0" in exam.asked


def test_random_among_the_best_spreads_exposure(fit: irt.Fit) -> None:
    firsts = {begin(fit, Rules(among=5, seed=seed)).next_item() for seed in range(60)}
    best = np.argsort(-begin(fit).bank.information_at(0.0))[:5]
    assert firsts == {fit.data.items[place] for place in best}


def test_replay_agrees_with_the_whole_exam_within_its_error(fit: irt.Fit, simulation: irt.Simulation) -> None:
    rng = np.random.default_rng(8)
    theta = rng.normal(0, 1, 40)
    truth = simulation.truth
    scores = rng.binomial(1, kernels.probability(theta[:, None], truth.a, truth.b)).astype(float)
    scores[:, -6:] = np.nan
    fresh = irt.ResponseMatrix(scores, tuple(f"new{row}" for row in range(40)), simulation.data.items)
    table = replay(fit, fresh, within=0.3)
    assert table["reached"].all()
    assert (table["full_items"] == 74).all()
    assert (table["sd"] <= 1.3 * table["full_sd"]).all()
    assert table["share"].median() < 0.5
    assert np.mean((table["low"] <= theta) & (theta <= table["high"])) > 0.75
    assert np.corrcoef(table["theta"], table["full_theta"])[0, 1] > 0.9
    unreached = replay(fit, fresh.select_students(["new0"]), Rules(se=0.01))
    assert not unreached["reached"].any()
    assert unreached["stopped"].tolist() == ["no items left"]


def test_counts_are_answers_too(fit: irt.Fit) -> None:
    once = begin(fit).record("q1", 2, trials=3)
    thrice = irt.ResponseMatrix(np.array([[2.0]]), ("s",), ("q1",), np.array([[3.0]]))
    assert once.theta == pytest.approx(score(fit, thrice, draws=30).theta[0], abs=1e-6)


def test_bad_answers_and_rules_are_refused(fit: irt.Fit) -> None:
    exam: AdaptiveExam = begin(fit).record("q1", 1)
    with pytest.raises(ValueError, match="item 'q1' was already answered"):
        exam.record("q1", 0)
    with pytest.raises(ValueError, match=r"item 'q2': score 0.5 is not a whole number from 0 to 1"):
        exam.record("q2", 0.5)
    with pytest.raises(ValueError, match="unknown item 'zz'"):
        exam.record("zz", 1)
    for wrong, message in (
        ({"choice": "best"}, "choice: found 'best'; wanted information, posterior, kl, random"),
        ({"se": 0.0}, "se: found 0; wanted a standard error above 0"),
        ({"longest": 0}, "longest is 0; wanted a whole number of at least 1"),
        ({"shares": {"a": 1.0}}, "found one of groups and shares; wanted both"),
        ({"groups": {}, "shares": {"a": 0.7}}, "shares: found a sum of 0.7"),
    ):
        with pytest.raises(ValueError, match=message):
            Rules(**wrong)
    with pytest.raises(ValueError, match="item 'q0' has no group"):
        begin(fit, Rules(groups={}, shares={"a": 1.0}))
    with pytest.raises(ValueError, match="group 'b' of item 'q0' has no share"):
        begin(fit, Rules(groups=dict.fromkeys(fit.data.items, "b"), shares={"a": 1.0}))
