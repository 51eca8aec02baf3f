"""Latent regression: in `mml`, abilities that are normal around a mean of what describes the students (Mislevy 1984).

    theta_s = x_s' beta + u_s ,     u_s ~ Normal(0, 1)

The columns of `x` are centred over the students and the residual has standard deviation 1 until results are reported,
so that items hold location and scale. At any `beta` the items have a maximum of their own (`_marginal_maximum`); over
`beta` that profile is climbed by Newton steps with the exact information (Louis 1982), or, where such a step does not
lead on, by the regression of expected abilities on `x`, the step of EM. Items, abilities and coefficients are then
drawn together: each draw of `beta` moves the others to first order.

Mislevy (1984) Psychometrika 49, 359.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from irt._design import Design
from irt._model import Problem, centre_and_unit
from irt._responses import Floats
from irt.fitting._coordinates import normals
from irt.fitting._em import AnswerPatterns, Climb, Population, chunks, compress
from irt.fitting._estimation_outcome import EstimationOutcome, Progress, draws_for, tell
from irt.fitting._marginal_maximum import MarginalMaximum, Mask, starting_point
from irt.fitting._observed_information import InverseInformation, score_coefficients
from irt.fitting._plausible_values import Moves
from irt.kernels import smoothed_logit

ROUNDS = 40
"""Of steps over the coefficients, at most; most tables take five."""
SETTLED = (1e-6, 1e-3)
"""Gain in log-likelihood and step, in standard errors, at which they end."""
LONGEST = 1.0
"""Most a step moves the mean of any student's population, in units of the largest one and the residual."""
LARGEST = 30.0
"""Standard deviation of the means, in residual ones, beyond which no residual is left."""
LEAST_RESIDUAL = 0.2
"""Residual of the first regression, as a share of the scores' spread, at least."""
LEAST_SHARE = 1e-3
"""Observed information per complete one that a step assumes at least."""

Find = Callable[[AnswerPatterns, Floats], MarginalMaximum]
"""From a table with its populations, and coordinates of the items to start from, to their maximum."""


class CoefficientInformation(NamedTuple):
    """Around `P` coefficients, at the items' maximum given these: the `gradient` `[P]` of the log-likelihood, its
    `complete` information (of known abilities) and the `observed` one of its profile `[P, P]`, how the items' maximum
    follows, `moves` `[P, K, I]`, and expected abilities, `ability_slopes` `[R, P]`.
    """

    gradient: Floats
    complete: Floats
    observed: Floats
    moves: Floats
    ability_slopes: Floats

    @property
    def root(self) -> Floats:
        """A root `[P, P]` of the coefficients' covariance, zeros where the information is not positive definite."""
        try:
            return np.linalg.inv(np.linalg.cholesky(self.observed)).T
        except np.linalg.LinAlgError:
            return np.zeros_like(self.observed)


class AroundCoefficients(NamedTuple):
    """Draws `[D, P]` of the coefficients, how they move the rest, and what they add to the covariance of each item's
    coordinates `[I, K, K]`; moves are None without terms.
    """

    coefficients: Floats
    moves: Moves | None
    item_covariance: Floats


class Regressed(NamedTuple):
    """Coefficients `[P]` (none without terms), the items' maximum there, and the table with its populations.

    `described` `[R, P]` are the columns of the rows.
    """

    coefficients: Floats
    found: MarginalMaximum
    table: AnswerPatterns
    described: Floats = np.zeros((0, 0))

    @property
    def has_residual(self) -> bool:
        """Whether the coefficients leave differences between students unexplained."""
        return self.table.population is None or _spread(self.table.population.mean) <= LARGEST


def described(design: Design) -> Floats:
    """What describes the students `[S, P]`: the free columns of all terms, centred."""
    columns = np.hstack([term.free_root[term.level_of] for term in design.terms])
    return np.asarray(columns - columns.mean(axis=0))


def regress(problem: Problem, find: Find, progress: Progress | None) -> Regressed:
    """The maximum over coefficients and items."""
    columns = described(problem.design)
    table = compress(problem.successes, problem.attempts, columns)
    x = np.empty((len(table.counts), columns.shape[1]))
    x[table.row_of] = columns
    beta, items = _start(problem, columns), starting_point(problem)
    items[0] /= np.hypot(1.0, _spread(x @ beta))
    at, known = _maximum(table, x, beta, items, find)
    step, gain = _newton(known)
    for number in range(1, ROUNDS + 1):
        if _settled(known, step, gain) or not at.has_residual:
            break
        step = _shortened(step, x, at.coefficients)
        for move in (step, 0.3 * step, np.linalg.solve(known.complete, known.gradient)):
            near = at.found.climb.state.x + np.tensordot(move, known.moves, 1)
            new, seen = _maximum(table, x, at.coefficients + move, near, find)
            ahead, left = _newton(seen)
            if left < gain or new.found.climb.state.value > at.found.climb.state.value:
                break
        at, known, step, gain = new, seen, ahead, left
        tell(progress, number, ROUNDS)
    errors = np.linalg.norm(known.root, axis=1)
    longest = float(np.max(np.abs(step) / np.maximum(1.0, 10 * errors)))
    found = at.found._replace(gain_left=at.found.gain_left + gain, step_left=max(at.found.step_left, longest))
    return at._replace(found=found)


def around_coefficients(at: Regressed, curvature: InverseInformation, fixed: Mask, seed: int) -> AroundCoefficients:
    """Draws of the coefficients; items' coordinates where `fixed` `[K, I]` do not follow."""
    if not len(at.coefficients):
        return AroundCoefficients(np.zeros((1, 0)), None, np.zeros(0))
    known = known_coefficients(at.table, at.described, at.found.climb, curvature, fixed)
    normal = normals(
        np.random.default_rng([seed, 7]), len(at.coefficients), draws_for(len(at.table.row_of), len(at.table.trials))
    )
    shift = known.root @ normal
    moves = Moves(np.tensordot(shift.T, known.moves, 1), known.ability_slopes @ shift)
    rows = np.tensordot(known.root.T, known.moves, 1)
    return AroundCoefficients(at.coefficients + shift.T, moves, np.einsum("pki,pli->ikl", rows, rows))


def on_report_scale(
    design: Design, outcome: EstimationOutcome, coefficients: Floats, drawn: Floats
) -> EstimationOutcome:
    """The outcome on the scale of fits with facets, with effects; `coefficients` `[P]` and their draws `[D, P]`.

    Its errors are spreads of draws, which include that of the unit. The estimates' unit is the typical one of the
    draws: expected abilities vary less than abilities.
    """
    if not design.terms:
        return outcome
    theta = outcome.draws["theta"]
    typical = float(np.sqrt(np.mean(theta.var(axis=1))))
    point = {name: values[None] for name, values in outcome.point.items()}
    estimates = _reported(design, point, coefficients[None], np.array([typical]))
    draws = _reported(design, outcome.draws, drawn, centre_and_unit(theta)[1])
    return replace(outcome, draws=draws, point={name: each[0] for name, each in estimates.items()}, errors={})


def _reported(design: Design, values: Mapping[str, Floats], coefficients: Floats, unit: Floats) -> dict[str, Floats]:
    """Items and abilities `[D, ...]` in units `[D]`, with the effects by name."""
    centre, unit = values["theta"].mean(axis=1, keepdims=True), unit[:, None]
    found = {"a": values["a"] * unit, "c": values["c"], "d": values["d"], "residual_scale": 1.0 / unit[:, 0]}
    found |= {name: (values[name] - centre) / unit for name in ("b", "theta")}
    parts = np.split(coefficients, np.cumsum([term.freedom for term in design.terms]), axis=1)
    for term, part in zip(design.terms, parts, strict=False):
        found[f"effect.{term.name}"] = part @ term.free_root.T / unit
    return found


def known_coefficients(
    table: AnswerPatterns, x: Floats, top: Climb, curvature: InverseInformation, fixed: Mask
) -> CoefficientInformation:
    """Gradient and information of the coefficients; items' coordinates where `fixed` `[K, I]` do not follow."""
    assert table.population is not None
    state, weight = top.state, table.counts[:, None]
    away = state.mean - table.population.mean
    lost, cross = np.zeros((x.shape[1],) * 2), np.zeros((x.shape[1], state.x.size))
    for part in chunks(len(table.counts), len(top.nodes)):
        # The score of a coefficient is linear in ability: only the first degree has a part of it.
        scores, tilted = next(score_coefficients(table, state.x, top.nodes, part))
        own = x[part] * (tilted @ top.nodes)[:, None]
        lost += (own * weight[part]).T @ own
        cross += (own * weight[part]).T @ scores.reshape(len(own), -1)
    cross = cross.reshape(-1, *state.x.shape) * ~fixed
    moves = np.stack([curvature.solve(each) for each in cross]) * ~fixed
    complete = (x * weight).T @ x
    observed = complete - lost - np.tensordot(cross, moves, ([1, 2], [1, 2]))
    return CoefficientInformation(
        x.T @ (table.counts * away), complete, (observed + observed.T) / 2, moves, x * state.sd[:, None] ** 2
    )


def _start(problem: Problem, x: Floats) -> Floats:
    """Coefficients of a regression of the students' logits of their shares right."""
    score = smoothed_logit(*problem.answers.by_student)
    score = score - score.mean()
    beta = np.linalg.lstsq(x, score, rcond=None)[0]
    freedom = len(score) - 1 - len(beta)
    residual = np.sqrt(np.sum((score - x @ beta) ** 2) / freedom)
    residual = max(float(residual), LEAST_RESIDUAL * float(score.std()), 1e-6)
    return np.asarray(beta / residual)


def _maximum(
    table: AnswerPatterns, x: Floats, beta: Floats, near: Floats, find: Find
) -> tuple[Regressed, CoefficientInformation]:
    table = replace(table, population=Population(x @ beta, np.ones(len(x))))
    found = find(table, near)
    known = known_coefficients(table, x, found.climb, found.curvature, found.fixed)
    return Regressed(beta, found, table, x), known


def _spread(means: Floats) -> float:
    return float(np.sqrt(np.mean(means**2)))


def _newton(known: CoefficientInformation) -> tuple[Floats, float]:
    """A step uphill by the observed information, and the gain it promises.

    Where that is not positive definite, its directions count by their size.
    """
    root = np.linalg.inv(np.linalg.cholesky(known.complete))
    shares, axes = np.linalg.eigh(root @ known.observed @ root.T)
    axes = root.T @ axes
    step = axes @ (axes.T @ known.gradient / np.maximum(np.abs(shares), LEAST_SHARE))
    return step, 0.5 * float(step @ known.gradient)


def _settled(known: CoefficientInformation, step: Floats, gain: float) -> bool:
    errors = np.linalg.norm(known.root, axis=1)
    return gain < SETTLED[0] and bool(np.all(np.abs(step) <= SETTLED[1] * errors))


def _shortened(step: Floats, x: Floats, beta: Floats) -> Floats:
    size = float(np.max(np.abs(x @ step))) / (1.0 + float(np.max(np.abs(x @ beta))))
    return np.asarray(step / max(size / LONGEST, 1.0))
