"""The scales of the priors by EM, what they do to coordinates, and items in these.

Each scale maximises the expected log density of the group it governs plus its own prior; a joint mode over scales and
effects would collapse them to zero. Items have whitened log a and b, logits of c and of where d lies between c and 1 as
coordinates; a c that all items share is no coordinate of an item: it is held among the scales, and put at the maximum
of its evidence, since a joint mode would be inconsistent (Neyman & Scott 1948).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt import _prior_densities as prior_densities
from irt._model import Priors, Problem
from irt._prior_densities import ScaleDensity, asymptotes
from irt._responses import Floats
from irt.fitting._estimation_outcome import Progress, tell
from irt.fitting._gaussian import Point
from irt.kernels import ItemParameters, sigmoid


@dataclass(frozen=True)
class Scales:
    """Hyperparameters, in logits: fixed within a climb, updated between climbs.

    `guessing` is the logit of the c that all items share, where they do. It belongs here: a mode over it and the items
    would be as inconsistent as one over scales and effects (each item gives c a bias, and hardly any information).
    """

    terms: tuple[float, ...]
    residual: float
    spread_a: float
    centre_b: float
    spread_b: float
    guessing: float = 0.0

    def vector(self) -> Floats:
        """Logarithms of the scales, with `centre_b` and `guessing` as they are: what convergence is judged by."""
        scales = [*self.terms, self.residual, self.spread_a, self.spread_b]
        return np.append(np.log(scales), [self.centre_b, self.guessing])

    @staticmethod
    def of(vector: Floats) -> Scales:
        """The scales of a `vector`."""
        *terms, residual, spread_a, spread_b = np.exp(vector[:-2]).tolist()
        return Scales(tuple(terms), residual, spread_a, float(vector[-2]), spread_b, float(vector[-1]))


def log_prior(problem: Problem, vector: Floats) -> float:
    """Log prior density of the scales' `vector`, up to a constant: half-normal scales and a Beta c, with Jacobians."""
    priors, terms = problem.priors, len(problem.design.terms)
    densities = [
        *[prior_densities.term_scale(priors)] * terms,
        prior_densities.residual_scale(priors, bool(terms)),
        prior_densities.spread_a(priors),
        prior_densities.spread_b(priors),
    ]
    logs = np.array([float(density.on_log(v)) for density, v in zip(densities, vector[:-2], strict=True)])
    total = float(logs[estimated(problem)[:-2]].sum()) + float(prior_densities.centre_b(priors).log(vector[-2]))
    if problem.shared_guessing:
        total += prior_densities.guessing(priors, problem.guessing_centre).on_logit(vector[-1:])
    return total


def estimated(problem: Problem) -> NDArray[np.bool_]:
    """Which entries of the scales' `vector` the model has."""
    terms = [True] * len(problem.design.terms)
    return np.array([*terms, problem.design.residual, problem.free_a, True, True, problem.shared_guessing])


def starting(problem: Problem) -> Scales:
    """Where the climb begins."""
    centre = float(problem.guessing_centre.mean())
    return Scales(tuple(0.5 for _ in problem.design.terms), 0.7, 0.3, 0.0, 1.0, float(np.log(centre / (1 - centre))))


def updated(problem: Problem, scales: Scales, point: Point, variances: Point) -> Scales:
    """EM step: each scale from the expected sum of squares it governs, with its prior on the log scale."""
    priors, design, variance = problem.priors, problem.design, variances.x
    *groups, rest = np.split(point.w**2 + variances.w, np.cumsum([term.root.shape[1] for term in design.terms]))
    prior = prior_densities.term_scale(priors)
    squares = [scale**2 * group.sum() for scale, group in zip(scales.terms, groups, strict=True)]
    terms = tuple(_scale_mode(len(group), each, prior) for group, each in zip(groups, squares, strict=True))
    residual, spread_a, items = scales.residual, scales.spread_a, point.x.shape[1]
    if design.residual:
        prior = prior_densities.residual_scale(priors, bool(terms))
        residual = _scale_mode(design.students, residual**2 * rest.sum(), prior)
    if problem.free_a:
        square = spread_a**2 * float(np.sum(point.x[0] ** 2 + variance[0]))
        spread_a = min(_scale_mode(items - 1, square, prior_densities.spread_a(priors)), widest_a(priors))
    row = int(problem.free_a)
    b = scales.centre_b + scales.spread_b * point.x[row]
    centre = float(b.sum() / (items + (scales.spread_b / priors.centre_b) ** 2))
    square = float(np.sum((b - centre) ** 2 + scales.spread_b**2 * variance[row]))
    return Scales(
        terms, residual, spread_a, centre, _scale_mode(items, square, prior_densities.spread_b(priors)), scales.guessing
    )


def leapt(scales: Scales, change: Floats, last: Floats) -> Scales:
    """Aitken's extrapolation of a slow EM sequence, component by component, never more than twenty steps ahead."""
    ratio = np.divide(change, last, out=np.zeros_like(change), where=np.abs(last) > 1e-12)
    ratio = np.where(ratio > 0, np.minimum(ratio, 20 / 21), 0.0)
    vector = scales.vector() + np.clip(change * ratio / (1 - ratio), -0.25, 0.25)
    vector[:-2] = np.clip(vector[:-2], *np.log([1e-3, 20.0]))
    return replace(Scales.of(vector), guessing=scales.guessing)


def recoordinated(problem: Problem, point: Point, old: Scales, new: Scales) -> Point:
    """The same abilities and item parameters in the coordinates of the new scales."""
    sizes = [term.root.shape[1] for term in problem.design.terms]
    ratios = np.divide([*old.terms, old.residual], [*new.terms, new.residual])
    x, row = point.x.copy(), int(problem.free_a)
    if problem.free_a:
        x[0] *= old.spread_a / new.spread_a
    x[row] = (old.centre_b + old.spread_b * x[row] - new.centre_b) / new.spread_b
    return Point(point.w * np.repeat(ratios, [*sizes, len(point.w) - sum(sizes)]), x)


def widest_a(priors: Priors) -> float:
    """Largest spread of log discrimination a joint mode is allowed.

    With few items and very unequal discriminations the joint likelihood rises without end: abilities line up on either
    side of one item whose discrimination grows (a Heywood case). The bound stops that; a fit at it is not converged.
    """
    return 2.0 * priors.spread_a


def _scale_mode(size: int, squares: float, prior: ScaleDensity) -> float:
    """Mode over v = log scale of `-size v - squares/2 e^(-2v)` plus its log prior.

    The derivative falls monotonically, so bisection finds it.
    """
    low, high = np.log(1e-3), np.log(prior.largest)
    for _ in range(50):
        v = (low + high) / 2
        if -size + squares * np.exp(-2 * v) + prior.slope_on_log(v) > 0:
            low = v
        else:
            high = v
    return float(np.exp((low + high) / 2))


STEP, LONGEST, NEAR, MOST = 0.15, 0.7, 0.1, 10
"""Distance of the three points, largest move, share of the standard deviation at which it ends, and rounds at most."""
FLATTEST = 1.0
"""Least curvature a move assumes."""


class Peak(NamedTuple):
    """Where the curve is highest, the standard deviation its curvature says, and whether the search ended there."""

    at: float
    sd: float
    settled: bool


def peak(height: Callable[[float], float], start: float, told: Progress | None = None) -> Peak:
    """Climb `height` from `start`; `told` hears of rounds done and of rounds at most."""
    at, sd = start, 1.0
    for number in range(1, MOST + 1):
        below, middle, above = (height(at + side * STEP) for side in (-1, 0, 1))
        curvature = max((2 * middle - below - above) / STEP**2, FLATTEST)
        sd = 1.0 / np.sqrt(curvature)
        move = float(np.clip((above - below) / (2 * STEP) / curvature, -LONGEST, LONGEST))
        at += move
        tell(told, number, MOST)
        if abs(move) < NEAR * sd:
            return Peak(at, float(sd), True)
    return Peak(at, float(sd), False)


def parameters(problem: Problem, scales: Scales, x: Floats) -> tuple[ItemParameters, Floats]:
    """Item parameters and, of the upper asymptote, its place between c and 1, at coordinates `[..., K, I]`.

    What the model fixes is one number broadcast, which takes no memory and cannot be written to.
    """
    rows = iter(np.moveaxis(x, -2, 0))
    zeros, ones = (np.broadcast_to(value, (*x.shape[:-2], x.shape[-1])) for value in (0.0, 1.0))
    a = ones
    if problem.free_a:
        a = scales.spread_a * next(rows)
        np.exp(a, out=a)
    b = scales.spread_b * next(rows)
    b += scales.centre_b
    c = sigmoid(next(rows)) if problem.own_guessing else zeros
    if problem.shared_guessing:
        c = np.broadcast_to(sigmoid(np.array(scales.guessing)), zeros.shape)
    delta = sigmoid(next(rows)) if problem.slipping else ones
    return ItemParameters(a, b, c, c + (1 - c) * delta if problem.slipping else ones), delta


def chain_rule(problem: Problem, scales: Scales, items: ItemParameters, delta: Floats) -> Floats:
    """Derivatives `[I, K, 4]` of (a, b, c, d) by the coordinates."""
    width = 1 + int(problem.free_a) + int(problem.own_guessing) + int(problem.slipping)
    rows, chain = iter(range(width)), np.zeros((len(items.a), width, 4))
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


def log_prior_of_items(problem: Problem, x: Floats) -> float:
    """Log prior density of the coordinates `[K, I]`, up to a constant."""
    gaussian = int(problem.free_a) + 1
    total = -0.5 * float(np.sum(x[:gaussian] ** 2))
    priors = asymptotes(problem, problem.priors, problem.chance)
    return total + sum(prior.on_logit(z) for z, prior in zip(x[gaussian:], priors, strict=True))
