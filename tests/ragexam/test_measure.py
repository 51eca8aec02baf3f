"""Fitting and pruning a run folder: settings reach the measurement package."""

from pathlib import Path

import pytest
from pydantic import ValidationError

import irt
from exam_gen.files import write_exam
from exam_gen.records import Question
from ragexam.config import FitSettings, PruneSettings
from ragexam.measure import fitted, n_choices, topics


def test_the_settings_of_a_fit_reach_it() -> None:
    data = irt.simulate(items=20, facets={"retriever": 4, "icl": 3}, seed=2).data
    settings = FitSettings(model="1pl", method="laplace", interval=0.8)
    fit = fitted(data, settings, 5, 4, lambda _done, _total: None)
    assert (fit.model, fit.method, fit.interval, fit.seed) == ("1pl", "laplace", 0.8, 5)
    with pytest.raises(ValueError, match="has no backend 'stan'"):
        fitted(data, FitSettings(backend="stan"), 5, 4, lambda _done, _total: None)


def test_a_method_without_components_is_no_setting_of_a_run() -> None:
    with pytest.raises(ValidationError, match="'nuts', 'laplace' or 'map'"):
        FitSettings.model_validate({"method": "mml"})
    with pytest.raises(ValidationError, match="'discrimination' or 'information'"):
        PruneSettings.model_validate({"criterion": "difficulty"})


def test_choices_and_topics_are_those_of_the_exam(tmp_path: Path) -> None:
    path = tmp_path / "exam.jsonl"
    questions = [Question("q1", "Which?", ("a", "b", "c"), 0, topic="law"), Question("q2", "What?", ("a", "b"), 1)]
    write_exam(path, questions)
    assert n_choices(path) == {"q1": 3, "q2": 2}
    assert topics(path) == {"q1": "law", "q2": ""}
