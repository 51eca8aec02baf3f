"""Ratings with effects of levels on items: against integrals, derivatives, right and wrong answers, and the truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad

import irt
from irt import _estimation as estimation
from irt._design import design_of
from irt._graded import GradedParameters
from irt._model import RATINGS, Priors, Problem, Ratings, build_problem
from irt._partial_credit import PartialCreditParameters
from irt._responses import Floats
from irt._simulation import GradedSimulation, simulate_graded
from irt.fitting._crossed_propagation import Evidence
from irt.fitting._rating_steps import StepScale
from irt.fitting._tilted import tilt_ratings

FACETS = {"llm": 3, "retriever": 4}
LADDER = np.array([[-1.2, 0.1, 1.1], [-0.7, 0.7, 0.0]])
TOP = np.array([3, 2])


@pytest.fixture(scope="module")
def shared() -> GradedSimulation:
    tops = [3] * 14 + [2] * 6
    return simulate_graded(None, 20, tops, facets=FACETS, seed=3, shared_sd={"retriever": 2.0}, missing=0.05)


@pytest.fixture(scope="module")
def fit(shared: GradedSimulation) -> irt.Fit:
    return irt.fit(shared.data, "grm", "map", seed=0)


def problem_of(data: irt.ResponseMatrix, model: str) -> Problem:
    data, design = design_of(data, None)
    return build_problem(data, replace(design, item_facets=design.shared_facets), model, 4, Priors())


class Tilted(NamedTuple):
    """Moments of one answer of each item's, and sums over answers by threshold."""

    moments: tuple[Floats, Floats, Floats]
    slope: Floats
    information: Floats
    across: Floats


def tilted(
    scores: Floats, ladder: Floats, partial: bool, logit: tuple[float, float] = (0.8, 1.7), site: float = 0.1
) -> Tilted:
    """Of scores `[2]`, logits normal (mean, standard deviation), beside a site of that precision and half as linear."""
    one, moments = np.ones((2, 1)), (np.empty((2, 1)), np.empty((2, 1)), np.empty((2, 1)))
    by_step = np.empty((2, 3)), np.empty((2, 3, 3)), np.empty((2, 1, 3))
    answers = scores[:, None], TOP[:, None].astype(np.float64)
    logits, sites = (logit[0] * one, logit[1] * one), (site * one, site / 2 * one)
    tilt_ratings(answers, (ladder, partial), logits, sites, moments, by_step)
    return Tilted(moments, *by_step)


@pytest.mark.parametrize("score", [0, 1, 3])
@pytest.mark.parametrize("kind", [GradedParameters, PartialCreditParameters])
def test_tilted_moments_of_a_rating_are_the_integrals(kind: type[GradedParameters], score: int) -> None:
    items = kind(np.ones(1), LADDER[:1], TOP[:1])

    def height(x: float, power: int) -> float:
        likelihood = np.exp(items.log_categories(np.array([x]))[0, score])
        normal = np.exp(-0.5 * ((x - 0.8) / 1.7) ** 2) / 1.7 / np.sqrt(2 * np.pi)
        return float(likelihood / np.exp(0.05 * x - 0.05 * x**2) * normal * x**power)

    total, first, second = (quad(height, -40, 40, args=(power,), points=[-2, 2], limit=400)[0] for power in range(3))
    found = tilted(np.array([score, 1.0]), LADDER, kind is PartialCreditParameters).moments
    wanted = [np.log(total), first / total, second / total - (first / total) ** 2]
    assert [float(each[0, 0]) for each in found] == pytest.approx(wanted, rel=5e-4)


@pytest.mark.parametrize("partial", [False, True])
def test_slopes_by_thresholds_are_those_of_the_mean_likelihood(partial: bool) -> None:
    scores, step = np.array([1.0, 2.0]), 1e-5
    slope = tilted(scores, LADDER, partial).slope
    for item, threshold in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1)):
        move = np.zeros_like(LADDER)
        move[item, threshold] = step
        above, below = (tilted(scores, LADDER + side * move, partial).moments[0][item, 0] for side in (1, -1))
        assert slope[item, threshold] == pytest.approx((above - below) / 2 / step, abs=1e-6)


@pytest.mark.parametrize("partial", [False, True])
def test_expected_information_is_the_mean_of_squared_slopes_over_scores(partial: bool) -> None:
    """At one logit, so that the answers' chances are those of the model."""
    at, items = 0.4, (PartialCreditParameters if partial else GradedParameters)(np.ones(2), LADDER, TOP)
    chances, by_logit = np.exp(items.log_categories(np.array(at))), items.category_slopes(np.array(at))
    squares, crossed = np.zeros((2, 3, 3)), np.zeros((2, 3))
    for score in range(4):
        found = tilted(np.minimum(score, TOP).astype(np.float64), LADDER, partial, (at, 1e-4), 0.0)
        share = chances[:, score, None]
        squares += share[:, :, None] * found.slope[:, :, None] * found.slope[:, None]
        crossed += share * np.where(share > 0, by_logit[:, score, None], 0.0) * found.slope
    assert found.information == pytest.approx(squares, abs=1e-5)
    assert found.across[:, 0] == pytest.approx(crossed, abs=1e-5)


@pytest.mark.parametrize("partial", [False, True])
def test_ladders_have_mean_zero_and_the_slopes_of_their_differences(partial: bool) -> None:
    scale = StepScale(Ratings(np.zeros((1, 2)), TOP), partial, 0.4)
    own = np.random.default_rng(1).standard_normal((2, scale.width))
    assert scale.ladder(own).sum(axis=1) == pytest.approx(0, abs=1e-12)
    assert scale.ladder(own)[1, 2] == 0
    for number in range(scale.width):
        step = 1e-6 * np.eye(scale.width)[number]
        difference = (scale.ladder(own + step) - scale.ladder(own - step)) / 2e-6
        assert scale.slopes(own)[:, :, number] == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize("model", RATINGS)
def test_the_evidence_rises_by_its_slopes(model: str) -> None:
    """By every scale that the sites do not answer to with a change of their own: propagation is at its maximum."""
    sim = simulate_graded(None, 12, 3, facets=FACETS, seed=2, model=model, shared_sd={"retriever": 1.0})
    evidence = Evidence(problem_of(sim.data, model))
    vector = np.log(np.full(len(evidence.top), 0.6))
    propagation, found = evidence._whole(vector)
    known = propagation.known(found)
    slope = evidence._slope(vector, found, known)
    for place in range(len(vector)):
        ends = [vector + side * 0.15 * np.eye(len(vector))[place] for side in (1, -1)]
        above, below = (evidence._height(end, evidence._whole(end)[1], known) for end in ends)
        assert slope[place] == pytest.approx((above - below) / 0.3, abs=0.35 + 0.1 * abs(slope[place]))


@pytest.mark.parametrize(("rated", "model"), [("grm", "2pl"), ("pcm", "1pl")])
def test_ratings_of_two_levels_are_right_and_wrong_answers(rated: str, model: str) -> None:
    data = irt.simulate(items=15, facets=FACETS, shared_sd={"retriever": 2.0}, seed=3).data
    two = replace(data, top=np.ones(15, dtype=np.int64))
    first, second = irt.fit(two, rated, "map", seed=0), irt.fit(data, model, "map", seed=0)
    assert first.log_likelihood == pytest.approx(second.log_likelihood, rel=1e-6)
    for name, values in first.draws.items():
        if name not in ("thresholds", "steps"):
            assert values == pytest.approx(second.draws[name], abs=1e-6), name
    assert first.expected == pytest.approx(second.expected, abs=1e-6)


def test_effects_are_told_from_ability(shared: GradedSimulation, fit: irt.Fit) -> None:
    assert fit.converged
    assert fit.design.item_facets == ("llm", "retriever")
    scale = fit.draws["item_effect_scale.retriever"]
    assert scale.mean() == pytest.approx(2.0, abs=3 * scale.std())
    assert fit.point["item_effect_scale.llm"] < 1.0
    for name, truth in (("theta", shared.truth.theta), ("thresholds", shared.truth.thresholds)):
        error = (fit.point[name] - truth) / fit.draws[name].std(axis=0)
        assert np.sqrt(np.mean(error**2)) < 1.6, name
    assert np.nanmean(np.abs(shared.data.proportions - fit.expected)) < 0.2
    assert fit.predictive_check()["items"]["surprising"].mean() < 0.1


def test_answers_given_three_times_count_once() -> None:
    """Three language models that answer alike, with four retrievers: the retrievers' effects on items say so."""
    sim = simulate_graded(None, 20, 3, facets={"retriever": 4}, seed=6).data
    assert sim.facets is not None
    students = tuple(f"{llm}{name}" for llm in "xyz" for name in sim.students)
    table = pd.concat([sim.facets.assign(llm=llm) for llm in "xyz"]).set_axis(pd.Index(students, name="student"))
    data = replace(sim, scores=np.tile(sim.scores, (3, 1)), students=students, facets=table)
    fit, alone = irt.fit(data, "grm", "map"), irt.fit(data, "grm", "map", item_effects=False)
    assert alone.design.item_facets == ()
    assert any("no effects of these on the items" in sentence for sentence in alone.warnings)
    once, thrice = (each.contrast("retriever", "retriever0", "retriever1") for each in (fit, alone))
    assert once.sd > 1.4 * thrice.sd
    assert fit.contrast("llm", "x", "y").estimate == pytest.approx(0, abs=0.1)


def test_ratings_of_students_alone_agree_with_maximum_likelihood() -> None:
    data = simulate_graded(150, 12, 3, seed=2).data
    ours, usual = irt.fit(data, "grm", "map"), irt.fit(data, "grm", "mml")
    gap = (ours.point["theta"] - usual.point["theta"] + usual.point["theta"].mean()) / ours.draws["theta"].std(axis=0)
    assert np.sqrt(np.mean(gap**2)) < 0.3
    assert 0.7 < np.median(usual.errors["thresholds"] / ours.draws["thresholds"].std(axis=0)) < 1.4


def test_a_saved_fit_of_ratings_has_its_effects_on_items(fit: irt.Fit, tmp_path: Path) -> None:
    fit.save(tmp_path)
    read = irt.load_fit(tmp_path)
    assert np.array_equal(read.expected, fit.expected)
    assert np.array_equal(read.draws["thresholds"], fit.draws["thresholds"])
    assert read.level_items("retriever").equals(fit.level_items("retriever"))


def test_what_ratings_cannot_have_is_refused(fit: irt.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"variance components reads right and wrong answers"):
        fit.variance_components()
    with pytest.raises(ValueError, match=r"a D-study reads right and wrong answers"):
        fit.d_study("retriever")
    with pytest.raises(ValueError, match=r"found 12 students x 20 items; wanted fewer, or 'mml' or 'nuts'"):
        irt.fit(replace(fit.data, top=np.full(20, 400)), "gpcm", "map")
    monkeypatch.setattr(estimation, "DEAR_BRIEFLY", 1.0)
    with pytest.raises(ValueError, match=r"method 'map', model 'grm': found 12 students x 20 items; wanted fewer, or"):
        irt.fit(fit.data, "grm", "map")


@pytest.mark.parametrize("model", RATINGS)
def test_item_covariates_explain_ratings(model: str) -> None:
    sim = simulate_graded(None, 20, 3, facets=FACETS, seed=4, model=model)
    known = {item: float(b) for item, b in zip(sim.data.items, sim.truth.b, strict=True)}
    fit = irt.fit(sim.data, model, "map", item_covariates={"known": known})
    row = fit.covariate_effects().query("facet == 'item'").iloc[0]
    assert row["high"] < 0
    assert fit.explained_shares()[0][1].estimate > 0.5


@pytest.mark.validate
@pytest.mark.parametrize("model", RATINGS)
def test_sampling_and_propagation_agree_on_ratings(model: str) -> None:
    sim = simulate_graded(None, 20, 3, facets=FACETS, seed=3, model=model, shared_sd={"retriever": 1.5})
    known = {item: float(b) for item, b in zip(sim.data.items, sim.truth.b, strict=True)}
    ours, usual = (irt.fit(sim.data, model, method, item_covariates={"b": known}) for method in ("map", "nuts"))
    assert usual.converged, usual.warnings
    for name in ("theta", "a", "b", "effect.retriever", "item_effect_scale.retriever", "item_covariate.retriever"):
        sd = usual.draws[name].std(axis=0) + 1e-9
        assert np.sqrt(np.mean(((ours.point[name] - usual.point[name]) / sd) ** 2)) < 0.4, name
        assert np.median(np.abs(np.log((ours.draws[name].std(axis=0) + 1e-9) / sd))) < 0.2, name
    assert ours.expected == pytest.approx(usual.expected, abs=0.08)
