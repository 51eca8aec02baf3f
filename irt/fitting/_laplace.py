"""Joint posterior mode of items and abilities, its Gaussian approximation, and scales by empirical Bayes.

At given scales the joint log posterior of item parameters and abilities is climbed by Fisher scoring: the gradient is
exact, the expected information is positive definite, and the step comes from `irt.fitting._gaussian`; the log
discriminations are held to sum to zero (else abilities shrink and discriminations grow to make up for it). The scales
(spread of a and b, of each facet, of the residual) maximise the approximate marginal posterior by EM: a joint mode over
scales and effects would collapse them to zero. Priors on their logarithms keep them off zero.

With few items to an ability the joint mode is inconsistent (Neyman & Scott 1948), and discriminations may run away:
abilities line up on either side of one item, a Heywood case. Such a climb is repeated with the gradient and
information of the items averaged over each ability's Gaussian posterior, which is the gradient of the marginal
likelihood (Fisher's identity) to the accuracy of that Gaussian.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logit

from irt._model import Problem, RawDraws
from irt._responses import Floats
from irt.fitting import _scale_estimates as scaling
from irt.fitting._ability import Known
from irt.fitting._estimation_outcome import Progress, tell
from irt.fitting._gaussian import Iterative, Point
from irt.fitting._linearised import (
    DOUBLE,
    Acceleration,
    GaussianCurvature,
    known_abilities,
    largest,
    linearise,
    loadings_of,
    newton_step,
    objective,
    slope_at,
)
from irt.fitting._scale_estimates import STEP, Scales, parameters, peak, widest_a
from irt.kernels import sigmoid, smoothed_logit

ROUNDS = 200
"""Of scoring steps and scale updates at most; most climbs take a tenth."""
TOLERANCE = 5e-4
"""Largest change of a logarithm of a scale at which a climb ends: far below its standard error."""
LEAP = 6
"""Rounds from one extrapolation of the scales to the next, so that their changes show a rate."""
BIASED = 1.8
"""Abilities are integrated where a joint mode's bias, of the order of 1 - reliability, exceeds this many times
1/sqrt(students), the order of sampling error.
"""
ENOUGH, SLACK, GROWN = 1e-7, 1e-12, 2.0
"""Of polishing: change of coordinates at which it ends, relative rounding error of the log posterior, and by how much
steps may outgrow the least one before the past is forgotten.
"""
DEAR = 1e11
"""Operations a factorisation may take at the end of the climb."""
DAMPED, STRIDE = 0.7, 1.0
"""Of integrated abilities: share of a step that is taken (whole ones oscillate), its largest size."""
FARTHEST = 4.0
"""Largest step of the logit of an asymptote: far out it has next to no information, so steps go wild."""


@dataclass(frozen=True)
class LaplaceFit:
    """Mode, curvature and scales; `log_likelihood` and `log_posterior` at the mode, and whether the climb ended.

    `integrated` says that the items are at the mode of the approximate marginal posterior, not of the joint one. Of a
    guessing parameter that items share, `guessing_sd` is the error of its logit and `guessing_pull` how the rest moves
    with it.
    """

    point: Point
    scales: Scales
    curvature: GaussianCurvature
    log_likelihood: float
    log_posterior: float
    rounds: int
    converged: bool
    integrated: bool = False
    guessing_sd: float = 0.0
    guessing_pull: Point | None = None


@dataclass(frozen=True)
class _Settled:
    """Where a climb over points and scales ended."""

    point: Point
    scales: Scales
    value: float
    rounds: int
    converged: bool


def climb(problem: Problem, progress: Progress | None = None, joint: bool = False) -> LaplaceFit:
    """Fit by alternating Fisher scoring and scale updates until neither moves; `joint` never integrates abilities.

    A guessing parameter that items share is put at the maximum of its evidence (`irt.fitting._scale_estimates`).
    """
    if problem.shared_guessing:
        return _profiled(problem, progress, joint)
    return _climbed(problem, progress, joint)


def _profiled(problem: Problem, progress: Progress | None, joint: bool) -> LaplaceFit:
    students, items = problem.answers.shape
    if students * items > DOUBLE:
        raise ValueError(
            f"model '{problem.model}' is fitted to up to {DOUBLE} cells this way, found {students} x {items}; use "
            "method 'mml'"
        )
    first = _climbed(problem, None, joint)
    fits: dict[float, LaplaceFit] = {}

    def fitted(guessing: float) -> LaplaceFit:
        if guessing not in fits:
            start = replace(first, scales=replace(first.scales, guessing=guessing))
            settled = _settle(problem, None, first.integrated, start)
            fits[guessing] = _finished(problem, settled, first.integrated)
        return fits[guessing]

    def height(guessing: float) -> float:
        fit = fitted(guessing)
        return log_evidence(refit(problem, fit, fit.scales)) + scaling.log_prior(problem, fit.scales.vector())

    found = peak(height, first.scales.guessing, progress)
    fit = fitted(found.at)
    above, below = (
        scaling.recoordinated(problem, end.point, end.scales, fit.scales)
        for end in (fitted(found.at + side * STEP) for side in (1, -1))
    )
    pull = Point((above.w - below.w) / (2 * STEP), (above.x - below.x) / (2 * STEP))
    return replace(fit, converged=fit.converged and found.settled, guessing_sd=found.sd, guessing_pull=pull)


def _climbed(problem: Problem, progress: Progress | None, joint: bool) -> LaplaceFit:
    try:
        settled = _settle(problem, progress, False)
        if joint or not _doubtful(problem, settled):
            return _finished(problem, settled, False)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"no stable mode of {problem.model} in this table; wanted a simpler model") from error
    try:
        integrated = _settle(problem, progress, True)
        if integrated.converged:
            return _finished(problem, integrated, True)
    except np.linalg.LinAlgError:
        pass
    return _finished(problem, settled, False)


def at_bound(problem: Problem, fit: LaplaceFit | _Settled) -> bool:
    """Whether the spread of discriminations ran into its bound."""
    return problem.free_a and fit.scales.spread_a >= 0.999 * widest_a(problem.priors)


def _doubtful(problem: Problem, settled: _Settled) -> bool:
    """Whether a joint climb did not settle, ran into its bound, or has too large a bias.

    The bias is of the order of 1 - reliability, times the root of the number of students.
    """
    if not settled.converged or at_bound(problem, settled):
        return True
    known = known_abilities(problem, settled.scales, settled.point)
    between, within = float(np.var(known.loadings.ability(settled.point.w))), float(np.mean(known.variances))
    return within / (between + within) * float(np.sqrt(len(known.information))) >= BIASED


def _settle(problem: Problem, progress: Progress | None, integrate: bool, start: LaplaceFit | None = None) -> _Settled:
    scales = scaling.starting(problem) if start is None else start.scales
    point = _starting_point(problem, scales) if start is None else start.point
    value, _ = objective(problem, scales, point)
    last = np.zeros_like(scales.vector())
    for rounds in range(1, ROUNDS + 1):
        slope, curvature = linearise(problem, scales, point, integrate)
        point, value = _scoring_step(problem, scales, point, -np.inf if integrate else value, slope, curvature)
        updated = scaling.updated(problem, scales, point, curvature.variances)
        point = scaling.recoordinated(problem, point, scales, updated)
        change = updated.vector() - scales.vector()
        if rounds % LEAP == 0 and not integrate:
            leapt = scaling.leapt(updated, change, last)
            point, updated = scaling.recoordinated(problem, point, updated, leapt), leapt
        scales, last = updated, change
        value, _ = objective(problem, scales, point)
        tell(progress, rounds, ROUNDS)
        if (rounds % LEAP or integrate) and float(np.max(np.abs(change))) < TOLERANCE:
            return _Settled(point, scales, value, rounds, True)
    return _Settled(point, scales, value, ROUNDS, False)


def _finished(problem: Problem, settled: _Settled, integrate: bool, enough: float = ENOUGH) -> LaplaceFit:
    """The mode at the scales of a climb, and its curvature."""
    scales = settled.scales
    point = _polish(problem, scales, settled.point, settled.value, integrate, enough)
    value, likelihood = objective(problem, scales, point)
    _, curvature = linearise(problem, scales, point, integrate, DEAR)
    return LaplaceFit(point, scales, curvature, likelihood, value, settled.rounds, settled.converged, integrate)


def _polish(problem: Problem, scales: Scales, point: Point, value: float, integrate: bool, enough: float) -> Point:
    """Scoring at fixed scales to the end, accelerated; a factorisation serves while its steps lead upwards."""
    if integrate:
        return _polish_integrated(problem, scales, point, enough)
    acceleration = Acceleration()
    slope, curvature = linearise(problem, scales, point)
    for _ in range(100):
        step = newton_step(problem, point, slope, curvature)
        candidate = acceleration.move(point, step)
        uphill, reached = slope_at(problem, scales, candidate)
        if reached >= value - SLACK * abs(value):
            point, value, slope = candidate, max(value, reached), uphill
        else:
            point, value = _scoring_step(problem, scales, point, value, slope, curvature)
            slope, curvature = linearise(problem, scales, point)
            acceleration.forget()
        if largest(step) < enough:
            break
    return point


def _polish_integrated(problem: Problem, scales: Scales, point: Point, enough: float) -> Point:
    """The same for integrated abilities: damped, by a gradient that belongs to no function at hand."""
    acceleration, least = Acceleration(DAMPED), np.inf
    for _ in range(100):
        slope, curvature = linearise(problem, scales, point, True)
        step = newton_step(problem, point, slope, curvature)
        size = largest(step)
        if size > GROWN * least:
            acceleration.forget()
        point, least = acceleration.move(point, step), min(least, size)
        if size < enough:
            break
    return point


def refit(problem: Problem, fit: LaplaceFit, scales: Scales) -> LaplaceFit:
    """The mode and curvature at other scales, from the mode at hand; abilities are not integrated."""
    point = scaling.recoordinated(problem, fit.point, fit.scales, scales)
    value, _ = objective(problem, scales, point)
    return _finished(problem, _Settled(point, scales, value, fit.rounds, fit.converged), False, 1e-3)


def log_evidence(fit: LaplaceFit) -> float:
    """Laplace's approximation of log p(answers | scales), up to a constant (Tierney & Kadane 1986)."""
    assert not isinstance(fit.curvature.solver, Iterative)  # the tables of method 'laplace' are small
    inside = fit.curvature.solver.log_determinant + np.log(fit.curvature.held_size)
    return fit.log_posterior - 0.5 * float(inside)


def mode_of(problem: Problem, fit: LaplaceFit) -> RawDraws:
    """The mode as a single draw."""
    return _to_raw(problem, fit.scales, fit.point.w[None], fit.point.x[None])


def draw(problem: Problem, fit: LaplaceFit, count: int, seed: int) -> RawDraws:
    """`count` draws from the Gaussian approximation, scales held at their estimates."""
    curvature = fit.curvature
    w, x = curvature.solver.sample(np.random.default_rng(seed), count)
    excess = x[:, 0].sum(axis=1) / curvature.held_size
    w += fit.point.w
    x += fit.point.x
    if problem.free_a:
        w -= excess[:, None] * curvature.held.w
        for row, held in enumerate(curvature.held.x):
            x[:, row] -= excess[:, None] * held
    if fit.guessing_pull is None:
        return _to_raw(problem, fit.scales, w, x)
    shift = fit.guessing_sd * np.random.default_rng([seed, 2]).standard_normal(count)
    w, x = w + shift[:, None] * fit.guessing_pull.w, x + shift[:, None, None] * fit.guessing_pull.x
    raw = _to_raw(problem, fit.scales, w, x)
    return replace(raw, c=np.broadcast_to(sigmoid(fit.scales.guessing + shift)[:, None], raw.c.shape))


def residual_scale_draws(problem: Problem, fit: LaplaceFit, count: int, seed: int) -> Floats:
    """Approximate draws of the residual scale: log-normal, with the information of its effective degrees of freedom."""
    tail = problem.answers.shape[0]
    freedom = max(float(np.sum(1.0 - fit.curvature.variances.w[-tail:])), 0.5)
    rng = np.random.default_rng([seed, 1])
    noise = rng.standard_normal(count) / np.sqrt(2.0 * freedom + 1.0)
    return np.asarray(fit.scales.residual * np.exp(noise))


def _starting_point(problem: Problem, scales: Scales) -> Point:
    """Abilities and difficulties from smoothed logits of the proportions correct."""
    student, item = (smoothed_logit(*totals) for totals in (problem.answers.by_student, problem.answers.by_item))
    # Ridge regression of the logits on the loadings, by the posterior of abilities known to 10 units of information.
    start = Known(loadings_of(problem, scales), np.full(len(student), 10.0))
    w = start.solve(start.loadings.back(10.0 * (student - student.mean())))
    rows = [np.zeros(len(item))] * problem.free_a + [np.clip(-item, -3, 3) / scales.spread_b]
    rows += [logit(problem.chance)] * problem.own_guessing
    rows += [np.full(len(item), logit(problem.priors.upper))] * problem.slipping
    return Point(w, np.stack(rows))


def _scoring_step(
    problem: Problem, scales: Scales, point: Point, value: float, slope: Point, curvature: GaussianCurvature
) -> tuple[Point, float]:
    """One step with backtracking from `value`, of at most `STRIDE` where that is -inf; the point and its value."""
    step = newton_step(problem, point, slope, curvature)
    stride = max(float(np.max(np.abs(step.x))), STRIDE)
    far = float(np.max(np.abs(step.x[1 + int(problem.free_a) :]), initial=0.0))
    length = FARTHEST / max(far, FARTHEST) if value > -np.inf else min(DAMPED, STRIDE / stride)
    for _ in range(30):
        candidate = Point(point.w + length * step.w, point.x + length * step.x)
        reached, _ = objective(problem, scales, candidate)
        if reached >= value:
            return candidate, reached
        length /= 2
    return point, value


def _to_raw(problem: Problem, scales: Scales, w: Floats, x: Floats) -> RawDraws:
    count = len(x)
    items, _ = parameters(problem, scales, x)
    terms, full = problem.design.terms, np.full(count, 1.0)
    groups = np.split(w, np.cumsum([term.root.shape[1] for term in terms]), axis=1)[:-1]
    return RawDraws(
        *items,
        theta=loadings_of(problem, scales).ability(w),
        effects=tuple(
            scale * each @ term.root.T for scale, each, term in zip(scales.terms, groups, terms, strict=True)
        ),
        scales=tuple(scale * full for scale in scales.terms),
        residual_scale=scales.residual * full,
        spread_a=scales.spread_a * full,
        spread_b=scales.spread_b * full,
        centre_b=scales.centre_b * full,
    )
