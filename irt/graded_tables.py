"""Tables read from graded answers and draws: items, fit, expected shares, replicated tables, leave-one-out accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from irt import graded, tables
from irt.checks.loo import Indices, Loo, over_cells
from irt.graded import GradedParameters
from irt.responses import Floats, ResponseMatrix

Top = NDArray[np.int64]


class Moments(NamedTuple):
    """Posterior mean `[S, I]` of each answer's expected score and of its variance at known ability and item."""

    score: Floats
    variance: Floats


def moments(draws: Mapping[str, Floats], top: Top) -> Moments:
    """Moments of each answer, over draws of students and items."""
    shape = (draws["theta"].shape[1], len(top))
    score, variance = np.zeros(shape), np.zeros(shape)
    odd = 2 * np.arange(1, draws["thresholds"].shape[2] + 1) - 1
    for theta, a, thresholds in zip(draws["theta"], draws["a"], draws["thresholds"], strict=True):
        reached = graded.cumulative(theta[:, None], a, thresholds, top)
        mean = reached.sum(axis=2)
        score += mean
        variance += reached @ odd - mean**2
    count = len(draws["theta"])
    return Moments(score / count, variance / count)


def item_fit(data: ResponseMatrix, items: GradedParameters) -> pd.DataFrame:
    """`infit,outfit,point_biserial,flags` per item, as `irt.tables.item_fit` with the variance of graded scores."""
    from irt.checks.graded_fit import graded_item_mean_squares

    squares = graded_item_mean_squares(data, items)
    correlation = tables.rest_correlation(data)
    return pd.DataFrame(
        {
            "infit": np.where(squares.known, squares.infit, np.nan),
            "outfit": np.where(squares.known, squares.outfit, np.nan),
            "point_biserial": correlation,
            "flags": _flags(data, correlation),
        }
    )


def expected_share(draws: Mapping[str, Floats], top: Top) -> Callable[[Floats], Floats]:
    """Expected share of the highest score `[D, I]` at an ability per draw `[D, 1]`."""
    return lambda theta: np.asarray(graded.expected_score(theta, draws["a"], draws["thresholds"], top) / top)


def replicas(data: ResponseMatrix, draws: Mapping[str, Floats], seed: int) -> Iterator[Floats]:
    """A table of scores `[S, I]`, 0 where not asked, from each draw of abilities and items."""
    assert data.top is not None
    rng = np.random.default_rng([seed, 2])
    for theta, a, thresholds in zip(draws["theta"], draws["a"], draws["thresholds"], strict=True):
        reached = graded.cumulative(theta[:, None], a, thresholds, data.top)
        yield np.where(data.asked, (rng.random(data.scores.shape)[:, :, None] < reached).sum(axis=2), 0)


def loo(data: ResponseMatrix, draws: Mapping[str, Floats]) -> Loo:
    """PSIS-LOO over the answered (student, item) cells."""
    top, scores = data.top, data.scores
    assert top is not None

    def cells(row: Indices, column: Indices) -> Floats:
        thresholds = draws["thresholds"][:, column]
        logs = graded.log_probability(draws["theta"][:, row], draws["a"][:, column], thresholds, top[column])
        return np.asarray(logs[:, np.arange(len(row)), scores[row, column].astype(np.int64)])

    return over_cells(data.asked, draws["thresholds"].shape[2] * len(draws["a"]), cells)


def unused_scores(data: ResponseMatrix) -> NDArray[np.bool_]:
    """Scores 0..K that exist for an item and that nobody got, `[I, K + 1]`."""
    assert data.top is not None
    score = np.arange(int(data.top.max()) + 1)
    used = np.stack([(data.scores == value).any(axis=0) for value in score], axis=1)
    return np.asarray((score <= data.top[:, None]) & ~used)


def _flags(data: ResponseMatrix, correlation: Floats) -> list[str]:
    """Plain words, separated by '; ': unused scores, and a correlation 1.28 standard errors below 0."""
    error = 1 / np.sqrt(np.maximum(data.asked.sum(axis=0) - 1, 1))
    words = []
    for unused, rho, se in zip(unused_scores(data), correlation, error, strict=True):
        found = []
        if unused.any():
            found.append("nobody scored " + ", ".join(str(score) for score in np.flatnonzero(unused)))
        if rho < -tables.SURE * se:
            found.append("negative discrimination; perhaps scored in reverse")
        words.append("; ".join(found))
    return words
