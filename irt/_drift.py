"""How far common items' curves miss each other about a line between two scales: in height, and in slope.

Drift is looked for in curves, not in difficulties and discriminations: the difficulty of an item that hardly
discriminates has no finite error, nor has the logarithm of its discrimination, while the height of its curve is known
as well as anybody's. Height is the share right expected of students between both populations, slope its covariance
with their ability.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from irt import kernels
from irt._linking_constants import NODES, Constants
from irt._responses import Floats
from irt.kernels import ItemParameters

STEP = 0.01
"""Of the numerical derivatives by the line."""
TINY = 1e-9
"""Keeps divisions finite; below every error or derivative that occurs."""
MOST_OWN = 0.9
"""Largest part of the line that is taken to be one anchor's own."""


class CurveDifferences(NamedTuple):
    """Target less source, its error, and the derivative of the source by the line, of each anchor, `[I]`."""

    miss: Floats
    error: Floats
    by: Floats

    def beside_the_line(self, kept: Sequence[int]) -> Floats:
        """The misses less what another line would take away, by least absolute deviations of the anchors `kept`.

        No anchor that drifted, nor one that hardly discriminates, draws that line to itself.
        """
        chosen = list(kept)
        by, error = self.by[chosen], np.maximum(self.error[chosen], TINY)
        steep = np.where(np.abs(by) < TINY, TINY, by)
        each, weight = self.miss[chosen] / steep, np.abs(steep) / error
        order = np.argsort(each)
        middle = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)
        return np.asarray(self.miss - self.by * each[order][min(int(middle), len(order) - 1)])


def curve_misses(
    target: tuple[ItemParameters, ItemParameters],
    source: tuple[ItemParameters, ItemParameters],
    line: Constants,
    sure: NDArray[np.bool_],
) -> tuple[CurveDifferences, CurveDifferences]:
    """Misses of height and of slope; items are estimates `[I]` and draws `[D, I]`, both on the target's scale.

    Abilities are weighted by the geometric mean of both populations' densities. The errors are those of what is left
    when the line of each draw brings the other anchors, those `sure` `[I]`, together: what moves all alike is the
    line's.
    """
    weight = np.exp(-0.25 * (NODES**2 + ((NODES - line.intercept) / line.slope) ** 2))
    weight = weight / weight.sum()
    middle = float(weight @ NODES)
    away = (NODES - middle) / np.sqrt(weight @ (NODES - middle) ** 2)
    items = source[0]
    by_shift = _slope_by(lambda step: items._replace(b=items.b + step))
    by_scale = _slope_by(
        lambda step: items._replace(a=items.a * np.exp(-step), b=middle + np.exp(step) * (items.b - middle)),
    )
    miss, drawn = (_shares(one) - _shares(other) for one, other in zip(target, source, strict=True))
    return (
        _misses(miss @ weight, drawn @ weight, by_shift @ weight, sure),
        _misses(miss @ (weight * away), drawn @ (weight * away), by_scale @ (weight * away), sure),
    )


def _misses(miss: Floats, drawn: Floats, by: Floats, sure: NDArray[np.bool_]) -> CurveDifferences:
    common = np.where(sure, by, 0.0)
    size = max(float(common @ common), TINY)
    left = drawn - np.outer(drawn @ common / size, by)
    # An anchor that drifts is seen beside the line of the others: its deleted residual, not the one it has a part in.
    own = np.minimum(common**2 / size, MOST_OWN)
    return CurveDifferences(miss, half_width(left / (1 - own)), by)


def _shares(items: ItemParameters) -> Floats:
    """Expected shares right `[..., I, Q]` at `NODES`."""
    return np.asarray(kernels.probability(NODES, *(np.asarray(values)[..., None] for values in items)))


def _slope_by(moved: Callable[[float], ItemParameters]) -> Floats:
    """Derivative `[I, Q]` of the shares of items `moved` by a step."""
    return np.asarray((_shares(moved(STEP)) - _shares(moved(-STEP))) / (2 * STEP))


def half_width(draws: Floats) -> Floats:
    """Half the width of the central 68.27 % of draws `[D, N]`: the standard deviation of normal ones."""
    low, high = np.quantile(draws, ndtr([-1.0, 1.0]), axis=0)
    return np.asarray((high - low) / 2)
