"""Information that is block-diagonal over items but for coordinates all items share: solved and drawn from exactly.

Vectors are `[..., K, I]`. A shared coordinate is a constant row of a point and, in a gradient, a row of contributions
that are to be added up; so inner products of gradients and steps are plain sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from irt._responses import Floats
from irt.fitting._coordinates import normals


@dataclass(frozen=True)
class ItemBlocks:
    """Information `[I, K, K]` per item; `shared` says which coordinates have one value for all items."""

    information: Floats
    shared: tuple[bool, ...]

    def solve(self, gradient: Floats) -> Floats:
        """The inverse information times gradients `[..., K, I]`."""
        common, own = self._rows
        inner = _times(self._own_covariance, gradient[..., own, :])
        if not common:
            return inner
        explained = np.einsum("icl,...li->...c", self._coupling, gradient[..., own, :])
        shift = (gradient[..., common, :].sum(axis=-1) - explained) @ self._common_covariance
        step = np.empty_like(gradient)
        step[..., common, :] = shift[..., None]
        step[..., own, :] = inner - np.einsum("icl,...c->...li", self._coupling, shift)
        return step

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """`count` draws `[count, K, I]` from Normal(0, inverse information)."""
        common, own = self._rows
        items, width, _ = self.information.shape
        chol = np.linalg.cholesky(self._own_covariance)
        draws = np.empty((count, width, items))
        noise = normals(rng, items * len(own), count).reshape(items, len(own), count)
        draws[:, own] = np.einsum("ikl,ild->dki", chol, noise, optimize=True)
        if common:
            shift = normals(rng, len(common), count).T @ np.linalg.cholesky(self._common_covariance).T
            draws[:, common] = shift[..., None]
            draws[:, own] -= np.einsum("icl,dc->dli", self._coupling, shift)
        return draws

    @cached_property
    def covariance(self) -> Floats:
        """Covariance `[I, K, K]` of each item's coordinates, given by the whole inverse."""
        common, own = (np.array(rows, dtype=np.int64) for rows in self._rows)
        full = np.empty_like(self.information)
        full[:, own[:, None], own] = self._own_covariance
        if len(common):
            cross = -np.einsum("cd,idl->icl", self._common_covariance, self._coupling)
            full[:, own[:, None], own] -= np.einsum("icl,icm->ilm", self._coupling, cross)
            full[:, common[:, None], own] = cross
            full[:, own[:, None], common] = cross.swapaxes(1, 2)
            full[:, common[:, None], common] = self._common_covariance
        return full

    @property
    def _rows(self) -> tuple[list[int], list[int]]:
        common = [row for row, shared in enumerate(self.shared) if shared]
        return common, [row for row in range(len(self.shared)) if row not in common]

    def _part(self, rows: list[int], columns: list[int]) -> Floats:
        return np.asarray(self.information[:, rows][:, :, columns])

    @cached_property
    def _own_covariance(self) -> Floats:
        _, own = self._rows
        return np.asarray(np.linalg.inv(self._part(own, own)))

    @cached_property
    def _coupling(self) -> Floats:
        """Regression `[I, C, L]` of shared coordinates' scores on an item's own."""
        common, own = self._rows
        return np.asarray(self._part(common, own) @ self._own_covariance)

    @cached_property
    def _common_covariance(self) -> Floats:
        common, own = self._rows
        explained = self._coupling @ self._part(own, common)
        return np.asarray(np.linalg.inv(np.sum(self._part(common, common) - explained, axis=0)))


def _times(matrices: Floats, vectors: Floats) -> Floats:
    """Matrices `[I, K, K]` times vectors `[..., K, I]`, item by item."""
    width = matrices.shape[1]
    product = np.empty_like(vectors)
    for row in range(width):
        product[..., row, :] = matrices[:, row, 0] * vectors[..., 0, :]
        for column in range(1, width):
            product[..., row, :] += matrices[:, row, column] * vectors[..., column, :]
    return product
