"""A fit as a calibration would leave it, without running one: truth, error of known size, draws of that error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import irt
from irt._design import build_design
from irt.kernels import ItemParameters, probability


def calibrated(
    truth: ItemParameters,
    names: Sequence[str] | None = None,
    *,
    error: float = 0.1,
    students: int = 20,
    seed: int = 0,
    draws: int = 300,
    converged: bool = True,
) -> irt.Fit:
    """Estimates miss `truth` in b and log a by Normal errors of sd `error`; draws spread about them by as much."""
    rng = np.random.default_rng([seed, 77])
    count = len(truth.a)
    items = tuple(names) if names is not None else tuple(f"q{place}" for place in range(count))
    theta = rng.normal(0, 1, students)
    scores = rng.binomial(1, probability(theta[:, None], *truth)).astype(float)
    data = irt.ResponseMatrix(scores, tuple(f"s{place}" for place in range(students)), items)

    def noisy(values: np.ndarray, size: float, rows: int | None = None) -> np.ndarray:
        return values + size * rng.standard_normal(len(values) if rows is None else (rows, len(values)))

    a, b, ability = noisy(np.log(truth.a), error), noisy(truth.b, error), noisy(theta, 0.2)
    fixed = {"c": truth.c, "d": truth.d}
    point = {"a": np.exp(a), "b": b, "theta": ability, **fixed}
    drawn = {"a": np.exp(noisy(a, error, draws)), "b": noisy(b, error, draws), "theta": noisy(ability, 0.2, draws)}
    drawn |= {name: np.broadcast_to(values, (draws, count)).copy() for name, values in fixed.items()}
    return irt.Fit(
        settings=irt.FitSettings("2pl", "map", seed=seed, chains=2),
        data=data,
        design=build_design(data),
        draws=drawn,
        point=point,
        chance=np.full(count, 0.25),
        log_likelihood=0.0,
        elpd_loo=None,
        elpd_loo_se=None,
        converged=converged,
        diagnostics={},
        warnings=(),
        seconds={"compile": 0.0, "fit": 0.0},
    )
