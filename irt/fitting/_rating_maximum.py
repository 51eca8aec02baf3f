"""Maximum of the marginal likelihood of rated items: ability, Normal(0, 1), is integrated out.

EM (Bock & Aitkin 1981) climbs to the neighbourhood of the maximum on nodes shared by all students; Newton steps with
the exact observed information then end there, and the same information gives the standard errors. A category that
nobody chose, or an estimate that runs off, has no finite maximum: those items, and no others, are given half an answer
more in every category, spread over the population.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.sparse import csr_array
from scipy.special import logsumexp

from irt._graded import GradedParameters, padded, real_thresholds
from irt._quadrature import Posterior, nodes_for
from irt._responses import Floats
from irt.fitting._estimation_outcome import Progress, tell
from irt.fitting._rating_curvature import RatingModel, ability_response, maximise, shared_uncertainty

CYCLES = 1000
"""Of EM at most."""
NEAR = 0.03
"""Largest change of a coordinate in a cycle below which Newton steps are tried."""
TOLERANCE, STEPS = 1e-6, 10
"""Largest change at which Newton steps end, and their number at most."""
STEEPEST, FARTHEST = 10.0, 30.0
"""Size of a slope and of an intercept beyond which an item has run off."""
PRIOR_ANSWERS = 0.5
"""In every category of an item that the answers cannot hold."""
FULL = 2500
"""Most parameters whose covariances across items are kept."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class RatingTable:
    """The model, scores `[S, I]` (NaN where not asked), category indicators `[S, I (K + 1)]`, and which items `[I]`
    have an unused category or an estimate that ran off."""

    model: RatingModel
    scores: Floats
    indicators: Floats
    top: NDArray[np.int64]
    unused: Mask
    runaway: Mask

    @property
    def helped(self) -> Mask:
        """Items that are given prior answers `[I]`."""
        return self.unused | self.runaway

    @property
    def real(self) -> Mask:
        """Which thresholds exist `[I, K]`."""
        return real_thresholds(self.top)

    @cached_property
    def spread(self) -> csr_array:
        """What each parameter adds to the real coordinates, `[P, C]`: a common slope is one parameter of all items."""
        mine = own(self.real)
        slopes = np.nonzero(mine)[1] == 0
        parameter = np.where(slopes, 0, np.cumsum(~slopes)) if self.model.common else np.arange(len(slopes))
        return csr_array((np.ones(len(slopes)), (parameter, np.arange(len(slopes)))))


class ExpectedRatings(NamedTuple):
    """Abilities given items: the posterior, counts of categories at nodes `[I, K + 1, Q]`, and the objective."""

    posterior: Posterior
    counts: Floats
    value: float


@dataclass(frozen=True)
class RatingMaximum:
    """Coordinates `[I, 1 + K]`, what is expected there, errors, and how it was reached.

    `blocks` `[I, 1 + K, 1 + K]` is the covariance within each item; `root` `[P, C]`, of P parameters, has
    `root.T @ root` the covariance of all real coordinates, None where only the blocks are known.
    """

    x: Floats
    answers: RatingTable
    expected: ExpectedRatings
    blocks: Floats
    root: Floats | None
    cycles: int
    converged: bool

    @cached_property
    def response(self) -> Floats:
        """How expected abilities follow the items, times the root: `[S, P]` for standard normal moves of the items."""
        if self.root is None:
            return np.zeros((len(self.answers.scores), 1))
        answers = self.answers
        follows = ability_response(answers.model, self.x, self.expected.posterior, answers.scores, answers.real)
        return np.asarray(follows @ self.root.T)

    @property
    def parameters(self) -> int:
        """How many were estimated."""
        return int(self.answers.spread.shape[0])

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood with ability integrated out, without prior answers."""
        return float(self.expected.posterior.log_marginal.sum())


def maximum(
    model: RatingModel, scores: Floats, top: NDArray[np.int64], progress: Progress | None = None
) -> RatingMaximum:
    """The maximum of the marginal likelihood, with prior answers for the items that have none without.

    ValueError for a common slope of too many items: the covariances of what shares it cannot be left out.
    """
    answers = _answers(model, scores, top)
    if model.common and own(answers.real).sum() > FULL:
        raise ValueError(f"model 'pcm' by 'mml' takes up to {FULL} parameters; wanted model 'gpcm', or method 'nuts'")
    for _ in range(4):
        best = _climb(answers, progress)
        runaway = _runaway(best.x, best.answers.real) & ~answers.helped
        if not runaway.any():
            break
        answers = replace(answers, runaway=answers.runaway | runaway)
    return best


def parameters(model: RatingModel, x: Floats, top: NDArray[np.int64]) -> GradedParameters:
    """Discrimination and thresholds (or steps) of coordinates `[..., I, 1 + K]`."""
    a = x[..., 0]
    thresholds = -x[..., 1:] / np.where(np.abs(a) < 1e-8, 1e-8, a)[..., None]
    return model.items(a, padded(thresholds, top), top)


def expect(answers: RatingTable, x: Floats) -> ExpectedRatings:
    """Posterior of ability and expected counts at these items."""
    nodes = nodes_for(parameters(answers.model, x, answers.top))
    logs = answers.model.category_logs(x, nodes, answers.real)
    prior = np.exp(-0.5 * nodes**2)
    prior /= prior.sum()
    joint = answers.indicators @ logs.reshape(-1, len(nodes)) + np.log(prior)
    log_marginal = logsumexp(joint, axis=1, keepdims=True)
    posterior = Posterior(nodes, np.exp(joint - log_marginal), np.asarray(log_marginal[:, 0]))
    counts = (answers.indicators.T @ posterior.weights).reshape(logs.shape)
    exists = np.arange(x.shape[1]) <= answers.top[:, None]
    extra = PRIOR_ANSWERS * (exists & answers.helped[:, None])[:, :, None] * prior
    return ExpectedRatings(posterior, counts + extra, float(posterior.log_marginal.sum() + (extra * logs).sum()))


def observed_information(answers: RatingTable, x: Floats, expected: ExpectedRatings) -> Floats:
    """Minus the second derivatives of the log marginal likelihood `[P, P]` in the parameters."""
    missing = shared_uncertainty(answers.model, x, expected.posterior, answers.scores, answers.real)
    return np.asarray(_complete_information(answers, x, expected) - answers.spread @ missing @ answers.spread.T)


def gradient(answers: RatingTable, x: Floats, expected: ExpectedRatings) -> Floats:
    """Gradient of the log marginal likelihood `[P]` (Fisher's identity: that of the expected complete data)."""
    slopes = answers.model.expected_slopes(x, expected.posterior.nodes, expected.counts, answers.real)
    return np.asarray(answers.spread @ slopes.gradient[own(answers.real)])


def _complete_information(answers: RatingTable, x: Floats, expected: ExpectedRatings) -> Floats:
    """Minus the second derivatives `[P, P]` of the expected log-likelihood of answers and abilities."""
    mine = own(answers.real)
    complete = answers.model.expected_slopes(x, expected.posterior.nodes, expected.counts, answers.real).hessian
    item = np.nonzero(mine)[0]
    inside = item[:, None] == item
    blocks = np.zeros(inside.shape)
    blocks[inside] = -complete[mine[:, :, None] & mine[:, None, :]]
    return np.asarray(answers.spread @ blocks @ answers.spread.T)


def _answers(model: RatingModel, scores: Floats, top: NDArray[np.int64]) -> RatingTable:
    categories = np.arange(int(top.max()) + 1)
    indicators = (scores[:, :, None] == categories).astype(np.float64)
    unused = np.any((categories <= top[:, None]) & ~indicators.any(axis=0), axis=1)
    return RatingTable(model, scores, indicators.reshape(len(scores), -1), top, unused, np.zeros_like(unused))


def _climb(answers: RatingTable, progress: Progress | None) -> RatingMaximum:
    """EM until it is near, Newton to the end; back to EM when a Newton step does not improve."""
    x = _start(answers)
    expected = expect(answers, x)
    size = int(own(answers.real).sum())
    near, converged, cycle = NEAR, False, 0
    for cycle in range(1, CYCLES + 1):
        moved = maximise(answers.model, x, expected.posterior.nodes, expected.counts, answers.real)
        change = float(np.max(np.abs(moved - x)[own(answers.real)]))
        x, expected = moved, expect(answers, moved)
        tell(progress, cycle, CYCLES)
        if size > FULL:
            converged = change < 1e-4
        elif change < near:
            x, expected, converged = _newton(answers, x, expected)
            near /= 4
        if converged or np.any(_runaway(x, answers.real) & ~answers.helped):
            break
    tell(progress, CYCLES, CYCLES)
    return RatingMaximum(x, answers, expected, *_covariance(answers, x, expected), cycle, converged)


def _newton(answers: RatingTable, x: Floats, expected: ExpectedRatings) -> tuple[Floats, ExpectedRatings, bool]:
    """Newton steps on the marginal likelihood with the observed information of the first of them.

    That near the maximum it hardly changes, and costs much more than a step. Stops early, not converged, where it is
    not positive definite or the likelihood falls.
    """
    mine = own(answers.real)
    try:
        factor = np.linalg.cholesky(observed_information(answers, x, expected))
    except np.linalg.LinAlgError:
        return x, expected, False
    for _ in range(STEPS):
        move = np.zeros_like(x)
        move[mine] = cho_solve((factor, True), gradient(answers, x, expected)) @ answers.spread
        moved = x + float(answers.model.room(x, move, answers.real).min()) * move
        there = expect(answers, moved)
        if there.value < expected.value - 1e-10 * (1 + abs(expected.value)):
            return x, expected, False
        x, expected = moved, there
        if np.max(np.abs(move)) < TOLERANCE:
            return x, expected, True
    return x, expected, False


def _start(answers: RatingTable) -> Floats:
    """Slopes of 1 and intercepts from the smoothed shares of answers that reach each category, or, where intercepts do
    not descend, of those in a category among those in it or the one below.
    """
    counts = answers.indicators.sum(axis=0).reshape(len(answers.top), -1)
    counts = np.where(np.arange(counts.shape[1]) <= answers.top[:, None], counts + PRIOR_ANSWERS, 0.0)
    if answers.model.ordered:
        reached = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
        share = reached[:, 1:] / reached[:, :1]
    else:
        share = counts[:, 1:] / np.maximum(counts[:, 1:] + counts[:, :-1], PRIOR_ANSWERS)
    share = np.clip(share, 1e-6, 1 - 1e-6)
    # A slope of 1 over a Normal(0, 1) population flattens logits by about 1.2.
    return np.concatenate([np.ones((len(share), 1)), 1.2 * np.log(share / (1 - share))], axis=1)


def own(real: Mask) -> Mask:
    """Which coordinates `[I, 1 + K]` are parameters."""
    return np.concatenate([np.ones((len(real), 1), dtype=bool), real], axis=1)


def _runaway(x: Floats, real: Mask) -> Mask:
    far = np.abs(np.where(real, x[:, 1:], 0.0)).max(axis=1) > FARTHEST
    return np.asarray((np.abs(x[:, 0]) > STEEPEST) | far)


def _covariance(answers: RatingTable, x: Floats, expected: ExpectedRatings) -> tuple[Floats, Floats | None]:
    """Blocks within items and root of the inverse observed information.

    Where that is not positive definite, or very large, the blocks are those of the complete data, and there is no root
    (but with a common slope, whose items have no blocks of their own).
    """
    mine, common = own(answers.real), answers.model.common
    if mine.sum() > FULL:
        return _own_blocks(answers, x, expected), None
    try:
        root = np.linalg.inv(np.linalg.cholesky(observed_information(answers, x, expected)))
    except np.linalg.LinAlgError:
        if not common:
            return _own_blocks(answers, x, expected), None
        root = np.linalg.inv(np.linalg.cholesky(_complete_information(answers, x, expected)))
    root = root @ answers.spread
    item = np.nonzero(mine)[0]
    blocks = np.zeros((*mine.shape, mine.shape[1]))
    blocks[mine[:, :, None] & mine[:, None, :]] = (root.T @ root)[item[:, None] == item]
    return blocks, root


def _own_blocks(answers: RatingTable, x: Floats, expected: ExpectedRatings) -> Floats:
    """Covariances within items `[I, 1 + K, 1 + K]`, had the abilities been seen."""
    mine = own(answers.real)
    slopes = answers.model.expected_slopes(x, expected.posterior.nodes, expected.counts, answers.real)
    return np.where(mine[:, :, None] & mine[:, None, :], np.linalg.inv(-slopes.hessian), 0.0)
