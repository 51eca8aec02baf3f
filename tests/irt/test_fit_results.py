"""What is read from a fit, and what survives saving it."""

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import irt
from irt import _tables as tables
from irt import kernels

THETA = np.linspace(-2, 2, 5)


@pytest.fixture(scope="module")
def fit() -> irt.Fit:
    return irt.fit(irt.simulate(None, 20, facets={"retriever": 5, "icl": 3}, seed=1).data, method="map")


def test_information_is_the_mean_over_draws_and_adds_up(fit: irt.Fit) -> None:
    result = fit.information(THETA)
    assert result.mean.shape == (20, 5)
    np.testing.assert_allclose(result.mean.sum(axis=0), result.total)
    draws = fit.draws  # few items: every draw counts
    by_hand = kernels.information(0.0, draws["a"][:, 3], draws["b"][:, 3]).mean()
    assert fit.information([0.0], ["q3"]).mean[0, 0] == pytest.approx(by_hand)
    assert (result.low <= result.mean).all()
    assert (result.mean <= result.high).all()


def test_information_by_groups_adds_up_to_the_whole(fit: irt.Fit) -> None:
    table = fit.information_by({"first": fit.data.items[:8], "rest": fit.data.items[8:]}, THETA)
    np.testing.assert_allclose(table.groupby("theta")["total"].sum(), fit.information(THETA).total)
    np.testing.assert_allclose(table["mean"] * table["n_items"], table["total"])
    with pytest.raises(ValueError, match="group 'none' has no items"):
        fit.information_by({"none": []}, THETA)
    with pytest.raises(ValueError, match="unknown item 'zz'"):
        fit.information(THETA, ["zz"])


def test_contrasts_are_antisymmetric_and_unknown_names_are_refused(fit: irt.Fit) -> None:
    there, back = fit.contrast("icl", "icl0", "icl2"), fit.contrast("icl", "icl2", "icl0")
    assert there.estimate == pytest.approx(-back.estimate)
    assert there.probability == pytest.approx(1 - back.probability)
    with pytest.raises(ValueError, match="unknown level 'x' of facet 'icl'; it has icl0, icl1, icl2"):
        fit.contrast("icl", "x", "icl0")
    with pytest.raises(ValueError, match="unknown facet 'llm'; the fit has 'retriever', 'icl'"):
        fit.contrast("llm", "x", "y")
    with pytest.raises(ValueError, match="unknown student 'x'"):
        fit.compare_students("x", "y")


def test_probabilities_of_being_best_sum_to_one(fit: irt.Fit) -> None:
    assert fit.probability_best("retriever")["probability"].sum() == pytest.approx(1)


def test_levels_of_an_interaction_are_whole_combinations() -> None:
    """Cells of the design's own ability: theta is their worth where the combination is all that made the student."""
    data = irt.simulate(None, 40, facets={"llm": 3, "icl": 4}, seed=2).data
    data = replace(data, facets=None if data.facets is None else data.facets[["icl", "llm"]])
    fit = irt.fit(data, "2pl", "map", ["llm", "icl"], interactions=[("llm", "icl")], seed=0)
    name, facets = "llm:icl", fit.data.facets
    assert facets is not None
    levels = fit.design.term(name).levels
    main = [fit.draws[f"effect.{facet}"] for facet in ("llm", "icl")]
    cells = (main[0][:, :, None] + main[1][:, None, :]).reshape(len(main[0]), -1) + fit.draws[f"effect.{name}"]
    best = fit.probability_best(name).set_index("level")["probability"]
    np.testing.assert_allclose(best[list(levels)], np.bincount(cells.argmax(1), minlength=12) / len(cells))
    gap = fit.contrast(name, levels[1], levels[6])
    assert gap.probability == np.mean(cells[:, 1] > cells[:, 6])
    share = fit.accuracy_by_level.set_index("level").loc[list(levels), "accuracy"].to_numpy()
    assert np.corrcoef(share, cells.mean(0))[0, 1] > 0.99
    compared = irt.compare(fit, levels[1], levels[6])
    assert (compared.facet, compared.ability, compared.pairs) == (name, gap, 1)
    rows = {f"{llm} x {icl}": row for row, llm, icl in zip(fit.data.scores, facets["llm"], facets["icl"], strict=True)}
    assert compared.observed == pytest.approx(rows[levels[1]].mean() - rows[levels[6]].mean())


def test_students_of_the_model_are_not_surprising_and_a_planted_one_is() -> None:
    sim = irt.simulate(60, 40, seed=3)
    checked = irt.fit(sim.data, method="map").predictive_check()
    assert checked["students"]["surprising"].mean() < 0.05
    assert checked["items"]["surprising"].mean() < 0.05


def test_copied_items_depend_on_each_other_most() -> None:
    data = irt.simulate(200, 15, seed=4).data
    scores = data.scores.copy()
    scores[:, 7] = scores[:, 2]
    table = irt.fit(irt.ResponseMatrix(scores, data.students, data.items), method="map").q3()
    assert set(table.loc[0, ["item_a", "item_b"]]) == {"q2", "q7"}
    assert table.loc[0, "q3"] > 0.8


def test_infit_and_outfit_are_near_one_for_items_of_the_model() -> None:
    items = irt.fit(irt.simulate(300, 30, seed=5).data, method="map").items
    # A little below 1: abilities were estimated from the same answers.
    assert items["infit"].mean() == pytest.approx(0.95, abs=0.07)
    assert items["outfit"].mean() == pytest.approx(0.95, abs=0.1)


def test_what_the_model_fixes_is_stored_once(fit: irt.Fit) -> None:
    for name, value in (("c", 0.0), ("d", 1.0)):
        draws = fit.draws[name]
        assert draws.shape == fit.draws["a"].shape
        assert draws.strides == (0, 0)
        assert fit.thinned(7)[name].shape == (7, 20)
        assert (fit.items[[name, f"{name}_low", f"{name}_high"]] == value).all(axis=None)
        assert (fit.items[f"{name}_sd"] == 0.0).all()


def test_spread_in_portions_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(0).standard_normal((30, 7, 2))
    monkeypatch.setattr("irt._responses.CELLS", 130)
    sd, low, high = tables.spread(draws, (0.05, 0.95))
    np.testing.assert_allclose(sd, draws.std(axis=0, ddof=1))
    np.testing.assert_allclose([low, high], np.quantile(draws, (0.05, 0.95), axis=0))


def test_a_saved_fit_reads_back_the_same(fit: irt.Fit, tmp_path: Path) -> None:
    fit.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "abilities.csv", "components.csv", "fit.json", "items.csv", "posterior.nc",
    ]  # fmt: skip
    again = irt.load_fit(tmp_path)
    assert (again.warnings, again.notes) == (fit.warnings, fit.notes)
    pd.testing.assert_frame_equal(again.items, fit.items)
    pd.testing.assert_frame_equal(again.components, fit.components)
    assert again.contrast("icl", "icl0", "icl2") == fit.contrast("icl", "icl0", "icl2")
    np.testing.assert_array_equal(again.information(THETA).total, fit.information(THETA).total)
    said = json.loads((tmp_path / "fit.json").read_text())
    assert {"model", "method", "backend", "n_students", "n_items", "log_likelihood", "elpd_loo", "converged"} <= set(
        said
    )
    assert {"diagnostics", "warnings", "notes", "seconds", "seed", "versions", "format"} <= set(said)
    assert set(said["seconds"]) == {"compile", "fit"}


def test_an_interaction_and_trials_survive_saving(tmp_path: Path) -> None:
    data = irt.simulate(24, 12, facets={"llm": 3, "retriever": 4}, seed=2, trials=3, missing=0.1).data
    fit = irt.fit(data, method="map", interactions=[("llm", "retriever")])
    assert len(fit.components) == 3 + 4 + 12
    fit.save(tmp_path)
    again = irt.load_fit(tmp_path)
    pd.testing.assert_frame_equal(again.components, fit.components)
    np.testing.assert_array_equal(again.data.attempts, data.attempts)


def test_every_option_of_a_fit_is_known_after_it_and_survives_saving(tmp_path: Path) -> None:
    data = irt.simulate(None, 8, facets={"llm": 3, "icl": 4, "shots": 3}, seed=1).data
    assert data.facets is not None
    data = replace(data, facets=data.facets.assign(shots=data.facets["shots"].str.removeprefix("shots")))
    given = irt.FitSettings(
        "3pl", "map", ("llm", "icl"), [("llm", "icl")], ("shots",), [2, 3, 4, 5] * 2, item_effects=True,
        item_covariates={"length": {f"q{at}": float(at) for at in range(8)}}, priors=irt.Priors(spread_a=0.4),
        interval=0.8, seed=7, backend="numpy", warmup=11, draws=12, chains=3,
        target_accept=0.7,
    )  # fmt: skip
    usual = irt.FitSettings()
    assert all(getattr(given, each.name) != getattr(usual, each.name) for each in fields(usual))
    fit = irt.fit(data, settings=given)
    assert fit.settings == given.changed(chains=1)
    fit.save(tmp_path)
    again = irt.load_fit(tmp_path)
    assert again.settings == fit.settings
    np.testing.assert_array_equal(irt.fit(again.data, settings=again.settings).point["b"], fit.point["b"])


def test_an_option_at_its_default_is_not_saved(fit: irt.Fit) -> None:
    assert fit.settings.target_accept == irt.FitSettings().target_accept
    assert "target_accept" not in fit.record()
    assert fit.record()["interval"] == irt.FitSettings().interval


def test_a_newer_or_broken_fit_is_refused(fit: irt.Fit, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"fit\.json: no such file"):
        irt.load_fit(tmp_path)
    fit.save(tmp_path)
    path = tmp_path / "fit.json"
    said = path.read_text()
    path.write_text(said.replace('"format": 1', '"format": 99'))
    with pytest.raises(ValueError, match=r"fit\.json: format 99 is not one this version reads"):
        irt.load_fit(tmp_path)
    path.write_text("{")
    with pytest.raises(ValueError, match=r"fit\.json:1: not JSON"):
        irt.load_fit(tmp_path)


def test_smoothed_loo_and_mixing_agree_with_arviz() -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz

    from irt.checks._convergence import mixing
    from irt.checks._loo import smoothed_loo

    rng = np.random.default_rng(0)
    log_likelihood = -0.5 * (rng.standard_normal((2000, 1)) * np.array([0.3, 1.0, 1.5]) + rng.standard_normal(3)) ** 2
    elpd, k = smoothed_loo(log_likelihood)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights, shapes = arviz.psislw(-log_likelihood.T)
    wanted = np.log(np.exp(np.asarray(weights) + log_likelihood.T).sum(axis=1))
    np.testing.assert_allclose(elpd, wanted, atol=2e-3)
    np.testing.assert_allclose(k, shapes, atol=0.02)
    chain = np.cumsum(rng.standard_normal((2, 500, 3)), axis=1) * 0.05 + rng.standard_normal((2, 500, 3))
    found = mixing(chain)
    for index in range(3):
        assert found.r_hat[index] == pytest.approx(float(arviz.rhat(chain[..., index])), abs=2e-3)
        assert found.ess_bulk[index] == pytest.approx(float(arviz.ess(chain[..., index])), rel=0.05)
        assert found.ess_tail[index] == pytest.approx(float(arviz.ess(chain[..., index], method="tail")), rel=0.05)


def test_a_fit_says_on_one_line_what_it_is() -> None:
    fit = irt.fit(irt.simulate(40, 8, seed=0).data, method="map", seed=0)
    assert repr(fit) == f"Fit(2pl by map, 40 students x 8 items, reliability {fit.reliability:.3f}, converged)"


def test_a_negative_seed_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="seed is -1; wanted a whole number of at least 0"):
        irt.fit(irt.simulate(40, 8, seed=0).data, method="map", seed=-1)
