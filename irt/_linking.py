"""Linking two calibrations by the items they share: `theta_A = slope * theta_B + intercept`.

The line is that of `irt._linking_constants`; intervals carry the uncertainty of both calibrations through their draws.
Anchors that drifted are found, named and left out; the moment methods also leave out those whose difficulty the answers
do not determine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from irt._drift import CurveDifferences, curve_misses, half_width
from irt._joining import FEWEST, require_enough
from irt._linking_constants import MOMENTS, NODES, Constants, constants, rescale
from irt._printing import first_rows, json_record, where_whole
from irt._responses import Floats, positions
from irt._result import Estimate, Fit, require_fit
from irt.kernels import ItemParameters

CUTOFF = 3.0
"""Robust z above which an anchor drifted: 1 in 370 that did not would exceed it."""
MOST_DRIFTING = 0.4
"""Share of anchors left out above which the others are no better witnesses."""
LEAST_RELATED = 0.7
"""Correlation of difficulties below which, beyond error, ids hardly name the same items."""
DRAWS = 300
"""Lines drawn, each a search: ends of intervals are known to a twentieth of their width."""


@dataclass(frozen=True)
class Link:
    """Fit B on the scale of fit A.

    `drift` has one row per common item: `item,shift,shift_sd,share_shift,share_shift_sd,z,z_discrimination,kept`:
    by how much the item is harder in A, on A's scale, by how much larger in B is the share right expected of students
    between both populations, and robust z of the latter and of the discrimination. `scatter` is how many times their
    error the kept anchors' difficulties miss the line: above 1 the intervals of the line are wider by it.
    `undetermined` are the common items whose difficulty has, in
    either fit, an interval wider than the one that holds as large a share of the population's abilities: the moment
    methods leave them out. `items` and `abilities` are those of B on A's scale. `warnings` name students whose same
    answers are in both fits.
    """

    method: str
    slope: Estimate
    intercept: Estimate
    scatter: float
    anchors: tuple[str, ...]
    dropped: tuple[str, ...]
    undetermined: tuple[str, ...]
    drift: pd.DataFrame
    items: pd.DataFrame
    abilities: pd.DataFrame
    interval: float
    warnings: tuple[str, ...] = ()

    @property
    def constants(self) -> Constants:
        """The estimated line."""
        return Constants(self.slope.estimate, self.intercept.estimate)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by name."""
        return {"items": self.items, "abilities": self.abilities, "drift": self.drift}

    def record(self) -> dict[str, Any]:
        """The link as JSON can hold it."""
        return json_record({name: value for name, value in vars(self).items() if name not in ("items", "warnings")})

    def lines(self, out: Path | None = None, /) -> list[str]:
        """The link for a reader; `out` is the folder that received its tables."""
        slope, intercept = (each.text() for each in (self.slope, self.intercept))
        unsure = [f"difficulty not determined: {', '.join(self.undetermined)}"] if self.undetermined else []
        return [
            f"theta_A = {self.slope.estimate:.3f} theta_B {self.intercept.estimate:+.3f}   ({self.method}, "
            f"{len(self.anchors)} anchors, scatter {self.scatter:.2f})",
            f"slope {slope}, intercept {intercept}",
            f"left out for drift: {', '.join(self.dropped) or 'none'}",
            *unsure,
            first_rows(self.abilities, where_whole(out, "abilities.csv")),
        ]


def link(
    fit_a: Fit,
    fit_b: Fit,
    anchors: Sequence[str] | None = None,
    method: str = "stocking-lord",
    *,
    symmetric: bool = False,
    cutoff: float | None = CUTOFF,
    draws: int = DRAWS,
) -> Link:
    """Put `fit_b` on the scale of `fit_a` by `anchors` (all common items by default).

    `symmetric` matches curves on both scales. Drift is judged by the anchors' curves (`irt._drift`). Anchors whose
    robust z exceeds `cutoff` are left out, the worst first, with a new line after each; None keeps all. Raises
    ValueError with fewer than 3 anchors, when more than 40 % of them drift, when the difficulties of the two fits have
    little to do with one another, when the line's error is as large as the scale, and for a fit not converged.
    """
    require_fit(fit_a, fit_b)
    for which, fit in (("first", fit_a), ("second", fit_b)):
        fit.require_right_or_wrong("linking")
        if not fit.converged:
            raise ValueError(f"the {which} fit did not converge; a scale that is not settled cannot be linked")
    names = tuple(anchors) if anchors is not None else tuple(i for i in fit_b.data.items if i in set(fit_a.data.items))
    require_enough(len(names), "common items")
    pair = _Pair.of(fit_a, fit_b, names, draws)
    usable = pair.usable(method)
    pair.select(usable).require_related(method, symmetric)
    kept, drift = _without_drift(pair, usable, names, method, symmetric, cutoff)
    anchored = pair.select([names.index(name) for name in kept])
    point = constants(anchored.target, anchored.source, method, symmetric)
    scatter = anchored.scatter(point)
    lines = _lines_drawn(anchored, point, method, symmetric, max(scatter, 1.0))
    slope, intercept = (fit_a.summary(lines[:, column], point[column]) for column in (0, 1))
    slope, intercept = slope._replace(estimate=point.slope), intercept._replace(estimate=point.intercept)
    dropped = tuple(names[place] for place in usable if names[place] not in kept)
    unsure = tuple(name for name, sure in zip(names, pair.determined, strict=True) if not sure)
    items, abilities = _moved(fit_b, point, lines, pair.order_b)
    said = _shared_students(fit_a, fit_b, names)
    return Link(method, slope, intercept, scatter, kept, dropped, unsure, drift, items, abilities, fit_a.interval, said)


def _shared_students(fit_a: Fit, fit_b: Fit, names: Sequence[str]) -> tuple[str, ...]:
    """A warning when most students of the same id have the same answers to the common items: the fits then depend.

    Ids alone say nothing (rows may be numbered), nor do answers of a few that happen to agree.
    """
    both = [student for student in fit_b.data.students if student in set(fit_a.data.students)]
    if not both:
        return ()
    answers = [fit.data.select_students(both).select(names) for fit in (fit_a, fit_b)]
    pairs = [(each.successes, each.attempts) for each in answers]
    alike = [np.asarray(one == other).all(axis=1) for one, other in zip(*pairs, strict=True)]
    same = int((alike[0] & alike[1] & answers[0].asked.any(axis=1)).sum())
    if 2 * same <= len(both):
        return ()
    return (
        f"{same} students have the same answers to the common items in both fits, which are taken as independent: "
        "the intervals of the line are not right; one fit of one table that holds each student once needs no line.",
    )


@dataclass(frozen=True)
class _Pair:
    """Anchors in both fits: point estimates `[I]`, and as many draws of one as of the other, `[D, I]`.

    `determined` `[I]` says whether both fits know their difficulties.
    """

    target: ItemParameters
    source: ItemParameters
    target_draws: ItemParameters
    source_draws: ItemParameters
    determined: NDArray[np.bool_]
    order_b: tuple[int, ...]

    @classmethod
    def of(cls, fit_a: Fit, fit_b: Fit, names: Sequence[str], draws: int) -> _Pair:
        places = [positions("item", fit.data.items, names) for fit in (fit_a, fit_b)]
        count = min(draws, len(fit_a.draws["a"]), len(fit_b.draws["a"]))
        # The fits are independent: any pairing of their draws is a draw of both. Shuffled, so that chains do not align.
        orders = [
            np.random.default_rng([fit_a.seed, fit_b.seed, which]).permutation(len(fit.draws["a"]))[:count]
            for which, fit in enumerate((fit_a, fit_b))
        ]
        drawn = [
            ItemParameters(*(fit.draws[name][order][:, where] for name in "abcd"))
            for fit, where, order in zip((fit_a, fit_b), places, orders, strict=True)
        ]
        points = fit_a.parameters.at(places[0]), fit_b.parameters.at(places[1])
        widths = [fit.spans("b")[where] for fit, where in zip((fit_a, fit_b), places, strict=True)]
        sure = np.maximum(*widths) <= 2 * ndtri((1 + fit_a.interval) / 2)
        return cls(points[0], points[1], drawn[0], drawn[1], sure, tuple(orders[1].tolist()))

    def select(self, where: Sequence[int]) -> _Pair:
        """The pair of these anchors only."""
        chosen = list(where)
        points, draws = (self.target, self.source), (self.target_draws, self.source_draws)
        (target, source), (target_draws, source_draws) = ([each.at(chosen) for each in two] for two in (points, draws))
        return _Pair(target, source, target_draws, source_draws, self.determined[chosen], self.order_b)

    def usable(self, method: str) -> list[int]:
        """Places of the anchors that the method can use: moments need difficulties that are determined."""
        if method not in MOMENTS:
            return list(range(len(self.determined)))
        found = np.flatnonzero(self.determined).tolist()
        require_enough(len(found), "common items whose difficulty the answers determine")
        return found

    @property
    def sure(self) -> NDArray[np.bool_]:
        """The anchors `[I]` that others are judged by: those determined, or all where these are too few."""
        return self.determined if self.determined.sum() >= FEWEST else np.ones_like(self.determined)

    def drawn(self) -> list[tuple[ItemParameters, ItemParameters]]:
        """Draw by draw, the anchors' parameters in both fits."""
        rows = zip(*self.target_draws, *self.source_draws, strict=True)
        return [(ItemParameters(*row[:4]), ItemParameters(*row[4:])) for row in rows]

    def residuals(self, line: Constants) -> tuple[Floats, Floats]:
        """By how much each anchor's difficulty misses the line, `[I]`, and the error of that.

        The errors are those of the differences between anchors: what moves all anchors alike is the line's. They are
        half the width of the central 68 % of draws, on which the tails of a weak item's difficulty have no influence.
        """
        miss = self.target.b - rescale(self.source, line).b
        difference = self.target_draws.b - line.slope * self.source_draws.b
        return miss, half_width(difference - difference[:, self.sure].mean(axis=1, keepdims=True))

    def misses(self, line: Constants) -> tuple[CurveDifferences, CurveDifferences]:
        """By how much heights and slopes of the anchors' curves miss the line (`irt._drift`)."""
        return curve_misses(
            (self.target, self.target_draws),
            (rescale(self.source, line), rescale(self.source_draws, line)),
            line,
            self.sure,
        )

    def scatter(self, line: Constants) -> float:
        """Birge's ratio: root mean square of the difficulties' standardised residuals, two spent on the line."""
        miss, error = self.residuals(line)
        standard = (miss / np.maximum(error, 1e-9))[self.sure]
        return float(np.sqrt(np.sum(standard**2) / (len(standard) - 2)))

    def require_related(self, method: str, symmetric: bool) -> None:
        """ValueError when the anchors' difficulties differ by more than error can, and hardly correlate."""
        line = constants(self.target, self.source, method, symmetric)
        miss, error = self.residuals(line)
        excess = float(np.median(np.abs(miss) / np.maximum(error, 1e-12))) / 0.6745
        b = self.target.b[self.sure], self.source.b[self.sure]
        related = float(np.corrcoef(*b)[0, 1]) if min(np.std(each) for each in b) > 1e-9 else 1.0
        if excess > 2 and related < LEAST_RELATED:
            raise ValueError(
                f"the anchors are inconsistent: their difficulties in the two fits correlate {related:.2f} and miss "
                f"one line by {excess:.1f} times their error; check that the same ids are the same items"
            )


def _without_drift(
    pair: _Pair, usable: Sequence[int], names: Sequence[str], method: str, symmetric: bool, cutoff: float | None
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """The anchors that stay of those `usable`, and the table of drift about the last line; the worst goes first."""
    kept = list(usable)
    while True:
        some = pair.select(kept)
        line = constants(some.target, some.source, method, symmetric)
        miss, error = pair.residuals(line)
        height, tilt = pair.misses(line)
        robust = [_robust_z(each.beside_the_line(kept), each.error, kept) for each in (height, tilt)]
        z = np.array([-robust[0], robust[1]])  # positive: harder, and steeper, in A
        worst = max(kept, key=lambda place: float(np.abs(z[:, place]).max()))
        if cutoff is None or np.abs(z[:, worst]).max() <= cutoff:
            break
        kept.remove(worst)
        gone = len(usable) - len(kept)
        if gone > MOST_DRIFTING * len(usable):
            raise ValueError(
                f"{gone} of {len(usable)} anchors drift and still they do not agree on one scale; "
                f"at most {MOST_DRIFTING:.0%} may be left out"
            )
        require_enough(len(kept), "anchors without drift")
    table = pd.DataFrame(
        {
            "item": list(names),
            "shift": miss,
            "shift_sd": error,
            "share_shift": -height.miss,
            "share_shift_sd": height.error,
            "z": z[0],
            "z_discrimination": z[1],
        }
    )
    return tuple(names[place] for place in kept), table.assign(kept=[place in kept for place in range(len(names))])


def _robust_z(miss: Floats, error: Floats, kept: Sequence[int]) -> Floats:
    """Robust z (after Huynh & Meyer 2010) of standardised residuals, about the median of the anchors kept.

    The scale is their median absolute deviation, but at least 1: error of estimation alone is not drift.
    """
    standard = miss / np.maximum(error, 1e-9)
    centre = np.median(standard[list(kept)])
    spread = 1.4826 * np.median(np.abs(standard[list(kept)] - centre))
    return np.asarray((standard - centre) / max(float(spread), 1.0))


def _lines_drawn(pair: _Pair, point: Constants, method: str, symmetric: bool, scatter: float) -> Floats:
    """Lines `[D, 2]` of the draws, their medians put at the line estimated and spread by `scatter`.

    Draws have the error of estimation once more than the estimates, so that nonlinear methods are drawn off centre.
    """
    lines = np.array([constants(one, other, method, symmetric, point) for one, other in pair.drawn()])
    away = np.stack([np.log(lines[:, 0] / point.slope), lines[:, 1] - point.intercept], axis=1)
    away = (away - np.median(away, axis=0)) * scatter
    # An error of the size of the slope itself, or of the whole scale, places nobody.
    if not np.isfinite(away).all() or away[:, 0].std() > 1 or away[:, 1].std() > NODES[-1]:
        raise ValueError(
            f"the anchors do not determine the line by {method}: the error of its slope {point.slope:.3g} or of its "
            f"intercept {point.intercept:.3g} is as large as the scale; wanted more anchors that discriminate"
        )
    return np.stack([point.slope * np.exp(away[:, 0]), point.intercept + away[:, 1]], axis=1)


def _moved(fit: Fit, point: Constants, lines: Floats, order: Sequence[int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Items and abilities of a fit on the target's scale; draw `order[k]` goes along line `k`."""
    slope, intercept = lines[:, 0, None], lines[:, 1, None]
    drawn = {name: fit.draws[name][list(order)] for name in ("a", "b", "c", "d", "theta")}
    drawn |= {"a": drawn["a"] / slope} | {name: slope * drawn[name] + intercept for name in ("b", "theta")}
    centre = rescale(fit.parameters, point)._asdict()
    centre["theta"] = point.slope * np.asarray(fit.point["theta"]) + point.intercept

    def columns(name: str) -> dict[str, Any]:
        low, high = np.quantile(drawn[name], fit.tails, axis=0)
        return {name: centre[name], f"{name}_sd": drawn[name].std(axis=0), f"{name}_low": low, f"{name}_high": high}

    items: dict[str, Any] = {"item": list(fit.data.items)}
    for name in "abcd":
        items |= columns(name)
    return pd.DataFrame(items), pd.DataFrame({"student": list(fit.data.students)} | columns("theta"))
