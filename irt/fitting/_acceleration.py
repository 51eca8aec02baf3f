"""Anderson's acceleration of an iteration that converges linearly (Walker & Ni 2011, type II).

Fisher scoring does: expected information is not the observed one, and the larger their difference the slower. Steps of
the recent past tell the difference along themselves, so that a few steps do the work of many and one factorisation
serves throughout.
"""

from __future__ import annotations

import numpy as np

from irt._responses import Floats
from irt.fitting._gaussian import Point

DEPTH = 8
"""Changes of steps that are remembered."""
RELATIVE = 1e-10
"""Singular values of remembered changes, relative to the largest, below which they are left out."""


class Acceleration:
    """Remembers points and their steps; `damping` is the share that is taken of what the past does not foretell."""

    def __init__(self, damping: float = 1.0) -> None:
        self._damping = damping
        self._points: list[Floats] = []
        self._steps: list[Floats] = []

    def forget(self) -> None:
        """Begin anew, where steps come from another factorisation."""
        self._points, self._steps = [], []

    def move(self, point: Point, step: Point) -> Point:
        """Where to go from `point`, whose own step is `step`, given the steps before."""
        at, forward = (np.concatenate([each.w, each.x.ravel()]) for each in (point, step))
        self._points, self._steps = [*self._points[-DEPTH:], at], [*self._steps[-DEPTH:], forward]
        reached = at + self._damping * forward
        if len(self._steps) > 1:
            moves, changes = np.diff(self._points, axis=0), np.diff(self._steps, axis=0)
            weights = np.linalg.lstsq(changes.T, forward, rcond=RELATIVE)[0]
            reached -= weights @ (moves + self._damping * changes)
        split = len(point.w)
        return Point(reached[:split], reached[split:].reshape(point.x.shape))


def largest(step: Point) -> float:
    """Largest change of a coordinate."""
    return max(float(np.max(np.abs(step.w), initial=0.0)), float(np.max(np.abs(step.x))))
