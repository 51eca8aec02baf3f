"""The Gaussian approximation around a mode, with the log discriminations held to sum to zero."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from irt._responses import Floats
from irt.fitting._gaussian import Point, Solver, StudentsKept


@dataclass(frozen=True)
class GaussianCurvature:
    """Gaussian approximation, conditional on the log discriminations summing to zero.

    `held` is the covariance of everything with that sum, `held_size` the variance of the sum, both before conditioning
    (zeros and 1 when there is nothing to hold).
    """

    solver: Solver
    held: Point
    held_size: float

    @cached_property
    def variances(self) -> Point:
        """Marginal variances of w `[p + S]` and x `[K, I]`."""
        free = self.solver.variances()
        return Point(free.w - self.held.w**2 / self.held_size, free.x - self.held.x**2 / self.held_size)

    @cached_property
    def loadings(self) -> Floats:
        """Weights to abilities, dense `[S, p + S]`."""
        known = self.solver.joint.known.loadings
        return known.ability(np.eye(known.size)).T

    @cached_property
    def theta_cov(self) -> Floats:
        """Covariance of the abilities `[S, S]` before conditioning."""
        return StudentsKept(self.solver.joint).theta_covariance

    @property
    def item_cov(self) -> Floats:
        """Covariance of each item's coordinates given the abilities `[I, K, K]`, before conditioning."""
        return self.solver.joint.inverse

    @cached_property
    def regression(self) -> Floats:
        """Regression of the items' coordinates on the abilities, with its sign turned `[I, K, S]`."""
        return StudentsKept(self.solver.joint).regression.transpose(1, 2, 0)


def conditioned(found: Solver, point: Point, free_a: bool) -> GaussianCurvature:
    """The approximation of the shape of `point`; there is a sum to hold where discriminations are free."""
    nothing = Point(np.zeros_like(point.w), np.zeros_like(point.x))
    if not free_a:
        return GaussianCurvature(found, nothing, 1.0)
    total = np.zeros_like(point.x)
    total[0] = 1.0
    held = found.solve(Point(nothing.w, total))
    return GaussianCurvature(found, held, float(held.x[0].sum()))
