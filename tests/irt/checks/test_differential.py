"""Differential functioning: agreement with Mantel and Haenszel, nominal rejection, impact, power, refusals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import irt
from irt.checks import dif
from irt.checks._differential import LARGE, level_effects
from irt.kernels import ItemParameters


def grouped(data: irt.ResponseMatrix, labels: list[str]) -> irt.ResponseMatrix:
    table = pd.DataFrame({"llm": labels}, index=list(data.students))
    return irt.ResponseMatrix(data.scores, data.students, data.items, data.trials, table)


def two_levels(draw: Any, students: int, inside: int, count: int, seed: int, **more: Any) -> Any:
    one = draw(students, count, seed=seed, **more)
    return grouped(one.data, ["in"] * inside + ["out"] * (students - inside)), one.items


def test_effects_equal_mantel_haenszel_in_a_large_table(draw: Callable[..., Any]) -> None:
    shift = np.zeros((4000, 12))
    shift[:2000, 3] = 0.8
    data, items = two_levels(draw, 4000, 2000, 12, 0, shift=shift)
    inside = np.arange(4000) < 2000
    found = level_effects(data.successes, data.attempts, items, inside, np.ones(12, dtype=bool))
    total = data.scores.sum(axis=1)
    for item in range(12):
        right = data.scores[:, item] == 1
        top = bottom = 0.0
        for score in range(1, 12):
            here = total == score
            top += (here & inside & right).sum() * (here & ~inside & ~right).sum() / max(here.sum(), 1)
            bottom += (here & inside & ~right).sum() * (here & ~inside & right).sum() / max(here.sum(), 1)
        assert found.effect[item] == pytest.approx(np.log(top / bottom), abs=0.12)


@pytest.mark.parametrize(
    ("students", "inside", "count", "impact", "guessing"),
    [
        (40, 20, 60, 0.0, 0.0),
        (40, 5, 60, 0.0, 0.0),
        (60, 30, 40, -1.0, 0.0),
        (300, 150, 10, 1.0, 0.0),
        (80, 30, 40, 0.5, 0.2),
    ],
)
def test_rejections_are_nominal_for_few_students_and_unequal_levels(
    draw: Callable[..., Any], students: int, inside: int, count: int, impact: float, guessing: float
) -> None:
    p, covered = [], []
    for seed in range(10 if count > 20 else 30):
        theta = np.random.default_rng(seed + 100).standard_normal(students) + impact * (np.arange(students) < inside)
        data, items = two_levels(draw, students, inside, count, seed, theta=theta - theta.mean(), guessing=guessing)
        table = dif(data, items, "llm")
        p.append(table["p"].to_numpy(float))
        covered.append(((table["low"] < 0) & (table["high"] > 0)).to_numpy(bool))
    assert np.mean(np.concatenate(p) < 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(np.concatenate(p) < 0.005) < 0.02
    assert np.mean(np.concatenate(covered)) > 0.93


def test_planted_items_are_found_and_the_rest_stays_clear_after_purification(draw: Callable[..., Any]) -> None:
    shift = np.zeros((120, 20))
    shift[:60, :4] = -3.0  # a fifth of the items, all against one level: they bias the anchor
    data, items = two_levels(draw, 120, 60, 20, 5, shift=shift)
    table = dif(data, items, "llm").set_index("item")
    planted = [f"q{index}" for index in range(4)]
    assert table.loc[planted, "flag"].sum() >= 3
    assert not table.drop(planted)["flag"].any()
    assert (table.loc[planted, "effect"] < -LARGE).all()
    worst = table.iloc[0]
    assert worst["class"] == "C"
    assert "is harder for students of 'in' than for equally able ones of out" in worst["sentence"]
    assert abs(table.drop(planted)["effect"].astype(float).mean()) < 0.3


def test_an_item_only_one_level_fails_has_a_finite_effect() -> None:
    rng = np.random.default_rng(0)
    scores = (rng.random((30, 20)) < 0.6).astype(float)
    scores[:15, 0], scores[15:, 0] = 0, 1
    data = irt.ResponseMatrix(scores, tuple(f"s{n}" for n in range(30)), tuple(f"q{n}" for n in range(20)))
    items = ItemParameters(np.ones(20), np.full(20, -0.4), np.zeros(20), np.ones(20))
    table = dif(grouped(data, ["in"] * 15 + ["out"] * 15), items, "llm").set_index("item")
    assert table.loc["q0", "class"] == "C"
    assert -12 < float(table.loc["q0", "low"]) < float(table.loc["q0", "effect"]) < -2


def test_counts_holes_and_three_levels_are_handled() -> None:
    sim = irt.simulate(None, 12, facets={"llm": 3, "icl": 10}, seed=0, trials=4, missing=0.2)
    items = ItemParameters(*(getattr(sim.truth, name) for name in "abcd"))
    table = dif(sim.data, items, "llm")
    assert len(table) == 36
    assert (table["against"] == "all others").all()
    assert set(table["level"]) == {"llm0", "llm1", "llm2"}
    assert table["p"].notna().all()


def test_levels_with_few_students_are_left_empty_or_refused(draw: Callable[..., Any]) -> None:
    one = draw(30, 10, seed=0)
    data = grouped(one.data, ["rare"] * 2 + ["a"] * 14 + ["b"] * 14)
    table = dif(data, one.items, "llm")
    rare = table[table["level"] == "rare"]
    assert rare["effect"].isna().all()
    assert (rare["note"] == "level 'rare' compares 2 students; wanted 5").all()
    assert table["effect"].notna().sum() == 20
    with pytest.raises(ValueError, match="no level of facet 'llm' has 20 students to compare with 20 others"):
        dif(data, one.items, "llm", fewest=20)
    with pytest.raises(ValueError, match="unknown facet 'icl'"):
        dif(data, one.items, "icl")
    with pytest.raises(ValueError, match="facet 'llm' has one level; wanted two"):
        dif(grouped(one.data, ["a"] * 30), one.items, "llm")
