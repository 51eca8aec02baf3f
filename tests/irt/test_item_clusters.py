"""Answers shared within items: the test for it, and effects spread to their variance over items."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import irt
from irt import _estimation as estimation
from irt import _item_clusters as item_clusters
from irt import checks
from irt._item_clusters import shared_answers, sharing, widened
from irt._responses import Floats, ResponseMatrix
from irt.kernels import log_likelihood

ARXIV = Path(__file__).parents[2] / "experiments/arxiv/released/responses.csv"
FACETS = {"llm": 3, "retriever": 4, "icl": 3}


def plain(data: ResponseMatrix, **words: object) -> irt.Fit:
    """A fit whose draws are the posterior's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimation, "widened", lambda fit, _: fit)
        return irt.fit(data, method="map", seed=0, **words)  # type: ignore[arg-type]


SHARED = irt.simulate(items=120, facets=FACETS, shared_sd={"retriever": 1.5}, seed=3).data
"""Retrievers share what they found on each item; language models and modes share nothing."""


@pytest.fixture(scope="module")
def reported() -> irt.Fit:
    """The same answers as `fit` reports them."""
    return irt.fit(SHARED, method="map", seed=0)


@pytest.fixture(scope="module")
def alike() -> irt.Fit:
    return plain(SHARED)


def test_local_independence_is_not_flagged() -> None:
    found = [sharing(plain(irt.simulate(items=60, facets=FACETS, seed=seed).data)) for seed in range(8)]
    assert not any(each.flag for fit in found for each in fit)
    assert np.mean([each.ratio for fit in found for each in fit]) == pytest.approx(1, abs=0.15)


def test_only_the_facet_that_shares_answers_is_flagged(alike: irt.Fit) -> None:
    found = {each.term: each for each in sharing(alike)}
    assert found["retriever"].flag
    assert found["retriever"].ratio > 1.5
    assert not found["icl"].flag
    assert not found["llm"].flag


def test_spread_is_that_of_fits_to_other_items(reported: irt.Fit) -> None:
    """The second implementation is new data: 30 disjoint exams of the same pipelines."""
    many = irt.simulate(items=3600, facets=FACETS, shared_sd={"retriever": 1.5}, seed=3).data
    exams = [many.select(many.items[start : start + 120]) for start in range(0, 3600, 120)]
    sampled = np.std([plain(exam).point["effect.retriever"] for exam in exams], axis=0, ddof=1)
    assert np.mean(reported.draws["effect.retriever"].std(axis=0) / sampled) == pytest.approx(1, abs=0.25)


def test_no_interval_becomes_narrower_and_estimates_stay(alike: irt.Fit, reported: irt.Fit) -> None:
    before, after = alike.components, reported.components
    assert (after["high"] - after["low"] >= 0.97 * (before["high"] - before["low"])).all()
    assert np.array_equal(after["effect"], before["effect"])
    for name in FACETS:
        now, was = reported.draws[f"effect.{name}"], alike.draws[f"effect.{name}"]
        assert now.mean(axis=0) == pytest.approx(was.mean(axis=0))
        assert np.allclose(now.sum(axis=1), 0, atol=1e-6)
    assert reported.reliability < alike.reliability


def test_abilities_are_widened_by_their_components(alike: irt.Fit, reported: irt.Fit) -> None:
    added = reported.draws["theta"] - alike.draws["theta"]
    parts = {name: reported.draws[f"effect.{name}"] - alike.draws[f"effect.{name}"] for name in FACETS}
    assert np.allclose(added, sum(part[:, alike.design.term(name).level_of] for name, part in parts.items()))


def test_fit_says_what_it_widened(reported: irt.Fit) -> None:
    assert any("widened" in sentence and "'retriever'" in sentence for sentence in reported.warnings)
    assert float(reported.diagnostics["design_effect.retriever"]) > 2
    assert not any("'icl'" in sentence for sentence in reported.warnings)
    assert 0.5 < float(reported.diagnostics["design_effect.icl"]) < 1.5
    assert float(reported.diagnostics["shared_answers.icl"]) < 1.2


def test_the_check_names_the_facet_of_a_widened_fit(reported: irt.Fit) -> None:
    table = shared_answers(reported).set_index("facet")
    assert table["flag"].to_dict() == {"llm": False, "retriever": True, "icl": False}
    said = str(table.loc["retriever", "sentence"])
    assert "same level of 'retriever'" in said
    assert said in checks.report(reported).sentences


def test_a_fit_without_facets_or_of_few_items_is_given_back() -> None:
    for fit in (plain(irt.simulate(40, 20, seed=1).data), plain(irt.simulate(items=9, facets=FACETS, seed=1).data)):
        assert widened(fit, never) is fit
    with pytest.raises(ValueError, match="9 items; at least 10 are wanted"):
        sharing(fit)


@pytest.mark.parametrize("model", ["2pl", "3pl", "4pl"])
def test_scores_are_the_slopes_of_the_log_likelihood(model: str) -> None:
    data = irt.simulate(30, 12, model=model, trials=2, missing=0.1, seed=2).data
    fit = plain(data, model=model)
    theta, step = np.asarray(fit.point["theta"]), 1e-5
    asked = fit.data.asked
    answers = np.nan_to_num(data.scores), np.where(asked, 2.0, 0.0)
    up, down = (log_likelihood(*answers, theta + move, *fit.parameters) for move in (step, -step))
    found = item_clusters._answers(fit, np.arange(12))
    assert np.allclose(found.slope * (found.successes - found.trials * found.p), (up - down) / (2 * step), atol=1e-5)


def test_what_the_items_take_up_is_out_of_the_scores() -> None:
    found = item_clusters._answers(plain(irt.simulate(30, 12, seed=2).data), np.arange(12))
    rest = found.orthogonal(found.drawn(np.random.default_rng(0)))
    assert np.allclose(found.own.T @ rest, 0, atol=1e-6)


def test_a_huge_exam_is_resampled_in_part(monkeypatch: pytest.MonkeyPatch, alike: irt.Fit) -> None:
    monkeypatch.setattr(item_clusters, "REFIT_CELLS", 36 * 40)
    sizes = []

    def refit(data: ResponseMatrix, drawn: NDArray[np.int64]) -> Mapping[str, Floats]:
        sizes.append(len(data.items))
        return plain(data).point

    wide = widened(alike, refit)
    assert set(sizes) == {40}
    part = wide.draws["effect.retriever"].std(axis=0).mean()
    monkeypatch.undo()
    assert part == pytest.approx(widened(alike, refit).draws["effect.retriever"].std(axis=0).mean(), rel=0.4)


def never(data: ResponseMatrix, drawn: NDArray[np.int64]) -> Mapping[str, Floats]:
    raise AssertionError("refitted")


def test_a_lead_that_rests_on_two_questions_is_not_sure() -> None:
    """Two retrievers of a released grid answer 62 of 64 questions alike; items take the gap up, unseen by its test."""
    data = irt.read_responses(ARXIV, ["llm", "retriever", "icl"])
    assert data.facets is not None
    bm25, hybrid = (data.scores[data.facets["retriever"] == level] for level in ("bm25", "hybrid"))
    assert (bm25 != hybrid).any(axis=0).sum() == 2
    sure, told = plain(data), irt.fit(data, method="map", seed=0)
    assert not next(each for each in sharing(sure) if each.term == "retriever").flag
    assert sure.contrast("retriever", "bm25", "hybrid").low > 0
    assert told.contrast("retriever", "bm25", "hybrid").low < 0
