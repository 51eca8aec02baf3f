"""The fused pass equals `irt.kernels.log_likelihood` and automatic differentiation."""

import os
from typing import Any

import numpy as np
import pytest

import irt
from irt import kernels
from irt._packed_answers import PackedAnswers, pack
from irt._responses import Floats
from irt.fitting import _likelihood_passes as fused
from irt.fitting._numba_functions import compiled
from irt.kernels import ItemParameters

MODELS = ("1pl", "2pl", "3pl", "4pl")


def table(counts: bool, shape: tuple[int, int] = (23, 301)) -> tuple[PackedAnswers, Floats, Floats]:
    """Answers with missing cells, their successes and their trials."""
    rng = np.random.default_rng(3)
    n = rng.integers(0, 5 if counts else 2, shape)
    k = rng.binomial(n, 0.5)
    if counts:
        packed = PackedAnswers(None, k.astype(np.int32), (n - k).astype(np.int32))
    else:
        packed = PackedAnswers(np.where(n == 0, 0, 2 * k - 1).astype(np.int8))
    return packed, k.astype(float), n.astype(float)


def parameters(model: str, shape: tuple[int, int] = (23, 301)) -> tuple[Floats, ItemParameters]:
    rng = np.random.default_rng(4)
    items = shape[1]
    a = np.ones(items) if model == "1pl" else np.exp(0.5 * rng.standard_normal(items))
    c = rng.uniform(0.01, 0.4, items) if model in ("3pl", "4pl") else np.zeros(items)
    d = rng.uniform(0.7, 0.999, items) if model == "4pl" else np.ones(items)
    return 2 * rng.standard_normal(shape[0]), ItemParameters(a, rng.standard_normal(items), c, d)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_value_and_gradient_are_those_of_automatic_differentiation(model: str, counts: bool) -> None:
    import jax
    import jax.numpy as jnp

    answers, k, n = table(counts)
    theta, items = parameters(model)
    found = fused.gradient(answers, theta, items)
    np.testing.assert_allclose(found.value, kernels.log_likelihood(k, n, theta, *items).sum(axis=1), rtol=1e-12)
    with jax.enable_x64(True):

        def total(*arguments: object) -> object:
            return kernels.log_likelihood(jnp.asarray(k), jnp.asarray(n), *arguments).sum()

        free = {"1pl": 3, "2pl": 3, "3pl": 4, "4pl": 5}[model]
        wanted = jax.grad(total, argnums=tuple(range(free)))(*(jnp.asarray(values) for values in (theta, *items)))
    for mine, theirs in zip(found[1:], wanted, strict=False):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("reach", [700.0, 5000.0])
def test_far_from_every_difficulty_the_value_stays_exact(counts: bool, reach: float) -> None:
    answers, k, n = table(counts)
    theta = np.linspace(-reach, reach, len(k))
    items = ItemParameters(np.ones(301), np.zeros(301), np.zeros(301), np.ones(301))
    for c, d in ((0.0, 1.0), (0.25, 1.0), (0.0, 0.9), (0.25, 0.9)):
        at = items._replace(c=np.full(301, c), d=np.full(301, d))
        found = fused.gradient(answers, theta, at)
        np.testing.assert_allclose(found.value, kernels.log_likelihood(k, n, theta, *at).sum(axis=1), rtol=1e-12)
        assert all(np.isfinite(values).all() for values in found)
    # With no asymptotes the slope is the number of answers on the wrong side.
    by_theta = fused.gradient(answers, theta, items).theta
    wrong_side = np.where(theta < 0, k.sum(axis=1), -(n - k).sum(axis=1))
    np.testing.assert_allclose(by_theta[theta != 0], wrong_side[theta != 0], rtol=1e-12)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_information_is_the_expected_square_of_the_score(model: str, counts: bool) -> None:
    answers, _, n = table(counts)
    theta, items = parameters(model)
    slope, info = fused.curvature(answers, theta, items)
    for mine, theirs in zip(slope, fused.gradient(answers, theta, items), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(info.theta, (n * kernels.information(theta[:, None], *items)).sum(axis=1), rtol=1e-12)
    u = theta[:, None] - items.b
    up, down = 1 / (1 + np.exp(-items.a * u)), 1 / (1 + np.exp(items.a * u))
    p, q = items.c + (items.d - items.c) * up, (1 - items.d) + (items.d - items.c) * down
    gain = (items.d - items.c) * up * down
    by = np.stack([gain * u, -gain * items.a, down, up])
    free = 2 if model in ("1pl", "2pl") else 4
    wanted = np.einsum("ksi,lsi,si->ikl", by, by, n / (p * q))
    np.testing.assert_allclose(info.items[:, :free, :free], wanted[:, :free, :free], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(info.weights.x, n * gain**2 / (p * q), rtol=1e-9)


def test_the_number_of_threads_never_changes_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = (900, 700)
    answers, _, _ = table(False, shape)
    theta, items = parameters("3pl", shape)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = fused.gradient(answers, theta, items)
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    together = fused.gradient(answers, theta, items)
    for one, many in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, many)


def test_expected_answers_are_the_mean_over_draws() -> None:
    rng = np.random.default_rng(5)
    theta, a, b = rng.standard_normal((7, 4)), np.exp(rng.standard_normal((7, 5))), rng.standard_normal((7, 5))
    c, d = np.full((7, 5), 0.2), np.full((7, 5), 0.9)
    wanted = kernels.probability(theta[:, :, None], *(values[:, None, :] for values in (a, b, c, d))).mean(axis=0)
    np.testing.assert_allclose(fused.mean_probability(theta, a, b, c, d), wanted, rtol=1e-12)


@pytest.mark.parametrize("trials", [None, 3])
def test_packed_answers_are_those_of_the_table(trials: int | None) -> None:
    data = irt.simulate(30, 12, seed=1, trials=trials, missing=0.2).data
    answers = pack(data)
    right, wrong = answers.counts()
    np.testing.assert_array_equal(right, data.successes)
    np.testing.assert_array_equal(right + wrong, data.attempts)
    for axis, totals in ((1, answers.by_student), (0, answers.by_item)):
        np.testing.assert_array_equal(totals[0], right.sum(axis=axis))
        np.testing.assert_array_equal(totals[1], wrong.sum(axis=axis))


def test_a_function_that_cannot_be_stored_is_compiled_all_the_same() -> None:
    place: dict[str, Any] = {}
    exec("def doubled(x): return 2 * x", place)  # of no file, beside which numba would store it
    assert compiled(place["doubled"])(21) == 42
