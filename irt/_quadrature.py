"""Abilities integrated over a Normal(0, 1) population, on nodes shared by all students.

The trapezoid rule on equal steps converges faster than any power of the step for a smooth posterior: its error is about
`2 exp(-2 pi^2 sd^2 / step^2)` of the integral, 1e-8 at a step of one posterior standard deviation. So the nodes need
only be as fine as the narrowest posterior, and sharing them turns every pass over the answers into a matrix product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt import kernels
from irt._graded import Items
from irt._responses import Floats
from irt.kernels import ItemParameters

BOUND = 6.0
"""Standard deviations of the population beyond which nobody is (2 in a billion)."""
STEPS_PER_SD = 1.25
"""Nodes per narrowest posterior deviation: the error is then about 1e-13."""
FEWEST = 61
"""Nodes at least: a step of a fifth of the population's deviation, for smooth intervals."""
MOST = 2001
"""Nodes at most, so that tables of very many trials fit in memory."""


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


def nodes_for(
    items: Items,
    trials: float | Floats = 1.0,
    bound: float = BOUND,
    steps_per_sd: float = STEPS_PER_SD,
    least_sd: float = 1.0,
) -> Floats:
    """Equally spaced abilities from `-bound` to `bound`, fine enough for the most informed student.

    `trials` is the largest number of trials of an answer, or that of each item `[I]`; `least_sd` is the population's
    standard deviation (the least of several).
    """
    coarse = np.linspace(-bound, bound, FEWEST)
    total = np.sum(items.information(coarse[:, None]) * trials, axis=1)
    narrowest = 1.0 / np.sqrt(1.0 / least_sd**2 + float(total.max()))
    widest_step = 2 * BOUND / (FEWEST - 1)
    step = min(narrowest / steps_per_sd, widest_step)
    return np.linspace(-bound, bound, min(int(np.ceil(2 * bound / step - 1e-9)) | 1, MOST))


def bound_for(mean: Floats, sd: Floats, most: float = BOUND) -> float:
    """Half-width that holds every posterior of these moments `[S]`: six of its deviations, or the population's.

    `most` is that of the population.
    """
    reach = np.abs(mean)
    return float(max(np.max(np.minimum(reach + 6 * sd, most)), np.max(reach + 5 * sd), 3.0))


def posterior(
    successes: Floats,
    attempts: Floats,
    items: ItemParameters,
    nodes: Floats | None = None,
    mean: Floats | float = 0.0,
    sd: Floats | float = 1.0,
) -> Posterior:
    """Posterior of ability over the nodes; counts `[S, I]`, a cell with no attempts was not asked.

    Ability is Normal(mean, sd) beforehand, `[S]` each where students differ.

    Binomial coefficients are left out of the marginal likelihood.
    """
    if nodes is None:
        nodes = nodes_for(items, np.maximum(attempts.max(axis=0, initial=0.0), 1.0))
    right, wrong = kernels.log_probability(nodes[:, None], *items)
    # A success where log P is -inf is impossible, its absence costs nothing: the product must not be 0 times -inf.
    right, wrong = np.maximum(right, -1e6), np.maximum(wrong, -1e6)
    joint = successes @ right.T + (attempts - successes) @ wrong.T
    return weigh(joint, nodes, mean, sd)


def weigh(joint: Floats, nodes: Floats, mean: Floats | float = 0.0, sd: Floats | float = 1.0) -> Posterior:
    """Posterior from log-likelihoods `[S, Q]` at equally spaced nodes, of abilities that are Normal(mean, sd).

    `joint` is overwritten.
    """
    joint += log_weights(nodes, mean, sd)
    top = joint.max(axis=1, keepdims=True)
    joint -= top
    np.exp(joint, out=joint)
    total = joint.sum(axis=1, keepdims=True)
    joint /= total
    return Posterior(nodes, joint, np.asarray((np.log(total) + top)[:, 0]))


def log_weights(nodes: Floats, mean: Floats | float = 0.0, sd: Floats | float = 1.0) -> Floats:
    """Log of the density of Normal(mean, sd) times the step, at equally spaced nodes `[Q]`; of many, `[S, Q]`."""
    step = float(nodes[-1] - nodes[0]) / (len(nodes) - 1)
    mean, sd = np.asarray(mean)[..., None], np.asarray(sd)[..., None]
    return np.asarray(-0.5 * ((nodes - mean) / sd) ** 2 + np.log(step / np.sqrt(2 * np.pi) / sd))
