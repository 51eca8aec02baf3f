"""Fitting and pruning a run folder: settings reach the measurement package."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

import irt
from examcore import Exam, Question, RunFolder
from rag import grid_of, write_responses
from ragexam._config import Config, GridSettings, RunFitSettings, RunPruneSettings
from ragexam._measure import fitted, n_choices, run_data, still_varying
from ragexam._settings import check


def test_the_settings_of_a_fit_reach_it() -> None:
    data = irt.simulate(items=20, facets={"retriever": 4, "icl": 3}, seed=2).data
    settings = RunFitSettings(model="1pl", method="laplace", interval=0.8)
    fit = fitted(data, settings, 5, 4, lambda _done, _total: None)
    assert (fit.model, fit.method, fit.interval, fit.seed) == ("1pl", "laplace", 0.8, 5)
    with pytest.raises(ValueError, match="has no backend 'stan'"):
        fitted(data, RunFitSettings(backend="stan"), 5, 4, lambda _done, _total: None)


def test_item_covariates_that_pruning_leaves_the_same_for_all_items_are_named() -> None:
    data = irt.simulate(6, 4, seed=1).data.select(("q1", "q2", "q3"))
    known = {
        "overlap": dict(zip(["q0", "q1", "q2", "q3"], (0.5, 0.1, 0.2, 0.3), strict=True)),
        "topic": dict.fromkeys(data.items, "law"),
    }
    found, kept = still_varying(data, known)
    assert kept == {"overlap": known["overlap"]}
    assert found.notes[-1] == "Item covariates that are the same for all items that are left were left out: topic."
    assert still_varying(data, kept) == (data, kept)


def test_a_method_without_components_is_no_setting_of_a_run() -> None:
    with pytest.raises(ValidationError, match="'nuts', 'laplace' or 'map'"):
        TypeAdapter(RunFitSettings).validate_python({"method": "mml"})
    with pytest.raises(ValidationError, match="'discrimination' or 'information'"):
        TypeAdapter(RunPruneSettings).validate_python({"criterion": "difficulty"})


def test_every_option_of_a_fit_can_be_set_for_a_run_but_those_that_the_run_sets() -> None:
    content = {"run": "r", "corpus": {"source": "c"}, "grid": {"llms": ["a"], "retrievers": ["bm25"]}}
    own = {"interactions": [["llm", "retriever"]], "draws": 500, "priors": {"spread_a": 0.3}}
    config = check("run.yaml", {**content, "fit": own}, Config, ["fit.chains=3"])
    assert (config.fit.interactions, config.fit.draws, config.fit.chains) == ((("llm", "retriever"),), 500, 3)
    assert config.fit.priors == irt.Priors(spread_a=0.3)
    assert set(config.fit.identity) == {
        "model",
        "method",
        "backend",
        "interval",
        "interactions",
        "draws",
        "priors",
        "chains",
    }
    with pytest.raises(ValueError, match="seed: 3; wanted none, for the run sets it"):
        check("run.yaml", {**content, "fit": {"seed": 3}}, Config)
    with pytest.raises(ValueError, match=r"unknown setting 'fit\.chian'"):
        check("run.yaml", {**content, "fit": {"chian": 3}}, Config)


def test_choices_are_those_of_the_exam() -> None:
    exam = Exam((Question("q1", "Which?", ("a", "b", "c"), 0), Question("q2", "What?", ("a", "b"), 1)))
    assert n_choices(exam) == {"q1": 3, "q2": 2}


def test_one_number_of_passages_is_a_setting_and_several_are_a_factor() -> None:
    given = {"llms": ["a"], "retrievers": ["bm25"]}
    for value in (3, [3]):
        one = GridSettings.model_validate({**given, "passages": value, "budget": 900})
        assert [pipeline.id for pipeline in one.grid.pipelines] == ["a+bm25+icl0"]
        assert (one.sitting(0).k, one.sitting(0).budget) == (3, 900)
    several = GridSettings.model_validate({**given, "passages": [1, 3]})
    assert [pipeline.id for pipeline in several.grid.pipelines] == ["a+bm25+icl0+k1", "a+bm25+icl0+k3"]
    assert "budget" not in several.identity
    for wrong, message in {"[]": "at least one number", "[0, 2]": "whole numbers from 1", "[2, 2]": "distinct"}.items():
        with pytest.raises(ValidationError, match=message):
            GridSettings.model_validate({**given, "passages": json.loads(wrong)})


def test_factors_of_a_grid_are_facets_of_its_responses(tmp_path: Path) -> None:
    pipelines = grid_of({"llms": ["a", "b"], "retrievers": ["bm25", "lsa"], "passages": [1, 3]}).pipelines
    scores = {(one.id, item): len(one.id + item) % 2 for one in pipelines for item in ("q1", "q2")}
    write_responses(tmp_path / "responses.csv", ["q1", "q2"], pipelines, scores)
    data = run_data(RunFolder(tmp_path))
    assert list(data.facets.columns) == ["llm", "retriever", "passages"]
    assert sorted(set(data.facets["passages"].astype(str))) == ["1", "3"]
