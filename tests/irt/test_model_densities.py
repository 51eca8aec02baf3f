"""numpyro and pymc hold one posterior density, up to a constant, for every model."""

from typing import Any

import numpy as np
import pytest

import irt
from irt._design import build_design
from irt._model import Priors, Problem, build_problem
from irt.fitting._numpyro_model import inputs_of, numpyro_model, structure_of

FACETS = {"retriever": 3, "shots": 2}


def problem_of(model: str) -> Problem:
    """Seven students and five items; `factorial` has facets, their interaction and a rest."""
    if model != "factorial":
        data = irt.simulate(7, 5, model, seed=0).data
        return build_problem(data, build_design(data), model, [2, 3, 4, 5, 6], Priors())
    data = irt.simulate(12, 5, facets=FACETS, seed=4).data
    return build_problem(data, build_design(data, list(FACETS), [list(FACETS)]), "2pl", 4, Priors())


@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl", "3pl-shared", "4pl", "factorial"])
def test_numpyro_and_pymc_have_one_density(model: str) -> None:
    import jax
    from numpyro.infer.util import log_density

    from irt.fitting._pymc_model import pymc_model

    problem = problem_of(model)
    other = pymc_model(problem)
    density = other.compile_logp(jacobian=False, mode="FAST_COMPILE")
    variables = [*other.free_RVs, *other.deterministics]
    values_at = other.compile_fn(other.replace_rvs_by_values(variables), mode="FAST_COMPILE")
    model, inputs = numpyro_model(structure_of(problem)), inputs_of(problem)
    # One program is compiled in place of one for every operation.
    ours = jax.jit(lambda values: log_density(model, (inputs,), {}, values)[0])
    rng, gaps = np.random.default_rng(0), []
    for _ in range(3):
        point = {name: rng.normal(0, 0.7, value.shape) for name, value in other.initial_point().items()}
        values: dict[str, Any] = dict(zip([variable.name for variable in variables], values_at(point), strict=True))
        # pymc draws the groups at unit scale: a change of variables of this width.
        width = sum(size * np.log(values[scale]) for scale, size in free_sizes(problem))
        with jax.enable_x64(True):
            said = float(ours(values))
        gaps.append(said + float(width) - float(density(point)))
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-9)


def free_sizes(problem: Problem) -> list[tuple[str, int]]:
    """The scale of each zero-sum group, and how many values of the group are free."""
    students, items = problem.attempts.shape
    found = [
        (f"scale_{index}", int(np.prod([levels - 1 for levels in term.shape])))
        for index, term in enumerate(problem.design.terms)
    ]
    found += [("residual_scale", students - 1)] if problem.design.residual else []
    found += [("spread_a", items - 1)] if problem.free_a else []
    return [*found, ("spread_b", items - 1)]
