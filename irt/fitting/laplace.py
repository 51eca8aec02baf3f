"""Joint posterior mode of items and abilities, its Gaussian approximation, and scales by empirical Bayes.

At given scales the joint log posterior of item parameters and abilities is climbed by Fisher scoring: the gradient is
exact, the expected information is positive definite, and items are eliminated block by block (Schur complement), so
that one step solves an S x S system; the log discriminations are held to sum to zero (else abilities shrink and
discriminations grow to make up for it). The scales (spread of a and b, of each facet, of the residual) maximise the
approximate marginal posterior by EM: a joint mode over scales and effects would collapse them to zero. Priors on their
logarithms keep them off zero. Draws come from the Gaussian approximation at the mode, on the unconstrained scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from irt.kernels import sigmoid
from irt.model import Priors, Problem, RawDraws
from irt.responses import Floats

ROUNDS = 200
TOLERANCE = 5e-4
LEAP = 6
TINY = 1e-300


@dataclass(frozen=True)
class Scales:
    """Hyperparameters, in logits: fixed within a climb, updated between climbs."""

    terms: tuple[float, ...]
    residual: float
    spread_a: float
    centre_b: float
    spread_b: float

    def vector(self) -> Floats:
        """Logarithms of the scales, with `centre_b` as it is: what convergence is judged by."""
        scales = [*self.terms, self.residual, self.spread_a, self.spread_b]
        return np.append(np.log(scales), self.centre_b)


class Point(NamedTuple):
    """Unit-scale ability weights `w` `[p + S]`, item coordinates `x` `[K, I]` (whitened log a, b; logit c, delta)."""

    w: Floats
    x: Floats


class Parts(NamedTuple):
    """Item parameters at a point `[I]`, and ability `[S]`, in logits."""

    theta: Floats
    a: Floats
    b: Floats
    c: Floats
    delta: Floats


class Curvature(NamedTuple):
    """Gaussian approximation: covariance of w, of theta, item blocks `[I, K, K]` and their regression on theta.

    It is conditional on the log discriminations summing to zero: `held` is the covariance of everything with that sum,
    `held_size` the variance of the sum, both before conditioning (1 and zeros when there is nothing to hold).
    """

    w_chol: Floats
    w_cov: Floats
    theta_cov: Floats
    item_cov: Floats
    regression: Floats
    loadings: Floats
    held: Point
    held_size: float


@dataclass(frozen=True)
class LaplaceFit:
    """Mode, curvature and scales; `log_likelihood` and `log_posterior` at the mode, and whether the climb ended."""

    point: Point
    scales: Scales
    curvature: Curvature
    log_likelihood: float
    log_posterior: float
    rounds: int
    converged: bool


def climb(problem: Problem, progress: Callable[[int, int], None] | None = None) -> LaplaceFit:
    """Fit by alternating Fisher scoring and scale updates until neither moves."""
    scales = _starting_scales(problem)
    point = _starting_point(problem, scales)
    value, likelihood = _objective(problem, scales, point)
    converged = False
    rounds, last = 0, np.zeros_like(scales.vector())
    for rounds in range(1, ROUNDS + 1):
        point, value, _ = _scoring_step(problem, scales, point, value)
        _, curvature = _linearise(problem, scales, point)
        updated = _update_scales(problem, scales, point, curvature)
        point = _recoordinate(problem, point, scales, updated)
        change = updated.vector() - scales.vector()
        if rounds % LEAP == 0:
            leapt = _leap(updated, change, last)
            point, updated = _recoordinate(problem, point, updated, leapt), leapt
        scales, last = updated, change
        value, likelihood = _objective(problem, scales, point)
        if progress is not None:
            progress(rounds, ROUNDS)
        if rounds % LEAP and float(np.max(np.abs(change))) < TOLERANCE:
            converged = True
            break
    for _ in range(50):
        point, value, step = _scoring_step(problem, scales, point, value)
        if step < 1e-8:
            break
    value, likelihood = _objective(problem, scales, point)
    _, curvature = _linearise(problem, scales, point)
    return LaplaceFit(point, scales, curvature, likelihood, value, rounds, converged)


def mode_of(problem: Problem, fit: LaplaceFit) -> RawDraws:
    """The mode as a single draw."""
    return _to_raw(problem, fit.scales, fit.point.w[None], fit.point.x[None])


def draw(problem: Problem, fit: LaplaceFit, count: int, seed: int) -> RawDraws:
    """`count` draws from the Gaussian approximation, scales held at their estimates."""
    rng = np.random.default_rng(seed)
    curvature = fit.curvature
    noise = rng.standard_normal((count, len(fit.point.w)))
    shift = solve_triangular(curvature.w_chol, noise.T, lower=True, trans="T").T
    w = fit.point.w + shift
    theta_shift = shift @ curvature.loadings.T
    item_chol = np.linalg.cholesky(curvature.item_cov)
    own = np.einsum("ikl,dil->dki", item_chol, rng.standard_normal((count, *item_chol.shape[:2])))
    x = fit.point.x - np.einsum("iks,ds->dki", curvature.regression, theta_shift, optimize=True) + own
    if problem.free_a:
        excess = (x[:, 0].sum(axis=1) - fit.point.x[0].sum()) / curvature.held_size
        w, x = w - excess[:, None] * curvature.held.w, x - excess[:, None, None] * curvature.held.x
    return _to_raw(problem, fit.scales, w, x)


def residual_scale_draws(problem: Problem, fit: LaplaceFit, count: int, seed: int) -> Floats:
    """Approximate draws of the residual scale: log-normal, with the information of its effective degrees of freedom."""
    tail = len(problem.attempts)
    freedom = max(float(np.sum(1.0 - w_variances(fit.curvature)[-tail:])), 0.5)
    rng = np.random.default_rng([seed, 1])
    noise = rng.standard_normal(count) / np.sqrt(2.0 * freedom + 1.0)
    return np.asarray(fit.scales.residual * np.exp(noise))


def _leap(scales: Scales, change: Floats, last: Floats) -> Scales:
    """Aitken's extrapolation of a slow EM sequence, component by component, never more than twenty steps ahead."""
    ratio = np.divide(change, last, out=np.zeros_like(change), where=np.abs(last) > 1e-12)
    ratio = np.where(ratio > 0, np.minimum(ratio, 20 / 21), 0.0)
    logs = scales.vector() + np.clip(change * ratio / (1 - ratio), -0.25, 0.25)
    *terms, residual, spread_a, spread_b = np.clip(np.exp(logs[:-1]), 1e-3, 20.0).tolist()
    return Scales(tuple(terms), residual, spread_a, float(logs[-1]), spread_b)


def _starting_scales(problem: Problem) -> Scales:
    return Scales(tuple(0.5 for _ in problem.design.terms), 0.7, 0.3, 0.0, 1.0)


def _starting_point(problem: Problem, scales: Scales) -> Point:
    """Abilities and difficulties from smoothed logits of the proportions correct."""
    k, n = problem.successes, problem.attempts
    student = _smoothed_logit(k.sum(axis=1), n.sum(axis=1))
    item = _smoothed_logit(k.sum(axis=0), n.sum(axis=0))
    loadings = _loadings(problem, scales)
    target = student - student.mean()
    w = np.linalg.solve(loadings.T @ loadings + 0.1 * np.eye(loadings.shape[1]), loadings.T @ target)
    x = np.zeros((_width(problem), k.shape[1]))
    x[1 if problem.free_a else 0] = np.clip(-item, -3, 3) / scales.spread_b
    row = 2 if problem.free_a else 1
    if problem.guessing:
        x[row] = np.log(problem.chance / (1 - problem.chance))
    if problem.slipping:
        x[row + 1] = np.log(problem.priors.upper / (1 - problem.priors.upper))
    return Point(w, x)


def _smoothed_logit(k: Floats, n: Floats) -> Floats:
    return np.asarray(np.log((k + 0.5) / (n - k + 0.5)))


def _width(problem: Problem) -> int:
    return 1 + int(problem.free_a) + int(problem.guessing) + int(problem.slipping)


def _loadings(problem: Problem, scales: Scales) -> Floats:
    """`[S, p + S]`: unit-scale weights to ability."""
    blocks = [scale * term.matrix for scale, term in zip(scales.terms, problem.design.terms, strict=True)]
    students = problem.design.students
    if problem.design.residual:
        blocks.append(scales.residual * (np.eye(students) - 1.0 / students))
    loadings: Floats = np.hstack(blocks)
    return loadings


def _parts(problem: Problem, scales: Scales, point: Point) -> Parts:
    x = point.x
    rows = iter(range(len(x)))
    items = x.shape[1]
    a = np.exp(scales.spread_a * x[next(rows)]) if problem.free_a else np.ones(items)
    b = scales.centre_b + scales.spread_b * x[next(rows)]
    c = sigmoid(x[next(rows)]) if problem.guessing else np.zeros(items)
    delta = sigmoid(x[next(rows)]) if problem.slipping else np.ones(items)
    return Parts(np.asarray(_loadings(problem, scales) @ point.w), a, b, c, delta)


def _objective(problem: Problem, scales: Scales, point: Point) -> tuple[float, float]:
    """Log posterior at fixed scales, and log-likelihood."""
    parts = _parts(problem, scales, point)
    p, q, _, _ = _response(parts)
    likelihood = float(np.sum(problem.successes * np.log(p) + (problem.attempts - problem.successes) * np.log(q)))
    gaussian = int(problem.free_a) + 1
    prior = -0.5 * float(np.sum(point.w**2)) - 0.5 * float(np.sum(point.x[:gaussian] ** 2))
    for row, (first, second) in enumerate(_beta_counts(problem)):
        z = point.x[gaussian + row]
        prior -= float(np.sum(first * np.logaddexp(0, -z) + second * np.logaddexp(0, z)))
    return likelihood + prior, likelihood


def _beta_counts(problem: Problem) -> list[tuple[Floats, Floats]]:
    priors, ones = problem.priors, np.ones_like(problem.chance)
    counts = []
    if problem.guessing:
        counts.append((priors.guessing_weight * problem.chance, priors.guessing_weight * (1 - problem.chance)))
    if problem.slipping:
        counts.append((priors.upper_weight * priors.upper * ones, priors.upper_weight * (1 - priors.upper) * ones))
    return counts


def _response(parts: Parts) -> tuple[Floats, Floats, Floats, Floats]:
    """P, 1 - P, sigmoid and its slope, each `[S, I]`."""
    x = np.clip(parts.a * (parts.theta[:, None] - parts.b), -300, 300)
    up, down = sigmoid(x), sigmoid(-x)
    p = parts.c + (1 - parts.c) * parts.delta * up
    q = (1 - parts.c) * ((1 - parts.delta) + parts.delta * down)
    return np.maximum(p, TINY), np.maximum(q, TINY), up, up * down


def _jacobian(problem: Problem, scales: Scales, parts: Parts, up: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """dP/dtheta `[S, I]` and dP/dx `[K, S, I]`."""
    gain = (1 - parts.c) * parts.delta * slope
    rows = []
    if problem.free_a:
        rows.append(gain * parts.a * (parts.theta[:, None] - parts.b) * scales.spread_a)
    rows.append(-gain * parts.a * scales.spread_b)
    if problem.guessing:
        rows.append(parts.c * (1 - parts.c) * (1 - parts.delta * up))
    if problem.slipping:
        rows.append((1 - parts.c) * parts.delta * (1 - parts.delta) * up)
    return gain * parts.a, np.stack(rows)


def _linearise(problem: Problem, scales: Scales, point: Point) -> tuple[tuple[Floats, Floats], Curvature]:
    """Gradient (in w and x) and the curvature from the expected information."""
    parts = _parts(problem, scales, point)
    p, q, up, slope = _response(parts)
    by_theta, by_x = _jacobian(problem, scales, parts, up, slope)
    score = problem.successes / p - (problem.attempts - problem.successes) / q
    loadings = _loadings(problem, scales)
    gradient_x, prior_information = _prior_terms(problem, point)
    gradient_x = gradient_x + np.einsum("ksi,si->ki", by_x, score)
    gradient_w = loadings.T @ np.sum(score * by_theta, axis=1) - point.w
    weight = problem.attempts / (p * q)
    cross = (by_x * (weight * by_theta)).transpose(2, 0, 1)
    blocks = np.einsum("ksi,lsi->ikl", by_x * weight, by_x, optimize=True)
    blocks[:, range(len(point.x)), range(len(point.x))] += prior_information.T
    item_cov = np.linalg.inv(blocks)
    regression = item_cov @ cross
    flat = cross.reshape(-1, cross.shape[2])
    schur = np.diag(np.sum(weight * by_theta**2, axis=1)) - flat.T @ regression.reshape(flat.shape)
    precision = loadings.T @ schur @ loadings + np.eye(len(point.w))
    chol = np.asarray(np.linalg.cholesky((precision + precision.T) / 2), dtype=np.float64)
    w_cov = np.asarray(cho_solve((chol, True), np.eye(len(chol))), dtype=np.float64)
    theta_cov = loadings @ w_cov @ loadings.T
    nothing = Point(np.zeros_like(point.w), np.zeros_like(point.x))
    curvature = Curvature(chol, w_cov, theta_cov, item_cov, regression, loadings, nothing, 1.0)
    if problem.free_a:
        total = nothing.x.copy()
        total[0] = 1.0
        held = _solve(curvature, nothing.w, total)
        curvature = curvature._replace(held=held, held_size=float(held.x[0].sum()))
    return (gradient_w, gradient_x), curvature


def _solve(curvature: Curvature, right_w: Floats, right_x: Floats) -> Point:
    """The joint precision's inverse, before conditioning, times a right-hand side."""
    pulled = np.einsum("iks,ki->s", curvature.regression, right_x, optimize=True)
    step_w = np.asarray(cho_solve((curvature.w_chol, True), right_w - curvature.loadings.T @ pulled))
    own = np.einsum("ikl,li->ki", curvature.item_cov, right_x)
    return Point(step_w, own - np.einsum("iks,s->ki", curvature.regression, curvature.loadings @ step_w))


def _prior_terms(problem: Problem, point: Point) -> tuple[Floats, Floats]:
    """Gradient and information of the item priors, `[K, I]` each."""
    gradient, info = np.empty_like(point.x), np.ones_like(point.x)
    gaussian = int(problem.free_a) + 1
    gradient[:gaussian] = -point.x[:gaussian]
    for row, (first, second) in enumerate(_beta_counts(problem), start=gaussian):
        share = sigmoid(point.x[row])
        gradient[row] = first - (first + second) * share
        info[row] = (first + second) * share * (1 - share)
    return gradient, info


def _scoring_step(problem: Problem, scales: Scales, point: Point, value: float) -> tuple[Point, float, float]:
    """One step with backtracking; the point, its value, and the largest coordinate change."""
    (gradient_w, gradient_x), curvature = _linearise(problem, scales, point)
    step_w, step_x = _solve(curvature, gradient_w, gradient_x)
    if problem.free_a:
        excess = float(point.x[0].sum() + step_x[0].sum()) / curvature.held_size
        step_w, step_x = step_w - excess * curvature.held.w, step_x - excess * curvature.held.x
    length = 1.0
    for _ in range(30):
        candidate = Point(point.w + length * step_w, point.x + length * step_x)
        reached, _ = _objective(problem, scales, candidate)
        if reached >= value:
            return candidate, reached, length * max(float(np.max(np.abs(step_w))), float(np.max(np.abs(step_x))))
        length /= 2
    return point, value, 0.0


def _update_scales(problem: Problem, scales: Scales, point: Point, curvature: Curvature) -> Scales:
    """EM step: each scale from the expected sum of squares it governs, with its prior on the log scale."""
    priors = problem.priors
    second = point.w**2 + w_variances(curvature)
    terms, start = [], 0
    for scale, term in zip(scales.terms, problem.design.terms, strict=True):
        size = len(term.levels)
        terms.append(_scale_mode(size, scale**2 * second[start : start + size].sum(), priors.term_scale))
        start += size
    residual = scales.residual
    if problem.design.residual:
        spread = scales.residual**2 * second[start:].sum()
        width = None if problem.design.terms else priors.common_a
        residual = _scale_mode(problem.design.students, spread, priors.residual_scale, width)
    variance = item_variances(curvature)
    row = int(problem.free_a)
    items = point.x.shape[1]
    spread_a = scales.spread_a
    if problem.free_a:
        squares = float(np.sum(point.x[0] ** 2 + variance[0]))
        spread_a = min(_scale_mode(items - 1, spread_a**2 * squares, priors.spread_a), widest_a(priors))
    b = scales.centre_b + scales.spread_b * point.x[row]
    centre = float(b.sum() / (items + (scales.spread_b / priors.centre_b) ** 2))
    squares = float(np.sum((b - centre) ** 2 + scales.spread_b**2 * variance[row]))
    return Scales(tuple(terms), residual, spread_a, centre, _scale_mode(items, squares, priors.spread_b))


def w_variances(curvature: Curvature) -> Floats:
    """Posterior variances of the ability weights `[p + S]`."""
    return np.asarray(np.diag(curvature.w_cov) - curvature.held.w**2 / curvature.held_size)


def widest_a(priors: Priors) -> float:
    """Largest spread of log discrimination a joint mode is allowed.

    With few items and very unequal discriminations the joint likelihood rises without end: abilities line up on either
    side of one item whose discrimination grows (a Heywood case). The bound stops that; a fit at it is not converged.
    """
    return 2.0 * priors.spread_a


def item_variances(curvature: Curvature) -> Floats:
    """Marginal posterior variances of item coordinates `[K, I]`."""
    spread = np.matmul(curvature.regression, curvature.theta_cov)
    through_theta = np.sum(spread * curvature.regression, axis=2)
    own = np.diagonal(curvature.item_cov, axis1=1, axis2=2)
    return np.asarray((through_theta + own).T - curvature.held.x**2 / curvature.held_size)


def _scale_mode(size: int, squares: float, width: float, log_width: float | None = None) -> float:
    """Mode over v = log scale of `-size v - squares/2 e^(-2v)` plus its prior: half-normal (with its Jacobian v), or
    Normal(0, log_width) on v. The derivative falls monotonically, so bisection finds it.
    """
    low, high = np.log(1e-3), np.log(20.0 if log_width is not None else 4.0 * width)
    for _ in range(50):
        v = (low + high) / 2
        prior = 1 - np.exp(2 * v) / width**2 if log_width is None else -v / log_width**2
        if -size + squares * np.exp(-2 * v) + prior > 0:
            low = v
        else:
            high = v
    return float(np.exp((low + high) / 2))


def _recoordinate(problem: Problem, point: Point, old: Scales, new: Scales) -> Point:
    """The same abilities and item parameters in the coordinates of the new scales."""
    w, start = point.w.copy(), 0
    for before, after, term in zip(old.terms, new.terms, problem.design.terms, strict=True):
        w[start : start + len(term.levels)] *= before / after
        start += len(term.levels)
    w[start:] *= old.residual / new.residual
    x = point.x.copy()
    if problem.free_a:
        x[0] *= old.spread_a / new.spread_a
    row = int(problem.free_a)
    x[row] = (old.centre_b + old.spread_b * x[row] - new.centre_b) / new.spread_b
    return Point(w, x)


def _to_raw(problem: Problem, scales: Scales, w: Floats, x: Floats) -> RawDraws:
    count, _, items = x.shape
    rows = iter(range(x.shape[1]))
    a = np.exp(scales.spread_a * x[:, next(rows)]) if problem.free_a else np.ones((count, items))
    b = scales.centre_b + scales.spread_b * x[:, next(rows)]
    c = sigmoid(x[:, next(rows)]) if problem.guessing else np.zeros((count, items))
    delta = sigmoid(x[:, next(rows)]) if problem.slipping else np.ones((count, items))
    effects, start = [], 0
    for scale, term in zip(scales.terms, problem.design.terms, strict=True):
        effects.append(scale * w[:, start : start + len(term.levels)] @ term.root)
        start += len(term.levels)
    full = np.full(count, 1.0)
    return RawDraws(
        a=a,
        b=b,
        c=c,
        d=c + (1 - c) * delta,
        theta=w @ _loadings(problem, scales).T,
        effects=tuple(effects),
        scales=tuple(scale * full for scale in scales.terms),
        residual_scale=scales.residual * full,
        spread_a=scales.spread_a * full,
        spread_b=scales.spread_b * full,
        centre_b=scales.centre_b * full,
    )
