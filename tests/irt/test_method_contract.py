"""What every method owes: the same scale, estimates and errors that agree, and the same answer to the same seed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import irt

METHODS = ["map", "mml", "laplace", pytest.param("nuts", marks=pytest.mark.slow)]
PROGRAM = """
import sys
import numpy as np
import irt
plain, faceted = irt.simulate(40, 15, seed=0).data, irt.simulate(None, 15, facets={"x": 4, "y": 4}, seed=0).data
draws = {}
for data, method in ((plain, "map"), (faceted, "map"), (plain, "mml"), (faceted, "laplace")):
    fit = irt.fit(data, method=method, seed=3)
    draws |= {f"{method} {len(draws)} {name}": values for name, values in fit.draws.items()}
np.savez(sys.argv[1], **draws)
"""


@pytest.fixture(scope="module")
def simulated() -> irt.Simulation:
    return irt.simulate(300, 30, seed=4)


@pytest.fixture(scope="module")
def reference(simulated: irt.Simulation) -> irt.Fit:
    return irt.fit(simulated.data, method="mml")


@pytest.fixture(scope="module", params=METHODS)
def fit(request: pytest.FixtureRequest, simulated: irt.Simulation) -> irt.Fit:
    return irt.fit(simulated.data, method=request.param, seed=1)


def test_abilities_are_on_the_scale_of_a_standard_normal_population(fit: irt.Fit) -> None:
    assert fit.converged
    theta = fit.draws["theta"]
    assert np.mean(theta) == pytest.approx(0, abs=0.06)
    assert np.sqrt(np.mean(theta.var(axis=1))) == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize(("name", "share"), [("a", 0.9), ("b", 0.6), ("theta", 0.3)])
def test_estimates_agree_within_a_share_of_their_errors(
    fit: irt.Fit, reference: irt.Fit, name: str, share: float
) -> None:
    gap = (fit.point[name] - reference.point[name]) / reference.errors[name]
    assert np.sqrt(np.mean(gap**2)) < share


@pytest.mark.parametrize("name", ["a", "b", "theta"])
def test_errors_are_of_one_size(fit: irt.Fit, reference: irt.Fit, name: str) -> None:
    frame = fit.abilities if name == "theta" else fit.items
    ratio = frame[f"{name}_sd"].to_numpy() / reference.errors[name]
    assert 0.6 < np.median(ratio) < 1.2


def test_errors_cover_the_truth(fit: irt.Fit, simulated: irt.Simulation) -> None:
    for name in ("b", "theta"):
        frame = fit.abilities if name == "theta" else fit.items
        truth = getattr(simulated.truth, name)
        assert np.mean((frame[f"{name}_low"] < truth) & (truth < frame[f"{name}_high"])) > 0.75


@pytest.mark.slow
def test_the_same_seed_gives_the_same_draws_in_other_processes_whatever_the_threads(tmp_path: Path) -> None:
    """One thread: bit for bit. Two: sums are added in another order by BLAS, which leaves rounding."""
    found = []
    for place, threads in enumerate("112"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
        path = tmp_path / f"{place}.npz"
        program = [sys.executable, "-c", PROGRAM, str(path)]
        subprocess.run(program, env=os.environ | dict.fromkeys(names, threads), check=True)
        found.append(np.load(path))
    first, again, other = found
    for name in first:
        np.testing.assert_array_equal(again[name], first[name])
        np.testing.assert_allclose(other[name], first[name], rtol=0, atol=1e-10)
