"""The mode is the same whichever way its system is solved, and honest where a joint mode fails."""

from collections.abc import Callable

import numpy as np
import pytest

import irt
from irt._design import build_design
from irt._model import Priors, Problem, build_problem
from irt.fitting import _laplace as laplace
from irt.fitting import _linearised as linearised
from tests.irt.lsat import lsat6, lsat7

Section = Callable[[], irt.ResponseMatrix]


def problem_of(data: irt.ResponseMatrix, model: str) -> Problem:
    return build_problem(data, build_design(data), model, 4, Priors())


@pytest.mark.parametrize(("shape", "model"), [((150, 40), "2pl"), ((40, 150), "2pl"), ((100, 40), "3pl")])
def test_conjugate_gradients_reach_the_mode_of_the_exact_solver(
    shape: tuple[int, int], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = irt.simulate(*shape, model, seed=3).data
    exact = irt.fit(data, model, method="map")
    monkeypatch.setattr(linearised, "CHEAP", 0.0)
    monkeypatch.setattr(laplace, "DEAR", 0.0)
    monkeypatch.setattr(linearised, "DOUBLE", 0)
    large = irt.fit(data, model, method="map")
    assert large.converged
    for name in ("a", "b", "theta"):
        sd = exact.draws[name].std(axis=0)
        # Scales differ a little, since their updates use the variances of blocks.
        assert np.max(np.abs(large.point[name] - exact.point[name]) / sd) < 0.1, name
        assert np.median(large.draws[name].std(axis=0) / sd) == pytest.approx(1.0, abs=0.1), name


@pytest.mark.parametrize(("section", "model"), [(lsat6, "2pl"), (lsat7, "2pl"), (lsat7, "3pl")])
def test_five_items_have_a_mode_with_abilities_integrated(section: Section, model: str) -> None:
    fit = irt.fit(section(), model, method="map")
    assert fit.converged
    assert fit.diagnostics["integrated"] == 1
    assert any("with abilities integrated" in sentence for sentence in fit.notes)
    assert np.all((fit.point["a"] > 0.5) & (fit.point["a"] < 2.0))


def test_rasch_intercepts_of_lsat6_are_the_published_ones() -> None:
    fit = irt.fit(lsat6(), "1pl", method="map")
    # Marginal maximum likelihood with free variance .57; priors and the Gaussian shrink a little.
    published = np.array([2.73, 0.999, 0.24, 1.306, 2.099])
    np.testing.assert_allclose(-fit.point["a"] * fit.point["b"], published, rtol=0.03, atol=0.01)
    assert fit.point["a"][0] == pytest.approx(np.sqrt(0.57), rel=0.1)


def test_integrated_abilities_take_the_bias_out_of_discriminations_and_difficulties() -> None:
    sim = irt.simulate(600, 25, seed=2)
    problem = problem_of(sim.data, "2pl")
    errors = {}
    for joint in (True, False):
        fit = laplace.climb(problem, joint=joint)
        assert fit.integrated is not joint
        items = laplace.mode_of(problem, fit)
        unit = fit.scales.residual
        errors[joint] = [
            float(np.sqrt(np.mean((found - true) ** 2)))
            for found, true in ((items.a[0] * unit, sim.truth.a), (items.b[0] / unit, sim.truth.b))
        ]
    assert all(integrated < 0.8 * at_joint for integrated, at_joint in zip(errors[False], errors[True], strict=True))
    assert errors[False][0] < 0.15


def test_nested_laplace_adds_the_uncertainty_of_the_scales() -> None:
    data = irt.simulate(None, 30, facets={"retriever": 5, "icl": 3}, seed=1).data
    mode, nested = (irt.fit(data, method=method, item_effects=False) for method in ("map", "laplace"))
    assert nested.converged
    assert nested.draws["scale.retriever"].std() > 0.1
    ratio = nested.draws["effect.retriever"].std(axis=0) / mode.draws["effect.retriever"].std(axis=0)
    assert 1.0 < ratio.mean() < 1.3
    np.testing.assert_allclose(nested.point["theta"], mode.point["theta"], atol=0.15)


def test_nested_laplace_finds_scales_where_the_joint_search_for_them_runs_away() -> None:
    sim = irt.simulate(30, 20, seed=0)
    problem = problem_of(sim.data, "2pl")
    assert laplace.at_bound(problem, laplace.climb(problem, joint=True))
    fit = irt.fit(sim.data, method="laplace")
    assert fit.converged
    assert any("intervals of discriminations are too short" in sentence for sentence in fit.warnings)
    covered = (fit.items["b_low"] < sim.truth.b) & (sim.truth.b < fit.items["b_high"])
    assert np.mean(covered) > 0.75
    assert np.sqrt(np.mean((fit.point["theta"] - sim.truth.theta) ** 2)) < 0.6


def test_five_items_say_that_few_sampled_scales_carry_the_weight() -> None:
    fit = irt.fit(lsat6(), method="laplace")
    assert not fit.converged
    assert any("of 64 sampled scales carry the weight" in sentence for sentence in fit.warnings)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (irt.simulate(10, 20, seed=1).data, "the discriminations ran away in this table; use method 'nuts'"),
        (irt.simulate(800, 700, seed=0).data, "method 'laplace' fits up to 500000 cells, found 800 x 700"),
    ],
)
def test_laplace_is_refused_where_it_cannot_be_had(data: irt.ResponseMatrix, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        irt.fit(data, method="laplace")


@pytest.mark.slow
@pytest.mark.parametrize(("students", "items"), [(1000, 2000), pytest.param(2000, 4000, marks=pytest.mark.validate)])
def test_a_table_of_millions_of_cells_is_fitted_from_its_answers_to_its_tables(students: int, items: int) -> None:
    sim = irt.simulate(students, items, seed=6)
    fit = irt.fit(sim.data, method="map")
    assert fit.converged
    for name, limit in (("a", 0.08), ("b", 0.1), ("theta", 0.06)):
        error = np.sqrt(np.mean((fit.point[name] - getattr(sim.truth, name)) ** 2))
        assert error < limit * np.sqrt(2000 / students), name
    assert not fit.items.isna().to_numpy().any()
    covered = (fit.abilities["theta_low"] < sim.truth.theta) & (sim.truth.theta < fit.abilities["theta_high"])
    assert np.mean(covered) > 0.8
