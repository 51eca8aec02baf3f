"""Asymptotes drawn along their profile likelihoods, and the rest with them.

A path gives an asymptote, and what moves with it, as functions of the signed root of twice the fall of the
log-likelihood. The signed root at the truth is about standard normal, also where the asymptote's estimate is not; so
roots are drawn from the normal distribution, and those that lie beyond a bound put the asymptote there (a maximum at a
bound has half its sampling distribution there, Self & Liang 1987).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt._responses import Floats
from irt.fitting._coordinates import signed_draws
from irt.fitting._item_priors import SMALLEST
from irt.kernels import RUNAWAY

LEAST = 1e-3
"""Least change of the signed root from knot to knot."""
NOTHING = 1e-12
"""Distance from its bound of an asymptote that is at it."""


class Knot(NamedTuple):
    """A point of the profile.

    `away` is the asymptote's distance from its bound, `fall` that of the log-likelihood from its maximum, `x` `[K, J]`
    the items whose asymptote it is, `spread` `[K, K]` a root of their covariance given the rest, `others` `[K, I]` and
    `ability` `[R]` the moves of other items and of expected abilities.
    """

    away: float
    fall: float
    x: Floats
    spread: Floats
    others: Floats
    ability: Floats

    @property
    def root(self) -> float:
        """Size of the signed root."""
        return float(np.sqrt(2 * max(self.fall, 0.0)))


class Path(NamedTuple):
    """The profile of coordinate `row` of `items` `[J]` as functions of the signed root, 0 at the maximum `x` `[K, J]`.

    The logit is `start` there and has the `sign` of distances from the bound. At `roots` `[M]` the asymptote is `away`
    `[M]` from its bound, the items' log slopes `grown` by `[M, J]`, their coordinates `moved` by `[M, K, J]`, and
    deviations from them multiplied by `widening` `[M, K, K]`. The rest moves in proportion to the root: `others`
    `[K, I]`, `ability` `[R]`.
    """

    row: int
    items: NDArray[np.int64]
    sign: float
    start: float
    roots: Floats
    away: Floats
    grown: Floats
    moved: Floats
    widening: Floats
    others: Floats
    ability: Floats

    def at(self, values: Floats, roots: Floats) -> Floats:
        """What `values` `[M, ...]` are at signed `roots` `[D]`."""
        from scipy.interpolate import PchipInterpolator  # takes a while to load

        return np.asarray(PchipInterpolator(self.roots, values)(roots))


def path_of(row: int, items: NDArray[np.int64], inward: list[Knot], outward: list[Knot], typical: int) -> Path:
    """The path through knots from the maximum to the bound and from it away; both lists begin with the maximum.

    What the rest does is that of the `typical` knot away from the bound.
    """
    roots = np.concatenate([-_risen(inward)[:0:-1], _risen(outward)])
    knots = [*inward[:0:-1], *outward]
    middle = len(inward) - 1
    # Of several ways to a height the farthest counts.
    falling, rising = np.flatnonzero(np.diff(roots[: middle + 1]) > 0) + 1, np.flatnonzero(np.diff(roots[middle:]) > 0)
    kept = np.unique(np.concatenate([[0], falling, rising + middle, [len(knots) - 1]]))
    top, chosen = outward[0], [knots[m] for m in kept]
    rest, narrow = outward[typical], np.linalg.pinv(top.spread)
    unit = max(rest.root, LEAST)
    x = np.stack([each.x for each in chosen])
    return Path(
        row,
        items,
        float(np.sign(outward[-1].x[row, 0] - top.x[row, 0])),
        float(top.x[row, 0]),
        roots[kept],
        np.array([each.away for each in chosen]),
        np.log(np.maximum(np.abs(x[:, 0]), SMALLEST) / np.maximum(np.abs(top.x[0]), SMALLEST)),
        x - top.x,
        np.stack([each.spread @ narrow for each in chosen]),
        rest.others / unit,
        rest.ability / unit,
    )


def followed(paths: list[Path], x: Floats, covariance: Floats, shift: Floats, roots: Floats) -> Floats:
    """Coordinates `[D, K, I]` around `x` `[K, I]`, with asymptotes along their paths at signed `roots` `[P, D]`.

    `shift` `[D, K, I]` are moves given these asymptotes, from Normal(0, covariance); `covariance` is `[I, K, K]`.
    """
    shift += np.tensordot(roots, np.stack([path.others for path in paths]), axes=(0, 0))
    drawn = signed_draws(x, covariance, shift)
    for items in sorted({tuple(path.items) for path in paths}):
        where = list(items)
        centre = np.broadcast_to(x[:, where], (len(shift), len(x), len(where))).copy()
        wide = np.broadcast_to(np.eye(len(x)), (len(shift), len(x), len(x)))
        for path, root in zip(paths, roots, strict=True):
            if tuple(path.items) == items:
                rows = [row for row in range(1, len(x)) if row != path.row]  # c comes first and moves delta along
                centre[:, 0] *= np.exp(path.at(path.grown, root))
                centre[:, rows] += path.at(path.moved[:, rows], root)
                away = np.clip(path.at(path.away, root), NOTHING, 1 - NOTHING)
                centre[:, path.row] += (path.sign * np.log(away / (1 - away)) - path.start)[:, None]
                wide = path.at(path.widening, root) @ wide
        steepest = np.maximum(np.abs(x[0, where]), RUNAWAY)
        centre[:, 0] = np.clip(centre[:, 0], -steepest, steepest)
        own = wide[:, None] @ covariance[where] @ wide[:, None].swapaxes(-1, -2)
        drawn[:, :, where] = signed_draws(centre, own, wide @ shift[:, :, where])
    return drawn


def _risen(knots: list[Knot]) -> Floats:
    """Roots that nowhere fall, knot by knot: a value inside a limit takes those between it and the maximum along."""
    roots = np.minimum.accumulate([each.root for each in knots][::-1])[::-1]
    return np.asarray(np.maximum(roots, LEAST * np.arange(len(knots))))
