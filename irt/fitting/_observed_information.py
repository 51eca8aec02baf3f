"""Observed information of the marginal likelihood, exactly, from one posterior per student (Louis 1982).

    information = E[complete information] - sum over students Cov(complete score), both over ability's posterior

A student's score is expanded in the polynomials orthonormal under his posterior on the nodes: by Parseval its
covariance is the sum of squares of the coefficients, each coefficient is a matrix product over the answers, and a
handful of degrees suffice, since scores are smooth and posteriors narrow. The coefficient of degree one is also how
fast his expected ability moves with the items, in posterior standard deviations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.linalg.blas import dsyrk

from irt._responses import Floats
from irt.fitting._coordinates import ROWS, curvature, curves, normals, score_weights
from irt.fitting._em import AnswerPatterns, chunks, expect
from irt.fitting._item_blocks import ItemBlocks
from irt.fitting._item_priors import Prior

DEGREES = 16
"""Of the polynomials at most; half as many suffice for all but the widest posteriors."""
NEGLIGIBLE = 1e-6
"""Share of the information that the last degree may add."""
FIXED = 1e12
"""Information about a coordinate held at its value."""
NOBODY = np.zeros(0, dtype=np.int64)
"""No culprits."""


class Observed(NamedTuple):
    """The curvature, or None with the items `culprits` that make the information indefinite.

    `ability_slopes` `[R, K, I]` are derivatives of each row's expected ability by the coordinates.
    """

    curvature: InverseInformation | None
    culprits: NDArray[np.int64]
    ability_slopes: Floats


def observe(
    table: AnswerPatterns, x: Floats, nodes: Floats, shared: tuple[bool, ...], penalty: Prior, fixed: Floats
) -> Observed:
    """Observed information at `x`; coordinates where `fixed` `[K, I]` is 1 are held at their values."""
    free = 1.0 - fixed
    complete = _complete(table, x, nodes, penalty)
    complete = complete * free.T[:, :, None] * free.T[:, None, :]
    complete[:, range(len(x)), range(len(x))] += FIXED * fixed.T
    blocks = ItemBlocks(complete, shared)
    diagonal = np.maximum(np.einsum("ikk->ki", np.abs(complete)), 1e-12)
    released = penalty.released(x) * free
    slopes = np.empty((len(table.counts), *x.shape))
    small = len(table.counts) * 3 < x.size
    rows, lost = [released], np.zeros((x.size, x.size) if not small else (1, 1), order="F")
    for part in chunks(len(table.counts), len(nodes)):
        weight = np.sqrt(table.counts[part])[:, None, None]
        for degree, (scores, tilted) in enumerate(score_coefficients(table, x, nodes, part), start=1):
            scores *= free
            if degree == 1:
                slopes[part] = scores * (tilted @ nodes)[:, None, None]
            scores *= weight
            if small:
                rows.append(scores)
            else:
                lost = dsyrk(1.0, scores.reshape(len(scores), -1).T, beta=1.0, c=lost, overwrite_c=True)
            if np.max(np.einsum("ski,ski->ki", scores, scores) / diagonal) < NEGLIGIBLE:
                break
    if small:
        return Observed(*_low_rank(blocks, np.concatenate(rows)), slopes)
    flat = released.reshape(len(released), x.size)
    return Observed(*_dense(blocks, np.triu(lost) + np.triu(lost, 1).T + flat.T @ flat), slopes)


def _complete(table: AnswerPatterns, x: Floats, nodes: Floats, penalty: Prior) -> Floats:
    """Expected complete-data information `[I, K, K]` (observed form), with the log priors' own."""
    found = expect(table, x, nodes)
    return curvature(found.at, found.right, found.asked) + penalty.information(x, observed=True)


def score_coefficients(table: AnswerPatterns, x: Floats, nodes: Floats, part: slice) -> Iterator[tuple[Floats, Floats]]:
    """Coefficients `[R, K, I]` of the complete-data scores, degree by degree.

    With them the posterior times the polynomial `[R, Q]`, whose sum with any function of ability is its coefficient.
    """
    at = curves(x, nodes)
    successes = table.successes[part]
    attempts = np.broadcast_to(table.trials, successes.shape) if table.attempts is None else table.attempts[part]
    found = table.weighed(successes @ at.log_odds.T + attempts @ at.log_wrong.T, nodes, part)
    weights = score_weights(at)
    before, now, norm = np.zeros_like(found.weights), np.ones_like(found.weights), np.zeros(len(successes))
    for _ in range(min(DEGREES, len(nodes) - 1)):
        before, now, norm = _next_polynomial(nodes, found.weights, before, now, norm)
        if not np.any(norm > 0):
            return
        tilted = found.weights * now
        scores = np.empty((len(successes), *x.shape))
        for row, (which, power) in enumerate(ROWS[: len(x)]):
            plus, minus = weights[which]
            weighted = tilted * nodes**power if power else tilted
            rise = weighted @ plus if isinstance(plus, np.ndarray) else plus * weighted.sum(axis=1)[:, None]
            scores[:, row] = successes * rise - attempts * (weighted @ minus)
        yield scores, tilted


def _next_polynomial(
    nodes: Floats, weights: Floats, before: Floats, now: Floats, norm: Floats
) -> tuple[Floats, Floats, Floats]:
    """Three-term recurrence of polynomials orthonormal under each row's weights; 0 once the nodes are used up."""
    raised = nodes * now
    centre = np.sum(weights * raised * now, axis=1)
    raised -= centre[:, None] * now + norm[:, None] * before
    size = np.sqrt(np.sum(weights * raised**2, axis=1))
    good = size > 1e-9
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=good)
    return now, raised * scale[:, None], np.where(good, size, 0.0)


@dataclass(frozen=True)
class _Dense:
    """Cholesky factor of the whole information over free parameters; `place` `[K, I]` says where each coordinate is."""

    chol: Floats
    place: NDArray[np.int64]

    @property
    def covariance(self) -> Floats:
        half = solve_triangular(self.chol, np.eye(len(self.chol)), lower=True)
        full = half.T @ half
        return np.asarray(full[self.place.T[:, :, None], self.place.T[:, None, :]])

    def solve(self, gradient: Floats) -> Floats:
        total = np.bincount(self.place.ravel(), gradient.ravel(), minlength=len(self.chol))
        return np.asarray(cho_solve((self.chol, True), total)[self.place])

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        noise = normals(rng, len(self.chol), count)
        drawn = solve_triangular(self.chol, noise, lower=True, trans="T")
        return np.asarray(drawn.T[:, self.place])


@dataclass(frozen=True)
class Widened:
    """An inverse information to which few rows `[N, K, I]` add: `inner inverse + rows.T @ rows`.

    Less information makes such rows of complete-data blocks (Woodbury), what is estimated besides those of either form.
    """

    inner: ItemBlocks | _Dense | Widened
    rows: Floats

    @property
    def covariance(self) -> Floats:
        """Covariance `[I, K, K]` of each item's coordinates."""
        return np.asarray(self.inner.covariance + np.einsum("rki,rli->ikl", self.rows, self.rows))

    def solve(self, gradient: Floats) -> Floats:
        """The inverse times a gradient `[K, I]`."""
        return np.asarray(self.inner.solve(gradient) + np.tensordot(np.tensordot(self.rows, gradient, 2), self.rows, 1))

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Draws `[count, K, I]` from Normal(0, inverse)."""
        draws = self.inner.draw(rng, count)
        draws += np.tensordot(normals(rng, len(self.rows), count).T, self.rows, axes=1)
        return draws


InverseInformation = ItemBlocks | _Dense | Widened
"""The inverse of an information matrix over coordinates `[K, I]`: `covariance`, `solve` and `draw`."""


def _dense(blocks: ItemBlocks, lost: Floats) -> tuple[InverseInformation | None, NDArray[np.int64]]:
    items, width, _ = blocks.information.shape
    where = np.arange(width * items).reshape(width, items)
    full = -lost
    full[where.T[:, :, None], where.T[:, None, :]] += blocks.information
    if any(blocks.shared):
        full, where = _joined(full, where, blocks.shared)
    else:
        alone = _indefinite(full[where.T[:, :, None], where.T[:, None, :]])
        if len(alone):
            return None, alone
    size = np.sqrt(np.maximum(np.diag(full), 1e-300))
    try:
        chol = cholesky(full / size[:, None] / size, lower=True)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(full / size[:, None] / size)
        bad = vectors[:, : max(int(np.sum(values <= 0)), 1)]
        return None, np.unique(np.argmax(np.sum(bad[where] ** 2, axis=0), axis=0))
    return _Dense(size[:, None] * chol, where), NOBODY


def _joined(full: Floats, where: NDArray[np.int64], shared: tuple[bool, ...]) -> tuple[Floats, NDArray[np.int64]]:
    """The information with each shared coordinate's contributions added up, and where coordinates are in it."""
    for row in (row for row, common in enumerate(shared) if common):
        where[row] = where[row, 0]
    used, place = np.unique(where, return_inverse=True)
    rows = np.zeros((len(used), len(full)))
    np.add.at(rows, (place.ravel(), np.arange(len(full))), 1.0)
    return np.asarray(rows @ full @ rows.T), place.reshape(where.shape)


def _low_rank(blocks: ItemBlocks, scores: Floats) -> tuple[InverseInformation | None, NDArray[np.int64]]:
    """Woodbury's identity; needs every item's own information to be positive definite."""
    if not any(blocks.shared):
        alone = _indefinite(blocks.information - np.einsum("rki,rli->ikl", scores, scores, optimize=True))
        if len(alone):
            return None, alone
    inner = blocks.solve(scores)
    flat, weighed = scores.reshape(len(scores), -1), inner.reshape(len(scores), -1)
    capacity = np.eye(len(flat)) - flat @ weighed.T
    try:
        chol = cholesky((capacity + capacity.T) / 2, lower=True)
    except np.linalg.LinAlgError:
        worst = np.linalg.eigh((capacity + capacity.T) / 2)[1][:, 0] @ weighed
        return None, np.array([np.argmax(np.sum(worst.reshape(scores.shape[1:]) ** 2, axis=0))])
    return Widened(blocks, solve_triangular(chol, weighed, lower=True).reshape(scores.shape)), NOBODY


def _indefinite(blocks: Floats) -> NDArray[np.int64]:
    """Items whose own information `[I, K, K]` is not positive definite."""
    return np.flatnonzero(np.linalg.eigvalsh(blocks)[:, 0] <= 0.0)
