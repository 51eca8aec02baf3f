"""M2: covariance by enumeration, derivatives by differences, nominal rejection, and the numbers of mirt."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from irt.checks import _overall as overall
from irt.checks import m2
from irt.checks._inputs import AbilityQuadrature, population
from irt.fitting._coordinates import SHARED
from irt.kernels import ItemParameters, probability

MODELS = {"Rasch": "1pl", "2PL": "2pl", "3PL": "3pl"}


def some_items(count: int = 5) -> ItemParameters:
    rng = np.random.default_rng(0)
    return ItemParameters(
        rng.lognormal(0, 0.3, count), rng.standard_normal(count), rng.uniform(0.05, 0.3, count),
        rng.uniform(0.9, 0.98, count),
    )  # fmt: skip


def test_covariance_of_the_moments_equals_enumeration() -> None:
    where = population(some_items())
    patterns = np.array(list(itertools.product([0, 1], repeat=5)), dtype=float)
    chance = np.where(patterns[:, None] == 1, where.p, 1 - where.p).prod(axis=2) @ where.weights
    first, second = np.triu_indices(5, 1)
    products = np.hstack([patterns, patterns[:, first] * patterns[:, second]])
    mean = chance @ products
    wanted = products.T @ (chance[:, None] * products) - np.outer(mean, mean)
    moments = np.hstack([where.p, where.p[:, first] * where.p[:, second]])
    np.testing.assert_allclose(overall._covariance(where, moments, where.weights @ moments), wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "parameters"), [("1pl", 6), ("2pl", 10), ("3pl", 15), ("3pl-shared", 11), ("4pl", 20)]
)
def test_slopes_of_the_moments_equal_finite_differences(model: str, parameters: int) -> None:
    items, count = some_items(), 5
    where = population(items)
    first, second = np.triu_indices(count, 1)
    start = np.concatenate([items.a, -items.a * items.b, items.c, items.d])

    def moments(values: np.ndarray) -> np.ndarray:
        a, intercept, c, d = values.reshape(4, count)
        p = probability(where.nodes[:, None], a, -intercept / a, c, d)
        return where.weights @ np.hstack([p, p[:, first] * p[:, second]])

    steps = np.eye(4 * count) * 1e-6
    numeric = np.stack([(moments(start + step) - moments(start - step)) / 2e-6 for step in steps], axis=1)
    found = overall._jacobian(where, overall.derivatives(where, items, model), SHARED[model])
    assert found.shape[1] == parameters
    by_kind = numeric.reshape(len(numeric), 4, count)[:, : len(SHARED[model])]
    common = np.array(SHARED[model])
    own = by_kind[:, ~common].transpose(0, 2, 1).reshape(len(numeric), -1)
    np.testing.assert_allclose(found, np.hstack([by_kind[:, common].sum(axis=2), own]), atol=1e-8)


def test_rejections_are_nominal_and_a_second_ability_is_found(draw: Callable[..., Any]) -> None:
    p = [m2(one.data, one.items).p for one in (draw(150, 12, seed=seed) for seed in range(150))]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.045)
    assert np.mean(p) == pytest.approx(0.5, abs=0.08)
    rng = np.random.default_rng(0)
    second = rng.standard_normal((400, 1)) * (np.arange(12) < 4)
    found = m2((one := draw(400, 12, seed=1, shift=1.5 * second)).data, one.items)
    assert found.flag
    assert found.rmsea_low > 0.03
    assert "The model does not fit as a whole" in found.sentence


def test_tables_that_cannot_be_judged_are_refused(draw: Callable[..., Any]) -> None:
    one = draw(60, 101, seed=0)
    with pytest.raises(ValueError, match="M2 of 101 items needs the covariance of 5151 moments; wanted at most 100"):
        m2(one.data, one.items)
    sure = draw(60, 8, seed=0)
    with pytest.raises(ValueError, match=r"M2 wants answers that vary; item 3 has an expected share right of 1\.0000"):
        m2(sure.data, sure.items._replace(b=np.where(np.arange(8) == 2, -60.0, sure.items.b)))
    short = draw(60, 3, seed=0)
    with pytest.raises(ValueError, match="M2 of 3 items has 0 degrees of freedom; wanted at least 1"):
        m2(short.data, short.items)


def test_lsat7_equals_mirt(lsat7: Any) -> None:
    found = m2(lsat7.data, lsat7.items)
    assert found.m2 == pytest.approx(11.938, rel=2e-4)
    assert (found.df, found.students, found.items) == (5, 1000, 5)
    assert found.p == pytest.approx(0.03564, abs=2e-5)
    assert found.rmsea == pytest.approx(0.03727, abs=2e-5)
    assert found.srmsr == pytest.approx(0.03196, abs=2e-5)
    assert found.cfi == pytest.approx(0.96846, abs=2e-4)
    assert found.tli == pytest.approx(0.93693, abs=2e-4)


@pytest.mark.parametrize("name", ["LSAT6", "LSAT7", "SAT12", "SAT12_fixed32"])
@pytest.mark.parametrize("model", ["Rasch", "2PL"])
def test_every_number_of_mirt_is_met(classic: Callable[..., Any], name: str, model: str) -> None:
    data, items, said, _ = classic(name, model)
    found, wanted = m2(data, items, MODELS[model]), said["M2"]
    assert found.df == wanted["df"]
    assert found.m2 == pytest.approx(wanted["M2"], rel=2e-5)
    assert found.p == pytest.approx(wanted["p"], abs=1e-6)
    assert found.rmsea == pytest.approx(wanted["RMSEA"], abs=1e-6)
    assert found.srmsr == pytest.approx(wanted["SRMSR"], abs=1e-7)
    assert found.cfi == pytest.approx(wanted["CFI"], abs=1e-5)
    assert found.tli == pytest.approx(wanted["TLI"], abs=1e-5)
    # mirt divides by N in the interval and by N - 1 in the estimate; here it is N - 1 in both.
    assert found.rmsea_low == pytest.approx(wanted["RMSEA_5"], rel=1e-3)
    assert found.rmsea_high == pytest.approx(wanted["RMSEA_95"], rel=1e-3)


def test_published_rasch_m2_of_lsat6(classic: Callable[..., Any]) -> None:
    data, items, _, _ = classic("LSAT6", "Rasch")
    assert m2(data, items, "1pl").m2 == pytest.approx(5.2926, rel=5e-4)


@pytest.mark.parametrize("name", ["SAT12", "SAT12_fixed32"])
def test_three_parameter_m2_of_mirt_is_met_with_its_slopes_which_are_not_the_derivatives(
    classic: Callable[..., Any], name: str
) -> None:
    """mirt 1.47 has P(1 - P) where the slope in the logit is (1 - c) s (1 - s), as finite differences show above."""
    data, items, said, _ = classic(name, "3PL")
    where: AbilityQuadrature = population(items)
    right = overall.derivatives(where, items, "3pl")
    theirs = right.copy()
    theirs[:, :, 1] = where.p * (1 - where.p)
    theirs[:, :, 0] = theirs[:, :, 1] * where.nodes[:, None]
    found, df = overall._statistic(data.scores, where, theirs, (False,) * theirs.shape[2])
    assert df == said["M2"]["df"]
    assert found == pytest.approx(said["M2"]["M2"], rel=1e-7)
    assert m2(data, items, "3pl").m2 == pytest.approx(said["M2"]["M2"], rel=0.025)
    assert m2(data, items, "3pl").srmsr == pytest.approx(said["M2"]["SRMSR"], abs=1e-7)
