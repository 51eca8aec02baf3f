"""Chances of extreme values: sums of independent residuals, and many tests at once."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from irt._responses import Floats, blocks

ROUNDS = 30
"""Guarded Newton steps at most; few are needed."""
REACH = 1.959964
"""Half the width of a normal 95 % interval, in standard errors."""


def upper_tail(values: Floats, probabilities: Floats, observed: Floats) -> Floats:
    """P(sum >= observed) `[R]` for sums of `N` independent variables with `K` values each `[R, N, K]`.

    Saddlepoint approximation (Lugannani & Rice 1980), right to about a fifth of the tail itself, where the normal
    approximation is wrong by orders of magnitude for skewed sums. A sum that cannot vary has tail 1.
    """
    parts = blocks(len(observed), values[0].size if len(values) else 1)
    return np.concatenate([_tail(values[part], probabilities[part], observed[part]) for part in parts] or [np.empty(0)])


def holm(p: Floats) -> Floats:
    """Adjusted p-values that hold the chance of any false finding (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _tail(values: Floats, probabilities: Floats, observed: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        log_p = np.log(probabilities)
    mean = (probabilities * values).sum(axis=(1, 2))
    centred = values - (probabilities * values).sum(axis=2, keepdims=True)
    sd = np.sqrt((probabilities * centred**2).sum(axis=(1, 2)))
    still = sd < 1e-12
    unit = np.where(still, 1.0, sd)
    centred, x = centred / unit[:, None, None], (observed - mean) / unit
    possible = np.where(probabilities > 0, centred, -np.inf)
    ceiling = possible.max(axis=2)
    at_ceiling = np.where(possible >= ceiling[..., None] - 1e-12, probabilities, 0.0).sum(axis=2)
    top = ceiling.sum(axis=1)
    floor = np.where(probabilities > 0, centred, np.inf).min(axis=2).sum(axis=1)
    inside = np.clip(x, floor + 1e-6 * (top - floor), top - 1e-6 * (top - floor))
    t, level, curvature = _saddlepoint(centred, log_p, inside)
    # Close to the mean the formula is 0/0; there the normal approximation with its skewness is as good.
    near = np.abs(t) < 1e-3
    t = np.where(near, 1e-3, t)
    w = np.sign(t) * np.sqrt(np.maximum(2 * (t * inside - level), 1e-12))
    u = t * np.sqrt(curvature)
    density = np.exp(-0.5 * w**2) / np.sqrt(2 * np.pi)
    tail = ndtr(-w) + density * (1 / u - 1 / w)
    third = (probabilities * centred**3).sum(axis=(1, 2))
    plain = ndtr(-x) + np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi) * third * (x**2 - 1) / 6
    tail = np.clip(np.where(near, plain, tail), 0.0, 1.0)
    # Below the mean a sum of rare large steps is an atom, which the formula can miss; nothing is extreme there.
    tail = np.where(x < 0, np.maximum(tail, ndtr(-x)), tail)
    extreme = at_ceiling.prod(axis=1)
    return np.where(still, 1.0, np.where(x >= top - 1e-9, extreme, np.where(x <= floor + 1e-9, 1.0, tail)))


def _saddlepoint(values: Floats, log_p: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Where the slope of the cumulant function is `x`, with the function and its curvature there: guarded Newton."""
    t, low, high = np.zeros(len(x)), np.full(len(x), -np.inf), np.full(len(x), np.inf)
    level, slope, curvature = _cumulants(values, log_p, t)
    for _ in range(ROUNDS):
        low, high = np.where(slope < x, t, low), np.where(slope < x, high, t)
        step = t + np.clip((x - slope) / np.maximum(curvature, 1e-12), -4 - np.abs(t), 4 + np.abs(t))
        middle = np.where(np.isfinite(low + high), (low + high) / 2, step)
        t = np.where((step > low) & (step < high), step, middle)
        level, slope, curvature = _cumulants(values, log_p, t)
        if np.all(np.abs(slope - x) < 1e-7):
            break
    return t, level, np.maximum(curvature, 1e-12)


def _cumulants(values: Floats, log_p: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
    exponent = log_p + t[:, None, None] * values
    top = exponent.max(axis=2, keepdims=True)
    weight = np.exp(exponent - top)
    total = weight.sum(axis=2, keepdims=True)
    level = (np.log(total) + top).sum(axis=(1, 2))
    weight = weight / total
    mean = (weight * values).sum(axis=2)
    spread = (weight * values**2).sum(axis=2) - mean**2
    return level, mean.sum(axis=1), spread.sum(axis=1)
