"""Residuals of answers at the expected abilities, and their mean squares: infit weighs by information, outfit does not.

Wright & Masters (1982). 1 is expected; above, answers are noisier than the model says, below, too regular. At estimated
abilities both lie a little below 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt._quadrature import posterior
from irt._responses import Floats, ResponseMatrix
from irt.kernels import ItemParameters, probability

FEWEST = 2
"""Students without whom an item has no mean squares."""


class Residuals(NamedTuple):
    """Counts minus expectation, and its variance, `[S, I]`, at each student's expected ability `theta` `[S]`; 0 where
    not asked."""

    residual: Floats
    variance: Floats
    p: Floats
    theta: Floats


class MeanSquares(NamedTuple):
    """Infit and outfit with their standardised values; `answers` counts the cells, 0 where nothing is defined."""

    infit: Floats
    infit_z: Floats
    outfit: Floats
    outfit_z: Floats
    answers: Floats

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether enough students were asked for an item to have mean squares."""
        return np.asarray(self.answers >= FEWEST)


def residuals(successes: Floats, attempts: Floats, items: ItemParameters, theta: Floats | None = None) -> Residuals:
    """Residuals at `theta`, by default the expected ability a posteriori."""
    if theta is None:
        theta = posterior(successes, attempts, items).mean
    p = np.asarray(probability(theta[:, None], *items))
    return Residuals(successes - attempts * p, attempts * p * (1 - p), p, theta)


def mean_squares(residual: Floats, variance: Floats, fourth: Floats, axis: int) -> MeanSquares:
    """Mean squares over students (`axis=0`, per item) or over items (`axis=1`, per student).

    From residuals `[S, I]` with their variance and fourth central moment, 0 where not asked. Standardised by the cube
    root (Wilson & Hilferty 1931; Wright & Masters 1982, p. 100 f.).
    """
    used = variance > 1e-12
    variance, fourth = np.where(used, variance, 1.0), np.where(used, fourth, 0.0)
    squares = np.where(used, residual**2, 0.0)
    count = used.sum(axis=axis).astype(np.float64)
    safe = np.maximum(count, 1.0)
    weight = np.where(used, variance, 0.0).sum(axis=axis)
    heavy = np.where(weight > 0, weight, 1.0)
    outfit = (squares / variance).sum(axis=axis) / safe
    infit = squares.sum(axis=axis) / heavy
    outfit_sd = np.sqrt(np.maximum((fourth / variance**2).sum(axis=axis) / safe**2 - 1 / safe, 1e-12))
    infit_sd = np.sqrt(np.maximum((fourth - np.where(used, variance**2, 0.0)).sum(axis=axis), 1e-12)) / heavy
    return MeanSquares(infit, _cube_root(infit, infit_sd), outfit, _cube_root(outfit, outfit_sd), count)


def counts(data: ResponseMatrix, rows: slice, columns: slice | NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Successes and trials of a part of the table, 0 where not asked."""
    scores = data.scores[rows, columns]
    asked = ~np.isnan(scores)
    trials = 1.0 if data.trials is None else np.nan_to_num(data.trials[rows, columns])
    return np.where(asked, scores, 0.0), np.where(asked, trials, 0.0)


def _cube_root(value: Floats, sd: Floats) -> Floats:
    return np.asarray((np.cbrt(value) - 1) * 3 / sd + sd / 3)
