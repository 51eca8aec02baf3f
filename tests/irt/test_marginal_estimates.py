"""Marginal maximum likelihood: recovered truth, and the numbers that mirt and ltm publish."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import irt
from irt._model import Priors
from irt._responses import Floats
from irt.fitting import _em as em
from irt.fitting._coordinates import SHARED
from irt.fitting._item_priors import Penalty
from irt.fitting._observed_information import observe
from tests import shared_data
from tests.irt.lsat import lsat6, lsat7
from tests.irt.marginal import MODELS, finite, mml, problem_of, table

CLASSIC = shared_data.SHARED / "data" / "irt_classic"


def test_rasch_estimates_of_lsat6_are_the_published_ones() -> None:
    fit = mml(lsat6(), "1pl")
    assert fit.log_likelihood == pytest.approx(-2466.938, abs=0.001)
    a, b = fit.parameters.a, fit.parameters.b
    np.testing.assert_allclose(a, np.sqrt(0.57), atol=0.001)
    np.testing.assert_allclose(-a * b, [2.730, 0.999, 0.240, 1.306, 2.099], atol=0.001)


def test_2pl_estimates_and_errors_of_lsat6_are_those_of_ltm() -> None:
    fit = mml(lsat6())
    assert fit.log_likelihood == pytest.approx(-2466.653, abs=0.001)
    np.testing.assert_allclose(fit.parameters.a, [0.8254, 0.7229, 0.8905, 0.6886, 0.6575], atol=0.001)
    np.testing.assert_allclose(fit.parameters.b, [-3.3597, -1.3696, -0.2799, -1.8659, -3.1236], atol=0.005)
    np.testing.assert_allclose(fit.errors["b"], [0.8669, 0.3073, 0.0997, 0.4341, 0.8700], rtol=0.01)
    np.testing.assert_allclose(fit.errors["a"], [0.2581, 0.1867, 0.2326, 0.1852, 0.2100], rtol=0.005)


def test_2pl_estimates_of_lsat7_are_those_of_mirt() -> None:
    fit = mml(lsat7())
    assert fit.log_likelihood == pytest.approx(-2658.805, abs=0.001)
    a, b = fit.parameters.a, fit.parameters.b
    np.testing.assert_allclose(a, [0.988, 1.081, 1.706, 0.765, 0.736], atol=0.002)
    np.testing.assert_allclose(-a * b, [1.856, 0.808, 1.804, 0.486, 1.855], atol=0.002)
    np.testing.assert_allclose(fit.point["theta"][0], -1.8698, atol=0.001)
    np.testing.assert_allclose(fit.errors["theta"][0], 0.6927, atol=0.001)


def test_3pl_of_lsat7_reaches_the_likelihood_of_mirt_with_guessing_at_its_bound() -> None:
    fit = mml(lsat7(), "3pl")
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(-2658.0547, abs=0.001)
    np.testing.assert_allclose(fit.parameters.a, [1.0071, 1.9511, 1.6656, 0.7355, 0.7676], atol=0.005)
    np.testing.assert_allclose(fit.parameters.b, [-1.8526, -0.0420, -1.0687, -0.6550, -2.4344], atol=0.005)
    np.testing.assert_allclose(fit.parameters.c, [0, 0.2979, 0, 0, 0], atol=0.001)
    assert any("Guessing is estimated as 0 for items 'q0', 'q2', 'q3' and 1 more" in said for said in fit.notes)
    assert np.all(fit.items["c_low"] <= fit.items["c"])
    assert np.all(fit.errors["c"] > 0)


@pytest.mark.skipif(not CLASSIC.exists(), reason="the reference estimates are not here")
@pytest.mark.parametrize("name", ["LSAT6", "LSAT7", "SAT12", "SAT12_fixed32"])
@pytest.mark.parametrize(("model", "kind"), [("1pl", "Rasch"), ("2pl", "2PL"), ("3pl", "3PL")])
def test_estimates_equal_those_of_mirt(name: str, model: str, kind: str) -> None:
    reference = json.loads((CLASSIC / "reference_estimates.json").read_text())[name][kind]
    fit = mml(table(pd.read_csv(CLASSIC / f"{name.lower()}.csv").to_numpy(dtype=float)), model)
    assert fit.converged
    if not reference["converged"]:
        assert fit.log_likelihood > reference["logLik"] - 1.5
        return
    unit = np.sqrt(reference["theta_var"])
    a, b = fit.parameters.a, fit.parameters.b
    assert fit.log_likelihood == pytest.approx(reference["logLik"], abs=0.001)
    np.testing.assert_allclose(a, unit * np.array(reference["slope"]), atol=0.001)
    np.testing.assert_allclose(-a * b, reference["intercept"], atol=0.001)
    np.testing.assert_allclose(fit.point["theta"][:10], np.array(reference["EAP_first10"]) / unit, atol=0.001)
    np.testing.assert_allclose(fit.errors["theta"][:10], np.array(reference["EAP_SE_first10"]) / unit, atol=0.001)
    if kind == "2PL":
        slope = [row[0] for row in reference["SE"].values()]
        np.testing.assert_allclose(fit.errors["a"], slope, rtol=0.002)
    if kind != "3PL":
        found = em_errors(fit)
        np.testing.assert_allclose(found[1], [row[1] for row in reference["SE"].values()], rtol=0.002)


def em_errors(fit: irt.Fit) -> Floats:
    """Standard errors of slope and intercept at the estimates of a fit."""
    problem = problem_of(fit.data, fit.model)
    answers = em.compress(problem.successes, problem.attempts)
    x = np.stack([fit.parameters.a, -fit.parameters.a * fit.parameters.b])
    seen = observe(
        answers, x, np.linspace(-6, 6, 121), SHARED[fit.model], Penalty(*np.zeros((4, *x.shape))), np.zeros_like(x)
    )
    assert seen.curvature is not None
    return np.asarray(np.sqrt(np.einsum("ikk->ki", seen.curvature.covariance)))


# Limits: R's mirt on tables of these sizes, with priors for 3PL: a, b, theta.
@pytest.mark.parametrize(
    ("students", "items", "model", "priors", "limits"),
    [
        (1000, 100, "2pl", None, (0.105, 0.16, 0.24)),
        (1000, 100, "3pl", Priors(), (0.22, 0.45, 0.33)),
        (100, 500, "2pl", None, (0.37, 0.60, 0.26)),
        (100, 500, "2pl", Priors(), (0.30, 0.49, 0.26)),
        (100, 500, "3pl", None, (0.38, 0.66, 0.27)),
    ],
)
def test_simulated_truth_is_recovered(
    students: int, items: int, model: str, priors: Priors | None, limits: tuple[float, float, float]
) -> None:
    sim = irt.simulate(students, items, model, seed=1)
    fit = mml(sim.data, model, priors)
    assert fit.converged
    for name, limit in zip(("a", "b", "theta"), limits, strict=True):
        error = fit.point[name] - getattr(sim.truth, name)
        if name == "b" and priors is None and items == 500 and model == "2pl":
            # Without priors the difficulty of an item that hardly discriminates has no finite error.
            error = np.clip(error, -1.5, 1.5)
        assert np.sqrt(np.mean(error**2)) < limit, name


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    hits = {name: [] for name in ("a", "b", "theta")}
    for seed in range(4):
        sim = irt.simulate(500, 40, seed=seed)
        fit = mml(sim.data)
        for name in hits:
            low, high = np.quantile(fit.draws[name], [0.05, 0.95], axis=0)
            truth = getattr(sim.truth, name)
            hits[name].append(np.mean((low < truth) & (truth < high)))
    for name, shares in hits.items():
        assert np.mean(shares) == pytest.approx(0.9, abs=0.05), name


def test_draws_have_the_analytic_errors_and_abilities_their_posterior() -> None:
    fit = mml(irt.simulate(400, 25, seed=3).data)
    np.testing.assert_allclose(fit.draws["a"].std(axis=0), fit.errors["a"], rtol=0.1)
    ratio = fit.draws["theta"].std(axis=0) / fit.errors["theta"]
    assert ratio.min() > 0.95
    assert ratio.max() < 1.15
    np.testing.assert_allclose(fit.draws["theta"].mean(axis=0), fit.point["theta"], atol=0.06)
    assert fit.reliability == pytest.approx(float(np.var(fit.point["theta"])), abs=0.03)
    assert fit.elpd_loo is None


def weak_item(students: int = 300, seed: int = 2) -> irt.ResponseMatrix:
    """Twenty items of which the first does not discriminate."""
    data = irt.simulate(students, 20, seed=seed).data
    scores = data.scores.copy()
    scores[:, 0] = np.random.default_rng(seed).binomial(1, 0.4, students)
    return table(scores)


def test_draws_keep_the_sign_of_a_slope_and_give_difficulties_an_error() -> None:
    fit = mml(weak_item())
    assert abs(fit.point["a"][0]) < 1.6 * fit.errors["a"][0]
    assert (np.sign(fit.draws["a"]) == np.sign(fit.point["a"])).all()
    for name in "ab":
        low, high = np.quantile(fit.draws[name], [0.05, 0.95], axis=0)
        assert ((low < fit.point[name]) & (fit.point[name] < high)).all()
    ratio = fit.draws["b"].std(axis=0) / fit.errors["b"]
    assert ratio.min() > 0.9
    assert ratio.max() < 2.5


def test_a_fit_held_by_priors_says_that_a_comparison_it_loses_settles_nothing() -> None:
    said = "AIC and BIC above their minimum: a comparison by them that this fit loses settles nothing"
    scores = irt.simulate(40, 8, seed=9).data.scores.copy()
    scores[:, 3] = scores[:, 2]
    held = mml(table(scores))
    assert any("no finite or no stable estimates" in each for each in held.warnings)
    assert any(said in each for each in held.warnings)
    assert not any(said in each for each in mml(lsat7()).warnings)
    few = irt.fit(irt.simulate(400, 15, "1pl", seed=1).data, "auto", "mml")
    assert any(
        "3pl is not ruled out: items needed a prior, and at a maximum BIC would be lower" in each for each in few.notes
    )
    assert few.model_choice[2]["model"] == "3pl"


def test_a_wrongly_keyed_item_gets_a_negative_discrimination() -> None:
    sim = irt.simulate(400, 20, seed=6, mean_a=1.4)
    scores = sim.data.scores.copy()
    scores[:, 4] = 1 - scores[:, 4]
    fit = mml(table(scores))
    assert fit.items.loc[4, "a_high"] < 0
    right = mml(sim.data)
    assert fit.log_likelihood == pytest.approx(right.log_likelihood, abs=1e-4)
    assert fit.parameters.a[4] == pytest.approx(-right.parameters.a[4], abs=1e-3)
    assert fit.parameters.b[4] == pytest.approx(right.parameters.b[4], abs=1e-3)


def test_counts_give_the_estimates_of_their_single_trials() -> None:
    sim = irt.simulate(150, 12, seed=7, trials=1).data
    pairs = table(sim.scores[:, :6] + 0.0)
    counted = irt.ResponseMatrix(
        np.where(np.arange(6) < 3, 2 * pairs.scores, pairs.scores),
        pairs.students,
        pairs.items,
        np.where(np.arange(6) < 3, 2.0, 1.0) * np.ones((150, 1)),
    )
    repeated = table(np.hstack([pairs.scores[:, :3], pairs.scores]))
    one, two = mml(counted, "1pl"), mml(repeated, "1pl")
    assert one.log_likelihood == pytest.approx(two.log_likelihood, abs=1e-5)
    np.testing.assert_allclose(one.point["theta"], two.point["theta"], atol=1e-4)


def test_items_not_asked_do_not_move_the_others() -> None:
    data = irt.simulate(300, 10, seed=8).data
    scores = np.hstack([data.scores, np.full((300, 1), np.nan)])
    scores[:40, 10] = data.scores[:40, 0]
    fit, whole = mml(table(scores), "1pl"), mml(data, "1pl")
    assert fit.converged
    np.testing.assert_allclose(fit.parameters.b[:10], whole.parameters.b, atol=0.05)
    assert fit.errors["b"][10] > 2 * fit.errors["b"][0]


@pytest.mark.parametrize("model", MODELS)
def test_constant_and_duplicated_items_stay_finite_and_are_named(model: str) -> None:
    scores = irt.simulate(40, 8, seed=9).data.scores.copy()
    scores[:, 0], scores[:, 1] = 1.0, 0.0
    scores[:, 3] = scores[:, 2]
    fit = mml(table(scores), model)
    assert fit.converged
    assert finite(fit)
    assert "all correct" in fit.items.loc[0, "flags"]
    assert fit.point["b"][0] < -2
    assert fit.point["b"][1] > 2
    if model == "2pl":
        assert any("no finite or no stable estimates for items 'q2', 'q3'" in said for said in fit.warnings)


def test_priors_of_single_items_do_not_move_the_population() -> None:
    said = "with a population's prior on all items"
    steep = mml(irt.simulate(40, 60, mean_a=3.0, seed=1).data)
    assert any(said in each for each in steep.warnings)
    assert abs(steep.point["theta"].mean()) < 0.25 / np.sqrt(40)
    scores = irt.simulate(300, 20, seed=1).data.scores.copy()
    scores[:, 0] = 1.0
    held = mml(table(scores))
    assert not any(said in each for each in held.warnings)
    assert abs(held.point["theta"].mean()) < 0.25 / np.sqrt(300)


def test_students_with_the_same_answers_have_nearly_the_same_interval() -> None:
    fit = mml(lsat7())
    answers = [tuple(row) for row in fit.data.scores]
    ends = fit.abilities["theta_low"].groupby(pd.Index(answers, tupleize_cols=False)).agg(np.ptp)
    assert ends.max() < 0.1
    wide = np.log(fit.items["a_high"] / fit.items["a_low"]) / (2 * 1.645 * fit.items["a_sd"] / fit.items["a"])
    np.testing.assert_allclose(wide, 1.0, atol=0.06)


def test_few_students_of_a_3pl_are_fitted_a_posteriori_and_it_is_said() -> None:
    sim = irt.simulate(60, 30, "3pl", seed=2)
    fit, given = mml(sim.data, "3pl"), mml(sim.data, "3pl", Priors())
    np.testing.assert_allclose(fit.parameters.a, given.parameters.a, atol=1e-6)
    assert any("60 students are too few for maximum likelihood of 3pl" in said for said in fit.warnings)
    assert any("Priors were given" in said for said in given.notes)


def test_answers_without_structure_end_finite() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        for model in MODELS:
            fit = mml(table((rng.random((12, 9)) < 0.5).astype(float)), model)
            assert finite(fit), (seed, model)


def test_auto_takes_the_smallest_bic_and_says_so() -> None:
    same = irt.fit(irt.simulate(400, 15, "1pl", seed=1).data, "auto", "mml")
    assert same.model == "1pl"
    unequal = irt.fit(irt.simulate(600, 25, seed=1, log_a_sd=0.6).data, "auto", "mml")
    assert unequal.model == "2pl"
    assert [row["model"] for row in unequal.model_choice] == ["1pl", "2pl", "3pl"]
    assert any("smallest BIC" in said for said in unequal.notes)


def test_auto_with_priors_compares_maxima_and_estimates_with_the_priors() -> None:
    data = irt.simulate(120, 12, seed=2).data
    free, given = (irt.fit(data, "auto", "mml", priors=priors) for priors in (None, Priors()))
    assert given.model_choice == free.model_choice
    assert given.model == free.model
    alone = mml(data, given.model, Priors())
    np.testing.assert_array_equal(given.parameters.b, alone.parameters.b)
    assert given.notes[:-1] == alone.notes
    listed = ", ".join(f"{row['model']} {float(row['bic']):.1f}" for row in free.model_choice)
    assert f"smallest BIC of fits without the priors given ({listed}). 3pl is not ruled out: " in given.notes[-1]
    assert given.model_choice[0]["bic"] == pytest.approx(mml(data, "1pl").diagnostics["bic"])


def test_facets_are_left_out_when_not_named() -> None:
    data = irt.simulate(None, 15, facets={"llm": 3, "icl": 4}, seed=1).data
    with pytest.raises(ValueError, match="names 'llm', which is not among the facets of the fit"):
        irt.fit(data, method="mml", interactions=[("llm", "icl")])
    with pytest.raises(ValueError, match="no backend 'numpyro'"):
        irt.fit(data, method="mml", backend="numpyro")
    fit = irt.fit(data, "1pl", "mml")
    assert any("the facets llm, icl were left out" in said for said in fit.notes)
    assert fit.design.terms == ()


def test_a_saved_fit_comes_back(tmp_path: Path) -> None:
    fit = mml(lsat7())
    fit.save(tmp_path)
    again = irt.load_fit(tmp_path)
    np.testing.assert_array_equal(again.errors["b"], fit.errors["b"])
    pd.testing.assert_frame_equal(again.items, fit.items)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("students", "items"),
    [
        (300, 3000),
        (2000, 600),
        pytest.param(400, 5000, marks=pytest.mark.validate),
        pytest.param(5000, 1000, marks=pytest.mark.validate),
    ],
)
def test_large_tables_end_in_seconds_with_finite_abilities(students: int, items: int) -> None:
    sim = irt.simulate(students, items, seed=1)
    fit = mml(sim.data)
    assert fit.converged
    assert finite(fit)
    assert np.sqrt(np.mean((fit.point["theta"] - sim.truth.theta) ** 2)) < 0.12


def test_guessing_that_all_items_share_is_recovered_with_its_error() -> None:
    found = []
    for seed in range(4):
        sim = irt.simulate(1200, 25, "3pl", seed=seed, guessing=0.2)
        fit = irt.fit(sim.data, "3pl-shared", "mml")
        assert fit.converged
        assert fit.items["c"].nunique() == 1 or np.ptp(fit.items["c"]) < 1e-12
        assert np.ptp(fit.draws["c"], axis=1).max() < 1e-12
        assert fit.diagnostics["parameters"] == 51
        found.append((fit.items["c"][0] - 0.2) / fit.items["c_sd"][0])
    assert np.sqrt(np.mean(np.square(found))) < 2.0


def test_few_students_still_say_something_about_shared_guessing() -> None:
    fit = irt.fit(irt.simulate(60, 40, "3pl", seed=2, guessing=0.25).data, "3pl-shared", "mml")
    assert fit.converged
    assert 0.02 < fit.items["c_sd"][0] < 0.06
