"""The maximum of a smooth curve over one number, each point of which is dear: the profile of a shared c.

A joint mode over the items and a parameter they share is inconsistent: every item that is fitted along gives it a bias,
and few answers to an item hardly any information, so more items do not help (Neyman & Scott 1948). The evidence, in
which items and abilities are integrated, has no such bias; it is climbed by parabolas through three points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

STEP, LONGEST, NEAR, MOST = 0.15, 0.7, 0.1, 10
"""Distance of the three points, largest move, share of the standard deviation at which it ends, and rounds at most."""
FLATTEST = 1.0
"""Least curvature a move assumes."""


class Peak(NamedTuple):
    """Where the curve is highest, the standard deviation its curvature says, and whether the search ended there."""

    at: float
    sd: float
    settled: bool


def peak(height: Callable[[float], float], start: float, told: Callable[[int, int], None] | None = None) -> Peak:
    """Climb `height` from `start`; `told` hears of rounds done and of rounds at most."""
    at, sd = start, 1.0
    for number in range(1, MOST + 1):
        below, middle, above = (height(at + side * STEP) for side in (-1, 0, 1))
        curvature = max((2 * middle - below - above) / STEP**2, FLATTEST)
        sd = 1.0 / np.sqrt(curvature)
        move = float(np.clip((above - below) / (2 * STEP) / curvature, -LONGEST, LONGEST))
        at += move
        if told is not None:
            told(number, MOST)
        if abs(move) < NEAR * sd:
            return Peak(at, float(sd), True)
    return Peak(at, float(sd), False)
