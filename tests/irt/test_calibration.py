"""Priors are what they are said to be; ranks of the truth among posterior draws are uniform."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from experiments.calibration.prior_draws import Specification, draw_answers, draw_prior
from irt._design import Design


def test_ranks_of_independent_draws_are_uniform_and_of_shifted_ones_are_not(sbc: ModuleType) -> None:
    uniformity, rank_of = sbc.uniformity, sbc.rank_of
    rng = np.random.default_rng(0)
    fair = rng.integers(0, 100, (200, 50))
    assert uniformity(fair, 99).p_value.min() * 50 > 0.05
    assert float(np.mean(uniformity(fair, 99).distance > sbc.band(200, 99))) < 0.15
    ranks = np.stack([rank_of(rng.standard_normal(2), rng.normal([0, 0.4], 1, (500, 2)), 99) for _ in range(200)])
    tested = uniformity(ranks, 99)
    assert tested.p_value[0] > 0.01 > tested.p_value[1]
    assert tested.mean[1] < 0.45
    narrow = uniformity(np.clip(50 + 3 * (fair - 50), 0, 99), 99)
    assert narrow.p_value.max() < 0.01
    assert narrow.spread.min() > 1.2


def test_prior_draws_have_the_moments_of_the_priors() -> None:
    given = Specification(Design(30, (), True), "4pl", np.full(20, 0.25))
    raw = draw_prior(given, 4000, 0)
    np.testing.assert_allclose(np.log(raw.a).sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(raw.b.mean(axis=1), raw.centre_b, atol=1e-9)
    assert np.mean(raw.spread_a**2) == pytest.approx(0.25, rel=0.1)
    assert np.mean(raw.spread_b**2) == pytest.approx(4, rel=0.1)
    assert np.std(np.log(raw.residual_scale)) == pytest.approx(0.5, rel=0.05)
    assert raw.c.mean() == pytest.approx(0.25, abs=0.005)
    assert np.all(raw.d > raw.c)
    answers = np.stack([draw_answers(raw, index, np.ones((30, 20)), 0) for index in range(400)])
    assert set(np.unique(answers)) == {0.0, 1.0}


@pytest.fixture(scope="module")
def sbc() -> ModuleType:
    """The experiment."""
    path = Path(__file__).parents[2] / "experiments" / "calibration" / "sbc.py"
    if not path.exists():
        pytest.skip("experiments/ is not beside the tests")
    found = importlib.util.spec_from_file_location("sbc", path)
    assert found is not None
    assert found.loader is not None
    sbc: ModuleType = importlib.util.module_from_spec(found)
    found.loader.exec_module(sbc)
    return sbc


@pytest.mark.slow
def test_a_replication_ranks_every_quantity_among_its_posterior_draws(sbc: ModuleType, tmp_path: Path) -> None:
    sbc.replicate(sbc.specification("2pl"), 2, 7, tmp_path / "ranks.csv")
    ranks = pd.read_csv(tmp_path / "ranks.csv")
    columns = [name for name in ranks.columns if "[" in name]
    assert sum(name.startswith("theta[") for name in columns) == 20
    assert sum(name.startswith(("a[", "b[")) for name in columns) == 16
    assert ranks[columns].stack().between(0, sbc.KEPT).all()
    assert 0.35 < ranks[columns].to_numpy().mean() / sbc.KEPT < 0.65


@pytest.mark.validate
@pytest.mark.parametrize("model", ["2pl", "factorial"])
def test_a_short_calibration_run_finds_uniform_ranks(model: str, sbc: ModuleType, tmp_path: Path) -> None:
    """Coarse: forty replications see a family of quantities whose mean rank is off by .1 or spread by a quarter."""
    sbc.replicate(sbc.specification(model), 40, 7, tmp_path / "ranks.csv")
    table = sbc.summary(pd.read_csv(tmp_path / "ranks.csv")).set_index("family")
    assert (table["p_adjusted"] > 0.001).all()
    assert table.loc[["a", "b", "theta"], "mean_rank"].between(0.4, 0.6).all()
    assert table.loc[["a", "b", "theta"], "spread"].between(0.75, 1.25).all()
