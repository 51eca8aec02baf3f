"""Facts about items next to their parameters: mean squares, correlation with the rest, words of warning."""

from __future__ import annotations

import numpy as np
import pandas as pd

from irt.responses import Floats, ResponseMatrix


def item_fit(data: ResponseMatrix, expected: Floats, chance: Floats) -> pd.DataFrame:
    """`infit,outfit,point_biserial,flags` per item.

    Infit and outfit are mean squares of residuals, information-weighted and not (Wright & Masters 1982); the point
    biserial is the correlation with the share right on the other items, 0 for a constant item, which is flagged.
    """
    asked, attempts = data.asked, data.attempts
    residual = data.successes - attempts * expected
    variance = np.maximum(attempts * expected * (1 - expected), 1e-12)
    squares = np.where(asked, residual**2, 0.0)
    infit = squares.sum(axis=0) / np.where(asked, variance, 0.0).sum(axis=0)
    outfit = (squares / variance).sum(axis=0) / np.maximum(asked.sum(axis=0), 1)
    correlation = rest_correlation(data)
    flags = _flags(data, correlation, chance)
    return pd.DataFrame({"infit": infit, "outfit": outfit, "point_biserial": correlation, "flags": flags})


def rest_correlation(data: ResponseMatrix) -> Floats:
    """Correlation `[I]` of each item with the share right on all other items; 0 where either is constant."""
    k, n = data.successes, data.attempts
    rest = (k.sum(axis=1, keepdims=True) - k) / np.maximum(n.sum(axis=1, keepdims=True) - n, 1)
    share = np.where(data.asked, np.nan_to_num(data.proportions), 0.0)
    weight = data.asked.astype(np.float64)
    count = np.maximum(weight.sum(axis=0), 1)
    x = np.where(data.asked, share - (share * weight).sum(axis=0) / count, 0.0)
    y = np.where(data.asked, rest - (rest * weight).sum(axis=0) / count, 0.0)
    norm = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    return np.asarray(np.divide((x * y).sum(axis=0), norm, out=np.zeros(len(data.items)), where=norm > 1e-12))


def _flags(data: ResponseMatrix, correlation: Floats, chance: Floats) -> list[str]:
    """Plain words, separated by '; '; empty when nothing is wrong.

    A negative correlation counts when it lies 1.28 standard errors below 0 (one-sided 10 %); with a share right below
    chance on top of it, the key is probably wrong: better students choose another answer.
    """
    right = data.successes.sum(axis=0) / np.maximum(data.attempts.sum(axis=0), 1)
    error = 1 / np.sqrt(np.maximum(data.asked.sum(axis=0) - 1, 1))
    words = []
    for share, rho, se, guess in zip(right, correlation, error, chance, strict=True):
        found = []
        if share in (0.0, 1.0):
            found.append("all correct" if share == 1.0 else "all wrong")
        if rho < -1.28 * se:
            found.append("negative discrimination")
            if share < guess:
                found.append("probable mis-key")
        words.append("; ".join(found))
    return words
