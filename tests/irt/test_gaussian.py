"""Every way of solving the joint Gaussian is the inverse of the same dense matrix."""

import numpy as np
import pytest

import irt
from irt._design import build_design
from irt._model import Priors, build_problem
from irt._responses import Floats
from irt.fitting import _laplace as laplace
from irt.fitting._ability import Known, Loadings, loadings
from irt.fitting._gaussian import ItemsKept, Iterative, JointPrecision, Point, StudentsKept

GRID = {"llm": 3, "retriever": 4}


def dense(map_of: Loadings) -> Floats:
    return map_of.ability(np.eye(map_of.size)).T


@pytest.mark.parametrize("facets", [[], list(GRID)])
@pytest.mark.parametrize("residual", [True, False])
def test_abilities_given_the_items_are_solved_without_dense_matrices(facets: list[str], residual: bool) -> None:
    if not facets and not residual:
        return
    rng = np.random.default_rng(0)
    design = build_design(irt.simulate(None, 5, facets=GRID, seed=0).data, facets)
    map_of = loadings(design, tuple(0.7 for _ in design.terms), 0.8)
    if not residual:
        map_of = Loadings(map_of.effects, None)
    information = rng.uniform(0, 5, 12)
    information[0] = 0.0
    matrix, known = dense(map_of), Known(map_of, information)
    covariance = np.linalg.inv(np.eye(map_of.size) + matrix.T @ (information[:, None] * matrix))
    v, u = rng.standard_normal((3, map_of.size)), rng.standard_normal((3, 12))
    np.testing.assert_allclose(map_of.back(u), u @ matrix, atol=1e-12)
    np.testing.assert_allclose(known.solve(v), v @ covariance, atol=1e-12)
    np.testing.assert_allclose(known.covariance(u), u @ (matrix @ covariance @ matrix.T), atol=1e-12)
    np.testing.assert_allclose(known.variances, np.diag(matrix @ covariance @ matrix.T), atol=1e-12)
    np.testing.assert_allclose(known.weight_variances, np.diag(covariance), atol=1e-12)


@pytest.fixture(scope="module", params=["2pl", "4pl"])
def joint(request: pytest.FixtureRequest) -> JointPrecision:
    data = irt.simulate(None, 9, facets=GRID, seed=1).data
    problem = build_problem(data, build_design(data, list(GRID)), request.param, 4, Priors())
    return laplace.climb(problem).curvature.solver.joint


def inverse(joint: JointPrecision) -> Floats:
    """The dense joint covariance, weights first, then coordinates item by item."""
    matrix, items, width = dense(joint.known.loadings), *joint.blocks.shape[:2]
    coupling = matrix.T @ joint.coupling.dense().reshape(len(matrix), -1)
    blocks = np.zeros((items * width, items * width))
    for item in range(items):
        where = slice(item * width, (item + 1) * width)
        blocks[where, where] = joint.blocks[item]
    given = np.eye(matrix.shape[1]) + matrix.T @ (joint.known.information[:, None] * matrix)
    return np.linalg.inv(np.block([[given, coupling], [coupling.T, blocks]]))


@pytest.mark.parametrize("kind", [StudentsKept, ItemsKept, Iterative])
def test_every_solver_is_the_dense_inverse(
    joint: JointPrecision, kind: type[StudentsKept | ItemsKept | Iterative]
) -> None:
    rng = np.random.default_rng(2)
    size, (items, width) = joint.known.loadings.size, joint.blocks.shape[:2]
    right = Point(rng.standard_normal(size), rng.standard_normal((width, items)))
    wanted = inverse(joint) @ np.concatenate([right.w, right.x.T.reshape(-1)])
    found = kind(joint).solve(right)
    tolerance = 1e-3 if kind is Iterative else 1e-9
    np.testing.assert_allclose(found.w, wanted[:size], atol=tolerance)
    np.testing.assert_allclose(found.x.T.reshape(-1), wanted[size:], atol=tolerance)


@pytest.mark.parametrize("kind", [StudentsKept, ItemsKept])
def test_exact_solvers_know_marginal_variances_and_draw_with_them(
    joint: JointPrecision, kind: type[StudentsKept | ItemsKept]
) -> None:
    size, covariance = joint.known.loadings.size, inverse(joint)
    found = kind(joint)
    variances = found.variances()
    together = np.concatenate([variances.w, variances.x.T.reshape(-1)])
    np.testing.assert_allclose(together, np.diag(covariance), rtol=1e-8)
    draws = found.sample(np.random.default_rng(3), 40_000)
    flat = np.hstack([draws.w, draws.x.transpose(0, 2, 1).reshape(len(draws.w), -1)])
    spread = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.max(np.abs(flat.T @ flat / len(flat) - covariance) / spread) < 0.04
    assert flat.shape[1] == size + joint.blocks[:, 0].size
