"""Latent regression by `mml`: against direct maximisation, the simulated truth, and in repeated tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import irt

GROUPS = ("G1", "G2", "G3")
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)


def table(
    students: int, items: int, seed: int, spread: float = 0.3, effects: tuple[float, ...] = (-0.6, 0.1, 0.5)
) -> tuple[irt.ResponseMatrix, np.ndarray]:
    """Students in three groups, with a score that goes along with ability at 0.05 a point, and their abilities."""
    rng = np.random.default_rng(seed)
    group, score = np.arange(students) % 3, np.round(100 + 10 * rng.standard_normal(students), 1)
    theta = np.array(effects)[group] + 0.05 * (score - 100) + 0.8 * rng.standard_normal(students)
    a, d = np.exp(spread * rng.standard_normal(items)), rng.standard_normal(items)
    right = rng.random((students, items)) < 1 / (1 + np.exp(-(np.outer(theta, a) + d)))
    names = tuple(f"s{index}" for index in range(students))
    facets = pd.DataFrame({"group": np.array(GROUPS)[group], "score": score.astype(str)}, index=names)
    return irt.ResponseMatrix(right.astype(float), names, tuple(f"q{i}" for i in range(items)), facets=facets), theta


def columns(data: irt.ResponseMatrix) -> np.ndarray:
    """Groups 2 and 3 against the first, and the score in tens."""
    assert data.facets is not None
    group, score = data.facets["group"], data.facets["score"].astype(float)
    return np.column_stack([group == "G2", group == "G3", score / 10]).astype(float)


def minus_log_likelihood(free: np.ndarray, data: irt.ResponseMatrix, common: bool) -> float:
    """Of slopes (or one), intercepts and coefficients, with abilities integrated by Gauss and Hermite."""
    items = len(data.items)
    a, rest = (np.full(items, free[0]), free[1:]) if common else (free[:items], free[items:])
    d, beta = rest[:items], rest[items:]
    ability = (columns(data) @ beta)[:, None] + NODES
    logit = ability[:, :, None] * a + d
    signed = np.where(data.scores[:, None, :] == 1, logit, -logit)
    chance = np.exp(-np.logaddexp(0, -signed).sum(axis=2))
    return -float(np.log(chance @ WEIGHTS / np.sqrt(2 * np.pi)).sum())


@pytest.mark.parametrize("model", ["1pl", "2pl"])
def test_estimates_and_errors_are_those_of_direct_maximisation(model: str) -> None:
    data, _ = table(240, 4, seed=4)
    common = model == "1pl"
    start = np.concatenate([np.ones(1 if common else 4), np.zeros(4), np.zeros(3)])
    found = minimize(minus_log_likelihood, start, (data, common), "BFGS", options={"gtol": 1e-4})
    fit = irt.fit(data, model, "mml", ["group"], covariates=["score"], seed=1)
    assert fit.converged, fit.warnings
    assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-5)
    in_residuals = fit.point["residual_scale"]
    contrasts = [fit.contrast("group", level, "G1") for level in GROUPS[1:]] + [fit.contrast("score", "105", "95")]
    estimates = [each.estimate / in_residuals for each in contrasts]
    np.testing.assert_allclose(estimates, found.x[-3:], rtol=2e-3, atol=2e-3)
    slopes = found.x[0] if common else found.x[:4]
    np.testing.assert_allclose(fit.point["a"] * in_residuals, slopes, rtol=2e-3)
    draws = fit.draws["effect.group"] / fit.draws["residual_scale"][:, None]
    errors = np.sqrt(np.diag(np.linalg.inv(hessian(found.x, data, common))))[-3:-1]
    np.testing.assert_allclose((draws[:, 1:] - draws[:, :1]).std(axis=0), errors, rtol=0.06)


def hessian(at: np.ndarray, data: irt.ResponseMatrix, common: bool, step: float = 1e-3) -> np.ndarray:
    """Second derivatives by central differences."""
    moves = step * np.eye(len(at))

    def value(move: np.ndarray) -> float:
        return minus_log_likelihood(at + move, data, common)

    rows = [[value(u + v) - value(u - v) - value(v - u) + value(-u - v) for v in moves] for u in moves]
    return np.array(rows) / (4 * step**2)


@pytest.mark.parametrize(("model", "spread"), [("1pl", 0.0), ("2pl", 0.5)])
def test_a_group_and_a_number_are_recovered(model: str, spread: float, tmp_path: Path) -> None:
    data, theta = table(750, 10, seed=1, spread=spread)
    fit = irt.fit(data, model, "mml", ["group"], covariates=["score"], seed=0)
    assert fit.converged, fit.warnings
    unit = theta.std()
    for level_a, level_b, truth in (("G2", "G1", 0.7), ("G3", "G1", 1.1), ("G3", "G2", 0.4)):
        found = fit.contrast("group", level_a, level_b)
        assert abs(found.estimate - truth / unit) < 3 * found.sd
        assert found.low > 0
    slope = fit.contrast("score", "110", "100")
    assert abs(slope.estimate - 0.5 / unit) < 3 * slope.sd
    assert 0.02 < slope.sd < 0.1
    assert fit.residual_scale is not None
    assert abs(fit.residual_scale.estimate - 0.8 / unit) < 3 * fit.residual_scale.sd
    assert np.corrcoef(fit.point["theta"], theta)[0, 1] > 0.8
    fit.save(tmp_path)
    again = irt.load_fit(tmp_path)
    assert again.contrast("score", "110", "100").estimate == pytest.approx(slope.estimate)


def test_without_effects_the_regression_gains_what_chance_gives() -> None:
    data, _ = table(600, 8, seed=2, effects=(0.0, 0.0, 0.0))
    plain, with_group = (irt.fit(data, "1pl", "mml", facets) for facets in ((), ("group",)))
    assert 0 <= 2 * (with_group.log_likelihood - plain.log_likelihood) < 14  # chi-square on 2 degrees: p = 0.001
    assert with_group.diagnostics["parameters"] == plain.diagnostics["parameters"] + 2


def test_few_students_take_priors() -> None:
    sim = irt.simulate(items=60, facets={"llm": 3, "retriever": 5}, seed=2)
    fit = irt.fit(sim.data, "2pl", "mml", ["llm", "retriever"], priors=irt.Priors(), seed=0)
    assert fit.converged, fit.warnings
    for name, effects in sim.truth.effects.items():
        found = fit.components[fit.components["facet"] == name]
        assert np.max(np.abs(found["effect"] - effects) / found["sd"]) < 3


def test_a_table_whose_facets_explain_everything_is_not_said_to_converge() -> None:
    sim = irt.simulate(items=60, facets={"llm": 3, "retriever": 5}, seed=2, residual_sd=0.0)
    fit = irt.fit(sim.data, "1pl", "mml", ["llm", "retriever"], seed=0)
    assert not fit.converged
    assert any("Not converged" in sentence for sentence in fit.warnings)


def test_facets_without_a_residual_are_refused() -> None:
    sim = irt.simulate(items=20, facets={"llm": 3, "retriever": 3}, seed=2)
    with pytest.raises(ValueError, match=r"method 'mml': .* Wanted method 'map' or 'nuts', or fewer facets"):
        irt.fit(sim.data, "2pl", "mml", interactions=[("llm", "retriever")], facets=["llm", "retriever"])


def test_a_contrast_of_a_covariate_takes_numbers_within_its_range() -> None:
    data, _ = table(300, 5, seed=3)
    fit = irt.fit(data, "1pl", "mml", (), covariates=["score"], seed=0)
    halves = [fit.contrast("score", *ends).estimate for ends in (("101.234", "100"), ("100", "98.766"))]
    assert halves[0] == pytest.approx(halves[1])
    for wrong in ("300", "high"):
        with pytest.raises(ValueError, match=f"level '{wrong}' of covariate 'score'; wanted a number from"):
            fit.contrast("score", wrong, "100")


@pytest.mark.validate
@pytest.mark.parametrize("model", ["1pl", "2pl"])
def test_intervals_of_a_regression_hold_the_truth_as_often_as_they_say(model: str) -> None:
    held, tables = [], 40
    for seed in range(tables):
        data, theta = table(400, 10, seed=seed, spread=0.0 if model == "1pl" else 0.3)
        fit = irt.fit(data, model, "mml", ["group"], covariates=["score"], seed=seed)
        assert fit.converged, fit.warnings
        unit = theta.std()
        found = [
            fit.contrast("group", "G2", "G1"),
            fit.contrast("group", "G3", "G1"),
            fit.contrast("score", "110", "100"),
        ]
        truths = (0.7 / unit, 1.1 / unit, 0.5 / unit, 0.8 / unit)
        assert fit.residual_scale is not None
        pairs = zip([*found, fit.residual_scale], truths, strict=True)
        held.append([each.low < truth < each.high for each, truth in pairs])
    assert np.all(np.mean(held, axis=0) >= 0.78)  # binomial, 40 of probability .9: below 31 in 1 of 100
    assert 0.84 < np.mean(held) < 0.97
