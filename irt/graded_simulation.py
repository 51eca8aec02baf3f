"""Ratings drawn from a known truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from irt import graded
from irt.responses import Floats, ResponseMatrix
from irt.simulation import Facets, simulate


@dataclass(frozen=True)
class GradedTruth:
    """Parameters behind simulated ratings, on the reported scale; `effects` `[L]` per facet."""

    a: Floats
    thresholds: Floats
    top: NDArray[np.int64]
    theta: Floats
    effects: Mapping[str, Floats]
    residual_scale: float

    @property
    def b(self) -> Floats:
        """Mean threshold of each item `[I]`."""
        return graded.mean_threshold(self.thresholds, self.top)


@dataclass(frozen=True)
class GradedSimulation:
    """Simulated ratings and the truth they came from."""

    data: ResponseMatrix
    truth: GradedTruth


def simulate_graded(
    students: int | None = None,
    items: int = 20,
    top: int | Sequence[int] = 4,
    facets: Facets | None = None,
    *,
    seed: int,
    effect_sd: float = 1.0,
    residual_sd: float = 0.3,
    log_a_sd: float = 0.3,
    mean_a: float = 1.5,
    b_sd: float = 0.7,
    gap: float = 0.8,
    missing: float = 0.0,
) -> GradedSimulation:
    """Draw ratings from 0 to `top` (one number, or one per item); the same seed gives the same table.

    Students, facets and abilities are those of `irt.simulate`. An item's thresholds are `gap` apart on average, each
    gap between a half and one and a half times that. Raises ValueError as `irt.simulate`, and for a wrong number of
    tops.
    """
    highest = np.broadcast_to(np.asarray(top, dtype=np.int64), (items,)) if np.ndim(top) == 0 else np.asarray(top)
    if highest.shape != (items,) or highest.min() < 1:
        raise ValueError(f"top {top} was given; a highest score of at least 1 for each of {items} items was wanted")
    people = simulate(students, 2, facets=facets, seed=seed, effect_sd=effect_sd, residual_sd=residual_sd)
    rng = np.random.default_rng([seed, 1])
    a = mean_a * np.exp(log_a_sd * rng.standard_normal(items))
    steps = gap * rng.uniform(0.5, 1.5, (items, int(highest.max())))
    thresholds = np.cumsum(steps, axis=1)
    centre = graded.mean_threshold(thresholds, highest)
    thresholds = graded.padded(thresholds + (b_sd * rng.standard_normal(items) - centre)[:, None], highest)
    theta = people.truth.theta
    reached = graded.cumulative(theta[:, None], a, thresholds, highest)
    scores = (rng.random((len(theta), items))[:, :, None] < reached).sum(axis=2).astype(np.float64)
    if missing:
        scores[rng.random(scores.shape) < missing] = np.nan
    names = tuple(f"q{index}" for index in range(items))
    data = ResponseMatrix(scores, people.data.students, names, None, people.data.facets, top=highest)
    truth = GradedTruth(a, thresholds, highest, theta, people.truth.effects, people.truth.residual_scale)
    return GradedSimulation(data, truth)
