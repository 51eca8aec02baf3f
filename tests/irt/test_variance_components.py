"""Variance components: closed forms of known draws, and simulated truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import irt
from irt._design import Design, design_of
from irt._model import MARGINAL
from irt._responses import Floats
from irt._variance_components import variance_components
from tests.irt.quick_gibbs import FACETS, SHARED_SD, quick_fit

TAILS = (0.05, 0.95)


def known(draws: int = 200) -> tuple[dict[str, Floats], Design]:
    """Draws about 3 llms and 5 retrievers whose every component is known, and the same in each draw."""
    data = irt.simulate(items=10, facets={"llm": 3, "retriever": 5}, seed=1).data
    design = design_of(data, None, [("llm", "retriever")])[1]
    design = replace(design, item_facets=("llm", "retriever"), residual=True)
    unit, w = 1.5, {"llm": 0.5, "retriever": 2.0}
    flat = np.sqrt(1 + MARGINAL * sum(scale**2 for scale in w.values()))
    each = np.ones(draws)
    values = {
        "a": np.outer(each, unit / flat * np.exp(np.linspace(-0.5, 0.5, 10))),
        "effect.llm": np.outer(each, [1.0, 0.0, -1.0]),
        "effect.retriever": np.outer(each, [2.0, -2.0, 0.0, 0.0, 0.0]),
        "effect.llm:retriever": np.zeros((draws, 15)),
        "scale.llm": 3.0 * each,
        "scale.retriever": 4.0 * each,
        "scale.llm:retriever": 0.2 * each,
        "residual_scale": 0.4 * each,
        "spread_b": 0.8 * each,
    }
    return {**values, **{f"item_effect_scale.{name}": scale * each for name, scale in w.items()}}, design


def by_source(components: irt.VarianceComponents) -> dict[str, float]:
    return dict(zip(components.table["source"], components.table["variance"], strict=True))


def test_each_component_is_its_variance_in_logits() -> None:
    draws, design = known()
    found = by_source(variance_components(draws, design, TAILS))
    assert found["llm"] == pytest.approx(1.5**2 * 2 / 2)
    assert found["retriever"] == pytest.approx(1.5**2 * 8 / 4)
    assert found["llm:retriever"] == 0
    assert found["residual"] == pytest.approx((1.5 * 0.4) ** 2)
    assert found["item"] == pytest.approx((1.5 * 0.8) ** 2)
    assert found["item x llm"] == pytest.approx(0.25)
    assert found["item x retriever"] == pytest.approx(4)
    assert found["answer"] == pytest.approx(np.pi**2 / 3)


def test_of_random_levels_they_are_the_scales_and_few_levels_are_named() -> None:
    draws, design = known()
    components = variance_components(draws, design, TAILS, random=True)
    found = by_source(components)
    assert found["llm"] == pytest.approx(1.5**2 * 9)
    assert found["retriever"] == pytest.approx(1.5**2 * 16)
    assert found["llm:retriever"] == pytest.approx(1.5**2 * 0.04)
    notes = dict(zip(components.table["source"], components.table["note"], strict=True))
    assert notes["llm"].startswith("the variance rests on its prior")
    assert not notes["retriever"]
    assert any("sample of levels like these" in line for line in components.lines())


def test_shares_sum_to_one() -> None:
    for random in (False, True):
        assert quick_fit().variance_components(random=random).table["share"].sum() == pytest.approx(1)


def test_the_simulated_scales_are_within_their_intervals() -> None:
    table = quick_fit().variance_components().table.set_index("source")
    for name in FACETS:
        row = table.loc[f"item x {name}"]
        assert row["low"] < max(SHARED_SD.get(name, 0.0) ** 2, 0.05) < row["high"]
    assert table.loc["item x retriever", "share"] > 3 * table.loc["item x llm", "share"]


def test_records_hold_every_component() -> None:
    record = quick_fit().variance_components().record()
    assert [each["source"] for each in record["components"]] == [
        *("llm", "retriever", "residual", "item", "item x llm", "item x retriever", "answer")
    ]
    assert record["interval"] == pytest.approx(0.9)


def test_a_fit_without_effects_is_refused() -> None:
    fit = irt.fit(quick_fit().data, method="map", item_effects=False, seed=0)
    for task in (fit.variance_components, lambda: fit.d_study("llm"), lambda: fit.level_items("llm")):
        with pytest.raises(ValueError, match="found a fit without effects of levels on items"):
            task()


def test_items_of_a_level_are_those_that_only_it_answers() -> None:
    fit = quick_fit()
    table = fit.level_items("retriever")
    assert len(table) == FACETS["retriever"] * len(fit.data.items)
    assert fit.data.facets is not None
    for level, rows in table.groupby("level"):
        mine = np.asarray(fit.data.facets["retriever"] == level)
        lead = fit.data.scores[mine].mean(axis=0) - fit.data.scores[~mine].mean(axis=0)
        places = [fit.data.items.index(item) for item in rows["item"]]
        assert lead[places[:5]].mean() > lead[places[-5:]].mean() + 0.4
        assert rows["effect"].is_monotonic_decreasing
    with pytest.raises(ValueError, match="level_items: found 'icl'; wanted one of llm, retriever"):
        fit.level_items("icl")
