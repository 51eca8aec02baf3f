"""The variational approximation finds the same centre as the other methods, and owns up to its width."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import irt

GRID = {"llm": 3, "retriever": 5, "icl": 3}


@pytest.fixture(scope="module")
def grid() -> irt.Simulation:
    return irt.simulate(None, 120, facets=GRID, seed=2)


def test_components_agree_with_the_mode(grid: irt.Simulation) -> None:
    fit, mode = irt.fit(grid.data, method="svi", seed=1), irt.fit(grid.data, method="map")
    assert fit.converged
    gap = (fit.components["effect"] - mode.components["effect"]) / mode.components["sd"]
    assert gap.abs().max() < 0.75
    ratio = fit.components["sd"] / mode.components["sd"]
    assert 0.4 < ratio.mean() < 1.1
    assert fit.components.groupby("facet")["effect"].sum().abs().max() < 1e-9
    assert any("intervals are too narrow" in sentence for sentence in fit.warnings)


@pytest.mark.validate
@pytest.mark.parametrize("model", ["1pl", "3pl", "3pl-shared", "4pl"])
def test_every_model_has_its_bound(model: str) -> None:
    sim = irt.simulate(300, 30, model, seed=3, missing=0.1)
    fit, mode = (irt.fit(sim.data, model, method, facets=()) for method in ("svi", "map"))
    assert np.corrcoef(fit.point["theta"], mode.point["theta"])[0, 1] > 0.98
    assert np.corrcoef(fit.point["b"], mode.point["b"])[0, 1] > 0.95
    assert np.isfinite(fit.items.drop(columns=["item", "flags"]).to_numpy()).all()


def test_truth_is_recovered_from_batches_of_students() -> None:
    sim = irt.simulate(1500, 60, seed=4)
    fit = irt.fit(sim.data, method="svi", facets=())
    for name, limit in (("a", 0.17), ("b", 0.17), ("theta", 0.38)):
        assert np.sqrt(np.mean((fit.point[name] - getattr(sim.truth, name)) ** 2)) < limit, name


def test_counts_weigh_as_their_trials_and_the_seed_decides() -> None:
    sim = irt.simulate(80, 20, seed=5, trials=5)
    first, again = (irt.fit(sim.data, method="svi", facets=(), seed=7) for _ in range(2))
    np.testing.assert_array_equal(first.draws["theta"], again.draws["theta"])
    assert np.corrcoef(first.point["theta"], sim.truth.theta)[0, 1] > 0.95


@pytest.mark.validate
def test_another_process_whose_sets_have_another_order_draws_the_same(tmp_path: Path) -> None:
    program = (
        "import sys, irt, numpy as np; data = irt.simulate(80, 20, seed=5).data\n"
        "np.save(sys.argv[1], irt.fit(data, method='svi', facets=(), seed=7).draws['theta'])"
    )
    for order in "12":
        words = [sys.executable, "-c", program, str(tmp_path / f"{order}.npy")]
        subprocess.run(words, env=os.environ | {"PYTHONHASHSEED": order}, check=True)
    np.testing.assert_array_equal(*(np.load(tmp_path / f"{order}.npy") for order in "12"))
