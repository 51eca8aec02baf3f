"""Tables as the model would produce them, to know what a statistic looks like when nothing is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from irt.kernels import ItemParameters, probability
from irt.quadrature import Posterior, posterior
from irt.responses import Floats


class Residuals(NamedTuple):
    """Counts minus expectation, and its variance, `[S, I]`, at each student's expected ability `theta` `[S]`; 0 where
    not asked."""

    residual: Floats
    variance: Floats
    p: Floats
    theta: Floats


def residuals(successes: Floats, attempts: Floats, items: ItemParameters, theta: Floats | None = None) -> Residuals:
    """Residuals at `theta`, by default the expected ability a posteriori."""
    if theta is None:
        theta = posterior(successes, attempts, items).mean
    p = np.asarray(probability(theta[:, None], *items))
    return Residuals(successes - attempts * p, attempts * p * (1 - p), p, theta)


def replicas(found: Posterior, attempts: Floats, items: ItemParameters, count: int, seed: int) -> Iterator[Floats]:
    """`count` tables of successes `[S, I]`: an ability from each student's posterior, then new answers."""
    rng = np.random.default_rng([seed, 3])
    cumulative = np.cumsum(found.weights, axis=1)
    whole = attempts.astype(np.int64)
    for _ in range(count):
        position = (cumulative < rng.random((len(cumulative), 1)) * cumulative[:, -1:]).sum(axis=1)
        theta = found.nodes[position]
        p = np.clip(probability(theta[:, None], *items), 0.0, 1.0)
        yield rng.binomial(whole, p).astype(np.float64)
