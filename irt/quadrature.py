"""Abilities integrated over a Normal(0, 1) population, on nodes shared by all students.

The trapezoid rule on equal steps converges faster than any power of the step for a smooth posterior: its error is about
`2 exp(-2 pi^2 sd^2 / step^2)` of the integral, 1e-8 at a step of one posterior standard deviation. So the nodes need
only be as fine as the narrowest posterior, and sharing them turns every pass over the answers into a matrix product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt import kernels
from irt.kernels import ItemParameters
from irt.responses import Floats

BOUND = 6.0
STEPS_PER_SD = 1.25
FEWEST = 61


class Posterior(NamedTuple):
    """Given nodes `[Q]`: probability of each for every student `[S, Q]`, and log marginal likelihoods `[S]`."""

    nodes: Floats
    weights: Floats
    log_marginal: Floats

    @property
    def mean(self) -> Floats:
        """Expected ability a posteriori (EAP) `[S]`."""
        return np.asarray(self.weights @ self.nodes)

    @property
    def sd(self) -> Floats:
        """Standard deviation of ability a posteriori `[S]`."""
        return np.asarray(np.sqrt(np.maximum(self.weights @ self.nodes**2 - self.mean**2, 0.0)))


def nodes_for(items: ItemParameters, trials: float = 1.0, bound: float = BOUND) -> Floats:
    """Equally spaced abilities from `-bound` to `bound`, fine enough for the most informed student.

    `trials` is the largest number of trials of an answer.
    """
    coarse = np.linspace(-bound, bound, FEWEST)
    total = kernels.information(coarse[:, None], *items).sum(axis=1)
    narrowest = 1.0 / np.sqrt(1.0 + trials * float(total.max()))
    count = int(np.ceil(2 * bound / narrowest * STEPS_PER_SD)) | 1
    return np.linspace(-bound, bound, max(count, FEWEST))


def posterior(successes: Floats, attempts: Floats, items: ItemParameters, nodes: Floats | None = None) -> Posterior:
    """Posterior of ability over the nodes; counts `[S, I]`, a cell with no attempts was not asked.

    Binomial coefficients are left out of the marginal likelihood.
    """
    if nodes is None:
        nodes = nodes_for(items, max(float(attempts.max(initial=0.0)), 1.0))
    right, wrong = kernels.log_probability(nodes[:, None], *items)
    # A success where log P is -inf is impossible, its absence costs nothing: the product must not be 0 times -inf.
    right, wrong = np.maximum(right, -1e6), np.maximum(wrong, -1e6)
    log_prior = -0.5 * nodes**2
    log_prior = log_prior - np.log(np.exp(log_prior).sum())
    joint = successes @ right.T + (attempts - successes) @ wrong.T + log_prior
    top = joint.max(axis=1, keepdims=True)
    weights = np.exp(joint - top)
    total = weights.sum(axis=1, keepdims=True)
    return Posterior(nodes, weights / total, np.asarray((np.log(total) + top)[:, 0]))
