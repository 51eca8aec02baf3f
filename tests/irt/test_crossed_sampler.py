"""The Gibbs sampler with effects of levels on items: its kernels against closed forms, its sweep against the prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import irt
from irt._design import design_of
from irt._model import Priors, Problem, build_problem
from irt._responses import Floats
from irt.checks import mixing
from irt.fitting import _crossed as crossed
from irt.fitting import _crossed_kernels as kernels
from irt.fitting._crossed_moves import CrossedChain, CrossedTable

SWEEPS = 2500
"""Of the joint distribution test, which are worth thirty draws or more of each quantity."""


def small_problem(model: str = "2pl") -> Problem:
    data, design = design_of(irt.simulate(items=5, facets={"llm": 3, "retriever": 3}, seed=1).data, None)
    return build_problem(data, replace(design, item_facets=design.shared_facets), model, 4, Priors())


@pytest.mark.parametrize("students", [9, 63, 700])
@pytest.mark.parametrize("most", [1, 5])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.2, 0.9)])
def test_the_log_likelihood_of_a_table_is_that_of_the_formula(
    students: int, most: int, bounds: tuple[float, float]
) -> None:
    rng = np.random.default_rng(students)
    x, trials = rng.normal(0, 8, (6, students)), rng.integers(0, most + 1, (6, students)).astype(np.float64)
    right = rng.binomial(trials.astype(int), 0.5).astype(np.float64)
    c, delta = (np.full(6, value) for value in bounds)
    p = bounds[0] + (1 - bounds[0]) * bounds[1] / (1 + np.exp(-x))
    wrong = (1 - bounds[0]) * bounds[1] / (1 + np.exp(x)) + (1 - bounds[0]) * (1 - bounds[1])
    expected = np.sum(right * np.log(p) + (trials - right) * np.log(wrong))
    assert kernels.log_likelihood((right, trials), (c, delta), x) == pytest.approx(expected, rel=1e-12)


def test_moments_are_those_of_the_regression_with_effects_integrated_out() -> None:
    problem = small_problem()
    table, rng = crossed.table_of(problem), np.random.default_rng(3)
    items, students = table.answers[0].shape
    rows, precision = rng.standard_normal((students, 4)), np.full(len(table.facet), 0.7)
    weights = rng.random((items, students)), rng.standard_normal((items, students))
    moments = tuple(np.zeros((items, *size)) for size in ((6, 6), (6, 5), (5, 5)))
    kernels.take_moments(table.column, rows, weights, precision, moments)
    level = np.zeros((students, 6))
    for column in table.column:
        level[np.arange(students), column] = 1.0
    for i in range(items):
        omega, kappa = np.diag(weights[0][i]), weights[1][i]
        root = level.T @ omega @ level + np.diag(precision)
        linear = np.column_stack([level.T @ omega @ rows, level.T @ kappa])
        whole = np.zeros((5, 5))
        whole[:4, :4], whole[:4, 4], whole[4, :4] = rows.T @ omega @ rows, rows.T @ kappa, rows.T @ kappa
        assert np.tril(moments[0][i]) == pytest.approx(np.linalg.cholesky(root), abs=1e-10)
        assert moments[1][i] == pytest.approx(linear, abs=1e-12)
        assert moments[2][i] == pytest.approx(whole - linear.T @ np.linalg.solve(root, linear), abs=1e-10)


@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl"])
def test_a_chain_whose_answers_are_drawn_anew_after_each_sweep_has_the_prior(model: str) -> None:
    """The joint distribution test of Geweke (2004): scales, centre and discriminations come from their priors."""
    problem = small_problem(model)
    rng, table = np.random.default_rng(5), crossed.table_of(problem)
    chain = CrossedChain(table, crossed._start(problem, table, rng), rng)
    seen = []
    for _ in range(SWEEPS):
        chain.sweep()
        _answer_anew(chain, table, rng)
        seen.append(_scales(chain))
    drawn = np.array(seen)[SWEEPS // 10 :]
    truth = _prior(table, rng, 40_000)
    effective = np.minimum(mixing(drawn[None]).ess_bulk, len(drawn))
    assert effective.min() > 30
    for quantile in (0.25, 0.5, 0.75):
        below = (drawn < np.quantile(truth, quantile, axis=0)).mean(axis=0)
        error = np.sqrt(quantile * (1 - quantile) / effective)
        assert np.abs((below - quantile) / error).max() < 4, (model, quantile)


def _answer_anew(chain: CrossedChain, table: CrossedTable, rng: np.random.Generator) -> None:
    chain.fill_logits()
    c, delta = (values[:, None] for values in chain.bounds)
    p = c + (1 - c) * delta / (1 + np.exp(-chain.x))
    table.answers[0][:] = rng.random(p.shape) < p


def _scales(chain: CrossedChain) -> Floats:
    state, table = chain.state, chain.table
    spread = [state.spread_a, state.log_a[0] / state.spread_a] if table.free_a else []
    guessed = [state.c[0]] if table.guessing else []
    return np.array([*state.scale, *state.w, state.tau, state.spread_b, state.centre_b, state.z[0], *spread, *guessed])


def _prior(table: CrossedTable, rng: np.random.Generator, count: int) -> Floats:
    widths = table.widths
    names = ["term"] * (table.term.max() + 1) + ["effect"] * len(table.column) + ["tau", "spread_b"]
    parts = [widths[name] * np.abs(rng.standard_normal(count)) for name in names]
    parts += [widths["centre_b"] * rng.standard_normal(count), rng.standard_normal(count)]
    if table.free_a:
        share = np.sqrt(1 - 1 / len(table.answers[0]))  # the log discriminations sum to zero
        parts += [widths["spread_a"] * np.abs(rng.standard_normal(count)), share * rng.standard_normal(count)]
    if table.guessing:
        parts.append(rng.beta(*table.asymptotes[:2, 0], count))
    return np.column_stack(parts)
