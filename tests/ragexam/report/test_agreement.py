"""The page and `ragexam compare` say the same of two levels, whichever method fitted the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import irt
from ragexam.cli import app
from ragexam.report import analyse_run
from ragexam.report._fitted_model import LevelDraws
from tests.ragexam.report.run_folder import write_run

METHODS: dict[str, dict[str, int]] = {"map": {}, "laplace": {}, "nuts": {"warmup": 200, "draws": 300}}
"""The methods that estimate components, each with draws of its own kind; `mml` knows none, `svi` draws as `laplace`."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    retrievers = {"bm25": 0.6, "dense": -0.6, "oracle": 0.9}
    return write_run(tmp_path_factory.mktemp("agreement"), questions=20, retrievers=retrievers, hostile=False)


@pytest.mark.parametrize("method", METHODS)
def test_the_gap_of_the_verdict_is_the_contrast_of_the_command(run: Path, method: str) -> None:
    data = irt.read_responses(run / "responses.csv")
    irt.fit(data, model="1pl", method=method, seed=0, **METHODS[method]).save(run / "fit")
    findings = analyse_run(run)
    draws = next(one for one in findings.draws if one.facet == "retriever")
    assert draws.unit == "ability"
    verdict = next(one for one in findings.verdicts if one.facet == "retriever")
    names = (verdict.best, str(verdict.runner_up))
    done = CliRunner().invoke(app, ["compare", str(run / "fit"), *names, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["ability"]
    assert tuple(draws.contrast(*names)) == pytest.approx(tuple(told[name] for name in ("estimate", "low", "high")))
    assert names[0] == max(names, key=lambda level: draws.estimates[draws.levels.index(level)])
    if verdict.unit == "ability":
        assert verdict.gap == draws.contrast(*names)


def test_a_renamed_bound_is_found_under_its_own_name_in_the_fit(run: Path) -> None:
    data = irt.read_responses(run / "responses.csv")
    fit = irt.fit(data, model="1pl", method="map", seed=0)
    levels = tuple("closed book" if level == "dense" else level for level in fit.design.term("retriever").levels)
    draws = LevelDraws("retriever", levels, fit.draws["effect.retriever"], fit=fit)
    expected = fit.contrast("retriever", "bm25", "dense")
    assert draws.contrast("bm25", "closed book").estimate == expected.estimate
    both = draws.contrast("bm25", "closed book", "oracle").estimate
    other = fit.contrast("retriever", "bm25", "oracle")
    assert both == pytest.approx((expected.estimate + other.estimate) / 2)
