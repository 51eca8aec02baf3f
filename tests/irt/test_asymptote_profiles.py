"""Intervals of asymptotes: the profile of the marginal likelihood, and draws along it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import irt
from irt._quadrature import log_weights
from irt._responses import Floats
from irt.fitting._asymptote_paths import Knot, Path, path_of
from irt.fitting._asymptote_profiles import FittedMaximum, profiles, with_asymptotes_held
from irt.fitting._coordinates import SHARED, curves
from irt.fitting._em import EDGE, compress, evaluate
from irt.fitting._item_alone import item_alone, log_likelihoods
from irt.fitting._item_priors import Penalty
from irt.fitting._marginal_maximum import estimate
from irt.fitting._observed_information import observe
from irt.kernels import RUNAWAY
from tests.irt.lsat import lsat6, lsat7
from tests.irt.marginal import mml, problem_of, small_table

LIMIT = 1.645
"""Signed root at the one-sided 95 % limit, the upper end of a 90 % interval."""


def surroundings(data: irt.ResponseMatrix, model: str) -> tuple[FittedMaximum, list[Path]]:
    problem = problem_of(data, model)
    answers = compress(problem.successes, problem.attempts)
    found = estimate(answers, problem)
    top, slopes = found.climb, found.ability_slopes
    fitted = FittedMaximum(
        answers, top.state, top.nodes, SHARED[model], found.penalty, found.curvature, slopes, found.fixed
    )
    error = np.sqrt(np.einsum("ikk->ki", found.curvature.covariance)) * ~found.fixed
    return fitted, profiles(fitted, with_asymptotes_held(fitted), error)


def highest(data: irt.ResponseMatrix, start: Floats, held: dict[tuple[int, int], float]) -> tuple[float, Floats]:
    """The marginal log-likelihood of a 3PL, written out, maximised by a general method with some coordinates held."""
    nodes = np.linspace(-6, 6, 81)
    weights = np.exp(log_weights(nodes))
    patterns, counts = np.unique(data.scores, axis=0, return_counts=True)
    free = np.ones(start.shape, dtype=bool)
    x = start.copy()
    for place, value in held.items():
        free[place], x[place] = False, value

    def height(values: Floats) -> float:
        x[free] = values
        c = expit(x[2])
        p = np.clip(c + (1 - c) * expit(np.outer(nodes, x[0]) + x[1]), 1e-12, 1 - 1e-12)
        likelihood = np.exp(patterns @ np.log(p).T + (1 - patterns) @ np.log1p(-p).T) @ weights
        return -float(counts @ np.log(likelihood))

    limits = [((-12, 12), (-12, 12), (-11, 8))[row] for row, _ in np.argwhere(free)]
    found = minimize(height, x[free], method="L-BFGS-B", bounds=limits, options={"maxfun": 20_000})
    x[free] = found.x
    return -float(found.fun), x


def test_limits_of_guessing_at_its_bound_are_those_of_a_full_profile_by_a_general_method() -> None:
    fitted, paths = surroundings(lsat7(), "3pl")
    top, x = highest(lsat7(), fitted.state.x, {})
    assert top == pytest.approx(fitted.state.log_likelihood, abs=2e-3)
    fit = mml(lsat7(), "3pl")
    for path in paths:
        item = int(path.items[0])
        if fit.parameters.c[item] > 0.01:
            continue
        limit = float(path.at(path.away, np.array([LIMIT]))[0])
        height, there = highest(lsat7(), x, {(2, item): float(np.log(limit / (1 - limit)))})
        assert np.sqrt(2 * (top - height)) == pytest.approx(LIMIT, abs=0.12), item
        assert fit.items["c_high"][item] == pytest.approx(limit, abs=0.03)
        if abs(there[0, item]) < 5:
            moved = float(fit.parameters.a[item] * np.exp(path.at(path.grown[:, 0], np.array([LIMIT]))[0]))
            assert moved == pytest.approx(there[0, item], rel=0.15)


def test_a_profile_towards_the_bound_falls_as_far_as_the_2pl_lies_below() -> None:
    fitted, paths = surroundings(lsat7(), "3pl")
    path = next(path for path in paths if path.items[0] == 1)
    assert path.away[0] == 0.0
    fall = fitted.state.log_likelihood - mml(lsat7()).log_likelihood
    assert -path.roots[0] == pytest.approx(np.sqrt(2 * fall), abs=0.1)


def test_the_limit_of_shared_guessing_at_its_bound_is_that_of_a_full_profile() -> None:
    fitted, (path,) = surroundings(lsat7(), "3pl-shared")
    limit = float(path.at(path.away, np.array([LIMIT]))[0])
    held = {(2, item): float(np.log(limit / (1 - limit))) for item in range(5)}
    height, there = highest(lsat7(), fitted.state.x, held)
    assert np.sqrt(2 * (fitted.state.log_likelihood - height)) == pytest.approx(LIMIT, abs=0.03)
    moved = fitted.state.x[0] * np.exp(path.at(path.grown, np.array([LIMIT]))[0])
    np.testing.assert_allclose(moved, there[0], rtol=0.05)
    fit = mml(lsat7(), "3pl-shared")
    assert np.ptp(fit.draws["c"], axis=1).max() < 1e-12
    np.testing.assert_allclose(fit.items["c_high"], limit, atol=0.02)


def test_limits_of_the_upper_asymptote_mirror_those_of_guessing() -> None:
    """Answers turned round: c becomes 1 - d and slopes negative, the same likelihood in other coordinates."""
    fitted, paths = surroundings(lsat7(), "3pl")
    answers, nodes = fitted.table, fitted.nodes
    turned = replace(answers, successes=answers.trials - answers.successes)
    slope, intercept, logit = fitted.state.x
    x = np.stack([-slope, -intercept, np.full_like(logit, -EDGE), -logit])
    nothing, fixed = Penalty(*np.zeros((4, *x.shape))), np.zeros(x.shape, dtype=bool)
    fixed[2], fixed[3] = True, fitted.fixed[2]
    state, shared = evaluate(turned, x, nodes, SHARED["4pl"], nothing), SHARED["4pl"]
    seen = observe(turned, x, nodes, shared, nothing, fixed.astype(float))
    assert seen.curvature is not None
    mirror = FittedMaximum(turned, state, nodes, shared, nothing, seen.curvature, seen.ability_slopes, fixed)
    errors = np.sqrt(np.einsum("ikk->ki", seen.curvature.covariance)) * ~fixed
    for path, other in zip(profiles(mirror, with_asymptotes_held(mirror), errors)[-5:], paths, strict=True):
        roots = np.linspace(max(path.roots[0], -1.0), 2.0, 7)
        np.testing.assert_allclose(path.at(path.away, roots), other.at(other.away, roots), atol=2e-3)
        np.testing.assert_allclose(path.at(path.grown, roots), other.at(other.grown, roots), atol=2e-2)
        np.testing.assert_allclose(path.ability, other.ability, atol=2e-2)


@pytest.mark.parametrize("model", ["3pl", "4pl"])
def test_an_item_alone_has_the_likelihood_of_the_table(model: str) -> None:
    answers, x, nodes = small_table(model)
    at = curves(x, nodes)
    alone, nothing = item_alone(answers, log_likelihoods(answers, at), at, 2), Penalty(*np.zeros((4, *x.shape)))
    here = evaluate(answers, x, nodes, SHARED[model], nothing)
    for seed in range(3):
        moved = x.copy()
        moved[:, 2] += 0.5 * np.random.default_rng(seed).standard_normal(len(x))
        there, seen = evaluate(answers, moved, nodes, SHARED[model], nothing), alone.seen(moved[:, 2])
        assert seen.value - alone.seen(x[:, 2]).value == pytest.approx(there.value - here.value, abs=1e-9)
        np.testing.assert_allclose(seen.gradient, there.gradient[:, 2], atol=1e-9)
        for row, step in enumerate(1e-5 * np.eye(len(x))):
            up, down = alone.seen(moved[:, 2] + step).gradient, alone.seen(moved[:, 2] - step).gradient
            np.testing.assert_allclose(seen.information[row], (down - up) / 2e-5, atol=1e-5)


def test_of_several_ways_to_a_height_the_farthest_counts() -> None:
    nothing, one = np.zeros((3, 1)), np.eye(3)
    falls = {0.0: 0.0, 0.1: 1.0, 0.2: 0.5, 0.3: 2.0, 0.4: 6.0}
    knots = [
        Knot(away, fall, np.array([[1.0], [0.0], [-11.0 + away]]), one, nothing, nothing[:, 0])
        for away, fall in falls.items()
    ]
    path = path_of(2, np.array([0]), knots[:1], knots, 1)
    np.testing.assert_allclose(path.at(path.away, np.sqrt(2 * np.array([0.0, 0.5, 2.0, 6.0]))), [0.0, 0.2, 0.3, 0.4])
    assert np.all(np.diff(path.at(path.away, np.linspace(0, path.roots[-1], 50))) >= 0)


def test_draws_keep_the_share_right_whatever_they_say_of_guessing() -> None:
    fit, nodes = mml(lsat7(), "3pl"), np.linspace(-6, 6, 121)
    weights = np.exp(log_weights(nodes))
    for item, share in enumerate(lsat7().scores.mean(axis=0)):
        a, b, c = (fit.draws[name][:, item] for name in "abc")
        expected = (c[:, None] + (1 - c[:, None]) * expit(a[:, None] * (nodes - b[:, None]))) @ weights
        for part in (c < 0.01, c > 0.2):
            assert np.sum(part) > 50
            assert np.mean(expected[part]) == pytest.approx(share, abs=0.015)
            assert np.std(expected[part]) < 0.04


def test_intervals_of_items_with_guessing_estimated_as_0_hold_the_truth() -> None:
    held, inside = [], []
    for seed in range(4):
        sim = irt.simulate(1000, 20, "3pl", seed=seed, guessing=0.2)
        fit = mml(sim.data, "3pl")
        bounded = fit.parameters.c < 1e-3
        table, share = fit.items[bounded], sim.data.scores.mean(axis=0)[bounded]
        assert np.all(table["c_high"] < share)
        assert np.all(np.isfinite(fit.information([-2.0, 0.0, 2.0]).total))
        held.extend(table["c_high"] >= 0.2)
        for name in "ab":
            truth = getattr(sim.truth, name)[bounded]
            inside.extend((table[f"{name}_low"] <= truth) & (truth <= table[f"{name}_high"]))
    assert len(held) > 20
    assert np.mean(held) > 0.85
    assert np.mean(inside) > 0.8


def test_slopes_that_end_where_they_are_no_longer_followed_are_named_and_flagged() -> None:
    data = lsat6()
    fit = irt.fit(data, "3pl", "mml", seed=0)
    ended = np.isclose(np.abs(fit.draws["a"]), RUNAWAY, rtol=1e-9).mean(axis=0)
    assert ended.max() > 0.05
    (note,) = (sentence for sentence in fit.notes if "slopes are followed up to 12" in sentence)
    named = [item for item, share in zip(data.items, ended, strict=True) if share > 0]
    assert all(f"'{item}'" in note for item in named[:3])
    assert f"({ended.max():.0%} of the draws stand there, at most)" in note
    flagged = fit.items["item"][fit.items["flags"].str.contains("slope not bounded above")]
    assert set(fit.items["item"][fit.items["a_high"] >= RUNAWAY * (1 - 1e-9)]) <= set(flagged)
    assert not any("followed up to" in sentence for sentence in irt.fit(data, "2pl", "mml", seed=0).notes)
