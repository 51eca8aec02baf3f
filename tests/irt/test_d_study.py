"""D-studies: the closed forms of the balanced crossed design, simulated tables, and a design's own limits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr, ndtri

import irt
from irt._d_study import ErrorParts, StudySettings, d_study, questions_for, right_order, two_levels
from irt._question_source import QuestionSource
from irt.kernels import ItemParameters
from tests.irt.quick_gibbs import quick_fit
from tests.irt.test_variance_components import TAILS, known

STUDENTS = tuple(f"s{number}" for number in range(15))


def equal_items(count: int, a: float, b: float = 0.0) -> ItemParameters:
    return ItemParameters(np.full(count, a), np.full(count, b), np.zeros(count), np.ones(count))


def even(items: ItemParameters) -> Any:
    return np.full(len(items.a), 1 / len(items.a))


def crossed() -> Any:
    """Draws of the known components with equal items, abilities and a residual."""
    draws, design = known(50)
    count = len(draws["a"])
    draws |= {
        "a": np.full((count, 10), np.exp(np.log(draws["a"]).mean())),
        "b": np.zeros((count, 10)),
        "c": np.zeros((count, 10)),
    }
    return draws | {"d": np.ones((count, 10)), "theta": np.zeros((count, 15))}, design


def test_without_effects_a_question_has_the_information_of_its_answers() -> None:
    items = equal_items(4, 1.2, 0.3)
    source = QuestionSource(items, even(items))
    assert source.information(0.5).mean == pytest.approx(float(items.information(np.array(0.5))[0]))
    assert source.information(0.5, 6).mean == pytest.approx(6 * source.information(0.5).mean)
    assert source.information(0.5).effect_share == 0


def test_with_effects_the_error_is_that_of_the_linear_crossed_design() -> None:
    items = equal_items(4, 2.0)
    source = QuestionSource(items, even(items), apart=3.0, shared=1.0)
    rng = np.random.default_rng(0)
    p = expit(2 * rng.standard_normal(400_000))  # all effects: variance 4, at ability 0
    answer = 1 / (4 * np.mean(p * (1 - p)))
    for pipelines in (1, 5):
        found = source.information(0.0, pipelines)
        assert 1 / found.mean == pytest.approx(3 / 4 + answer / pipelines, rel=0.01)
        assert found.effect_share == pytest.approx(0.75 / (0.75 + answer / pipelines), rel=0.01)
    assert 1 / source.information(0.0, 1e9).mean == pytest.approx(3 / 4)


def test_of_one_answer_it_is_nearly_that_of_the_mean_curve() -> None:
    """The exact information of one answer with a normal effect in its logit, by fine quadrature."""
    x = np.linspace(-12, 12, 20_001)
    for sd in (0.5, 1.0, 2.0, 3.0):
        weights = np.exp(-0.5 * (x / sd) ** 2)
        weights /= weights.sum()
        p = expit(x)
        exact = (weights @ (p * (1 - p))) ** 2 / 0.25
        items = equal_items(1, 1.0)
        assert QuestionSource(items, even(items), apart=sd**2).information(0.0).mean == pytest.approx(exact, rel=0.15)


def test_the_error_predicted_is_the_spread_over_simulated_tables() -> None:
    """Counted answers, so that empirical logits are linear: levels' means over questions scatter as predicted."""
    rng = np.random.default_rng(4)
    w, tau, llms, trials, tables = 0.8, 0.3, 4, 60, 1500
    for questions in (10, 40):
        own = rng.normal(0, w, (tables, 2, 1, questions)) + rng.normal(0, tau, (tables, 2, llms, 1))
        right = rng.binomial(trials, expit(own + rng.normal(0, 0.5, (tables, 1, 1, questions))))
        seen = logit((right + 0.5) / (trials + 1)).mean(axis=(2, 3))
        items = equal_items(3, 1.0)
        source = QuestionSource(items, even(items), apart=w**2, shared=0.25)
        per_question = np.array([2 / source.information(0.0, llms * trials).mean])
        predicted = ErrorParts(per_question, np.zeros(1), np.array([2 * tau**2 / llms])).squared(questions)[0]
        assert np.std(seen[:, 0] - seen[:, 1]) == pytest.approx(np.sqrt(predicted), rel=0.05)


def test_averaging_over_more_levels_lowers_what_questions_do_not() -> None:
    draws, design = crossed()
    pair = ("retriever0", "retriever1")
    few, many = (two_levels(draws, design, "retriever", pair, {"llm": count}, False) for count in (3, 12))
    assert few.floor == pytest.approx(2 * 0.4**2 / 3)
    assert many.floor == pytest.approx(2 * 0.4**2 / 12)
    assert few.gap == pytest.approx(4)
    crossing = two_levels(draws, design, "retriever", pair, {"llm": 6}, True).floor
    assert crossing == pytest.approx(2 * 0.4**2 / 6 + 2 * 0.2**2 / 6)


def test_a_study_is_its_formula() -> None:
    draws, design = crossed()
    settings = StudySettings(questions=[25, 100], levels={"llm": [3, 9]})
    study = d_study(draws, design, STUDENTS, "retriever", ("retriever0", "retriever1"), settings, TAILS)
    items = equal_items(10, 1.5)
    for row in study.table.to_dict("records"):
        per_question = 2 / QuestionSource(items, even(items), apart=4, shared=0.25).information(0.0, row["llm"]).mean
        squared = per_question / row["questions"] + 2 * 0.4**2 / row["llm"]
        assert row["se"] == pytest.approx(np.sqrt(squared))
        assert row["se_low"] == pytest.approx(row["se_high"])
        assert row["right_order"] == pytest.approx(ndtr(4 / np.sqrt(squared)))
    assert study.sources["share"].sum() == pytest.approx(1)


def test_questions_needed_are_those_that_give_the_certainty_wanted() -> None:
    gap, parts = np.array([1.0, 0.5]), ErrorParts(np.array([30.0, 30.0]), np.zeros(2), np.array([0.1, 0.1]))
    needed = questions_for(gap, parts, 0.9)
    for draw in range(2):
        assert right_order(gap, parts.squared(needed[draw]))[draw] == pytest.approx(0.9)
    assert needed[0] == pytest.approx(30 / (1 / ndtri(0.9) ** 2 - 0.1))
    assert np.isinf(questions_for(np.array([0.2]), ErrorParts(np.ones(1), np.ones(1), np.array([1.0])), 0.9))


def test_where_pipelines_are_what_varies_no_number_of_questions_suffices() -> None:
    draws, design = crossed()
    draws["residual_scale"] = np.full(50, 6.0)
    study = d_study(draws, design, STUDENTS, "retriever", None, StudySettings(), TAILS)
    row = study.needed.iloc[0]
    assert np.isnan(row["questions"])
    assert row["limit"] == pytest.approx(ndtr(2 / np.sqrt(2 * 36 / 3)), abs=1e-6)
    assert any("however many questions are asked" in line for line in study.lines())
    assert study.record()["needed"][0]["questions"] is None
    many = d_study(draws, design, STUDENTS, "retriever", None, StudySettings(levels={"llm": [300]}), TAILS)
    assert many.needed.iloc[0]["questions"] > 0


def test_students_that_share_a_level_share_its_effects() -> None:
    fit = quick_fit()
    same, other = (
        fit.d_study(between=("llm0|retriever0", second), questions=[40]).table["se"][0]
        for second in ("llm1|retriever0", "llm0|retriever1")
    )
    assert same < 0.9 * other


def test_a_longer_exam_is_as_certain_as_its_study_said() -> None:
    """The median standard error is of the size of the posterior standard deviations of the fit at hand."""
    fit = quick_fit()
    for facet in ("llm", "retriever"):
        study = fit.d_study(facet, questions=[len(fit.data.items)])
        sd = fit.contrast(facet, study.first, study.second).sd
        assert 0.6 * sd < study.table["se"][0] < 1.7 * sd


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({}, "found neither a facet nor two students"),
        ({"facet": "icl"}, "unknown facet 'icl'"),
        ({"facet": "llm", "between": ("llm0", "llm0")}, "found 'llm0' twice"),
        ({"facet": "llm", "between": ("llm0", "m")}, "unknown level 'm' of facet 'llm'"),
        ({"between": ("llm0|retriever0", "m")}, "unknown student 'm'"),
        ({"facet": "llm", "certainty": 0.5}, "certainty is 0.5; wanted more than 0.5"),
        ({"facet": "llm", "questions": [0]}, "questions is 0; wanted a whole number of at least 1"),
        ({"facet": "llm", "levels": {"llm": [2]}}, "levels: found 'llm'; wanted another facet"),
    ],
)
def test_studies_that_make_no_sense_are_refused(words: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        quick_fit().d_study(**words)


def test_power_of_a_fit_with_effects_is_that_of_pipelines_without_a_common_part() -> None:
    fit = quick_fit()
    found = irt.power(fit, 1.0)
    study = fit.d_study(between=("llm0|retriever0", "llm1|retriever1"), questions=[found.questions])
    wanted = 1.0 / (ndtri(0.975) + ndtri(0.8))
    assert study.table["se"][0] == pytest.approx(wanted, rel=0.15)


@pytest.mark.validate
def test_contrasts_of_fits_scatter_about_the_truth_as_predicted() -> None:
    """24 tables of one kind, fitted with effects: errors of posterior means against the standard error at the truth."""
    facets, w, count = {"llm": 3, "retriever": 4}, {"llm": 0.0, "retriever": 2.0}, 40
    errors: dict[str, list[float]] = {name: [] for name in facets}
    predicted: dict[str, list[float]] = {name: [] for name in facets}
    for seed in range(100, 124):
        made = irt.simulate(items=count, facets=facets, shared_sd={"retriever": w["retriever"]}, seed=seed)
        fit, truth = irt.fit(made.data, seed=0, draws=150, warmup=200, chains=2), made.truth
        items = ItemParameters(truth.a, truth.b, truth.c, truth.d)
        for name, levels in facets.items():
            term, pipelines = fit.design.term(name), 12 / levels
            source = QuestionSource(items, even(items), w[name] ** 2, sum(v**2 for v in w.values()) - w[name] ** 2)
            for first, second in itertools.combinations(range(levels), 2):
                gap = fit.contrast(name, term.levels[first], term.levels[second]).estimate
                errors[name].append(gap - truth.effects[name][first] + truth.effects[name][second])
                sides = [truth.theta[term.level_of == level] for level in (first, second)]
                falling = sum(1 / source.information(theta, pipelines).mean for theta in sides) / count
                predicted[name].append(falling + 2 * truth.residual_scale**2 / pipelines)
    for name in facets:
        assert np.sqrt(np.mean(np.square(errors[name]))) == pytest.approx(np.sqrt(np.mean(predicted[name])), rel=0.15)
