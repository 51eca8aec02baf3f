"""The Gaussian that a table's answers leave of abilities, difficulties and effects of levels on items.

Coordinates have unit scale: `v` `[B]` are the weights of abilities (free effects, then residuals) and the mean
difficulty, `x` `[I, K]` those of the items: difficulty, effects of the levels. Each answer counts as a normal one about
its logit, which is linear in the coordinates when the discriminations are given. Given `v` the items are independent,
so each is eliminated by a matrix of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from irt._responses import Floats


class CrossedPoint(NamedTuple):
    """Coordinates `v` `[..., B]` and `x` `[..., I, K]`."""

    v: Floats
    x: Floats


class Directions(NamedTuple):
    """Of every answer, derivatives of its logit by its item's coordinates `[I, S, K]`, and by `v`: `loadings` `[S, B]`
    times the `factor` `[I, G]` of the part of `v` they are in. `parts` are the G of them: abilities, then item
    covariates.
    """

    slopes: Floats
    factor: Floats
    loadings: Floats
    parts: tuple[slice, ...]

    def by_v(self, v: Floats) -> Floats:
        """What `v` brings to the logits `[I, S]`."""
        brought = (self.loadings[:, part] @ v[part] for part in self.parts)
        return np.asarray(sum(map(np.outer, self.factor.T, brought)))

    def onto_v(self, values: Floats) -> Floats:
        """Sums `[B]` of values of the logits `[I, S]` times their derivatives by `v`."""
        sums = (factor @ values for factor in self.factor.T)
        return np.concatenate([self.loadings[:, part].T @ row for part, row in zip(self.parts, sums, strict=True)])


class Sites(NamedTuple):
    """What each answer counts as, `exp(linear logit - precision logit^2 / 2)`, each `[I, S]`."""

    precision: Floats
    linear: Floats


@dataclass(frozen=True)
class CrossedGaussian:
    """The Gaussian of coordinates given answers that count as `sites` about the logits whose `directions` are given.

    The precisions of the prior are `prior` `[B]` of `v`, and 1 of `x`.
    """

    directions: Directions
    sites: Sites
    prior: Floats

    @cached_property
    def mean(self) -> CrossedPoint:
        """Where it is centred."""
        return self.response(self.sites.linear)

    def response(self, pull: Floats) -> CrossedPoint:
        """By what the centre moves when the sites' linear parts `[I, S]` do."""
        linear = np.matmul(pull[:, None], self.directions.slopes)[:, 0]
        return self._solve(CrossedPoint(self.directions.onto_v(pull), linear))

    @cached_property
    def log_determinant(self) -> float:
        """Of the precision."""
        roots = np.linalg.cholesky(self._blocks), np.linalg.cholesky(self._precision)
        return 2 * sum(float(np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum()) for root in roots)

    @property
    def log_evidence(self) -> float:
        """Log of the mean of the sites' product over the coordinates' prior."""
        pull = self.sites.linear
        half = 0.5 * float(self.mean.v @ self.directions.onto_v(pull) + np.sum(pull * self._along(self.mean.x)))
        return half - 0.5 * (self.log_determinant - float(np.log(self.prior).sum()))

    @cached_property
    def variances(self) -> CrossedPoint:
        """Marginal variances."""
        x = np.einsum("ikk->ik", self._inverse) + np.sum(
            (self._regression @ self._covariance) * self._regression, axis=2
        )
        return CrossedPoint(np.diag(self._covariance), x)

    @cached_property
    def of_sum(self) -> CrossedPoint:
        """Covariance of everything with the sum of the items' first coordinates."""
        total = np.zeros(self._blocks.shape[:2])
        total[:, 0] = 1.0
        return self._solve(CrossedPoint(np.zeros(len(self.prior)), total))

    @cached_property
    def logits(self) -> Floats:
        """Means of the logits `[I, S]`."""
        return self.along(self.mean)

    def along(self, point: CrossedPoint) -> Floats:
        """Logits `[I, S]` at some point."""
        return np.asarray(self._along(point.x) + self.directions.by_v(point.v))

    def covariances(self, slopes: Floats) -> tuple[Floats, Floats, Floats]:
        """Of every answer, variances of its logit and of the `loadings` of the first part with items' `slopes` `[K]`
        (such as ability less difficulty), and their covariance, each `[I, S]`.
        """
        own, factor, loadings, parts = self.directions
        moved = self._regression @ self._covariance
        x = self._inverse + np.matmul(moved, self._regression.transpose(0, 2, 1))
        along, v = np.matmul(own, x), self._of_parts
        with_v = [np.matmul(moved[:, :, part], loadings[:, part].T) for part in parts]
        across, ahead = ([np.einsum("iks,isk->is", each, own) for each in with_v], [slopes @ each for each in with_v])
        one: Any = sum(a[:, None] ** 2 * v[g, g] for g, a in enumerate(factor.T))
        one += np.einsum("isk,isk->is", along, own)
        other = v[0, 0] + (slopes @ x @ slopes)[:, None] - 2 * ahead[0]
        both: Any = sum(a[:, None] * v[g, 0] for g, a in enumerate(factor.T))
        both = both + along @ slopes - across[0]
        for g, a in enumerate(factor.T[:, :, None]):
            one -= 2 * a * across[g]
            both -= a * ahead[g]
            for h in range(g):
                one += 2 * a * factor[:, h, None] * v[g, h]
        return one, other, both

    @property
    def _of_parts(self) -> Floats:
        """Covariances of what each two parts of `v` bring to an answer at a factor of 1 `[G, G, S]`."""
        _, _, loadings, parts = self.directions
        moved = [loadings[:, part] @ self._covariance[part] for part in parts]
        return np.array([[np.einsum("sb,sb->s", each[:, part], loadings[:, part]) for part in parts] for each in moved])

    def sample(self, rng: np.random.Generator, count: int, held: bool) -> CrossedPoint:
        """Draws about 0, `[count, B]` and `[count, I, K]`; `held`: whose items' first coordinates sum to 0."""
        root = np.linalg.cholesky(self._precision)
        v = np.linalg.solve(root.T, rng.standard_normal((len(root), count))).T
        noise = rng.standard_normal((*self._blocks.shape[:2], count))
        x = (np.matmul(np.linalg.cholesky(self._inverse), noise) - np.matmul(self._regression, v.T)).transpose(2, 0, 1)
        if not held:
            return CrossedPoint(v, x)
        excess = x[:, :, 0].sum(axis=1) / self.of_sum.x[:, 0].sum()
        return CrossedPoint(v - np.outer(excess, self.of_sum.v), x - excess[:, None, None] * self.of_sum.x)

    @cached_property
    def _weighed(self) -> Floats:
        """Slopes times the answers' precisions `[I, K, S]`."""
        return np.asarray(self.directions.slopes.transpose(0, 2, 1) * self.sites.precision[:, None])

    @cached_property
    def _blocks(self) -> Floats:
        """Precisions of the items' coordinates `[I, K, K]`."""
        blocks = np.matmul(self._weighed, self.directions.slopes)
        np.einsum("ikk->ik", blocks)[:] += 1.0
        return np.asarray(blocks)

    @cached_property
    def _coupling(self) -> Floats:
        """Of the items' coordinates with `v` `[I, K, B]`."""
        _, factor, loadings, parts = self.directions
        return np.concatenate(
            [
                np.matmul(self._weighed * factor[:, number, None, None], loadings[:, part])
                for number, part in enumerate(parts)
            ],
            axis=2,
        )

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self._blocks))

    @cached_property
    def _regression(self) -> Floats:
        """Of the items' coordinates on `v`, with its sign turned `[I, K, B]`."""
        return np.asarray(np.matmul(self._inverse, self._coupling))

    @cached_property
    def _precision(self) -> Floats:
        """Of `v`, the items eliminated `[B, B]`."""
        _, factor, loadings, parts = self.directions
        border = np.diag(self.prior)
        for g, one in enumerate(parts):
            for h, other in enumerate(parts):
                weight = (factor[:, g] * factor[:, h]) @ self.sites.precision
                border[one, other] += (loadings[:, one] * weight[:, None]).T @ loadings[:, other]
        size = len(border)
        inside = self._coupling.reshape(-1, size).T @ self._regression.reshape(-1, size)
        return np.asarray(border - (inside + inside.T) / 2)

    @cached_property
    def _covariance(self) -> Floats:
        return np.asarray(np.linalg.inv(self._precision))

    def _solve(self, right: CrossedPoint) -> CrossedPoint:
        own = np.matmul(self._inverse, right.x[:, :, None])[:, :, 0]
        v = self._covariance @ (right.v - np.einsum("ikb,ik->b", self._coupling, own))
        return CrossedPoint(v, own - self._regression @ v)

    def _along(self, x: Floats) -> Floats:
        return np.asarray(np.matmul(self.directions.slopes, x[:, :, None])[:, :, 0])
