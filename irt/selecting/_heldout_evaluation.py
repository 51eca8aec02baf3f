"""What a choice of items is worth to students who took no part in choosing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from irt import kernels
from irt._design import build_design
from irt._model import Options, Priors, build_problem, report_scale
from irt._quadrature import posterior
from irt._responses import Floats, ResponseMatrix
from irt._result import Fit
from irt.kernels import ItemParameters
from irt.selecting._conditional_slopes import conditional_slopes, group_shift

SUBSETS = 200
"""Random subsets that a choice is compared with."""
GAPS = np.linspace(-2.5, 2.5, 51)
"""Differences of log discrimination at which information is tabulated."""
RESAMPLES = 1000
"""Enough for ends of a 90 % interval that move by a few hundredths of its width."""
FEWEST_RESAMPLED = 10
"""Students; of fewer, resampling shows too few orders."""
TIE_DECIMALS = 9
"""Abilities that differ by less are the same: sums in another order differ by 1e-15 times their size."""
Indices = NDArray[np.intp]


class InformationGain(NamedTuple):
    """Relative change of mean item information beyond random pruning: posterior median and interval."""

    estimate: float
    low: float
    high: float


class RandomPruning(NamedTuple):
    """Gains that `subsets` random subsets of the same length and balance are judged to have: mean and interval.

    `beaten` is the share of them that the chosen items outdo; about a half when the choice knew nothing.
    """

    subsets: int
    mean: float
    low: float
    high: float
    beaten: float


class RankAgreement(NamedTuple):
    """Kendall's tau between two orders of the same students, with its interval."""

    estimate: float
    low: float
    high: float


class HeldOutEvaluator:
    """The gain of keeping some items, from held-out students' own answers.

    Fitted discriminations will not do: shrinking difficulties towards each other makes extreme items look steep to
    calibration and held-out students alike, and a choice that follows it would seem confirmed. So the common slope of
    the items kept and that of the items dropped are found by conditional likelihood (`conditional_slopes`), each item's
    students being placed by the other items. Information being `P (1 - P)` times the squared slope of the logit, the
    two slopes give the information of both groups at their own difficulties, which `everyone` (the held-out students
    by default) tells: their posterior is as good for items chosen as for others. A random subset has, on average over
    subsets, the mean information of the whole.
    """

    def __init__(
        self,
        data: ResponseMatrix,
        model: str,
        options: Options,
        interval: float,
        everyone: ResponseMatrix | None = None,
    ) -> None:
        data = data.select(seen := [data.items[index] for index in np.flatnonzero(data.asked.any(axis=0))])
        self.index = {item: position for position, item in enumerate(seen)}
        self.interval = interval
        own = _fitted(data, model, options)
        theta = _without_own_item(data.successes, data.attempts, own.theta, own.items)
        self.slopes = conditional_slopes(data.successes, data.attempts, theta)
        self.information = _information(own if everyone is None else _fitted(everyone.select(seen), model, options))

    def gain(self, kept: Sequence[str], before: Sequence[str]) -> InformationGain:
        """Relative difference of the mean information of `kept` and of `before`, which it is part of."""
        stays, goes = self._parts(kept, before)
        if not len(goes) or not len(stays):
            return InformationGain(0.0, 0.0, 0.0)
        gap, error = self._gap(stays, goes)
        reach = error * ndtri((1 + self.interval) / 2)
        return InformationGain(*self._relative(np.array([gap, gap - reach, gap + reach]), stays, goes).tolist())

    def random(self, kept: Sequence[str], before: Sequence[str], label: Mapping[str, str], seed: int) -> RandomPruning:
        """What random subsets with as many items of each group as `kept` are judged to gain."""
        stays, goes = self._parts(kept, before)
        if not len(goes) or not len(stays):
            return RandomPruning(0, 0.0, 0.0, 0.0, 0.5)
        rng = np.random.default_rng([seed, 6])
        whole = np.union1d(stays, goes)
        names = np.array([label[item] for item in self.index], dtype=object)
        pools = [(whole[names[whole] == name], int(np.sum(names[stays] == name))) for name in dict.fromkeys(names)]
        drawn = [np.concatenate([rng.permutation(pool)[:size] for pool, size in pools]) for _ in range(SUBSETS)]
        subsets = map(np.sort, drawn)  # the same items have the same gain, to the last bit
        own, *others = (self._estimate(some, np.setdiff1d(whole, some)) for some in (np.sort(stays), *subsets))
        found = np.array(others)
        low, high = np.quantile(found, [(1 - self.interval) / 2, (1 + self.interval) / 2])
        beaten = np.mean(found < own) + np.mean(found == own) / 2
        return RandomPruning(SUBSETS, float(found.mean()), float(low), float(high), float(beaten))

    def _parts(self, kept: Sequence[str], before: Sequence[str]) -> tuple[Indices, Indices]:
        """Positions of the items kept and of those dropped, as far as held-out students were asked them."""
        stays = np.array([self.index[item] for item in kept if item in self.index], dtype=np.intp)
        whole = np.array([self.index[item] for item in before if item in self.index], dtype=np.intp)
        return stays, np.setdiff1d(whole, stays)

    def _gap(self, stays: Indices, goes: Indices) -> tuple[float, float]:
        """Difference of log slope between two groups and its standard error."""
        (kept, first), (left, second) = group_shift(self.slopes, stays), group_shift(self.slopes, goes)
        return kept - left, float(np.hypot(first, second))

    def _estimate(self, stays: Indices, goes: Indices) -> float:
        gap, _ = self._gap(stays, goes)
        return float(self._relative(np.array([gap]), stays, goes)[0])

    def _relative(self, gap: Floats, stays: Indices, goes: Indices) -> Floats:
        """Relative change of mean information for each gap in log discrimination `[N]`."""
        share = len(stays) / (len(stays) + len(goes))
        kept = np.exp(np.interp((1 - share) * gap, GAPS, np.log(self.information[:, stays].mean(axis=1))))
        left = np.exp(np.interp(-share * gap, GAPS, np.log(self.information[:, goes].mean(axis=1))))
        return np.asarray(kept / (share * kept + (1 - share) * left) - 1.0)


class _Fitted(NamedTuple):
    """Abilities `[S]`, items, the standard deviation of their difficulties `[I]`, and the common discrimination."""

    theta: Floats
    items: ItemParameters
    b_sd: Floats
    common_a: float


def _fitted(data: ResponseMatrix, model: str, options: Options) -> _Fitted:
    from irt.fitting import _laplace as laplace

    problem = build_problem(data, build_design(data), model, options, Priors())
    mode = laplace.climb(problem)
    raw = report_scale(laplace.mode_of(problem, mode), problem.design)
    items = ItemParameters(*(raw[name][0] for name in "abcd"))
    variance = mode.curvature.variances.x[int(problem.free_a)]
    common = mode.scales.residual
    return _Fitted(raw["theta"][0], items, mode.scales.spread_b * np.sqrt(np.maximum(variance, 0)) / common, common)


def _without_own_item(successes: Floats, attempts: Floats, theta: Floats, items: ItemParameters) -> Floats:
    """Abilities `[S, I]` as the other items place each student: a step of scoring without the item's own answer."""
    p = kernels.probability(theta[:, None], *items)
    information = kernels.information(theta[:, None], *items)
    slope = np.sqrt(information / np.maximum(p * (1 - p), 1e-12))
    left = (attempts * information).sum(axis=1, keepdims=True) - attempts * information + 1.0
    return np.asarray(theta[:, None] - slope * (successes - attempts * p) / left)


def _information(fitted: _Fitted) -> Floats:
    """Information `[G, I]` over a Normal(0, 1) population at the common discrimination times `exp(GAPS)`.

    But for a factor: the square of the logit's slope moves with the gap. Difficulty moves so that the share right
    stays: what was seen is that share, and the average of a logistic curve over the population is, nearly, a probit of
    `a b / sqrt(1 + (a / 1.7)^2)`. What is not known of a difficulty widens the population as seen from the item. Equal
    steps stay exact for slopes that Gauss's few nodes would miss.
    """
    items = fitted.items
    nodes = np.linspace(-5.0, 5.0, 81)
    weights = np.exp(-(nodes**2) / 2)
    a = fitted.common_a * np.exp(GAPS)[:, None]
    b = items.b * (np.sqrt(1 + (a / 1.7) ** 2) / a) / (np.sqrt(1 + (items.a / 1.7) ** 2) / items.a)
    wider = np.sqrt(1 + fitted.b_sd**2)
    total = np.zeros(b.shape)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        p = kernels.probability(node * wider, a, b, items.c, items.d)
        total += weight * p * (1 - p)
    return np.asarray(total * np.exp(2 * GAPS)[:, None])


@cache
def population() -> tuple[Floats, Floats]:
    """Quadrature nodes and weights of a Normal(0, 1) population of abilities."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    return nodes, weights / weights.sum()


def split_students(
    data: ResponseMatrix, holdout: float, seed: int, facets: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`(calibration, heldout)` in table order; no facet level loses its last calibration student.

    Students are taken one by one at random among those whose levels are best represented in what is left.
    """
    rng, students = np.random.default_rng([seed, 3]), len(data.students)
    codes = np.zeros((1, students), dtype=np.int64)
    if data.facets is not None and facets:
        codes = np.stack([pd.factorize(data.facets[name])[0] for name in facets])
    remaining = np.ones(students, dtype=np.bool_)
    for _ in range(min(max(2, round(holdout * students)), students - 3)):
        order = rng.permutation(np.flatnonzero(remaining))
        left, taken = (
            np.stack([np.bincount(code[part], minlength=students)[code[order]] for code in codes])
            for part in (remaining, ~remaining)
        )
        free = np.all(left > 1, axis=0)
        if not np.any(free):
            break
        # The share of each of its levels already taken: the lowest sum spreads the held-out students evenly.
        load = np.where(free, np.sum(taken / (taken + left), axis=0), np.inf)
        remaining[order[np.argmin(load)]] = False
    if np.sum(~remaining) < 2:
        raise ValueError(
            "no 2 students can be held out while every facet level stays in calibration; name fewer facets"
        )
    names = np.array(data.students, dtype=object)
    return tuple(names[remaining]), tuple(names[~remaining])


def scored(data: ResponseMatrix, fit: Fit) -> Floats:
    """Expected abilities a posteriori `[S]` of students on the fit's items at their estimates, Normal(0, 1) before."""
    part = data.select(fit.data.items)
    return posterior(part.successes, part.attempts, fit.parameters).mean


def agreement(first: Floats, second: Floats, interval: float, seed: int) -> RankAgreement:
    """Kendall's tau-b of two abilities `[S]` per student.

    The interval resamples students, copies of one student not being compared (bootstrap percentiles). Under 10 students
    resampling knows nothing of the orders it has not seen; the bound `2 (1 - tau^2) / S` on the variance of tau
    (Kendall 1970, ch. 4) is turned into an interval instead, as Wilson's for a proportion.
    """
    first, second = (np.sign(np.round(each[:, None] - each, TIE_DECIMALS)) for each in (first, second))
    estimate = float(_tau(np.ones((1, len(first))), first, second)[0])
    if len(first) < FEWEST_RESAMPLED:
        return RankAgreement(estimate, *_bounded(estimate, len(first), interval))
    counts = np.random.default_rng([seed, 5]).multinomial(len(first), np.full(len(first), 1 / len(first)), RESAMPLES)
    found = _tau(counts.astype(np.float64), first, second)
    low, high = np.quantile(found, [(1 - interval) / 2, (1 + interval) / 2])
    return RankAgreement(estimate, float(low), float(high))


def _tau(counts: Floats, first: Floats, second: Floats) -> Floats:
    """Tau-b `[R]` of orders `[S, S]` (signs of differences), student s present `counts[r, s]` times; 0 if all tie."""
    total, one, two = (
        np.einsum("rs,st,rt->r", counts, pairs, counts, optimize=True)
        for pairs in (first * second, np.abs(first), np.abs(second))
    )
    norm = np.sqrt(one * two)
    return np.asarray(np.divide(total, norm, out=np.zeros_like(total), where=norm > 0))


def _bounded(tau: float, students: int, interval: float) -> tuple[float, float]:
    width = 2 * float(ndtri((1 + interval) / 2)) ** 2 / students
    root = np.sqrt(max(width * (1 + width - tau**2), 0.0))
    return max(-1.0, float((tau - root) / (1 + width))), min(1.0, float((tau + root) / (1 + width)))
