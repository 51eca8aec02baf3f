"""What leaves in a round: the least worth, wrong keys first, groups in balance."""

from collections import Counter

import numpy as np
import pytest

import irt
from irt.selecting._item_worth import (
    Balance,
    balance_of,
    expected_information,
    expected_worth,
    items_to_drop,
    negative_correlations,
)

ITEMS = tuple(f"q{index}" for index in range(60))
TOPICS = {item: "law" if index < 12 else "art" for index, item in enumerate(ITEMS)}


@pytest.fixture(scope="module")
def fit() -> irt.Fit:
    return irt.fit(irt.simulate(100, 60, seed=0).data, method="map")


def test_worth_by_information_is_the_mean_information_at_the_targets(fit: irt.Fit) -> None:
    targets = [-1.0, 2.0]
    wide = fit.information(targets)
    assert expected_worth(fit, "information", targets) == pytest.approx(wide.mean.mean(axis=1), rel=0.1, abs=0.005)
    assert expected_information(fit, targets).sum(axis=1) == pytest.approx(wide.total, rel=0.05)


def test_targets_decide_which_items_are_worth_keeping(fit: irt.Fit) -> None:
    low, high = (expected_worth(fit, "information", [at]) for at in (-2.0, 2.0))
    assert np.corrcoef(high - low, fit.point["b"])[0, 1] > 0.8


def test_worth_by_discrimination_is_an_expectation_over_draws(fit: irt.Fit) -> None:
    assert expected_worth(fit, "discrimination") == pytest.approx(fit.draws["a"].mean(axis=0))


def test_wrong_keys_are_found_and_leave_first() -> None:
    sim = irt.simulate(120, 40, seed=2, miskeyed=3, options=2)
    suspects = negative_correlations(sim.data) < 0
    assert np.array_equal(suspects, sim.truth.miskeyed)
    result = irt.fit(sim.data, method="map")
    # Even the best value does not save an item with a wrong key.
    value = np.where(suspects, 99.0, 1.0)
    gone = items_to_drop(result, value, "discrimination", 3, balance_of(sim.data.items, None, None, 20), 20)
    assert {item.item for item in gone} == {f"q{index}" for index in np.flatnonzero(suspects)}
    assert all("negative discrimination, probable mis-key" in item.reason for item in gone)


def test_no_group_loses_more_than_its_part(fit: irt.Fit) -> None:
    balance = balance_of(ITEMS, TOPICS, None, 30)
    value = np.array([0.0] * 12 + [1.0] * 48)
    gone = items_to_drop(fit, value, "information", 30, balance, 30)
    assert Counter(TOPICS[item.item] for item in gone) == {"law": 6, "art": 24}


def test_smallest_shares_hold_at_the_end_and_on_the_way() -> None:
    balance = balance_of(ITEMS, TOPICS, {"law": 0.19}, 30)
    assert balance.needs(30, 30) == {"law": 6}
    assert balance.needs(40, 30) == {"law": 7}


@pytest.mark.parametrize(
    ("groups", "shares", "message"),
    [
        (TOPICS, {"law": 0.5}, r"group 'law': found 12 items; wanted 15, 50% of 30"),
        (TOPICS, {"law": 0.35, "art": 0.65}, r"smallest shares of groups take 31 items; wanted at most 30"),
        (TOPICS, {"sport": 0.1}, r"group 'sport': found 0 items"),
        (TOPICS, {"law": 1.5}, r"group 'law': 1.5 is not a share"),
        ({"q0": "law"}, None, r"item 'q1' has no group"),
        (None, {"law": 0.5}, r"found shares without groups"),
    ],
)
def test_a_balance_that_cannot_be_met_is_refused(
    groups: dict[str, str] | None, shares: dict[str, float] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        balance_of(ITEMS, groups, shares, 30)


def test_a_balance_always_lets_an_item_leave() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        count = int(rng.integers(2, 30))
        labels = {f"q{index}": str(rng.integers(0, 4)) for index in range(count)}
        goal = int(rng.integers(1, count))
        sizes = Counter(labels.values())
        balance = Balance(labels, sizes)
        left = dict(sizes)
        for length in range(count - 1, goal - 1, -1):
            needs = balance.needs(length, goal)
            spare = [name for name in left if left[name] > needs[name]]
            assert spare
            left[spare[int(rng.integers(len(spare)))]] -= 1
