"""Fits recover truth, agree with each other, and say when they fail."""

import sys
from pathlib import Path

import numpy as np
import pytest

import irt
from irt import kernels
from irt._design import build_design
from irt._model import Priors, build_problem
from irt.fitting._gaussian import Point
from irt.fitting._laplace import climb
from irt.fitting._linearised import objective

GRID = {"retriever": 5, "icl": 3}


@pytest.fixture(scope="module")
def small(factorial: irt.Simulation) -> irt.Simulation:
    return factorial


@pytest.fixture(scope="module")
def by_map(small: irt.Simulation) -> irt.Fit:
    return irt.fit(small.data, method="map")


@pytest.fixture(scope="module")
def by_nuts(factorial_by_nuts: irt.Fit) -> irt.Fit:
    return factorial_by_nuts


@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl", "3pl-shared", "4pl"])
def test_the_mode_has_a_zero_gradient(small: irt.Simulation, model: str) -> None:
    problem = build_problem(small.data, build_design(small.data, list(GRID)), model, 4, Priors())
    fit = climb(problem)
    rng = np.random.default_rng(0)
    for _ in range(5):
        direction = Point(rng.standard_normal(fit.point.w.shape), rng.standard_normal(fit.point.x.shape))
        if problem.free_a:
            direction.x[0] -= direction.x[0].mean()
        step = 1e-4
        ends = [
            objective(
                problem,
                fit.scales,
                Point(fit.point.w + sign * step * direction.w, fit.point.x + sign * step * direction.x),
            )[0]
            for sign in (1, -1)
        ]
        assert abs(ends[0] - ends[1]) / (2 * step) < 1e-3
        assert max(ends) < fit.log_posterior


def test_map_recovers_simulated_truth() -> None:
    sim = irt.simulate(400, 60, seed=5)
    fit = irt.fit(sim.data, method="map")
    assert fit.converged
    # Marginal maximum likelihood reaches .095, .14 and .23 at 1000 x 100: .15, .22 and .30 at this size.
    for name, limit in (("a", 0.2), ("b", 0.25), ("theta", 0.35)):
        error = fit.point[name] - getattr(sim.truth, name)
        assert np.sqrt(np.mean(error**2)) < limit, name


def test_facet_contrasts_recover_simulated_truth() -> None:
    sim = irt.simulate(None, 60, facets={"llm": 3, "retriever": 7, "icl": 3}, seed=2)
    fit = irt.fit(sim.data, method="map")
    truth = sim.truth.effects["retriever"]
    contrast = fit.contrast("retriever", "retriever4", "retriever2")
    assert contrast.estimate == pytest.approx(truth[4] - truth[2], abs=3 * contrast.sd)
    assert fit.residual_scale is not None
    assert fit.residual_scale.low < sim.truth.residual_scale < fit.residual_scale.high


def test_map_and_nuts_agree(by_map: irt.Fit, by_nuts: irt.Fit) -> None:
    assert by_nuts.converged, by_nuts.warnings
    for name in ("a", "b", "theta", "effect.retriever", "effect.icl"):
        sd = by_nuts.draws[name].std(axis=0)
        assert np.max(np.abs(by_map.point[name] - by_nuts.point[name]) / sd) < 0.6, name


def test_nuts_passes_its_gate_and_reports_it(by_nuts: irt.Fit) -> None:
    said = by_nuts.diagnostics
    assert float(said["r_hat_max"]) <= 1.01
    assert min(float(said["ess_bulk_min"]), float(said["ess_tail_min"])) >= 400
    assert said["divergences"] == 0
    assert by_nuts.elpd_loo is not None
    assert by_nuts.elpd_loo < by_nuts.log_likelihood


@pytest.mark.slow
def test_a_failed_gate_is_retried_and_said(small: irt.Simulation) -> None:
    fit = irt.fit(small.data, draws=50, item_effects=False, seed=0)  # its program is compiled already
    assert not fit.converged
    assert any("first run did not pass" in sentence for sentence in fit.notes)
    assert any("Not converged" in sentence for sentence in fit.warnings)
    assert fit.diagnostics["draws"] == 200


@pytest.mark.parametrize("which", ["by_map", "by_nuts"])
def test_abilities_are_standardised_and_effects_sum_to_zero(which: str, request: pytest.FixtureRequest) -> None:
    fit: irt.Fit = request.getfixturevalue(which)
    np.testing.assert_allclose(fit.draws["theta"].mean(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(fit.draws["theta"].std(axis=1), 1, atol=1e-9)
    assert fit.components.groupby("facet")["effect"].sum().abs().max() < 1e-9
    for name in GRID:
        np.testing.assert_allclose(fit.draws[f"effect.{name}"].sum(axis=1), 0, atol=1e-9)


def test_the_same_seed_gives_the_same_draws(small: irt.Simulation, by_nuts: irt.Fit, by_map: irt.Fit) -> None:
    again = irt.fit(small.data, method="nuts", item_effects=False, seed=3)
    np.testing.assert_array_equal(again.draws["theta"], by_nuts.draws["theta"])
    other = irt.fit(small.data, method="map", seed=9)
    assert not np.array_equal(other.draws["a"], by_map.draws["a"])
    np.testing.assert_array_equal(irt.fit(small.data, method="map").draws["a"], by_map.draws["a"])


@pytest.mark.parametrize("model", ["1pl", "3pl", "4pl"])
def test_extreme_items_and_students_get_finite_flagged_rows(model: str) -> None:
    scores = irt.simulate(12, 10, seed=4).data.scores.copy()
    scores[:, 0], scores[:, 1], scores[0], scores[1] = 1, 0, 1, 0
    scores[0, 1], scores[1, 0] = 0, 1
    data = irt.ResponseMatrix(scores, tuple("abcdefghijkl"), tuple(f"q{i}" for i in range(10)))
    fit = irt.fit(data, model, method="map")
    assert not fit.items.isna().to_numpy().any()
    assert np.isfinite(fit.abilities.drop(columns="student").to_numpy()).all()
    assert "all correct" in fit.items.loc[0, "flags"]
    assert "all wrong" in fit.items.loc[1, "flags"]
    assert any("answered correctly by every student" in sentence for sentence in fit.warnings)


def test_a_wrongly_keyed_item_is_flagged() -> None:
    sim = irt.simulate(300, 20, seed=6, log_a_sd=0.1, mean_a=1.5)
    scores = sim.data.scores.copy()
    hard = int(np.argmin(sim.truth.b))
    scores[:, hard] = 1 - scores[:, hard]
    fit = irt.fit(irt.ResponseMatrix(scores, sim.data.students, sim.data.items), method="map")
    assert fit.items.loc[hard, "flags"] == "negative discrimination; probable mis-key; sign from the prior"
    assert (fit.items["flags"] != "").sum() == 1


def test_counts_of_trials_carry_the_information_of_their_answers() -> None:
    one = irt.fit(irt.simulate(60, 20, seed=7).data, method="map")
    five = irt.fit(irt.simulate(60, 20, seed=7, trials=5).data, method="map")
    ratio = np.mean(five.abilities["theta_sd"]) / np.mean(one.abilities["theta_sd"])
    assert ratio < 0.6


def test_missing_answers_widen_the_interval() -> None:
    full = irt.simulate(80, 30, seed=8).data
    scores = full.scores.copy()
    scores[0, 5:] = np.nan
    fit = irt.fit(irt.ResponseMatrix(scores, full.students, full.items), method="map")
    whole = irt.fit(full, method="map")
    assert fit.abilities.loc[0, "theta_sd"] > 1.4 * whole.abilities.loc[0, "theta_sd"]


def test_three_parameter_lower_asymptotes_stay_near_chance_with_few_students(small: irt.Simulation) -> None:
    options = {item: 2 if index < 20 else 5 for index, item in enumerate(small.data.items)}
    fit = irt.fit(small.data, "3pl", method="map", options=options)
    assert fit.items["c"][:20].mean() == pytest.approx(0.5, abs=0.1)
    assert fit.items["c"][20:].mean() == pytest.approx(0.2, abs=0.07)
    assert any("15 students say little about guessing" in sentence for sentence in fit.warnings)


def test_auto_takes_the_simplest_model_that_predicts_as_well_and_says_why() -> None:
    rasch = irt.fit(irt.simulate(150, 25, "1pl", seed=9).data, "auto", method="map")
    assert rasch.model == "1pl"
    assert [row["model"] for row in rasch.model_choice] == ["1pl", "2pl", "3pl"]
    assert rasch.notes[-1].startswith("Chose 1pl of 1pl, 2pl, 3pl by PSIS-LOO")
    spread = irt.fit(irt.simulate(150, 30, "2pl", seed=9, log_a_sd=0.5).data, "auto", method="map")
    assert spread.model == "2pl"


def test_discriminations_that_run_away_are_stopped_and_not_called_converged() -> None:
    sim = irt.simulate(150, 15, "2pl", seed=9, log_a_sd=1.0)
    fit = irt.fit(sim.data, method="map")
    assert not fit.converged
    assert any("ran into its bound" in sentence for sentence in fit.warnings)
    # Abilities integrated, the answer is still usable: in a joint mode most discriminations end at 0.
    assert np.corrcoef(np.log(fit.point["a"]), np.log(sim.truth.a))[0, 1] > 0.8


def test_auto_is_refused_where_cross_validation_is_unreliable(monkeypatch: pytest.MonkeyPatch) -> None:
    from irt import _estimation as estimation

    monkeypatch.setattr(estimation, "UNRELIABLE", -1.0)
    with pytest.raises(ValueError, match="'auto' cannot compare 1pl, 2pl, 3pl"):
        irt.fit(irt.simulate(60, 12, seed=9).data, "auto", method="map")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "5pl"}, "unknown model '5pl'; wanted 1pl, 2pl, 3pl, 3pl-shared, 4pl or auto"),
        ({"method": "vb"}, "unknown method 'vb'; wanted nuts, map, laplace, mml or svi"),
        ({"method": "map", "backend": "pymc"}, "model '2pl' by 'map' has no backend 'pymc'; wanted numpy"),
        ({"interval": 1.5}, "interval 1.5 is not a probability"),
        ({"chains": 1}, "1 chain cannot be checked"),
        ({"facets": ["llm"]}, "unknown facet 'llm'; the table has 'retriever', 'icl'"),
        ({"options": 1}, "options 1 is not a number of choices"),
        ({"options": {"q0": 4}}, "options are missing for item 'q1'"),
        ({"options": [4, 4]}, "2 option counts for 45 items"),
    ],
)
def test_bad_settings_are_refused(small: irt.Simulation, settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        irt.fit(small.data, **settings)  # type: ignore[arg-type]


def test_one_student_or_item_is_refused() -> None:
    data = irt.simulate(5, 4, seed=0).data
    with pytest.raises(ValueError, match="only 1 student"):
        irt.fit(data.select_students(["s0"]))
    with pytest.raises(ValueError, match="only 1 item"):
        irt.fit(data.select(["q0"]))


def test_importing_loads_nothing_that_only_some_calls_need() -> None:
    import subprocess

    heavy = ("torch", "transformers", "sentence_transformers", "datasets", "jax", "numpyro", "arviz", "matplotlib")
    heavy += ("numba", "scipy.stats", "scipy.optimize", "scipy.interpolate")
    code = f"import sys, irt; print([m for m in {heavy} if m in sys.modules])"
    root = Path(__file__).parents[2]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert ran.stdout.strip() == "[]"


def test_likelihood_gradient_of_the_sampler_is_that_of_automatic_differentiation() -> None:
    import jax
    import jax.numpy as jnp

    from irt.fitting._numpyro_model import _cell_likelihood

    rng = np.random.default_rng(0)
    n = rng.integers(0, 4, (5, 6)).astype(float)
    k = rng.binomial(n.astype(int), 0.5).astype(float)
    with jax.enable_x64(True):
        theta, log_a, b = (jnp.asarray(rng.standard_normal(size)) for size in (5, 6, 6))
        c, delta = jnp.full(6, 0.2), jnp.full(6, 0.9)
        for plain in (True, False):
            low, high = (jnp.zeros(6), jnp.ones(6)) if plain else (c, delta)
            fast = _cell_likelihood(jnp.asarray(k), jnp.asarray(n - k), plain)

            def slow(theta: object, log_a: object, b: object, c: object, delta: object) -> object:
                return kernels.log_likelihood(k, n, theta, jnp.exp(log_a), b, c, c + (1 - c) * delta).sum()

            arguments = (theta, log_a, b, low, high)
            free = (0, 1, 2) if plain else (0, 1, 2, 3, 4)
            value, wanted = jax.jit(jax.value_and_grad(slow, argnums=free))(*arguments)
            same, found = jax.jit(jax.value_and_grad(fast, argnums=free))(*arguments)
            np.testing.assert_allclose(same, value, rtol=1e-10)
            for left, right in zip(found, wanted, strict=True):
                np.testing.assert_allclose(left, right, rtol=1e-8, atol=1e-10)
