"""Tables as the model would produce them, to know what a statistic looks like when nothing is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from irt.kernels import ItemParameters, probability
from irt.quadrature import Posterior
from irt.responses import Floats


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
