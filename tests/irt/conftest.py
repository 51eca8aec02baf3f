"""Fits that several test files read: each is made once per run of the tests, whichever process needs it first."""

from __future__ import annotations

import os

import pytest

import irt


@pytest.fixture(scope="session")
def factorial() -> irt.Simulation:
    """Fifteen pipelines, five retrievers by three modes, on 45 items."""
    return irt.simulate(None, 45, facets={"retriever": 5, "icl": 3}, seed=1)


@pytest.fixture(scope="session")
def factorial_by_nuts(factorial: irt.Simulation, tmp_path_factory: pytest.TempPathFactory) -> irt.Fit:
    """Its sampled posterior. Processes side by side find it in the folder that they share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "factorial-by-nuts"
    if not (folder / "fit.json").exists():
        irt.fit(factorial.data, method="nuts", item_effects=False, seed=3).save(folder)
    return irt.load_fit(folder)
