"""What a choice of items is worth to students who took no part in choosing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt import kernels
from irt.design import build_design
from irt.model import Options, Priors, build_problem, report_scale
from irt.responses import Floats, ResponseMatrix

Indices = NDArray[np.intp]


class Gain(NamedTuple):
    """Relative change of mean item information beyond random pruning: posterior mean and interval."""

    estimate: float
    low: float
    high: float


class Judge:
    """The gain of keeping some items, from held-out students' own answers.

    A hierarchical fit of the held-out answers shrinks every item towards the average and would hide a true gain, so
    the shrinkage is undone: each item's own log discrimination and its sampling variance are recovered from the mode,
    and the precision-weighted means of kept and dropped items are compared. The difference moves the information of
    both groups, at their own difficulties, relative to the whole; a random subset has, on average over subsets, the
    mean information of the whole. The variance includes the items' own spread, as if items too were a sample.
    """

    def __init__(self, data: ResponseMatrix, model: str, options: Options, interval: float) -> None:
        from irt.fitting import laplace

        seen = [data.items[index] for index in np.flatnonzero(data.asked.any(axis=0))]
        if isinstance(options, Mapping):
            options = {item: options[item] for item in seen}
        data = data.select(seen)
        self.index = {item: position for position, item in enumerate(seen)}
        self.interval = interval
        problem = build_problem(data, build_design(data), model, options, Priors())
        mode = laplace.climb(problem)
        left_to_prior = np.clip(laplace.item_variances(mode.curvature)[0], 1e-9, 1 - 1e-9)
        spread = mode.scales.spread_a
        self.log_a = spread * mode.point.x[0] / (1 - left_to_prior)
        self.weight = (1 - left_to_prior) / spread**2
        raw = report_scale(laplace.mode_of(problem, mode), problem.design)
        self.common_a = mode.scales.residual
        self.b, self.c, self.d = raw["b"][0], raw["c"][0], raw["d"][0]

    def gain(self, kept: Sequence[str], before: Sequence[str]) -> Gain:
        """Relative difference of the mean information of `kept` and of `before`, which it is part of."""
        stays = np.array([self.index[item] for item in kept if item in self.index], dtype=int)
        whole = np.array([self.index[item] for item in before if item in self.index], dtype=int)
        goes = np.setdiff1d(whole, stays)
        if not len(goes) or not len(stays):
            return Gain(0.0, 0.0, 0.0)
        totals = self.weight[stays].sum(), self.weight[goes].sum()
        means = [float(self.weight[g] @ self.log_a[g]) / t for g, t in zip((stays, goes), totals, strict=True)]
        gap, error = means[0] - means[1], float(np.sqrt(1 / totals[0] + 1 / totals[1]))
        low = (1 - self.interval) / 2
        points = gap + error * norm_quantiles(np.concatenate([(np.arange(200) + 0.5) / 200, [low, 1 - low]]))
        gains = self._relative(np.clip(points, -4.0, 4.0), stays, goes)
        return Gain(float(np.median(gains[:-2])), float(gains[-2]), float(gains[-1]))

    def _relative(self, gap: Floats, stays: Indices, goes: Indices) -> Floats:
        """Relative change of mean information for each gap in log discrimination `[N]`."""
        share = len(stays) / (len(stays) + len(goes))
        kept = self._mean_information(self.common_a * np.exp((1 - share) * gap), stays)
        left = self._mean_information(self.common_a * np.exp(-share * gap), goes)
        return np.asarray(kept / (share * kept + (1 - share) * left) - 1.0)

    def _mean_information(self, a: Floats, group: Indices) -> Floats:
        """Information per item of a group of common discrimination `a` `[N]`, over a Normal(0, 1) population."""
        nodes, weights = population()
        total = np.zeros(len(a))
        for node, weight in zip(nodes, weights, strict=True):
            total += weight * kernels.information(node, a[:, None], self.b[group], self.c[group], self.d[group]).mean(1)
        return total


def population() -> tuple[Floats, Floats]:
    """Quadrature nodes and weights of a Normal(0, 1) population of abilities."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    return nodes, weights / weights.sum()


def norm_quantiles(share: Floats) -> Floats:
    """Quantiles of the standard normal."""
    from scipy.special import ndtri

    return np.asarray(ndtri(share))
