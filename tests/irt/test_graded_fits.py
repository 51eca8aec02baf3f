"""Fits of ratings: two methods agree, truth is recovered, and what is read from a fit holds together."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import irt
from irt import _graded as graded
from irt._model import RATINGS
from irt._simulation import GradedSimulation, simulate_graded
from irt.commands import main

THETA = np.linspace(-2, 2, 5)
SHORT = {"warmup": 400, "draws": 1500}


@pytest.fixture(scope="module")
def sim() -> GradedSimulation:
    return simulate_graded(None, 16, [4] * 10 + [2] * 6, facets={"retriever": 5, "icl": 4}, seed=1, missing=0.05)


@pytest.fixture(scope="module")
def fit(sim: GradedSimulation) -> irt.Fit:
    return irt.fit(sim.data, "grm", item_effects=False, **SHORT)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def plain() -> irt.Fit:
    return irt.fit(simulate_graded(150, 12, 3, seed=2).data, "grm", "mml")


@pytest.fixture(scope="module")
def credited() -> irt.Fit:
    sim = simulate_graded(None, 8, [3] * 5 + [2] * 3, facets={"retriever": 4, "icl": 3}, seed=1, model="gpcm")
    fit = irt.fit(sim.data, "gpcm", item_effects=False)
    truth = sim.truth.effects["retriever"]
    contrast = fit.contrast("retriever", "retriever0", "retriever1")
    assert contrast.estimate == pytest.approx(truth[0] - truth[1], abs=3 * contrast.sd)
    return fit


def test_facet_effects_and_abilities_of_ratings_recover_simulated_truth(sim: GradedSimulation, fit: irt.Fit) -> None:
    for name, truth in (("theta", sim.truth.theta), ("thresholds", sim.truth.thresholds), ("a", sim.truth.a)):
        error = (fit.point[name] - truth) / fit.draws[name].std(axis=0)
        assert np.sqrt(np.mean(error**2)) < 1.5, name
    contrast = fit.contrast("retriever", "retriever0", "retriever1")
    truth = sim.truth.effects["retriever"]
    assert contrast.estimate == pytest.approx(truth[0] - truth[1], abs=3 * contrast.sd)
    assert fit.components.groupby("facet")["effect"].sum().abs().max() < 1e-9
    np.testing.assert_allclose(fit.draws["theta"].std(axis=1), 1.0, rtol=1e-9)
    assert fit.elpd_loo is not None
    assert fit.elpd_loo < fit.log_likelihood


def test_items_show_the_thresholds_an_item_has(sim: GradedSimulation, fit: irt.Fit) -> None:
    items = fit.items
    assert items["top"].tolist() == [4] * 10 + [2] * 6
    assert items.loc[:9].drop(columns=["item", "flags"]).notna().to_numpy().all()
    assert items.loc[10:, ["b3", "b4", "b3_sd", "b4_low"]].isna().to_numpy().all()
    np.testing.assert_allclose(items.loc[:9, ["b1", "b2", "b3", "b4"]].mean(axis=1), items.loc[:9, "b"])
    np.testing.assert_allclose(items.loc[10:, ["b1", "b2"]].mean(axis=1), items.loc[10:, "b"])
    assert all((items[f"b{k}_low"][:10] < items[f"b{k}"][:10]).all() for k in (1, 2, 3, 4))
    # Abilities were estimated from the same answers: a little below 1, the more so the fewer items there are.
    assert items["infit"].mean() == pytest.approx(0.9, abs=0.12)
    assert items["outfit"].mean() == pytest.approx(0.9, abs=0.15)
    assert all(np.isfinite(values).all() for values in fit.draws.values())


def test_information_of_ratings_is_the_mean_of_samejimas_over_draws(fit: irt.Fit) -> None:
    result = fit.information(THETA)
    np.testing.assert_allclose(result.mean.sum(axis=0), result.total)
    draws = fit.thinned(len(fit.draws["a"]))
    for item, top in ((0, 4), (12, 2)):
        curves = graded.information(THETA, draws["a"][:, item, None], draws["thresholds"][:, item, None], top)
        np.testing.assert_allclose(result.mean[item], curves.mean(axis=0))


def test_expected_shares_and_checks_of_the_model_are_not_surprising(sim: GradedSimulation, fit: irt.Fit) -> None:
    assert ((fit.expected > 0) & (fit.expected < 1)).all()
    assert np.nanmean(sim.data.proportions - fit.expected) == pytest.approx(0, abs=0.01)
    checked = fit.predictive_check()
    assert checked["students"]["surprising"].mean() < 0.1
    assert checked["items"]["surprising"].mean() < 0.1
    assert fit.q3()["q3"].abs().max() < 0.9
    levels, effects = fit.accuracy_by_level, fit.components
    assert levels["level"].tolist() == effects["level"].tolist()
    assert np.corrcoef(levels["accuracy"], effects["effect"])[0, 1] > 0.98


@pytest.mark.parametrize("which", ["fit", "plain", "credited"])
def test_a_saved_fit_of_ratings_reads_back_the_same(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    fit: irt.Fit = request.getfixturevalue(which)
    fit.save(tmp_path)
    again = irt.load_fit(tmp_path)
    pd.testing.assert_frame_equal(again.items, fit.items)
    pd.testing.assert_frame_equal(again.abilities, fit.abilities)
    np.testing.assert_array_equal(again.data.top, fit.data.top)
    name = "thresholds" if fit.model == "grm" else "steps"
    np.testing.assert_array_equal(again.draws[name], fit.draws[name])
    np.testing.assert_array_equal(again.information(THETA).total, fit.information(THETA).total)


@pytest.mark.validate
@pytest.mark.parametrize("model", RATINGS)
def test_sampling_and_maximum_likelihood_agree_on_ratings(model: str) -> None:
    data = simulate_graded(400, 12, seed=3, model=model).data
    by_nuts, by_mml = irt.fit(data, model), irt.fit(data, model, "mml")
    assert by_nuts.converged, by_nuts.warnings
    # The prior shrinks extreme items by up to an error or so, and where there are no facets `nuts` puts these students'
    # mean, `mml` the population's, at 0.
    shift = by_mml.point["theta"].mean()
    steps = "thresholds" if model == "grm" else "steps"
    for name, limit in (("a", 0.8), ("b", 0.5), (steps, 0.6), ("theta", 0.2)):
        sd = by_nuts.draws[name].std(axis=0)
        gap = by_nuts.point[name] - by_mml.point[name] + (0 if name == "a" else shift)
        assert np.sqrt(np.mean((gap / sd) ** 2)) < limit, name
        # The error of a difficulty by `mml` includes that of the mean of 400 students.
        known = sd if name == "a" else np.sqrt(sd**2 + 1 / 400)
        assert 0.9 < np.median(by_mml.errors[name] / known) < 1.3, name


@pytest.mark.slow
def test_right_and_wrong_answers_have_the_posterior_of_the_two_parameter_model() -> None:
    data = irt.simulate(None, 20, facets={"retriever": 5, "icl": 3}, seed=1).data
    graded_fit, usual = (irt.fit(data, model, item_effects=False) for model in ("grm", "2pl"))
    assert graded_fit.converged, graded_fit.warnings
    for name in ("a", "b", "theta", "effect.retriever", "residual_scale"):
        error = usual.draws[name].std(axis=0)
        assert np.max(np.abs(graded_fit.point[name] - usual.point[name]) / error) < 0.2, name
        # An item nearly all or nearly none solved has a long tail, whose spread a thousand draws know to a factor only.
        ratio = np.abs(np.log(graded_fit.draws[name].std(axis=0) / error))
        assert np.median(ratio) < 0.1, name
        assert np.max(ratio) < np.log(2), name


def test_maximum_likelihood_leaves_facets_out_and_says_so(sim: GradedSimulation) -> None:
    fit = irt.fit(sim.data, "grm", "mml")
    assert fit.design.terms == ()
    assert "Method mml takes students as one population: the facets retriever, icl were left out." in fit.notes
    with pytest.raises(ValueError, match="takes no facets, found facet 'icl'; wanted facets"):
        irt.fit(sim.data, "grm", "mml", ["icl"])


def test_ratings_that_begin_at_one_are_told() -> None:
    data = simulate_graded(60, 5, 3, seed=4).data
    fit = irt.fit(irt.ResponseMatrix(data.scores + 1, data.students, data.items, top=np.full(5, 4)), "grm", "mml")
    assert any(sentence.startswith("No answer scored below 1") for sentence in fit.warnings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"model": "2pl"},
            "model '2pl' is for right and wrong answers; the table has scores up to 3; wanted model grm, gpcm or pcm",
        ),
        ({"model": "auto"}, "model 'auto' is for right and wrong answers"),
        ({"method": "svi"}, "model 'grm' has no method 'svi'; wanted nuts, map, laplace or mml"),
        ({"backend": "pymc"}, "model 'grm' by 'nuts' has no backend 'pymc'"),
        ({"method": "mml", "priors": irt.Priors()}, "takes no priors"),
        ({"interval": 2.0}, "interval 2 is not a probability"),
        ({"chains": 1}, "1 chain cannot be checked"),
    ],
)
def test_settings_that_do_not_fit_ratings_are_refused(
    plain: irt.Fit, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        irt.fit(plain.data, **({"model": "grm"} | settings))  # type: ignore[arg-type]


def test_what_does_not_apply_to_ratings_is_refused_in_one_line(plain: irt.Fit) -> None:
    with pytest.raises(ValueError, match=r"graded items have thresholds, not a, b, c, d; wanted Fit\.graded"):
        _ = plain.parameters
    with pytest.raises(ValueError, match=r"ratings cannot be pruned yet"):
        irt.prune(plain.data, plain)
    counts = irt.simulate(20, 5, seed=0, trials=3).data
    with pytest.raises(ValueError, match="counts right answers of trials"):
        irt.fit(counts, "grm")


def test_the_command_line_fits_ratings(plain: irt.Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    irt.write_responses(plain.data, tmp_path / "ratings.csv")
    command = ["fit", str(tmp_path / "ratings.csv"), "--graded", "--model", "grm", "--method", "mml"]
    assert main([*command, "--out", str(tmp_path / "fit")]) == 0
    assert "grm by mml: converged" in capsys.readouterr().out
    assert "b1,b1_sd,b1_low,b1_high" in (tmp_path / "fit" / "items.csv").read_text()
    assert main(["information", str(tmp_path / "fit"), "--points", "3"]) == 0
