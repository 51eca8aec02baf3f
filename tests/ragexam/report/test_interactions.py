"""Combinations that depart from their parts are found, and additive ones are left in peace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import irt
from ragexam.report._fitted_model import FittedModel, read_fitted_model
from ragexam.report._interactions import combination_departures, interactions_section, level_departures
from ragexam.report._response_scores import simultaneous_means
from ragexam.report._trust_section import misfit_sentences

FACETS = {"llm": 4, "retriever": 5, "shots": 3}


def fitted_model(folder: Path, data: irt.ResponseMatrix) -> FittedModel:
    irt.fit(data, model="2pl", method="map", facets=list(FACETS), seed=0).save(folder / "fit")
    return read_fitted_model(folder / "fit", {})


@pytest.fixture(scope="module")
def additive() -> irt.ResponseMatrix:
    return irt.simulate(items=80, facets=FACETS, residual_sd=0.0, seed=3).data


@pytest.fixture(scope="module")
def additive_model(tmp_path_factory: pytest.TempPathFactory, additive: irt.ResponseMatrix) -> FittedModel:
    return fitted_model(tmp_path_factory.mktemp("additive"), additive)


def test_intervals_hold_for_all_columns_at_once() -> None:
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(150):
        values = rng.normal(0, 1, (60, 1)) + rng.normal(0, 1, (60, 8))
        found = simultaneous_means([(f"{n}",) for n in range(8)], values, ["name"])
        held += bool(((found["low"] <= 0) & (found["high"] >= 0)).all())
    assert held / 150 == pytest.approx(0.9, abs=0.07)


def test_a_column_that_never_varies_is_not_called_clear() -> None:
    found = simultaneous_means([("zero",), ("one",)], np.array([[0.0, 1.0]] * 20), ["name"]).set_index("name")
    assert found["p_adjusted"].tolist() == [1.0, 1.0]
    assert found.loc["zero", ["low", "high"]].tolist() == [0.0, 0.0]
    assert np.isnan(found.loc["one", "low"])


def test_an_additive_grid_shows_no_combination(additive_model: FittedModel) -> None:
    found = combination_departures(additive_model)
    assert len(found) == 4 * 5 + 4 * 3 + 5 * 3
    assert found["p_adjusted"].min() > 0.1
    section = interactions_section(additive_model)
    assert "none stands out" in str(section.sentences)


def test_a_combination_that_fails_is_the_first_and_says_how_far(tmp_path: Path, additive: irt.ResponseMatrix) -> None:
    assert additive.facets is not None
    cell = ((additive.facets["llm"] == "llm1") & (additive.facets["retriever"] == "retriever2")).to_numpy()
    spoiled = np.array(additive.scores, copy=True)
    rng = np.random.default_rng(1)
    spoiled[cell] *= rng.random((int(cell.sum()), spoiled.shape[1])) > 0.5
    found = combination_departures(fitted_model(tmp_path, replace(additive, scores=spoiled)))
    first = found.iloc[0]
    assert {first["level"], first["other_level"]} == {"llm1", "retriever2"}
    assert first["p_adjusted"] < 0.01
    assert first["high"] < -0.05
    clear = found[(found["p_adjusted"] <= 0.1) & (found["estimate"] < 0)]
    assert len(clear) == 1


def test_levels_that_the_model_reproduces_are_not_warned_about(additive_model: FittedModel) -> None:
    found = level_departures(additive_model)
    assert len(found) == sum(FACETS.values())
    assert found["estimate"].abs().max() < 0.02
    assert misfit_sentences(found) == []


def test_levels_that_the_model_misses_are_warned_about() -> None:
    row = ("llm", "large", 0.08, 0.04, 0.12, 5.0, 0.001)
    columns = ["facet", "level", "estimate", "low", "high", "z", "p_adjusted"]
    said = misfit_sentences(pd.DataFrame([row], columns=columns))
    assert "does not reproduce the accuracy of large (+8 points (+4 to +12) against the model)" in said[0]
    assert misfit_sentences(None) == []
