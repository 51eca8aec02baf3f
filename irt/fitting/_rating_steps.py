"""Thresholds between ratings, where everything else is normal: their part in expectation propagation.

An answer depends on its logit and on its item's thresholds, which stand around the item's difficulty by its `ladder`,
in logits of ability. Coordinates `[I, n]` are the logarithms of the ladder's gaps, of partial credit its steps less
their mean; they are normal around means `[n]` that items share (`irt._prior_densities.STEP_SCALES`). Both are at the
maximum of the evidence times their prior and integrated by Laplace's approximation there. Logits adapt to the shared
means: gaps twice as wide are the same as everything else half as large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from irt._graded import padded, real_thresholds
from irt._model import Problem, Ratings
from irt._partial_credit import name_of
from irt._prior_densities import STEP_SCALES
from irt._responses import Floats
from irt.fitting._crossed_gaussian import CrossedGaussian, CrossedPoint
from irt.fitting._rating_curvature import RATING_MODELS

LEAST_SHARE = 0.05
"""Of what answers would tell of shared coordinates if all else were known, at least so much is left when it adapts:
far from where propagation ends, more may seem lost.
"""


def rated(problem: Problem, draws: Mapping[str, Floats]) -> dict[str, Floats]:
    """Draws of ratings by their names: thresholds or steps in place of ladders and asymptotes."""
    assert problem.ratings is not None
    thresholds = padded(draws["b"][:, :, None] + draws["ladders"], problem.ratings.top)
    reported = {name: values for name, values in draws.items() if name not in ("c", "d", "ladders")}
    return reported | {name_of(RATING_MODELS[problem.model].items): thresholds}


class ItemSteps(NamedTuple):
    """Coordinates of the items' thresholds `[..., I, n]`, and the means that items share `[..., n]`."""

    own: Floats
    shared: Floats


class StepDerivatives(NamedTuple):
    """Of the log-likelihood by thresholds in logits of answers: slope `[I, K]`, expected information `[I, K, K]`, and
    that by each answer's logit and a threshold `[I, S, K]`.
    """

    slope: Floats
    information: Floats
    across: Floats


@dataclass(frozen=True)
class StepScale:
    """Thresholds of `ratings` up to each item's highest, or steps of `partial` credit, their coordinates this `spread`
    over items.
    """

    ratings: Ratings
    partial: bool
    spread: float

    @cached_property
    def real(self) -> Floats:
        """Which thresholds an item has `[I, K]`, as 0 and 1."""
        return real_thresholds(self.ratings.top).astype(np.float64)

    @property
    def width(self) -> int:
        """Coordinates of an item."""
        most = int(self.ratings.top.max())
        return most if self.partial and most > 1 else most - 1

    def start(self) -> ItemSteps:
        """The middle of the prior."""
        return ItemSteps(np.zeros((len(self.real), self.width)), np.zeros(self.width))

    def ladder(self, own: Floats) -> Floats:
        """Thresholds less their mean `[..., I, K]`, 0 where there is none."""
        if self.partial and self.width:
            return self._about_mean(own)
        gaps = np.exp(own)
        return self._about_mean(np.concatenate([np.zeros((*own.shape[:-1], 1)), np.cumsum(gaps, axis=-1)], axis=-1))

    def slopes(self, own: Floats) -> Floats:
        """Derivatives of the ladder by the coordinates `[I, K, n]`."""
        most = self.real.shape[1]
        each = np.eye(most, self.width) if self.partial else np.tril(np.ones((most, self.width)), -1)
        size = np.ones_like(own) if self.partial else np.exp(own)
        return np.asarray(self._about_mean(each.T[:, None] * size.T[:, :, None]).transpose(1, 2, 0))

    def _about_mean(self, rungs: Floats) -> Floats:
        own = self.real * rungs
        return np.asarray(self.real * (own - own.sum(axis=-1, keepdims=True) / self.ratings.top[:, None]))


@dataclass(frozen=True)
class StepCurvature:
    """What answers tell of the coordinates, discriminations `a` `[I]` and the Gaussian of all else given."""

    scale: StepScale
    at: ItemSteps
    a: Floats
    seen: StepDerivatives
    gaussian: CrossedGaussian

    def of_log_a(self) -> tuple[Floats, Floats]:
        """Slope and expected information `[I]` that thresholds add for log discriminations, coordinates adapting."""
        slope = np.sum(self.seen.slope * self._ladder, axis=1)
        known = np.einsum("ik,ikl,il->i", self._ladder, self.seen.information, self._ladder)
        along = np.einsum("inm,im->in", self._inverse, self._with_log_a)
        return slope - np.sum(along * self._pull, axis=1), known - np.sum(along * self._with_log_a, axis=1)

    def step(self, by_log_a: Floats) -> ItemSteps:
        """A step of Fisher scoring, when the log discriminations move by `[I]`."""
        own = np.einsum("inm,im->in", self._inverse, self._pull - self._with_log_a * by_log_a[:, None])
        pull = self._precision * np.sum(self.at.own - self.at.shared + own, axis=0) - self._prior * self.at.shared
        shared = self._of_shared @ pull
        return ItemSteps(own + self._following @ shared, shared)

    def log_evidence(self) -> float:
        """Their log prior, and their volume."""
        away, spread = self.at.own - self.at.shared, self.scale.spread
        height = -0.5 * (self._precision * np.sum(away**2) + self._prior * np.sum(self.at.shared**2))
        volume = np.linalg.slogdet(self._inverse)[1].sum() + np.linalg.slogdet(self._of_shared)[1]
        return float(height - away.size * np.log(spread) + 0.5 * volume)

    def by_spread(self) -> float:
        """Slope of the log evidence by the logarithm of the spread over items."""
        apart = self._following - np.eye(self.scale.width)
        variance = np.einsum("inn->", self._inverse) + np.einsum("inm,mk,ink->", apart, self._of_shared, apart)
        away = self.at.own - self.at.shared
        return float(self._precision * (np.sum(away**2) + variance) - away.size)

    def sample(self, rng: np.random.Generator, by_log_a: Floats) -> tuple[Floats, CrossedPoint]:
        """Draws of the coordinates `[D, I, n]`, log discriminations being off by `[D, I]`, and by what everything else
        moves along.
        """
        count, width = len(by_log_a), self.scale.width
        shared = rng.standard_normal((count, width)) @ np.linalg.cholesky(self._of_shared).T
        noise = rng.standard_normal((count, *self.at.own.shape))
        noise = np.einsum("inm,dim->din", np.linalg.cholesky(self._inverse), noise)
        along = np.einsum("inm,im->in", self._inverse, self._with_log_a)
        own = self.at.own + noise - along * by_log_a[:, :, None] + np.einsum("inm,dm->din", self._following, shared)
        mean, each = self.gaussian.mean, self._responses
        v = np.array([one.v for one in each]).reshape(width, *mean.v.shape)
        x = np.array([one.x for one in each]).reshape(width, *mean.x.shape)
        return own, CrossedPoint(shared @ v, np.tensordot(shared, x, 1))

    @property
    def _precision(self) -> float:
        """Of an item's coordinate about the shared one."""
        return float(self.scale.spread**-2)

    @property
    def _prior(self) -> float:
        """Precision of a shared coordinate."""
        return float(STEP_SCALES[self.scale.partial][0] ** -2)

    @cached_property
    def _ladder(self) -> Floats:
        return np.asarray(self.a[:, None] * self.scale.ladder(self.at.own))

    @cached_property
    def _slopes(self) -> Floats:
        return np.asarray(self.a[:, None, None] * self.scale.slopes(self.at.own))

    @cached_property
    def _inverse(self) -> Floats:
        """Covariances of an item's coordinates given the shared ones `[I, n, n]`."""
        known = self._slopes.transpose(0, 2, 1) @ self.seen.information @ self._slopes
        return np.asarray(np.linalg.inv(known + self._precision * np.eye(self.scale.width)))

    @cached_property
    def _pull(self) -> Floats:
        """Slope of the log-likelihood and prior by the coordinates `[I, n]`."""
        own = np.einsum("ikn,ik->in", self._slopes, self.seen.slope)
        return np.asarray(own - self._precision * (self.at.own - self.at.shared))

    @cached_property
    def _with_log_a(self) -> Floats:
        """Expected information by the coordinates and the item's log discrimination `[I, n]`."""
        return np.asarray(np.einsum("ikn,ikl,il->in", self._slopes, self.seen.information, self._ladder))

    @cached_property
    def _following(self) -> Floats:
        """How an item's coordinates follow the shared ones `[I, n, n]`."""
        return np.asarray(self._precision * self._inverse)

    @cached_property
    def _pulls(self) -> Floats:
        """What a shared coordinate brings to the sites of the answers `[n, I, S]`."""
        return np.asarray(-np.einsum("isk,ikn,inm->mis", self.seen.across, self._slopes, self._following))

    @cached_property
    def _responses(self) -> list[CrossedPoint]:
        """How everything normal follows each shared coordinate."""
        return [self.gaussian.response(pull) for pull in self._pulls]

    @cached_property
    def _of_shared(self) -> Floats:
        """Covariance of the shared coordinates, all else adapting `[n, n]`."""
        eye = np.eye(self.scale.width)
        alone = self._precision * (eye - self._following).sum(axis=0) + self._prior * eye
        adapted = [self.gaussian.along(response) for response in self._responses]
        lost = np.array([[np.sum(pull * each) for each in adapted] for pull in self._pulls])
        root = np.linalg.inv(np.linalg.cholesky(alone))
        shares, axes = np.linalg.eigh(np.eye(len(eye)) - root @ lost.reshape(eye.shape) @ root.T)
        axes = root.T @ axes
        return np.asarray(axes / np.maximum(shares, LEAST_SHARE) @ axes.T)
