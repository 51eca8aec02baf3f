"""The classic tables with the estimates of R's mirt, where the shared folder is at hand; and simulated tables."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import irt
from irt.kernels import ItemParameters, probability
from tests import shared_data
from tests.irt.lsat import LSAT7_2PL
from tests.irt.lsat import lsat7 as section_7

SHARED = shared_data.SHARED / "data" / "irt_classic"
FILES = {"LSAT6": "lsat6.csv", "LSAT7": "lsat7.csv", "SAT12": "sat12.csv", "SAT12_fixed32": "sat12_fixed32.csv"}


class Classic(NamedTuple):
    data: irt.ResponseMatrix
    items: ItemParameters
    wanted: dict[str, Any]
    folder: Path


@pytest.fixture(scope="session")
def classic() -> Callable[[str, str], Classic]:
    """A table, its parameters by mirt with abilities Normal(0, 1), and what mirt says of them."""
    if not SHARED.exists():
        pytest.skip("the shared data are not here")
    reference = json.loads((SHARED / "reference_estimates.json").read_text())

    def load(name: str, model: str) -> Classic:
        table = pd.read_csv(SHARED / FILES[name])
        students = tuple(f"s{index}" for index in range(len(table)))
        wanted = reference[name][model]
        a = np.array(wanted["slope"]) * np.sqrt(wanted["theta_var"])
        items = ItemParameters(a, -np.array(wanted["intercept"]) / a, np.array(wanted["c"]), np.ones_like(a))
        return Classic(irt.ResponseMatrix(table.to_numpy(float), students, tuple(table)), items, wanted, SHARED)

    return load


@pytest.fixture(scope="session")
def lsat7() -> Classic:
    """LSAT section 7 with the 2PL estimates of mirt."""
    return Classic(section_7(), LSAT7_2PL, {}, SHARED)


class Drawn(NamedTuple):
    data: irt.ResponseMatrix
    items: ItemParameters
    theta: np.ndarray


@pytest.fixture(scope="session")
def draw() -> Callable[..., Drawn]:
    """Answers of students from a Normal(0, 1) population (or given abilities) to known items."""

    def make(students: int, count: int, seed: int, theta: Any = None, guessing: float = 0.0, shift: Any = 0.0) -> Drawn:
        rng = np.random.default_rng(seed)
        a, b = np.exp(0.3 * rng.standard_normal(count)), rng.standard_normal(count)
        items = ItemParameters(a, b, np.full(count, guessing), np.ones(count))
        ability = rng.standard_normal(students) if theta is None else np.asarray(theta)
        p = probability(ability[:, None], a, b - np.asarray(shift) / a, items.c)
        scores = (rng.random((students, count)) < p).astype(float)
        names = tuple(f"s{index}" for index in range(students))
        return Drawn(irt.ResponseMatrix(scores, names, tuple(f"q{n}" for n in range(count))), items, ability)

    return make


@pytest.fixture(scope="session")
def two_parameter_em() -> Callable[[Any], ItemParameters]:
    """Maximum marginal likelihood of the 2PL by plain EM, to calibrate tests that count estimated parameters."""
    from irt._quadrature import posterior
    from irt.kernels import sigmoid

    def estimate(scores: Any) -> ItemParameters:
        count = scores.shape[1]
        share = scores.mean(axis=0)
        a, intercept = np.ones(count), np.log((share + 0.01) / (1.01 - share))
        for _ in range(80):
            items = ItemParameters(a, -intercept / a, np.zeros(count), np.ones(count))
            found = posterior(scores, np.ones_like(scores), items)
            students, right = found.weights.sum(axis=0)[:, None], found.weights.T @ scores
            theta = found.nodes[:, None]
            p = sigmoid(theta * a + intercept)
            gap, weight = right - students * p, students * p * (1 - p)
            first, second = (theta * gap).sum(axis=0), gap.sum(axis=0)
            h = [(theta**k * weight).sum(axis=0) for k in (2, 1, 0)]
            scale = h[0] * h[2] - h[1] ** 2
            a = np.maximum(a + np.clip((h[2] * first - h[1] * second) / scale, -0.5, 0.5), 0.05)
            intercept = intercept + np.clip((h[0] * second - h[1] * first) / scale, -1, 1)
        return ItemParameters(a, -intercept / a, np.zeros(count), np.ones(count))

    return estimate
