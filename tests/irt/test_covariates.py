"""A smooth effect of a number is recovered, by every method alike."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import irt

SIZES = (64, 128, 256, 384, 512, 768, 1024)


@pytest.fixture(scope="module")
def table() -> tuple[irt.ResponseMatrix, np.ndarray]:
    """Three retrievers by seven chunk sizes; ability rises with the size and falls again."""
    rng = np.random.default_rng(3)
    sizes = np.array(SIZES, dtype=float)
    curve = -(((sizes - 512) / 500) ** 2)
    curve = curve - curve.mean()
    rows = [(name, size) for name in ("bm25", "dense", "hybrid") for size in SIZES]
    facets = pd.DataFrame(rows, columns=["retriever", "size"], index=[f"{name} {size}" for name, size in rows])
    worth = {"bm25": 0.3, "dense": -0.5, "hybrid": 0.2}
    theta = np.array([worth[name] + curve[SIZES.index(size)] for name, size in rows])
    theta += 0.1 * rng.standard_normal(len(theta))
    b, a = rng.normal(0, 1, 150), rng.lognormal(0, 0.3, 150)
    scores = rng.binomial(1, 1 / (1 + np.exp(-a * (theta[:, None] - b)))).astype(float)
    return irt.ResponseMatrix(scores, tuple(facets.index), tuple(f"q{i}" for i in range(150)), facets=facets), curve


@pytest.mark.parametrize("method", ["map", "laplace", pytest.param("nuts", marks=pytest.mark.validate)])
def test_the_effect_of_a_number_is_recovered(
    table: tuple[irt.ResponseMatrix, np.ndarray], method: str, tmp_path: Path
) -> None:
    data, curve = table
    fit = irt.fit(data, method=method, covariates=["size"], seed=1)
    assert fit.converged, fit.warnings
    assert [term.name for term in fit.design.terms] == ["retriever", "size"]
    found = fit.components[fit.components["facet"] == "size"]
    assert list(found["level"]) == [str(size) for size in SIZES]
    assert found["effect"].sum() == pytest.approx(0, abs=1e-9)
    effect = found["effect"].to_numpy()
    scale = float(effect @ curve / (curve @ curve))
    off = np.abs(effect - scale * curve) / found["sd"].to_numpy()
    assert 0.7 < scale < 2.5
    assert off.max() < 3.5
    rise = fit.contrast("size", "512", "64")
    assert rise.low > 0
    fit.save(tmp_path / "fit")
    pd.testing.assert_frame_equal(irt.load_fit(tmp_path / "fit").components, fit.components)


def test_a_covariate_borrows_strength_from_its_neighbours(table: tuple[irt.ResponseMatrix, np.ndarray]) -> None:
    data, _ = table
    smooth = irt.fit(data, method="map", covariates=["size"]).components
    free = irt.fit(data, method="map").components
    middle = [str(size) for size in SIZES[1:-1]]
    errors = [frame[(frame["facet"] == "size") & frame["level"].isin(middle)]["sd"].mean() for frame in (smooth, free)]
    assert errors[0] < 0.9 * errors[1]


def test_a_covariate_of_many_values_takes_few_weights_and_is_recovered() -> None:
    rng = np.random.default_rng(5)
    size = np.sort(rng.normal(100, 15, 750)).round(4)
    theta = np.sin((size - 100) / 15) + 0.5 * rng.standard_normal(750)
    right = rng.random((750, 30)) < 1 / (1 + np.exp(-(theta[:, None] - rng.standard_normal(30))))
    names, items = tuple(f"s{i}" for i in range(750)), tuple(f"q{i}" for i in range(30))
    facets = pd.DataFrame({"size": size.astype(str)}, index=names)
    fit = irt.fit(
        irt.ResponseMatrix(right.astype(float), names, items, facets=facets), "1pl", "map", covariates=["size"]
    )
    assert fit.converged, fit.warnings
    term = fit.design.term("size")
    assert len(term.levels) > 700
    assert term.root.shape[1] < 20
    assert fit.residual_scale is not None
    effect = fit.components["effect"].to_numpy()
    truth = np.sin((np.array(term.levels, dtype=float) - 100) / 15) / theta.std()
    assert np.sqrt(np.mean((effect - (truth - truth.mean())) ** 2)) < 0.08
    assert fit.contrast("size", "120", "80").low > 0
