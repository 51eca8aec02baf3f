"""Q3: agreement with correlations and with mirt, false flags, and dependence within documents."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irt
from irt._residuals import residuals
from irt._tables import residual_correlations
from irt.checks import dependence
from irt.kernels import ItemParameters


def test_q3_of_a_table_with_holes_equals_pairwise_correlations() -> None:
    rng = np.random.default_rng(0)
    residual, asked = rng.standard_normal((30, 4)), rng.random((30, 4)) < 0.8
    found, known, _ = residual_correlations(residual, asked)
    assert known.all()
    for i in range(4):
        for j in range(4):
            both = asked[:, i] & asked[:, j]
            assert found[i, j] == pytest.approx(np.corrcoef(residual[both, i], residual[both, j])[0, 1])


@pytest.mark.parametrize("model", ["Rasch", "2PL", "3PL"])
@pytest.mark.parametrize("name", ["LSAT6", "LSAT7", "SAT12", "SAT12_fixed32"])
def test_q3_equals_mirt(classic: Callable[..., Any], name: str, model: str) -> None:
    data, items, said, _ = classic(name, model)
    found = residuals(data.successes, data.attempts, items)
    np.testing.assert_allclose(residual_correlations(found.residual, data.asked)[0], said["Q3"], atol=1e-6)


def test_one_table_in_twenty_has_a_false_flag(draw: Callable[..., Any]) -> None:
    flagged = [
        dependence((one := draw(80, 12, seed=seed)).data, one.items, replicas_count=60, seed=seed).pairs["flag"].any()
        for seed in range(60)
    ]
    assert np.mean(flagged) < 0.14


def test_a_repeated_item_is_found_and_named(draw: Callable[..., Any]) -> None:
    one = draw(120, 20, seed=0)
    scores = one.data.scores.copy()
    change = np.random.default_rng(0).random(120) < 0.1
    scores[:, 7] = np.where(change, scores[:, 7], scores[:, 2])
    items = ItemParameters(*(np.where(np.arange(20) == 7, values[2], values) for values in one.items))
    found = dependence(irt.ResponseMatrix(scores, one.data.students, one.data.items), items)
    top = found.pairs.iloc[0]
    assert {top["item_a"], top["item_b"]} == {"q2", "q7"}
    assert top["flag"]
    assert float(top["q3_star"]) > found.critical
    assert "depend on each other beyond ability" in top["sentence"]
    assert not found.pairs["flag"][1:].any()


def test_weak_dependence_within_a_document_is_found_by_the_group_and_not_by_its_pairs(draw: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    shared = 1.0 * rng.standard_normal((80, 1)) * (np.arange(40) < 8)
    one = draw(80, 40, seed=1, shift=shared)
    groups = {f"q{index}": f"doc{index // 8}" for index in range(40)}
    found = dependence(one.data, one.items, groups)
    assert found.groups.iloc[0]["group"] == "doc0"
    assert found.groups["flag"].tolist() == [True, False, False, False, False]
    assert "The 8 questions of 'doc0' depend on each other" in found.groups.iloc[0]["sentence"]
    assert found.pairs["flag"].sum() <= 2


def test_pairs_that_say_nothing_are_empty_and_unknown_groups_refused() -> None:
    scores = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0], [1, 0, 1], [1, 1, 1], [1, 0, 0.0], [1, 1, 1]])
    data = irt.ResponseMatrix(scores, tuple("abcdefg"), ("x", "y", "z"))
    items = ItemParameters(np.ones(3), np.zeros(3), np.zeros(3), np.ones(3))
    found = dependence(data, items, replicas_count=20)
    assert found.pairs["q3"].isna().sum() == 2
    assert found.pairs["note"].str.contains("fewer than 3 students in common, or right or wrong answers").sum() == 2
    with pytest.raises(ValueError, match="groups name item 'q' and no item of the table"):
        dependence(data, items, {"q": "doc"})
