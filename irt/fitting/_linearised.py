"""The log posterior at fixed scales: value, gradient, and curvature from the expected information.

Points are unit-scale ability weights and item coordinates (`irt.fitting._gaussian.Point`). The log discriminations are
held to sum to zero: conditioning on that sum is a rank-one correction of the Gaussian.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from irt._model import Problem
from irt._responses import Floats
from irt.fitting import _likelihood_passes as fused
from irt.fitting._ability import Known, Loadings, loadings
from irt.fitting._gaussian import Coupling, JointPrecision, Point, Solver, StudentsKept, solver
from irt.fitting._scale_estimates import Scales, chain_rule, log_prior_of_items, parameters, prior_terms
from irt.kernels import ItemParameters

CHEAP = 5e8
"""Operations a factorisation may take within the climb."""
NODES = 9
"""Quadrature nodes of integrated abilities."""
DOUBLE = 1_000_000
"""Cells up to which the climb keeps their weights in double precision."""


def loadings_of(problem: Problem, scales: Scales) -> Loadings:
    """The map from weights to abilities at these scales."""
    return loadings(problem.design, scales.terms, scales.residual)


def objective(problem: Problem, scales: Scales, point: Point) -> tuple[float, float]:
    """Log posterior at fixed scales, and log-likelihood."""
    items, _ = parameters(problem, scales, point.x)
    theta = loadings_of(problem, scales).ability(point.w)
    likelihood = float(np.sum(fused.gradient(problem.answers, theta, items).value))
    return likelihood + _log_prior(problem, point), likelihood


def _log_prior(problem: Problem, point: Point) -> float:
    return log_prior_of_items(problem, point.x) - 0.5 * float(np.sum(point.w**2))


def known_abilities(problem: Problem, scales: Scales, point: Point) -> Known:
    """The posterior of the ability weights given the items."""
    items, _ = parameters(problem, scales, point.x)
    ability = loadings_of(problem, scales)
    _, info = fused.curvature(problem.answers, ability.ability(point.w), items, np.float32)
    return Known(ability, info.theta)


def linearise(
    problem: Problem, scales: Scales, point: Point, integrate: bool = False, flops: float = CHEAP
) -> tuple[Point, GaussianCurvature]:
    """Gradient (in w and x) and the curvature, whose factorisation may take `flops` operations."""
    items, delta = parameters(problem, scales, point.x)
    chain, ability = chain_rule(problem, scales, items, delta), loadings_of(problem, scales)
    theta = ability.ability(point.w)
    students, count = problem.answers.shape
    precision = np.float64 if students * count <= DOUBLE else np.float32
    slope, info = fused.curvature(problem.answers, theta, items, precision)
    known = Known(ability, info.theta)
    by_items = info.items
    if integrate:
        slope, by_items = _averaged(problem, slope, theta, known.variances, items)
    by_x, prior_information = prior_terms(problem, point.x)
    blocks = chain @ by_items @ chain.transpose(0, 2, 1)
    blocks[:, range(len(by_x)), range(len(by_x))] += prior_information.T
    by_a, by_b, by_c, by_d = chain.transpose(2, 1, 0)
    tilt = by_a * items.a
    shift = -tilt * items.b - by_b * items.a**2
    coupling = Coupling(info.weights, theta, tilt, shift, by_c * items.a, by_d * items.a)
    found = solver(JointPrecision(known, blocks, coupling), flops)
    return _pulled(slope, ability, chain, point, by_x), _conditioned(found, point, problem.free_a)


def _averaged(
    problem: Problem, slope: fused.TableGradient, theta: Floats, variances: Floats, items: ItemParameters
) -> tuple[fused.TableGradient, Floats]:
    """Gradient and information `[I, 4, 4]` of the items averaged over Normal abilities; that of abilities is kept."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    deviation, blocks = np.sqrt(variances), np.zeros((len(items.a), 4, 4))
    by_items = np.zeros((4, len(items.a)))
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        found, info = fused.curvature(problem.answers, theta + node * deviation, items)
        by_items += weight * np.stack(found[2:])
        blocks += weight * info.items
    return fused.TableGradient(slope.value, slope.theta, *by_items), blocks


def slope_at(problem: Problem, scales: Scales, point: Point) -> tuple[Point, float]:
    """Gradient (in w and x) and the log posterior."""
    items, delta = parameters(problem, scales, point.x)
    chain, ability = chain_rule(problem, scales, items, delta), loadings_of(problem, scales)
    slope = fused.gradient(problem.answers, ability.ability(point.w), items)
    value = float(np.sum(slope.value)) + _log_prior(problem, point)
    return _pulled(slope, ability, chain, point, prior_terms(problem, point.x)[0]), value


def newton_step(problem: Problem, point: Point, slope: Point, curvature: GaussianCurvature) -> Point:
    """The step of Fisher scoring, with the log discriminations held to sum to zero."""
    step = curvature.solver.solve(slope)
    if not problem.free_a:
        return step
    excess = float(point.x[0].sum() + step.x[0].sum()) / curvature.held_size
    return Point(step.w - excess * curvature.held.w, step.x - excess * curvature.held.x)


def _pulled(slope: fused.TableGradient, ability: Loadings, chain: Floats, point: Point, prior: Floats) -> Point:
    """The gradient of the log posterior in w and x from that of the log-likelihood."""
    by_x = np.einsum("ikn,ni->ki", chain, np.stack(slope[2:]))
    return Point(ability.back(slope.theta) - point.w, by_x + prior)


@dataclass(frozen=True)
class GaussianCurvature:
    """Gaussian approximation, conditional on the log discriminations summing to zero.

    `held` is the covariance of everything with that sum, `held_size` the variance of the sum, both before conditioning
    (zeros and 1 when there is nothing to hold).
    """

    solver: Solver
    held: Point
    held_size: float

    @cached_property
    def variances(self) -> Point:
        """Marginal variances of w `[p + S]` and x `[K, I]`."""
        free = self.solver.variances()
        return Point(free.w - self.held.w**2 / self.held_size, free.x - self.held.x**2 / self.held_size)

    @cached_property
    def loadings(self) -> Floats:
        """Weights to abilities, dense `[S, p + S]`."""
        known = self.solver.joint.known.loadings
        return known.ability(np.eye(known.size)).T

    @cached_property
    def students(self) -> StudentsKept:
        """The covariance of the abilities, and the items' regression on them with its sign turned; not conditioned."""
        return StudentsKept(self.solver.joint)


def _conditioned(found: Solver, point: Point, free_a: bool) -> GaussianCurvature:
    """The approximation of the shape of `point`; there is a sum to hold where discriminations are free."""
    nothing = Point(np.zeros_like(point.w), np.zeros_like(point.x))
    if not free_a:
        return GaussianCurvature(found, nothing, 1.0)
    total = np.zeros_like(point.x)
    total[0] = 1.0
    held = found.solve(Point(nothing.w, total))
    return GaussianCurvature(found, held, float(held.x[0].sum()))


DEPTH = 8
"""Changes of steps that are remembered."""
RELATIVE = 1e-10
"""Singular values of remembered changes, relative to the largest, below which they are left out."""


class Acceleration:
    """Remembers points and their steps; `damping` is the share that is taken of what the past does not foretell."""

    def __init__(self, damping: float = 1.0) -> None:
        self._damping = damping
        self._points: list[Floats] = []
        self._steps: list[Floats] = []

    def forget(self) -> None:
        """Begin anew, where steps come from another factorisation."""
        self._points, self._steps = [], []

    def move(self, point: Point, step: Point) -> Point:
        """Where to go from `point`, whose own step is `step`, given the steps before."""
        at, forward = (np.concatenate([each.w, each.x.ravel()]) for each in (point, step))
        self._points, self._steps = [*self._points[-DEPTH:], at], [*self._steps[-DEPTH:], forward]
        reached = at + self._damping * forward
        if len(self._steps) > 1:
            moves, changes = np.diff(self._points, axis=0), np.diff(self._steps, axis=0)
            weights = np.linalg.lstsq(changes.T, forward, rcond=RELATIVE)[0]
            reached -= weights @ (moves + self._damping * changes)
        split = len(point.w)
        return Point(reached[:split], reached[split:].reshape(point.x.shape))


def largest(step: Point) -> float:
    """Largest change of a coordinate."""
    return max(float(np.max(np.abs(step.w), initial=0.0)), float(np.max(np.abs(step.x))))
