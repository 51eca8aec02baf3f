"""Items in the coordinates of the climb: whitened log a and b, logits of c and of where d lies between c and 1.

A c that all items share is no coordinate of an item: it is held among the scales.
"""

from __future__ import annotations

import numpy as np

from irt._model import Problem
from irt._prior_densities import asymptotes
from irt._responses import Floats
from irt.fitting._scale_estimates import Scales
from irt.kernels import ItemParameters, sigmoid


def width(problem: Problem) -> int:
    """Number of coordinates of an item."""
    return 1 + int(problem.free_a) + int(problem.own_guessing) + int(problem.slipping)


def parameters(problem: Problem, scales: Scales, x: Floats) -> tuple[ItemParameters, Floats]:
    """Item parameters and, of the upper asymptote, its place between c and 1, at coordinates `[..., K, I]`.

    What the model fixes is one number broadcast, which takes no memory and cannot be written to.
    """
    rows = iter(range(x.shape[-2]))
    zeros, ones = (np.broadcast_to(value, (*x.shape[:-2], x.shape[-1])) for value in (0.0, 1.0))
    a = ones
    if problem.free_a:
        a = scales.spread_a * x[..., next(rows), :]
        np.exp(a, out=a)
    b = scales.spread_b * x[..., next(rows), :]
    b += scales.centre_b
    c = sigmoid(x[..., next(rows), :]) if problem.own_guessing else zeros
    if problem.shared_guessing:
        c = np.broadcast_to(sigmoid(np.array(scales.guessing)), zeros.shape)
    delta = sigmoid(x[..., next(rows), :]) if problem.slipping else ones
    return ItemParameters(a, b, c, c + (1 - c) * delta if problem.slipping else ones), delta


def chain_rule(problem: Problem, scales: Scales, items: ItemParameters, delta: Floats) -> Floats:
    """Derivatives `[I, K, 4]` of (a, b, c, d) by the coordinates."""
    rows = iter(range(width(problem)))
    chain = np.zeros((len(items.a), width(problem), 4))
    if problem.free_a:
        chain[:, next(rows), 0] = scales.spread_a * items.a
    chain[:, next(rows), 1] = scales.spread_b
    if problem.own_guessing:
        row, slope = next(rows), items.c * (1 - items.c)
        chain[:, row, 2], chain[:, row, 3] = slope, slope * (1 - delta)
    if problem.slipping:
        chain[:, next(rows), 3] = (1 - items.c) * delta * (1 - delta)
    return chain


def prior_terms(problem: Problem, x: Floats) -> tuple[Floats, Floats]:
    """Gradient and information of the item priors, `[K, I]` each."""
    gradient, info = np.empty_like(x), np.ones_like(x)
    gaussian = int(problem.free_a) + 1
    gradient[:gaussian] = -x[:gaussian]
    for row, prior in enumerate(asymptotes(problem, problem.priors, problem.chance), start=gaussian):
        gradient[row], info[row] = prior.slope_and_information(x[row])
    return gradient, info


def log_prior(problem: Problem, x: Floats) -> float:
    """Log prior density of the coordinates `[K, I]`, up to a constant."""
    gaussian = int(problem.free_a) + 1
    total = -0.5 * float(np.sum(x[:gaussian] ** 2))
    priors = asymptotes(problem, problem.priors, problem.chance)
    return total + sum(prior.on_logit(z) for z, prior in zip(x[gaussian:], priors, strict=True))
