"""The coordinates NUTS runs in are exact changes of variables, and nearly round."""

from typing import Any

import numpy as np
import pytest

import irt
from irt._design import build_design, zero_sum_basis
from irt._model import Priors, Problem, build_problem
from irt.fitting import _laplace as laplace
from irt.fitting._numpyro_model import structure_of, unconstrained
from irt.fitting._whitening import origin, place, whitening_of


def problem(case: str) -> Problem:
    if case == "no facets":
        data = irt.simulate(6, 4, seed=1).data
        return build_problem(data, build_design(data), "2pl", 4, Priors())
    data = irt.simulate(12, 4, facets={"retriever": 3, "shots": 2}, seed=1).data
    if case == "unbalanced":
        data = data.select_students([name for index, name in enumerate(data.students) if index not in (1, 2, 8)])
    if case == "shared guessing":
        return build_problem(data, build_design(data, ["retriever", "shots"]), "3pl-shared", 4, Priors())
    crossed = [("retriever", "shots")] if case == "no residual" else []
    if case == "no residual":
        data = data.select_students(data.students[:6])
    return build_problem(data, build_design(data, ["retriever", "shots"], crossed), "4pl", 4, Priors())


@pytest.mark.parametrize("case", ["no facets", "balanced", "unbalanced", "no residual", "shared guessing"])
def test_the_jacobian_is_that_of_the_map(case: str) -> None:
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree

    given = problem(case)
    structure = structure_of(given)
    rng = np.random.default_rng(0)
    with jax.enable_x64(True):
        given_map = whitening_of(given, laplace.climb(given), structure.layout)
        given_map = given_map._replace(
            abilities_lean=rng.standard_normal(given_map.abilities_lean.shape),
            items_lean=rng.standard_normal(given_map.items_lean.shape),
        )
        start, rebuild = ravel_pytree(origin(given_map, structure.layout))

        def values(flat: Any) -> Any:
            placed = place(rebuild(flat), given_map, structure.layout)
            # The surplus is standard normal given the rest: its own scale is part of the map.
            return ravel_pytree((unconstrained(structure, placed), placed.surplus if structure.free_a else ()))[0]

        @jax.jit
        def difference(flat: Any) -> Any:
            matrix = jax.jacfwd(values)(flat)
            assert matrix.shape[0] == matrix.shape[1]
            return jnp.linalg.slogdet(matrix)[1] - place(rebuild(flat), given_map, structure.layout).jacobian

        found = [float(difference(start + 0.7 * rng.standard_normal(len(start)))) for _ in range(4)]
    np.testing.assert_allclose(found, found[0], atol=1e-8)


def test_the_basis_is_that_of_numpyro() -> None:
    import jax
    from numpyro.distributions.transforms import ZeroSumTransform

    with jax.enable_x64(True):
        for size in (2, 5):
            rows = np.stack([np.asarray(ZeroSumTransform(1)(row)) for row in np.eye(size - 1)])
            np.testing.assert_allclose(zero_sum_basis((size,)), rows, atol=1e-12)
        crossed = np.stack([np.asarray(ZeroSumTransform(2)(row.reshape(2, 3))).ravel() for row in np.eye(6)])
        np.testing.assert_allclose(zero_sum_basis((3, 4)), crossed, atol=1e-12)


@pytest.mark.parametrize("case", ["no facets", "balanced", "unbalanced", "no residual", "shared guessing"])
def test_the_centre_of_the_map_is_the_mode(case: str) -> None:
    import jax

    given = problem(case)
    structure, mode = structure_of(given), laplace.climb(given)
    with jax.enable_x64(True):
        given_map = whitening_of(given, mode, structure.layout)
        placed = jax.jit(lambda: place(origin(given_map, structure.layout), given_map, structure.layout))()
    raw = laplace.mode_of(given, mode)
    b = np.asarray(placed.items[int(given.free_a)])
    free = zero_sum_basis_of(given)
    theta = free @ np.asarray(placed.effects) + np.asarray(placed.residuals)
    np.testing.assert_allclose(theta[:, None] - b, raw.theta[0][:, None] - raw.b[0], atol=1e-4)


def zero_sum_basis_of(given: Problem) -> Any:
    blocks = [zero_sum_basis(term.shape)[:, term.level_of].T for term in given.design.terms]
    return np.hstack(blocks) if blocks else np.zeros((given.design.students, 0))
