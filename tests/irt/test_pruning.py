"""Pruning keeps what informs, and claims only what held-out students confirm."""

import json
from pathlib import Path

import numpy as np
import pytest

import irt
from irt.selection import split_students


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


def test_automatic_stop_keeps_everything_when_nothing_is_gained() -> None:
    result = irt.prune(irt.simulate(14, 30, seed=3, log_a_sd=0.0).data, stop="auto", seed=3)
    assert len(result.kept) == 30
    assert result.heldout_gain == (0.0, 0.0, 0.0)
    assert "no credible gain" in result.stopped


def test_few_students_give_wide_intervals_and_fewer_are_refused() -> None:
    few = irt.prune(irt.simulate(10, 30, seed=4).data, seed=0)
    many = irt.prune(irt.simulate(100, 30, seed=4).data, seed=0)
    assert few.heldout_gain.high - few.heldout_gain.low > 1.5 * (many.heldout_gain.high - many.heldout_gain.low)
    assert any("expect wide intervals" in sentence for sentence in few.warnings)
    with pytest.raises(ValueError, match="5 students are too few to hold any out; at least 6"):
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
        ({"stop": "soon"}, "stop 'soon' is unknown"),
        ({"model": "1pl"}, "'1pl' gives every item the same discrimination"),
        ({"facets": ["llm"]}, "unknown facet 'llm'"),
    ],
)
def test_bad_pruning_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        irt.prune(irt.simulate(10, 8, seed=0).data, **settings)  # type: ignore[arg-type]


def test_missing_answers_do_not_break_pruning() -> None:
    data = irt.simulate(20, 25, seed=5, missing=0.4).data
    assert len(irt.prune(data, keep=0.6, seed=0).kept) == 15
