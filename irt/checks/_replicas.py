"""Tables as the model would produce them, to know what a statistic looks like when nothing is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from irt._likelihoods import Likelihood
from irt._quadrature import Posterior

Answered = TypeVar("Answered", bound=Likelihood)


def replicas(found: Posterior, answered: Answered, count: int, seed: int) -> Iterator[Answered]:
    """`count` tables of new answers, each student's ability drawn from `found`, the posterior of `answered`."""
    rng = np.random.default_rng([seed, 3])
    cumulative = np.cumsum(found.weights, axis=1)
    for _ in range(count):
        position = (cumulative < rng.random((len(cumulative), 1)) * cumulative[:, -1:]).sum(axis=1)
        yield answered.redrawn(rng, found.nodes[position])
