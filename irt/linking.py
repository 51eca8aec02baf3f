"""Linking two calibrations by the items they share: `theta_A = slope * theta_B + intercept`.

The moment methods are closed forms (Marco 1977; Loyd & Hoover 1980); the characteristic curve methods minimise squared
differences of response curves (Haebara 1980) or of their sum (Stocking & Lord 1983) with exact derivatives. Intervals
carry the uncertainty of both calibrations through their draws. Anchors that drifted are found, named and left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from irt import kernels
from irt.kernels import ItemParameters
from irt.responses import Floats, ResponseMatrix, facet_names, require_matrix
from irt.result import Estimate, Fit
from irt.scoring import chosen_items, item_places

METHODS = ("mean-mean", "mean-sigma", "haebara", "stocking-lord")
FEWEST = 3
LEAST_A = 0.01
CUTOFF = 3.0
MOST_DRIFTING = 0.4
LEAST_RELATED = 0.7
DRAWS = 300
NODES = np.linspace(-4, 4, 41)


class Constants(NamedTuple):
    """The line from the source's scale to the target's: `theta_target = slope * theta_source + intercept`."""

    slope: float
    intercept: float


@dataclass(frozen=True)
class Link:
    """Fit B on the scale of fit A.

    `drift` has one row per common item: `item,shift,shift_sd,z,z_discrimination,kept` (shift of difficulty, on A's
    scale; robust z of both). `scatter` is how many times their error the kept anchors' difficulties miss the line:
    above 1 the intervals of the line are wider by it. `items` and `abilities` are those of B on A's scale.
    """

    method: str
    slope: Estimate
    intercept: Estimate
    scatter: float
    anchors: tuple[str, ...]
    dropped: tuple[str, ...]
    drift: pd.DataFrame
    items: pd.DataFrame
    abilities: pd.DataFrame
    interval: float

    @property
    def constants(self) -> Constants:
        """The estimated line."""
        return Constants(self.slope.estimate, self.intercept.estimate)


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

    `symmetric` matches curves on both scales. Anchors whose robust z exceeds `cutoff` are left out, the worst first,
    with a new line after each; None keeps all. Raises ValueError with fewer than 3 anchors, when more than 40 % of them
    drift, when the difficulties of the two fits have little to do with one another, and for a fit not converged.
    """
    for which, fit in (("first", fit_a), ("second", fit_b)):
        fit.require_right_or_wrong("linking")
        if not fit.converged:
            raise ValueError(f"the {which} fit did not converge; a scale that is not settled cannot be linked")
    names = tuple(anchors) if anchors is not None else tuple(i for i in fit_b.data.items if i in set(fit_a.data.items))
    _require_enough(len(names), "common items")
    pair = _Pair.of(fit_a, fit_b, names, draws)
    pair.require_related(method, symmetric)
    kept, drift = _without_drift(pair, names, method, symmetric, cutoff)
    anchored = pair.select([names.index(name) for name in kept])
    point = constants(anchored.target, anchored.source, method, symmetric)
    lines = np.array([constants(one, other, method, symmetric) for one, other in anchored.drawn()])
    scatter = anchored.scatter(point)
    lines = point + (lines - point) * max(scatter, 1.0)
    lines[:, 0] = np.maximum(lines[:, 0], 1e-6)
    slope, intercept = (fit_a.summary(lines[:, column], point[column]) for column in (0, 1))
    slope, intercept = slope._replace(estimate=point.slope), intercept._replace(estimate=point.intercept)
    dropped = tuple(name for name in names if name not in kept)
    items, abilities = _moved(fit_b, point, lines, pair.order_b)
    return Link(method, slope, intercept, scatter, kept, dropped, drift, items, abilities, fit_a.interval)


def constants(
    target: ItemParameters, source: ItemParameters, method: str = "stocking-lord", symmetric: bool = False
) -> Constants:
    """The line that puts the anchors' `source` parameters `[I]` on the scale of `target`.

    `mean-mean` matches the means of a and b, `mean-sigma` the means and standard deviations of b; the curve methods
    weight abilities by a Normal(0, 1) population on the target's scale (`symmetric`: also on the source's).
    """
    if method not in METHODS:
        raise ValueError(f"unknown method '{method}'; {', '.join(METHODS)} were wanted")
    if method == "mean-sigma":
        spread = float(np.std(source.b))
        if spread < 1e-9 or np.std(target.b) < 1e-9:
            raise ValueError("anchors of equal difficulty do not give a slope by mean-sigma; use mean-mean")
        slope = float(np.std(target.b)) / spread
    else:
        slope = max(float(np.mean(source.a)), LEAST_A) / max(float(np.mean(target.a)), LEAST_A)
    start = Constants(slope, float(np.mean(target.b) - slope * np.mean(source.b)))
    if method in ("mean-mean", "mean-sigma"):
        return start
    return _curves_matched(target, source, start, summed=method == "stocking-lord", symmetric=symmetric)


def rescale(items: ItemParameters, line: Constants) -> ItemParameters:
    """Item parameters on the target's scale: `a / slope`, `slope b + intercept`, asymptotes as they are."""
    return ItemParameters(items.a / line.slope, line.slope * items.b + line.intercept, items.c, items.d)


class Joined(NamedTuple):
    """One table of two, for a concurrent calibration, and the items they share."""

    data: ResponseMatrix
    anchors: tuple[str, ...]


def join(
    first: ResponseMatrix,
    second: ResponseMatrix,
    labels: tuple[str, str] | None = None,
    *,
    facet: str | None = None,
) -> Joined:
    """Both tables as one, common items once; what a student's exam did not hold is missing by design.

    Students must differ; `labels` prefixes their ids (`label:student`). `facet` adds a column of that name with the
    labels, so that a fit estimates how the two groups differ: groups of different ability need it. Facets that only
    one table has are left out, which the notes say. Raises ValueError with fewer than 3 common items.
    """
    require_matrix(first, second)
    anchors = tuple(item for item in second.items if item in set(first.items))
    _require_enough(len(anchors), "common items")
    if first.top is not None or second.top is not None:
        raise ValueError("a table of ratings cannot be joined; two tables of right and wrong answers were wanted")
    if facet is not None and labels is None:
        raise ValueError(f"facet '{facet}' needs labels, the names of the two tables")
    parts = [
        _labelled(data, None if labels is None else labels[place], facet) for place, data in enumerate((first, second))
    ]
    twice = set(parts[0].students) & set(parts[1].students)
    if twice:
        raise ValueError(f"student '{min(twice)}' is in both tables; give labels to tell them apart")
    items = (*first.items, *(item for item in second.items if item not in set(first.items)))
    scores, trials = (np.vstack([_widened(part, items, name) for part in parts]) for name in ("scores", "attempts"))
    shared = [name for name in facet_names(parts[0]) if name in facet_names(parts[1])]
    lost = sorted((set(facet_names(parts[0])) | set(facet_names(parts[1]))) - set(shared))
    notes = [f"{len(anchors)} items are common to both tables."]
    notes += [f"Facet '{name}' is in one table only and was left out." for name in lost]
    facets = pd.concat([part.facets[shared] for part in parts if part.facets is not None]) if shared else None
    students = parts[0].students + parts[1].students
    counts = None if first.trials is None and second.trials is None else np.where(np.isnan(scores), np.nan, trials)
    data = ResponseMatrix(scores, students, items, counts, facets, (*first.notes, *second.notes, *notes))
    return Joined(data, anchors)


@dataclass(frozen=True)
class _Pair:
    """Anchors in both fits: point estimates `[I]`, and as many draws of one as of the other, `[D, I]`."""

    target: ItemParameters
    source: ItemParameters
    target_draws: ItemParameters
    source_draws: ItemParameters
    order_b: tuple[int, ...]

    @classmethod
    def of(cls, fit_a: Fit, fit_b: Fit, names: Sequence[str], draws: int) -> _Pair:
        places = item_places(fit_a, names), item_places(fit_b, names)
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
        points = chosen_items(fit_a, places[0]), chosen_items(fit_b, places[1])
        return cls(points[0], points[1], drawn[0], drawn[1], tuple(orders[1].tolist()))

    def select(self, where: Sequence[int]) -> _Pair:
        """The pair of these anchors only."""
        chosen = list(where)
        return replace(
            self,
            target=ItemParameters(*(values[chosen] for values in self.target)),
            source=ItemParameters(*(values[chosen] for values in self.source)),
            target_draws=ItemParameters(*(values[:, chosen] for values in self.target_draws)),
            source_draws=ItemParameters(*(values[:, chosen] for values in self.source_draws)),
        )

    def drawn(self) -> list[tuple[ItemParameters, ItemParameters]]:
        """Draw by draw, the anchors' parameters in both fits."""
        rows = zip(*self.target_draws, *self.source_draws, strict=True)
        return [(ItemParameters(*row[:4]), ItemParameters(*row[4:])) for row in rows]

    def residuals(self, line: Constants) -> tuple[Floats, Floats]:
        """By how much each anchor's difficulty and log discrimination miss the line, `[2, I]`, and the error of that.

        The errors are those of the differences between anchors: what moves all anchors alike is the line's.
        """
        moved = rescale(self.source, line)
        miss = np.array([self.target.b - moved.b, _log(self.target.a) - _log(moved.a)])
        differences = (
            self.target_draws.b - line.slope * self.source_draws.b,
            _log(self.target_draws.a) - _log(self.source_draws.a),
        )
        error = [np.std(each - each.mean(axis=1, keepdims=True), axis=0) for each in differences]
        return miss, np.asarray(error)

    def scatter(self, line: Constants) -> float:
        """Birge's ratio: root mean square of the difficulties' standardised residuals, two spent on the line."""
        miss, error = self.residuals(line)
        return float(np.sqrt(np.sum((miss[0] / np.maximum(error[0], 1e-9)) ** 2) / (len(miss[0]) - 2)))

    def require_related(self, method: str, symmetric: bool) -> None:
        """ValueError when the anchors' difficulties differ by more than error can, and hardly correlate."""
        line = constants(self.target, self.source, method, symmetric)
        miss, error = self.residuals(line)
        excess = float(np.median(np.abs(miss[0]) / np.maximum(error[0], 1e-12))) / 0.6745
        spreads = np.std(self.target.b), np.std(self.source.b)
        related = float(np.corrcoef(self.target.b, self.source.b)[0, 1]) if min(spreads) > 1e-9 else 1.0
        if excess > 2 and related < LEAST_RELATED:
            raise ValueError(
                f"the anchors are inconsistent: their difficulties in the two fits correlate {related:.2f} and miss "
                f"one line by {excess:.1f} times their error; check that the same ids are the same items"
            )


def _without_drift(
    pair: _Pair, names: Sequence[str], method: str, symmetric: bool, cutoff: float | None
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """The anchors that stay, and the table of drift about the last line; the worst anchor goes first."""
    kept = list(range(len(names)))
    while True:
        some = pair.select(kept)
        line = constants(some.target, some.source, method, symmetric)
        miss, error = pair.residuals(line)
        z = np.array([_robust_z(m, e, kept) for m, e in zip(miss, error, strict=True)])
        worst = max(kept, key=lambda place: float(np.abs(z[:, place]).max()))
        if cutoff is None or np.abs(z[:, worst]).max() <= cutoff:
            break
        kept.remove(worst)
        gone = len(names) - len(kept)
        if gone > MOST_DRIFTING * len(names):
            raise ValueError(
                f"{gone} of {len(names)} anchors drift and still they do not agree on one scale; "
                f"at most {MOST_DRIFTING:.0%} may be left out"
            )
        _require_enough(len(kept), "anchors without drift")
    table = pd.DataFrame(
        {"item": list(names), "shift": miss[0], "shift_sd": error[0], "z": z[0], "z_discrimination": z[1]}
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


def _curves_matched(
    target: ItemParameters, source: ItemParameters, start: Constants, *, summed: bool, symmetric: bool
) -> Constants:
    weight = np.exp(-0.25 * NODES**2)[:, None]
    weight = weight / np.sqrt(np.sum(weight**2))

    def residuals(x: Floats) -> tuple[Floats, Floats]:
        slope, intercept = np.exp(x[0]), x[1]
        there = (NODES - intercept) / slope
        gap, by = _curve_gap(target, source, NODES, there, (-there, np.full(len(NODES), -1.0 / slope)))
        parts, slopes = [gap], [by]
        if symmetric:
            gap, by = _curve_gap(source, target, NODES, slope * NODES + intercept, (slope * NODES, np.ones(len(NODES))))
            parts, slopes = [*parts, gap], [*slopes, by]
        if summed:
            parts = [part.sum(axis=1, keepdims=True) for part in parts]
            slopes = [part.sum(axis=2, keepdims=True) for part in slopes]
        value = np.concatenate([(weight * part).ravel() for part in parts])
        return value, np.concatenate([(weight * part).reshape(2, -1) for part in slopes], axis=1).T

    def value(x: Floats) -> Floats:
        return residuals(x)[0]

    def derivative(x: Floats) -> Floats:
        return residuals(x)[1]

    begin = np.array([np.log(start.slope), start.intercept])
    found = least_squares(value, begin, jac=derivative, method="lm", xtol=1e-10, ftol=1e-12, gtol=1e-12)
    return Constants(float(np.exp(found.x[0])), float(found.x[1]))


def _curve_gap(
    fixed: ItemParameters, moving: ItemParameters, theta: Floats, there: Floats, by: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """`P_fixed(theta) - P_moving(there)` `[Q, I]` and its derivatives `[2, Q, I]`, `by` being those of `there`."""
    gap = kernels.probability(theta[:, None], *fixed) - kernels.probability(there[:, None], *moving)
    up = kernels.sigmoid(moving.a * (there[:, None] - moving.b))
    steep = moving.a * (moving.d - moving.c) * up * (1 - up)
    return gap, np.stack([-steep * each[:, None] for each in by])


def _log(a: Floats) -> Floats:
    """Log discriminations; those below `LEAST_A`, as of items keyed wrongly, count as that."""
    return np.asarray(np.log(np.maximum(a, LEAST_A)))


def _moved(fit: Fit, point: Constants, lines: Floats, order: Sequence[int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Items and abilities of a fit on the target's scale; draw `order[k]` goes along line `k`."""
    slope, intercept = lines[:, 0, None], lines[:, 1, None]
    drawn = {name: fit.draws[name][list(order)] for name in ("a", "b", "c", "d", "theta")}
    drawn |= {"a": drawn["a"] / slope} | {name: slope * drawn[name] + intercept for name in ("b", "theta")}
    centre = rescale(fit.parameters, point)._asdict()
    centre["theta"] = point.slope * np.asarray(fit.point["theta"]) + point.intercept
    tails = [(1 - fit.interval) / 2, (1 + fit.interval) / 2]

    def columns(name: str) -> dict[str, Any]:
        low, high = np.quantile(drawn[name], tails, axis=0)
        return {name: centre[name], f"{name}_sd": drawn[name].std(axis=0), f"{name}_low": low, f"{name}_high": high}

    items: dict[str, Any] = {"item": list(fit.data.items)}
    for name in "abcd":
        items |= columns(name)
    return pd.DataFrame(items), pd.DataFrame({"student": list(fit.data.students)} | columns("theta"))


def _labelled(data: ResponseMatrix, label: str | None, facet: str | None) -> ResponseMatrix:
    if label is None:
        return data
    students = tuple(f"{label}:{student}" for student in data.students)
    index = pd.Index(students, name="student")
    facets = None if data.facets is None else data.facets.set_axis(index)
    if facet is not None:
        if facets is not None and facet in facets.columns:
            raise ValueError(f"facet '{facet}' is already a column; another name was wanted")
        facets = (pd.DataFrame(index=index) if facets is None else facets).assign(**{facet: label})
    return replace(data, students=students, facets=facets)


def _widened(data: ResponseMatrix, items: Sequence[str], name: str) -> Floats:
    where = {item: place for place, item in enumerate(items)}
    wide = np.full((len(data.students), len(items)), np.nan)
    wide[:, [where[item] for item in data.items]] = getattr(data, name)
    return wide


def _require_enough(count: int, what: str) -> None:
    if count < FEWEST:
        raise ValueError(f"{count} {what}; at least {FEWEST} are needed to link two scales")
