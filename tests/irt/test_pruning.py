"""Pruning keeps what informs, and claims only what held-out students confirm."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import irt
from irt import kernels
from irt.selecting._heldout_evaluation import HeldOutEvaluator, population, split_students


def test_pruning_keeps_the_share_asked_for_and_says_why_each_item_left(tmp_path: Path) -> None:
    data = irt.simulate(30, 40, seed=0).data
    result = irt.prune(data, keep=0.7, seed=1)
    assert len(result.kept) == 28
    assert set(result.kept) | {drop.item for drop in result.dropped} == set(data.items)
    assert [row.n_items for row in result.trajectory] == [40, 36, 32, 29, 28]
    assert all("lowest discrimination of" in drop.reason and drop.round >= 1 for drop in result.dropped)
    path = result.save(tmp_path)
    said = json.loads(path.read_text())
    assert {"kept", "dropped", "trajectory", "heldout_gain"} <= set(said)
    assert set(said["heldout_gain"]) == {"estimate", "low", "high"}
    assert irt.prune(data, keep=0.7, seed=1).kept == result.kept


def test_a_true_difference_in_discrimination_is_found_and_confirmed() -> None:
    result = irt.prune(irt.simulate(80, 100, seed=2, log_a_sd=0.7).data, seed=0)
    assert result.heldout_gain.low > 0


def test_equal_discriminations_claim_no_gain() -> None:
    gains = [irt.prune(irt.simulate(30, 40, seed=seed, log_a_sd=0.0).data, seed=seed).heldout_gain for seed in range(8)]
    assert sum(gain.low <= 0 <= gain.high for gain in gains) >= 6
    assert abs(np.mean([gain.estimate for gain in gains])) < 0.1


def test_with_effects_on_items_those_leave_that_tell_least_of_levels_not_seen() -> None:
    shared = {"llm": 2.0, "retriever": 2.0}
    data = irt.simulate(items=30, facets={"llm": 4, "retriever": 4}, seed=3, log_a_sd=0.5, shared_sd=shared).data
    result = irt.prune(data, keep=0.5, quantile=0.5, seed=0)
    fit = irt.fit(data.select_students(result.calibration), method="map", item_effects=True, seed=0)
    worth = dict(zip(data.items, fit.draws["a"].mean(axis=0), strict=True))
    low = [drop.item for drop in result.dropped if "lowest discrimination for new levels" in drop.reason]
    assert len(low) >= 10
    assert max(worth[item] for item in low) <= min(worth[item] for item in result.kept)
    assert set(result.kept) != set(irt.prune(data, keep=0.5, quantile=0.5, item_effects=False, seed=0).kept)


def test_pruning_with_effects_on_items_needs_levels_that_are_shared() -> None:
    with pytest.raises(ValueError, match="found no two students with a level in common"):
        irt.prune(irt.simulate(20, 20, seed=0).data, item_effects=True)


def test_automatic_stop_keeps_everything_when_nothing_is_gained() -> None:
    result = irt.prune(irt.simulate(14, 30, seed=3, log_a_sd=0.0).data, stop="auto", seed=3)
    assert len(result.kept) == 30
    assert result.heldout_gain == (0.0, 0.0, 0.0)
    assert "no credible gain" in result.stopped


@pytest.mark.slow
def test_judged_gain_of_a_choice_by_the_truth_covers_the_truth() -> None:
    covered = 0
    for seed in range(40):
        sim = irt.simulate(20, 80, seed=seed, log_a_sd=0.3)
        nodes, weights = population()
        own = weights @ kernels.information(nodes[:, None], sim.truth.a, sim.truth.b)
        # A choice that knows the items but none of these students' answers.
        best = np.argsort(-sim.truth.a)[:56]
        gain = HeldOutEvaluator(sim.data, "2pl", 4, 0.9).gain([sim.data.items[index] for index in best], sim.data.items)
        covered += gain.low <= own[best].mean() / own.mean() - 1 <= gain.high
    assert 32 <= covered <= 40


def test_extreme_items_are_not_taken_for_discriminating_ones() -> None:
    gains = []
    for seed in range(30):
        sim = irt.simulate(19, 100, seed=seed, log_a_sd=0.0)
        judge = HeldOutEvaluator(sim.data, "2pl", 4, 0.9)
        gains.append(judge._gap(*np.split(np.argsort(-np.abs(sim.truth.b)), [50])))
    gap, error = np.array(gains).T
    assert abs(np.mean(gap / error)) < 3 / np.sqrt(30)


def test_random_pruning_gains_nothing_and_a_true_choice_outdoes_it() -> None:
    data = irt.simulate(80, 100, seed=2, log_a_sd=0.7).data
    random = irt.prune(data, seed=0).random
    assert abs(random.mean) < 0.03
    assert random.low < 0 < random.high
    assert random.beaten > 0.99
    judge = HeldOutEvaluator(data, "2pl", 4, 0.9)
    label = dict.fromkeys(data.items, "")
    beaten = [
        judge.random([data.items[index] for index in rng.permutation(100)[:70]], data.items, label, 0).beaten
        for rng in map(np.random.default_rng, range(12))
    ]
    assert 0.2 < np.mean(beaten) < 0.8


def test_nothing_dropped_changes_nothing() -> None:
    data = irt.simulate(20, 30, seed=1).data
    judge = HeldOutEvaluator(data, "2pl", 4, 0.9)
    assert judge.gain(data.items, data.items) == (0.0, 0.0, 0.0)
    assert judge.random(data.items, data.items, dict.fromkeys(data.items, ""), 0).subsets == 0


def test_dropped_items_that_tell_nothing_leave_a_wide_and_finite_gain() -> None:
    scores = irt.simulate(12, 20, seed=1).data.scores.copy()
    scores[:, :4] = 1.0
    data = irt.ResponseMatrix(scores, tuple(f"s{n}" for n in range(12)), tuple(f"q{n}" for n in range(20)))
    gain = HeldOutEvaluator(data, "2pl", 4, 0.9).gain(data.items[4:], data.items)
    assert np.all(np.isfinite(gain))
    assert gain.low < 0 < gain.high


def test_wrong_keys_leave_in_the_first_round_under_either_criterion() -> None:
    sim = irt.simulate(120, 40, seed=2, miskeyed=5, options=2)
    wrong = {sim.data.items[index] for index in np.flatnonzero(sim.truth.miskeyed)}
    for criterion in ("discrimination", "information"):
        result = irt.prune(sim.data, criterion=criterion, keep=0.8, quantile=0.05)
        first = {drop.item for drop in result.dropped if drop.round == 1}
        assert wrong <= first
        assert all("probable mis-key" in drop.reason for drop in result.dropped if drop.item in wrong)


def test_wrong_keys_that_a_group_cannot_spare_are_named() -> None:
    sim = irt.simulate(120, 40, seed=2, miskeyed=4, options=2)
    wrong = [sim.data.items[index] for index in np.flatnonzero(sim.truth.miskeyed)]
    groups = {item: "odd" if item in wrong else "rest" for item in sim.data.items}
    result = irt.prune(sim.data, groups=groups, shares={"odd": 0.125}, keep=0.8)
    assert set(wrong) <= set(result.kept)
    assert any("probably wrong keys" in sentence and wrong[0] in sentence for sentence in result.warnings)


@pytest.mark.parametrize("stop", [None, "auto"])
def test_groups_keep_their_part_at_every_round(stop: str | None) -> None:
    data = irt.simulate(40, 60, seed=6, log_a_sd=0.5).data
    groups = {item: "abcc"[index % 4] for index, item in enumerate(data.items)}
    result = irt.prune(data, groups=groups, stop=stop, seed=1)
    left = Counter(groups.values())
    for number, row in enumerate(result.trajectory):
        left.subtract(groups[drop.item] for drop in result.dropped if drop.round == number)
        for label, size in Counter(groups.values()).items():
            assert left[label] >= int(size * row.n_items / 60)
    assert {label: after for label, (_, after) in result.groups.items()} == dict(left)


def test_information_at_a_target_keeps_items_for_it() -> None:
    sim = irt.simulate(100, 60, seed=7)
    difficulty = dict(zip(sim.data.items, sim.truth.b, strict=True))
    easy, hard = (
        irt.prune(sim.data, criterion="information", information_at=[at], keep=0.5).kept for at in (-1.5, 1.5)
    )
    assert np.mean([difficulty[item] for item in hard]) > np.mean([difficulty[item] for item in easy]) + 0.5


def test_a_shorter_exam_tells_less_in_total_and_ranks_almost_alike() -> None:
    result = irt.prune(irt.simulate(100, 80, seed=8).data, seed=2)
    assert result.total_gain.high < 0
    assert 0.6 < result.rank_agreement.low <= result.rank_agreement.estimate <= result.rank_agreement.high <= 1
    assert np.all(result.precision["after"] > result.precision["before"])


def test_few_students_give_wide_intervals_and_fewer_are_refused() -> None:
    few = irt.prune(irt.simulate(10, 30, seed=4).data, seed=0)
    many = irt.prune(irt.simulate(100, 30, seed=4).data, seed=0)
    assert few.heldout_gain.high - few.heldout_gain.low > 1.5 * (many.heldout_gain.high - many.heldout_gain.low)
    assert any("expect wide intervals" in sentence for sentence in few.warnings)
    with pytest.raises(ValueError, match="found 5 students, too few to hold any out; wanted at least 6"):
        irt.prune(irt.simulate(5, 30, seed=4).data)


def test_every_facet_level_stays_in_calibration() -> None:
    data = irt.simulate(None, 4, facets={"retriever": 5, "icl": 3}, seed=0).data
    for seed in range(20):
        calibration, heldout = split_students(data, 0.5, seed, ["retriever", "icl"])
        part = data.select_students(calibration)
        assert len(irt.levels(part, "retriever")) == 5
        assert len(irt.levels(part, "icl")) == 3
        assert len(calibration) + len(heldout) == 15


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": 1.2}, "keep 1.2 is not a share"),
        ({"holdout": 0.0}, "holdout 0 is not a share"),
        ({"stop": "soon"}, "stop: found 'soon'; wanted None or 'auto'"),
        ({"model": "1pl"}, "'1pl' gives every item the same discrimination"),
        ({"facets": ["llm"]}, "unknown facet 'llm'"),
        ({"criterion": "beauty"}, "criterion: found 'beauty'; wanted"),
        ({"information_at": [0.0]}, "information_at: wanted criterion 'information'"),
        ({"shares": {"law": 0.5}}, "found shares without groups"),
    ],
)
def test_bad_pruning_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        irt.prune(irt.simulate(10, 8, seed=0).data, **settings)  # type: ignore[arg-type]


def test_missing_answers_do_not_break_pruning() -> None:
    data = irt.simulate(20, 25, seed=5, missing=0.4).data
    assert len(irt.prune(data, keep=0.6, seed=0).kept) == 15
