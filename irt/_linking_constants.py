"""The line between two scales that brings the parameters of common items, or their curves, together.

The moment methods are closed forms (Marco 1977; Loyd & Hoover 1980); the characteristic curve methods minimise squared
differences of response curves (Haebara 1980) or of their sum (Stocking & Lord 1983) with exact derivatives.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt import kernels
from irt._responses import Floats
from irt.kernels import ItemParameters

MOMENTS = ("mean-mean", "mean-sigma")
METHODS = (*MOMENTS, "haebara", "stocking-lord")
LEAST_A = 0.01
"""Least mean discrimination that a slope is divided by."""
NODES = np.linspace(-4, 4, 41)


class Constants(NamedTuple):
    """The line from the source's scale to the target's: `theta_target = slope * theta_source + intercept`."""

    slope: float
    intercept: float


def constants(
    target: ItemParameters,
    source: ItemParameters,
    method: str = "stocking-lord",
    symmetric: bool = False,
    start: Constants | None = None,
) -> Constants:
    """The line that puts the anchors' `source` parameters `[I]` on the scale of `target`.

    `mean-mean` matches the means of a and b, `mean-sigma` the means and standard deviations of b; the curve methods
    weight abilities by a Normal(0, 1) population on the target's scale (`symmetric`: also on the source's), and search
    from `start` where it is given.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method '{method}'; wanted {', '.join(METHODS)}")
    if method == "mean-sigma":
        spread = float(np.std(source.b))
        if spread < 1e-9 or np.std(target.b) < 1e-9:
            raise ValueError("anchors of equal difficulty do not give a slope by mean-sigma; use mean-mean")
        slope = float(np.std(target.b)) / spread
    else:
        slope = max(float(np.mean(source.a)), LEAST_A) / max(float(np.mean(target.a)), LEAST_A)
    if method in MOMENTS:
        return Constants(slope, float(np.mean(target.b) - slope * np.mean(source.b)))
    # The median: one difficulty far off would start the search where all curves are flat.
    start = start or Constants(slope, float(np.median(target.b - slope * source.b)))
    return _curves_matched(target, source, start, summed=method == "stocking-lord", symmetric=symmetric)


def rescale(items: ItemParameters, line: Constants) -> ItemParameters:
    """Item parameters on the target's scale: `a / slope`, `slope b + intercept`, asymptotes as they are."""
    return ItemParameters(items.a / line.slope, line.slope * items.b + line.intercept, items.c, items.d)


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

    from scipy.optimize import least_squares  # takes a while to load

    begin = np.array([np.log(start.slope), start.intercept])
    value, derivative = (lambda x: residuals(x)[0]), (lambda x: residuals(x)[1])
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
