"""Estimates with intervals over the units that were sampled: topics, systems, items, questions."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

INTERVAL_LEVEL = 0.9
"""The share that intervals cover unless a command says otherwise."""
BOOTSTRAP_DRAWS = 2000
"""Enough for the ends of a 90 % interval to vary by about 2 % of its width."""

Indices = NDArray[np.intp]


class IntervalEstimate(NamedTuple):
    """An estimate with its interval; NaN where the data do not determine it."""

    estimate: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """True when the whole interval lies on one side of zero."""
        return self.low > 0 or self.high < 0

    def as_dict(self) -> dict[str, float | None]:
        """`estimate, low, high` for JSON, None where NaN."""
        return {name: None if np.isnan(value) else float(value) for name, value in self._asdict().items()}


def bootstrap(
    statistic: Callable[[Indices], float],
    size: int,
    *,
    level: float = INTERVAL_LEVEL,
    draws: int = BOOTSTRAP_DRAWS,
    seed: int = 0,
) -> IntervalEstimate:
    """A statistic of all `size` units, with the percentile interval of resampling them with replacement.

    `statistic` takes the indices of the units. Resamples where it is NaN are left out; the ends are NaN when fewer than
    two units or no resample can say anything (Efron and Tibshirani 1993, ch. 13).
    """
    require_level(level)
    estimate = float(statistic(np.arange(size)))
    if size < 2 or np.isnan(estimate):
        return IntervalEstimate(estimate, np.nan, np.nan)
    rng = np.random.default_rng(seed)
    return percentile_interval(
        estimate, np.array([statistic(rng.integers(size, size=size)) for _ in range(draws)]), level
    )


def bootstrap_mean(
    values: NDArray[np.float64], *, level: float = INTERVAL_LEVEL, draws: int = BOOTSTRAP_DRAWS, seed: int = 0
) -> IntervalEstimate:
    """The mean of `values` `[n]` with its percentile bootstrap interval; as `bootstrap`, in one matrix product."""
    sums = np.asarray(values, dtype=float)[:, None]
    return bootstrap_of_sums(lambda drawn: drawn[:, 0] / len(values), sums, level=level, draws=draws, seed=seed)


def mean_interval(values: NDArray[np.float64], *, level: float = INTERVAL_LEVEL) -> IntervalEstimate:
    """Mean of values in 0..1 over independent questions, with Wilson's interval at the effective sample size.

    A value may itself be a mean over pipelines that answered the same question: the variance between questions
    then tells how many independent 0/1 answers the average is worth (Korn and Graubard 1998). For 0/1 values it is
    Wilson's interval, and all right or all wrong is not taken for certainty.
    """
    require_level(level)
    n = len(values)
    if n == 0:
        return IntervalEstimate(np.nan, np.nan, np.nan)
    p = float(values.mean())
    spread = float(values.var())
    worth = n * p * (1 - p) / spread if spread > 0 else float(n)
    return IntervalEstimate(p, *wilson(p, worth, level))


def wilson(share: float, total: float, level: float = 0.95) -> tuple[float, float]:
    """The Wilson interval of a share of `total` trials (Wilson 1927)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z * math.sqrt(share * (1 - share) / total + z**2 / (4 * total**2)) / (1 + z**2 / total)
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap_of_sums(
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    parts: NDArray[np.float64],
    *,
    level: float = INTERVAL_LEVEL,
    draws: int = BOOTSTRAP_DRAWS,
    seed: int = 0,
) -> IntervalEstimate:
    """A function of sums over units, such as a ratio of sums, with its interval; as `bootstrap`, in one matrix product.

    `parts` `[n, k]` are what each unit adds; `statistic` takes sums `[draws, k]` and returns `[draws]`, NaN where it is
    undefined.
    """
    require_level(level)
    size = len(parts)
    estimate = float(statistic(parts.sum(axis=0, keepdims=True))[0]) if size else np.nan
    if size < 2 or np.isnan(estimate):
        return IntervalEstimate(estimate, np.nan, np.nan)
    counts = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=draws)
    return percentile_interval(estimate, statistic(counts @ parts), level)


def percentile_interval(estimate: float, values: NDArray[np.float64], level: float) -> IntervalEstimate:
    """An estimate with the percentile interval of its resampled values, those that are undefined left out.

    The ends are NaN where the estimate or every value is undefined.
    """
    values = values[np.isfinite(values)]
    if not values.size or not np.isfinite(estimate):
        return IntervalEstimate(estimate, np.nan, np.nan)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return IntervalEstimate(estimate, float(low), float(high))


def require_level(level: float) -> None:
    """Refuse an interval that covers nothing or everything."""
    if not 0 < level < 1:
        raise ValueError(f"interval: found {level}; wanted a share between 0 and 1")
