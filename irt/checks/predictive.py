"""Posterior predictive check: would tables drawn from the fit look like the one observed?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from irt.kernels import sigmoid
from irt.responses import Floats, ResponseMatrix


def predictive_check(
    data: ResponseMatrix, draws: Mapping[str, Floats], tails: tuple[float, float], seed: int
) -> dict[str, pd.DataFrame]:
    """Replicate the table from the posterior and compare shares right of students and of items.

    `p_value` is two-sided with half weight on ties; `surprising` marks p below 0.01.
    """
    rng = np.random.default_rng([seed, 2])
    attempts = data.attempts.astype(np.int64)
    by_student = np.empty((len(draws["a"]), len(data.students)))
    by_item = np.empty((len(draws["a"]), len(data.items)))
    for index, (theta, a, b, c, d) in enumerate(
        zip(*(draws[name] for name in ("theta", "a", "b", "c", "d")), strict=True)
    ):
        p = c + (d - c) * sigmoid(a * (theta[:, None] - b))
        replica = rng.binomial(attempts, np.clip(p, 0.0, 1.0))
        by_student[index], by_item[index] = replica.sum(axis=1), replica.sum(axis=0)
    return {
        "students": _checked("student", data.students, data.successes.sum(1), attempts.sum(1), by_student, tails),
        "items": _checked("item", data.items, data.successes.sum(0), attempts.sum(0), by_item, tails),
    }


def _checked(
    label: str, names: Sequence[str], observed: Floats, attempts: Floats, replicas: Floats, tails: tuple[float, float]
) -> pd.DataFrame:
    above = np.mean(replicas > observed, axis=0) + 0.5 * np.mean(replicas == observed, axis=0)
    p_value = np.minimum(2 * np.minimum(above, 1 - above), 1.0)
    low, high = np.quantile(replicas, tails, axis=0)
    share = np.maximum(attempts, 1)
    return pd.DataFrame(
        {
            label: list(names),
            "observed": observed / share,
            "expected": replicas.mean(axis=0) / share,
            "low": low / share,
            "high": high / share,
            "p_value": p_value,
            "surprising": p_value < 0.01,
        }
    )
