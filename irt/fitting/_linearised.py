"""The log posterior at fixed scales: value, gradient, and curvature from the expected information.

Points are unit-scale ability weights and item coordinates (`irt.fitting._gaussian.Point`). The log discriminations are
held to sum to zero: conditioning on that sum is a rank-one correction of the Gaussian.
"""

from __future__ import annotations

import numpy as np

from irt._model import Problem
from irt._responses import Floats
from irt.fitting import _likelihood_passes as fused
from irt.fitting._ability import Known, Loadings, loadings
from irt.fitting._gaussian import Coupling, JointPrecision, Point, solver
from irt.fitting._gaussian_curvature import GaussianCurvature, conditioned
from irt.fitting._item_coordinates import chain_rule, log_prior, parameters, prior_terms
from irt.fitting._scale_estimates import Scales
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
    return log_prior(problem, point.x) - 0.5 * float(np.sum(point.w**2))


def known_abilities(problem: Problem, scales: Scales, point: Point) -> Known:
    """The posterior of the ability weights given the items."""
    items, _ = parameters(problem, scales, point.x)
    ability = loadings_of(problem, scales)
    _, info = fused.curvature(problem.answers, ability.ability(point.w), items, np.float32)
    return Known(ability, info.theta)


def linearise(
    problem: Problem, scales: Scales, point: Point, integrate: bool = False, flops: float | None = None
) -> tuple[Point, GaussianCurvature]:
    """Gradient (in w and x) and the curvature, whose factorisation may take `flops` operations (`CHEAP`)."""
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
    coupling = _coupling(info.weights, theta, items, chain)
    found = solver(JointPrecision(known, blocks, coupling), CHEAP if flops is None else flops)
    return _pulled(slope, ability, chain, point, by_x), conditioned(found, point, problem.free_a)


def _averaged(
    problem: Problem, slope: fused.TableGradient, theta: Floats, variances: Floats, items: ItemParameters
) -> tuple[fused.TableGradient, Floats]:
    """Gradient and information `[I, 4, 4]` of the items averaged over Normal abilities; that of abilities is kept."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    deviation, blocks = np.sqrt(variances), np.zeros((len(items.a), 4, 4))
    by_items = np.zeros((4, len(items.a)))
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        found, info = fused.curvature(problem.answers, theta + node * deviation, items)
        by_items += weight * np.stack([found.a, found.b, found.c, found.d])
        blocks += weight * info.items
    return slope._replace(a=by_items[0], b=by_items[1], c=by_items[2], d=by_items[3]), blocks


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
    by_x = np.einsum("ikn,ni->ki", chain, np.stack([slope.a, slope.b, slope.c, slope.d]))
    return Point(ability.back(slope.theta) - point.w, by_x + prior)


def _coupling(weights: fused.CellInformation, theta: Floats, items: ItemParameters, chain: Floats) -> Coupling:
    by_a, by_b, by_c, by_d = chain.transpose(2, 1, 0)
    slope = by_a * items.a
    return Coupling(weights, theta, slope, -slope * items.b - by_b * items.a**2, by_c * items.a, by_d * items.a)
