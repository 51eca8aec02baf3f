"""Joint posterior mode of items and abilities, its Gaussian approximation, and scales by empirical Bayes.

At given scales the joint log posterior of item parameters and abilities is climbed by Fisher scoring: the gradient is
exact, the expected information is positive definite, and the step comes from `irt.fitting.gaussian`; the log
discriminations are held to sum to zero (else abilities shrink and discriminations grow to make up for it). The scales
(spread of a and b, of each facet, of the residual) maximise the approximate marginal posterior by EM: a joint mode over
scales and effects would collapse them to zero. Priors on their logarithms keep them off zero.

With few items to an ability the joint mode is inconsistent (Neyman & Scott 1948), and discriminations may run away:
abilities line up on either side of one item, a Heywood case. Such a climb is repeated with the gradient and
information of the items averaged over each ability's Gaussian posterior, which is the gradient of the marginal
likelihood (Fisher's identity) to the accuracy of that Gaussian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from irt.fitting import fused
from irt.fitting import scales as scaling
from irt.fitting.ability import Known, Loadings, loadings
from irt.fitting.curvature import Curvature, conditioned
from irt.fitting.gaussian import Coupling, Joint, Point, log_determinant, solver
from irt.fitting.item_coordinates import chain_rule, log_prior, parameters, prior_terms, width
from irt.fitting.profile import STEP, peak
from irt.fitting.scales import Scales, widest_a
from irt.kernels import ItemParameters, sigmoid, smoothed_logit
from irt.model import Problem, RawDraws
from irt.responses import Floats

ROUNDS = 200
TOLERANCE = 5e-4
LEAP = 6
BIASED = 1.8
"""Abilities are integrated where a joint mode's bias, of the order of 1 - reliability, exceeds this many times
1/sqrt(students), the order of sampling error.
"""
ENOUGH, SLOW = 1e-7, 0.3
"""Change of coordinates at which polishing ends, and share of the last step above which curvature is renewed."""
CHEAP, DEAR = 5e8, 1e11
"""Operations a factorisation may take within the climb, and at its end."""
NODES, DAMPED, STRIDE = 9, 0.7, 1.0
"""Of integrated abilities: quadrature nodes, share of a step that is taken (whole ones oscillate), its largest size."""
LEAST_KNOWN = 4.0
"""Largest step of the logit of an asymptote."""
DOUBLE = 1_000_000
"""Cells up to which the climb keeps their weights in double precision."""


@dataclass(frozen=True)
class LaplaceFit:
    """Mode, curvature and scales; `log_likelihood` and `log_posterior` at the mode, and whether the climb ended.

    `integrated` says that the items are at the mode of the approximate marginal posterior, not of the joint one. Of a
    guessing parameter that items share, `guessing_sd` is the error of its logit and `guessing_pull` how the rest moves
    with it.
    """

    point: Point
    scales: Scales
    curvature: Curvature
    log_likelihood: float
    log_posterior: float
    rounds: int
    converged: bool
    integrated: bool = False
    guessing_sd: float = 0.0
    guessing_pull: Point | None = None


def climb(problem: Problem, progress: Callable[[int, int], None] | None = None, joint: bool = False) -> LaplaceFit:
    """Fit by alternating Fisher scoring and scale updates until neither moves; `joint` never integrates abilities.

    A guessing parameter that items share is put at the maximum of its evidence (`irt.fitting.profile`).
    """
    if problem.shared_guessing:
        return _profiled(problem, progress, joint)
    return _settled(problem, progress, joint)


def _profiled(problem: Problem, progress: Callable[[int, int], None] | None, joint: bool) -> LaplaceFit:
    students, items = problem.answers.shape
    if students * items > DOUBLE:
        raise ValueError(
            f"model '{problem.model}' is fitted to up to {DOUBLE} cells this way, found {students} x {items}; use "
            "method 'mml'"
        )
    first = _settled(problem, None, joint)
    fits: dict[float, LaplaceFit] = {}

    def fitted(guessing: float) -> LaplaceFit:
        if guessing not in fits:
            start = replace(first, scales=replace(first.scales, guessing=guessing))
            fits[guessing] = _climb(problem, None, first.integrated, start)
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


def _settled(problem: Problem, progress: Callable[[int, int], None] | None, joint: bool) -> LaplaceFit:
    try:
        fit = _climb(problem, progress, False)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"no stable mode of {problem.model} in this table; a simpler model was wanted") from error
    if joint or (fit.converged and not at_bound(problem, fit) and _bias(fit) < BIASED):
        return fit
    try:
        integrated = _climb(problem, progress, True)
    except np.linalg.LinAlgError:
        return fit
    return integrated if integrated.converged else fit


def at_bound(problem: Problem, fit: LaplaceFit) -> bool:
    """Whether the spread of discriminations ran into its bound."""
    return problem.free_a and fit.scales.spread_a >= 0.999 * widest_a(problem.priors)


def _bias(fit: LaplaceFit) -> float:
    """1 - reliability of the abilities, times the root of the number of students."""
    known = fit.curvature.solver.joint.known
    between, within = float(np.var(known.loadings.ability(fit.point.w))), float(np.mean(known.variances))
    return within / (between + within) * float(np.sqrt(len(known.information)))


def _climb(
    problem: Problem, progress: Callable[[int, int], None] | None, integrate: bool, start: LaplaceFit | None = None
) -> LaplaceFit:
    scales = scaling.starting(problem) if start is None else start.scales
    point = _starting_point(problem, scales) if start is None else start.point
    value, _ = _objective(problem, scales, point)
    converged = False
    rounds, last = 0, np.zeros_like(scales.vector())
    for rounds in range(1, ROUNDS + 1):
        slope, curvature = _linearise(problem, scales, point, integrate)
        point, value, _ = _scoring_step(problem, scales, point, -np.inf if integrate else value, slope, curvature)
        updated = scaling.updated(problem, scales, point, curvature.variances)
        point = scaling.recoordinated(problem, point, scales, updated)
        change = updated.vector() - scales.vector()
        if rounds % LEAP == 0 and not integrate:
            leapt = scaling.leapt(updated, change, last)
            point, updated = scaling.recoordinated(problem, point, updated, leapt), leapt
        scales, last = updated, change
        value, _ = _objective(problem, scales, point)
        if progress is not None:
            progress(rounds, ROUNDS)
        if (rounds % LEAP or integrate) and float(np.max(np.abs(change))) < TOLERANCE:
            converged = True
            break
    point = _polish(problem, scales, point, value, integrate)
    value, likelihood = _objective(problem, scales, point)
    _, curvature = _linearise(problem, scales, point, integrate, DEAR)
    return LaplaceFit(point, scales, curvature, likelihood, value, rounds, converged, integrate)


def _polish(
    problem: Problem, scales: Scales, point: Point, value: float, integrate: bool, enough: float = ENOUGH
) -> Point:
    """Scoring at fixed scales to the end; a factorisation serves as long as its steps shrink well."""
    slope, curvature = _linearise(problem, scales, point, integrate)
    last = np.inf
    for _ in range(100):
        point, value, step = _scoring_step(problem, scales, point, -np.inf if integrate else value, slope, curvature)
        if step < enough:
            break
        if integrate or step > SLOW * last:
            slope, curvature = _linearise(problem, scales, point, integrate)
        else:
            slope = _slope(problem, scales, point)
        last = step
    return point


def refit(problem: Problem, fit: LaplaceFit, scales: Scales) -> LaplaceFit:
    """The mode and curvature at other scales, from the mode at hand; abilities are not integrated."""
    point = scaling.recoordinated(problem, fit.point, fit.scales, scales)
    value, _ = _objective(problem, scales, point)
    point = _polish(problem, scales, point, value, False, 1e-3)
    value, likelihood = _objective(problem, scales, point)
    _, curvature = _linearise(problem, scales, point, False, DEAR)
    return LaplaceFit(point, scales, curvature, likelihood, value, fit.rounds, fit.converged)


def log_evidence(fit: LaplaceFit) -> float:
    """Laplace's approximation of log p(answers | scales), up to a constant (Tierney & Kadane 1986)."""
    inside = log_determinant(fit.curvature.solver) + np.log(fit.curvature.held_size)
    return fit.log_posterior - 0.5 * float(inside)


def mode_of(problem: Problem, fit: LaplaceFit) -> RawDraws:
    """The mode as a single draw."""
    return _to_raw(problem, fit.scales, fit.point.w[None], fit.point.x[None])


def draw(problem: Problem, fit: LaplaceFit, count: int, seed: int) -> RawDraws:
    """`count` draws from the Gaussian approximation, scales held at their estimates."""
    curvature = fit.curvature
    shift = curvature.solver.sample(np.random.default_rng(seed), count)
    w, x = fit.point.w + shift.w, fit.point.x + shift.x
    if problem.free_a:
        excess = shift.x[:, 0].sum(axis=1) / curvature.held_size
        w, x = w - excess[:, None] * curvature.held.w, x - excess[:, None, None] * curvature.held.x
    if fit.guessing_pull is None:
        return _to_raw(problem, fit.scales, w, x)
    logit = fit.guessing_sd * np.random.default_rng([seed, 2]).standard_normal(count)
    w, x = w + logit[:, None] * fit.guessing_pull.w, x + logit[:, None, None] * fit.guessing_pull.x
    raw = _to_raw(problem, fit.scales, w, x)
    return replace(raw, c=sigmoid(fit.scales.guessing + logit)[:, None] + np.zeros_like(raw.c))


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
    start = Known(_loadings(problem, scales), np.full(len(student), 10.0))
    w = start.solve(start.loadings.back(10.0 * (student - student.mean())))
    x = np.zeros((width(problem), len(item)))
    x[1 if problem.free_a else 0] = np.clip(-item, -3, 3) / scales.spread_b
    row = 2 if problem.free_a else 1
    if problem.own_guessing:
        x[row] = np.log(problem.chance / (1 - problem.chance))
    if problem.slipping:
        x[row + 1] = np.log(problem.priors.upper / (1 - problem.priors.upper))
    return Point(w, x)


def _loadings(problem: Problem, scales: Scales) -> Loadings:
    return loadings(problem.design, scales.terms, scales.residual)


def _objective(problem: Problem, scales: Scales, point: Point) -> tuple[float, float]:
    """Log posterior at fixed scales, and log-likelihood."""
    items, _ = parameters(problem, scales, point.x)
    theta = _loadings(problem, scales).ability(point.w)
    likelihood = float(np.sum(fused.gradient(problem.answers, theta, items).value))
    prior = log_prior(problem, point.x) - 0.5 * float(np.sum(point.w**2))
    return likelihood + prior, likelihood


def _linearise(
    problem: Problem, scales: Scales, point: Point, integrate: bool = False, flops: float = CHEAP
) -> tuple[Point, Curvature]:
    """Gradient (in w and x) and the curvature from the expected information."""
    items, delta = parameters(problem, scales, point.x)
    chain, ability = chain_rule(problem, scales, items, delta), _loadings(problem, scales)
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
    found = solver(Joint(known, blocks, coupling), flops)
    return _pulled(slope, ability, chain, point, by_x), conditioned(found, point, problem.free_a)


def _averaged(
    problem: Problem, slope: fused.Gradient, theta: Floats, variances: Floats, items: ItemParameters
) -> tuple[fused.Gradient, Floats]:
    """Gradient and information `[I, 4, 4]` of the items averaged over Normal abilities; that of abilities is kept."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    deviation, blocks = np.sqrt(variances), np.zeros((len(items.a), 4, 4))
    by_items = np.zeros((4, len(items.a)))
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        found, info = fused.curvature(problem.answers, theta + node * deviation, items)
        by_items += weight * np.stack([found.a, found.b, found.c, found.d])
        blocks += weight * info.items
    return slope._replace(a=by_items[0], b=by_items[1], c=by_items[2], d=by_items[3]), blocks


def _slope(problem: Problem, scales: Scales, point: Point) -> Point:
    """The gradient alone."""
    items, delta = parameters(problem, scales, point.x)
    chain, ability = chain_rule(problem, scales, items, delta), _loadings(problem, scales)
    slope = fused.gradient(problem.answers, ability.ability(point.w), items)
    return _pulled(slope, ability, chain, point, prior_terms(problem, point.x)[0])


def _pulled(slope: fused.Gradient, ability: Loadings, chain: Floats, point: Point, prior: Floats) -> Point:
    """The gradient of the log posterior in w and x from that of the log-likelihood."""
    by_x = np.einsum("ikn,ni->ki", chain, np.stack([slope.a, slope.b, slope.c, slope.d]))
    return Point(ability.back(slope.theta) - point.w, by_x + prior)


def _coupling(weights: fused.Weights, theta: Floats, items: ItemParameters, chain: Floats) -> Coupling:
    by_a, by_b, by_c, by_d = chain.transpose(2, 1, 0)
    slope = by_a * items.a
    return Coupling(weights, theta, slope, -slope * items.b - by_b * items.a**2, by_c * items.a, by_d * items.a)


def _scoring_step(
    problem: Problem, scales: Scales, point: Point, value: float, slope: Point, curvature: Curvature
) -> tuple[Point, float, float]:
    """One step, of at most `STRIDE`, with backtracking from `value`; the point, its value, the largest change."""
    step = _step(problem, point, slope, curvature)
    stride = max(float(np.max(np.abs(step.x))), STRIDE)
    length = _longest(problem, step) if value > -np.inf else min(DAMPED, STRIDE / stride)
    for _ in range(30):
        candidate = Point(point.w + length * step.w, point.x + length * step.x)
        reached, _ = _objective(problem, scales, candidate)
        if reached >= value:
            return candidate, reached, length * max(float(np.max(np.abs(step.w))), float(np.max(np.abs(step.x))))
        length /= 2
    return point, value, 0.0


def _longest(problem: Problem, step: Point) -> float:
    """Share of a step that may be taken: logits of asymptotes far out have next to no information, so steps go wild."""
    far = float(np.max(np.abs(step.x[1 + int(problem.free_a) :]), initial=0.0))
    return min(1.0, LEAST_KNOWN / far) if far > 0 else 1.0


def _step(problem: Problem, point: Point, slope: Point, curvature: Curvature) -> Point:
    """The step of Fisher scoring, with the log discriminations held to sum to zero."""
    step = curvature.solver.solve(slope)
    if not problem.free_a:
        return step
    excess = float(point.x[0].sum() + step.x[0].sum()) / curvature.held_size
    return Point(step.w - excess * curvature.held.w, step.x - excess * curvature.held.x)


def _to_raw(problem: Problem, scales: Scales, w: Floats, x: Floats) -> RawDraws:
    count = len(x)
    items, _ = parameters(problem, scales, x)
    effects, start = [], 0
    for scale, term in zip(scales.terms, problem.design.terms, strict=True):
        effects.append(scale * w[:, start : start + len(term.levels)] @ term.root.T)
        start += len(term.levels)
    full = np.full(count, 1.0)
    return RawDraws(
        a=items.a,
        b=items.b,
        c=items.c,
        d=items.d,
        theta=_loadings(problem, scales).ability(w),
        effects=tuple(effects),
        scales=tuple(scale * full for scale in scales.terms),
        residual_scale=scales.residual * full,
        spread_a=scales.spread_a * full,
        spread_b=scales.spread_b * full,
        centre_b=scales.centre_b * full,
    )
