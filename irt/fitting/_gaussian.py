"""The joint Gaussian approximation of ability weights and item coordinates, solved along its smaller side.

The joint precision is `[[I + L' D L, L' C], [C' L, B]]`: item blocks `B`, cells' couplings `C` of abilities with item
coordinates. `ItemsKept` and `StudentsKept` eliminate the other side exactly; `Iterative` eliminates abilities and
solves for the items by conjugate gradients, two products with the table of cell weights an iteration, for tables where
both sides are large.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from irt._responses import Floats, blocks
from irt.fitting._ability import Known
from irt.fitting._likelihood_passes import CellInformation

ITERATIONS = 60
"""Of conjugate gradients at most; an inexact step is corrected by the next one."""
TOLERANCE = 1e-5
"""Relative error at which they end."""
PORTION = 100_000
"""Numbers drawn at a time, so that temporaries stay in the cache."""
LARGEST = 40_000_000
"""Numbers a dense coupling may have."""


class Point(NamedTuple):
    """Unit-scale ability weights `w` `[..., p + S]` and item coordinates `x` `[..., K, I]`."""

    w: Floats
    x: Floats


@dataclass(frozen=True)
class Coupling:
    """Information that each cell's ability shares with its item's coordinates.

    Coordinate k of item i is coupled to ability s by `(slope theta_s + shift) h + with_c hc + with_d hd`, each factor
    `[K, I]`, with the cell weights of `irt.fitting._likelihood_passes`.
    """

    weights: CellInformation
    theta: Floats
    slope: Floats
    shift: Floats
    with_c: Floats
    with_d: Floats

    @property
    def asymptotes(self) -> list[tuple[Floats, Floats]]:
        """Cell weights and factors of the asymptotes that are free."""
        pairs = [(self.weights.c, self.with_c), (self.weights.d, self.with_d)]
        return [(weights, factor) for weights, factor in pairs if weights is not None and np.any(factor)]

    def times(self, x: Floats) -> Floats:
        """`C x` `[S]` of item coordinates `[K, I]`."""
        h = self.weights.x
        pair = h @ np.stack([np.sum(self.slope * x, axis=0), np.sum(self.shift * x, axis=0)], axis=1).astype(h.dtype)
        total = self.theta * pair[:, 0] + pair[:, 1]
        for weights, factor in self.asymptotes:
            total += weights @ np.sum(factor * x, axis=0).astype(weights.dtype)
        return np.asarray(total, dtype=np.float64)

    def back(self, u: Floats) -> Floats:
        """`C' u` `[K, I]` of abilities `[S]`."""
        h = self.weights.x
        pair = (np.stack([self.theta * u, u]).astype(h.dtype) @ h).astype(np.float64)
        total = self.slope * pair[0] + self.shift * pair[1]
        for weights, factor in self.asymptotes:
            total += factor * (u.astype(weights.dtype) @ weights).astype(np.float64)
        return np.asarray(total, dtype=np.float64)

    def dense(self, rows: slice = slice(None)) -> Floats:
        """`C` `[R, I, K]` of these students."""
        h = np.asarray(self.weights.x[rows], dtype=np.float64)
        cells = self.theta[rows, None, None] * self.slope.T
        cells += self.shift.T
        cells *= h[:, :, None]
        for weights, factor in self.asymptotes:
            for k in np.flatnonzero(factor.any(axis=1)):
                cells[:, :, k] += weights[rows] * factor[k]
        return np.asarray(cells)


@dataclass(frozen=True)
class JointPrecision:
    """The parts of the joint precision: abilities given items, item `blocks` `[I, K, K]` with their prior, coupling."""

    known: Known
    blocks: Floats
    coupling: Coupling

    @cached_property
    def inverse(self) -> Floats:
        """Inverse item blocks `[I, K, K]`."""
        return np.asarray(np.linalg.inv(self.blocks))


@dataclass(frozen=True)
class StudentsKept:
    """Items eliminated: one factorisation of the size of the ability weights."""

    joint: JointPrecision

    def solve(self, right: Point) -> Point:
        """The joint covariance times a right-hand side."""
        loadings, coupling, inverse = self.joint.known.loadings, self.joint.coupling, self.joint.inverse
        own = np.einsum("ikl,li->ki", inverse, right.x)
        w = np.asarray(cho_solve((self._factor, True), right.w - loadings.back(coupling.times(own))))
        return Point(w, own - np.einsum("ikl,li->ki", inverse, coupling.back(loadings.ability(w))))

    def variances(self) -> Point:
        """Marginal variances of `w` and `x`."""
        own = np.diagonal(self.joint.inverse, axis1=1, axis2=2)
        spread = self.theta_covariance @ self.regression.reshape(len(self.theta_covariance), -1)
        through = np.sum(spread.reshape(self.regression.shape) * self.regression, axis=0)
        return Point(np.diag(self._covariance).copy(), np.asarray((own + through).T))

    def sample(self, rng: np.random.Generator, count: int) -> Point:
        """Draws around 0."""
        loadings = self.joint.known.loadings
        w = solve_triangular(self._factor, rng.standard_normal((count, loadings.size)).T, lower=True, trans="T").T
        root = np.linalg.cholesky(self.joint.inverse)
        theta, x = loadings.ability(w), _coloured(root, rng, count)
        regression = self.regression.reshape(theta.shape[1], -1)
        for rows in _portions(count, regression.shape[1]):
            x[rows] -= (theta[rows] @ regression).reshape(-1, *root.shape[:2]).transpose(0, 2, 1)
        return Point(w, x)

    @property
    def log_determinant(self) -> float:
        """Of the joint precision."""
        return float(np.linalg.slogdet(self.joint.blocks)[1].sum() + 2 * np.log(np.diag(self._factor)).sum())

    @cached_property
    def regression(self) -> Floats:
        """Coupling times inverse item blocks `[S, I, K]`."""
        dense = self.joint.coupling.dense()
        return np.asarray(np.matmul(dense.transpose(1, 0, 2), self.joint.inverse).transpose(1, 0, 2))

    @cached_property
    def _factor(self) -> Floats:
        loadings, students = self.joint.known.loadings, len(self.regression)
        inside = -self.regression.reshape(students, -1) @ self.joint.coupling.dense().reshape(students, -1).T
        inside[np.diag_indices(students)] += self.joint.known.information
        precision = loadings.back(loadings.back(inside).T)
        precision[np.diag_indices(loadings.size)] += 1.0
        return np.asarray(np.linalg.cholesky((precision + precision.T) / 2))

    @cached_property
    def _covariance(self) -> Floats:
        return np.asarray(cho_solve((self._factor, True), np.eye(len(self._factor))))

    @cached_property
    def theta_covariance(self) -> Floats:
        """Marginal covariance of the abilities `[S, S]`."""
        loadings = self.joint.known.loadings
        return loadings.ability(loadings.ability(self._covariance).T)


@dataclass(frozen=True)
class ItemsKept:
    """Abilities eliminated: one factorisation of the size of the item coordinates."""

    joint: JointPrecision

    def solve(self, right: Point) -> Point:
        """The joint covariance times a right-hand side."""
        known, coupling = self.joint.known, self.joint.coupling
        pulled = coupling.back(known.loadings.ability(known.solve(right.w)))
        x = self._from(cho_solve((self._factor, True), (right.x - pulled).T.reshape(-1)))
        return Point(known.solve(right.w - known.loadings.back(coupling.times(x))), x)

    def variances(self) -> Point:
        """Marginal variances of `w` and `x`: those given the items, and what the items' own uncertainty adds."""
        known = self.joint.known
        root = solve_triangular(self._factor, np.eye(len(self._factor)), lower=True, overwrite_b=True)
        moves = root @ known.solve(known.loadings.back(self._dense.T))
        return Point(known.weight_variances + np.sum(moves**2, axis=0), self._from(np.sum(root**2, axis=0)))

    def sample(self, rng: np.random.Generator, count: int) -> Point:
        """Draws around 0."""
        known = self.joint.known
        flat = solve_triangular(self._factor, rng.standard_normal((len(self._factor), count)), lower=True, trans="T")
        w = rng.standard_normal((count, known.loadings.size))
        root = np.sqrt(known.information)
        for rows in _portions(count, len(root)):
            noise = rng.standard_normal((len(w[rows]), len(root)))
            noise *= root
            noise -= flat.T[rows] @ self._dense.T
            w[rows] = known.solve(w[rows] + known.loadings.back(noise))
        return Point(w, flat.T.reshape(count, *self.joint.blocks.shape[:2]).transpose(0, 2, 1))

    @property
    def log_determinant(self) -> float:
        """Of the joint precision."""
        return self.joint.known.log_determinant + 2 * float(np.log(np.diag(self._factor)).sum())

    @cached_property
    def _dense(self) -> Floats:
        """Coupling `[S, I K]`."""
        return self.joint.coupling.dense().reshape(len(self.joint.known.information), -1)

    @cached_property
    def _factor(self) -> Floats:
        known, dense = self.joint.known, self._dense
        inner = dense.T @ known.columns
        half = np.sqrt(known.own)[:, None] * dense
        # A product of a table with itself takes half the operations of one with another table.
        precision = -(half.T @ half) - inner @ known.core @ inner.T
        items, width = self.joint.blocks.shape[:2]
        place = np.arange(items)
        precision.reshape(items, width, items, width)[place, :, place, :] += self.joint.blocks
        return np.asarray(np.linalg.cholesky((precision + precision.T) / 2))

    def _from(self, flat: Floats) -> Floats:
        return np.asarray(flat.reshape(self.joint.blocks.shape[:2]).T)


@dataclass(frozen=True)
class Iterative:
    """Conjugate gradients on the items, abilities eliminated; variances and draws by blocks."""

    joint: JointPrecision

    def solve(self, right: Point) -> Point:
        """The joint covariance times a right-hand side, to a relative error of `TOLERANCE`."""
        known, coupling, inverse = self.joint.known, self.joint.coupling, self.joint.inverse
        rest = right.x - coupling.back(known.loadings.ability(known.solve(right.w)))
        x = np.zeros_like(rest)
        ready = np.einsum("ikl,li->ki", inverse, rest)
        direction, size = ready, float(np.sum(rest * ready))
        goal = TOLERANCE**2 * size
        for _ in range(ITERATIONS):
            if size <= goal:
                break
            pushed = np.einsum("ikl,li->ki", self.joint.blocks, direction)
            pushed -= coupling.back(known.covariance(coupling.times(direction)))
            length = size / float(np.sum(direction * pushed))
            x, rest = x + length * direction, rest - length * pushed
            ready = np.einsum("ikl,li->ki", inverse, rest)
            size, before = float(np.sum(rest * ready)), size
            direction = ready + size / before * direction
        return Point(known.solve(right.w - known.loadings.back(coupling.times(x))), x)

    def variances(self) -> Point:
        """Variances of `w` given the items and of `x` given the abilities: a lower bound."""
        return Point(self.joint.known.weight_variances, np.diagonal(self.joint.inverse, axis1=1, axis2=2).T.copy())

    def sample(self, rng: np.random.Generator, count: int) -> Point:
        """Draws around 0 by blocks, each block's covariance grown by what the other side's variances add to it."""
        known, inverse = self.joint.known, self.joint.inverse
        lost, gained = self._exchanged()
        wider = Known(known.loadings, np.maximum(known.information - lost, 0.1 * known.information))
        noise = np.sqrt(wider.information) * rng.standard_normal((count, len(lost)))
        w = wider.solve(rng.standard_normal((count, wider.loadings.size)) + wider.loadings.back(noise))
        root = np.linalg.cholesky(inverse + inverse @ gained @ inverse)
        return Point(w, _coloured(root, rng, count))

    def _exchanged(self) -> tuple[Floats, Floats]:
        """Information about each ability lost to its items' uncertainty `[S]`; covariance of each item's gradient that
        the abilities' variances cause `[I, K, K]`.
        """
        inverse, variances = self.joint.inverse, self.joint.known.variances
        lost, gained = np.empty(len(variances)), np.zeros_like(inverse)
        for rows in blocks(len(variances), 2 * inverse.shape[0] * inverse.shape[1]):
            cells = self.joint.coupling.dense(rows).transpose(1, 0, 2)
            lost[rows] = np.sum(np.matmul(cells, inverse) * cells, axis=(0, 2))
            gained += np.matmul((cells * variances[rows, None]).transpose(0, 2, 1), cells)
        return lost, gained


Solver = StudentsKept | ItemsKept | Iterative


def solver(joint: JointPrecision, flops: float) -> Solver:
    """The exact solver of the smaller side, or conjugate gradients where that costs more than `flops`."""
    students, items, width = len(joint.known.information), *joint.blocks.shape[:2]
    abilities, coordinates = joint.known.loadings.size, items * width
    by_items = float(coordinates) ** 2 * (students + coordinates)
    by_students = float(students) ** 2 * (coordinates + students) + float(abilities) ** 3
    if students * coordinates > LARGEST or min(by_items, by_students) > flops:
        return Iterative(joint)
    return ItemsKept(joint) if by_items < by_students else StudentsKept(joint)


def _coloured(root: Any, rng: np.random.Generator, count: int) -> Floats:
    """Standard normal draws times lower triangular roots `[I, K, K]`, as `[D, K, I]`."""
    items, width = root.shape[:2]
    product = np.empty((count, width, items))
    for rows in _portions(count, items * width):
        noise = rng.standard_normal((len(product[rows]), items, width))
        for row in range(width):
            product[rows, row] = root[:, row, 0] * noise[:, :, 0]
            for column in range(1, row + 1):
                product[rows, row] += root[:, row, column] * noise[:, :, column]
    return product


def _portions(count: int, size: int) -> list[slice]:
    """Slices of `count` draws of `size` numbers each."""
    step = max(1, PORTION // size)
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]
