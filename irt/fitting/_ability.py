"""Ability as a linear map of unit-scale weights, and its Gaussian posterior when the items are known.

`theta = L w` with `L = [T, r (1 - 11'/S)]`: `p` columns of facet effects and, where there is a residual, one weight
per student. With information `D` about each ability, the posterior precision of `w` is `I + L' D L`. Its inverse and
the posterior covariance of `theta` are diagonal matrices plus a few columns (Woodbury): nothing of size `S x S`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from irt._design import Design
from irt._responses import Floats


@dataclass(frozen=True)
class Loadings:
    """Weights to ability: `effects` `[S, p]`, and the `residual` scale, None where there is no residual."""

    effects: Floats
    residual: float | None

    @property
    def size(self) -> int:
        """Number of weights."""
        students, effects = self.effects.shape
        return int(effects + (0 if self.residual is None else students))

    def ability(self, w: Floats) -> Floats:
        """`L w` `[..., S]` of weights `[..., p + S]`."""
        effects = self.effects.shape[1]
        if self.residual is None:
            return np.asarray(w @ self.effects.T)
        own = w[..., effects:]
        theta = own - own.mean(axis=-1, keepdims=True)
        theta *= self.residual
        if effects:
            theta += w[..., :effects] @ self.effects.T
        return np.asarray(theta)

    def back(self, v: Floats) -> Floats:
        """`L' v` `[..., p + S]` of `[..., S]`."""
        if self.residual is None:
            return np.asarray(v @ self.effects)
        own = v - v.mean(axis=-1, keepdims=True)
        own *= self.residual
        return np.concatenate([v @ self.effects, own], axis=-1) if self.effects.shape[1] else np.asarray(own)


def loadings(design: Design, scales: tuple[float, ...], residual: float) -> Loadings:
    """The map of a design at these scales of its terms and of its residual."""
    blocks = [scale * term.matrix for scale, term in zip(scales, design.terms, strict=True)]
    effects = np.hstack([np.empty((design.students, 0)), *blocks])
    return Loadings(effects, residual if design.residual else None)


@dataclass(frozen=True)
class Known:
    """Posterior of the weights given the items: `loadings`, and information `[S]` about each ability."""

    loadings: Loadings
    information: Floats

    def solve(self, v: Floats) -> Floats:
        """`(I + L' D L)^-1 v` `[..., p + S]`."""
        return np.asarray(v - self.loadings.back(self._middle(self.loadings.ability(v))))

    def covariance(self, u: Floats) -> Floats:
        """Posterior covariance of `theta` times `[..., S]`."""
        return np.asarray(self.own * u + ((u @ self.columns) @ self.core) @ self.columns.T)

    @cached_property
    def variances(self) -> Floats:
        """Posterior variances of `theta` `[S]`."""
        return np.asarray(self.own + np.einsum("sm,mn,sn->s", self.columns, self.core, self.columns, optimize=True))

    @cached_property
    def weight_variances(self) -> Floats:
        """Posterior variances of the weights `[p + S]`."""
        effects = self.loadings.effects
        shares = np.sum(effects * self._middle(effects.T).T, axis=0)
        if self.loadings.residual is not None:
            weighted = self._shrunk[:, None] * self._factors
            own = self._shrunk - np.einsum("sm,mn,sn->s", weighted, self.core, weighted, optimize=True)
            rows = self._middle(np.ones(len(own)))
            own = own - 2.0 * rows / len(own) + rows.sum() / len(own) ** 2
            shares = np.concatenate([shares, self.loadings.residual**2 * own])
        return np.asarray(1.0 - shares)

    @property
    def log_determinant(self) -> float:
        """Of the precision `I + L' D L` (matrix determinant lemma)."""
        return float(np.log1p(self._square * self.information).sum() - np.linalg.slogdet(self.core)[1])

    @property
    def own(self) -> Floats:
        """The diagonal part of the covariance of `theta` `[S]`; the rest is `columns core columns'`."""
        return np.asarray(self._square / (1.0 + self._square * self.information))

    @cached_property
    def columns(self) -> Floats:
        """`[S, p + 1]`, see `own`."""
        return np.asarray(self._factors / (1.0 + self._square * self.information)[:, None])

    @cached_property
    def core(self) -> Floats:
        """`[p + 1, p + 1]`, see `own`; indefinite, since centring the residual takes a direction away."""
        factors = self._factors
        signs = np.ones(factors.shape[1])
        signs[-1:] = 1.0 if self.loadings.residual is None else -1.0
        return np.asarray(np.linalg.inv(np.diag(signs) + factors.T @ (self._shrunk[:, None] * factors)))

    @property
    def _square(self) -> float:
        return (self.loadings.residual or 0.0) ** 2

    @property
    def _shrunk(self) -> Floats:
        return np.asarray(self.information / (1.0 + self._square * self.information))

    @property
    def _factors(self) -> Floats:
        if self.loadings.residual is None:
            return self.loadings.effects
        students = len(self.loadings.effects)
        return np.hstack([self.loadings.effects, np.full((students, 1), self.loadings.residual / np.sqrt(students))])

    def _middle(self, u: Floats) -> Floats:
        """`(D^-1 + L L')^-1 u`, without dividing by D."""
        scaled = self._shrunk * u
        return np.asarray(scaled - self._shrunk * (((scaled @ self._factors) @ self.core) @ self._factors.T))
