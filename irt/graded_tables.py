"""Tables read from graded answers and draws: items, fit, expected shares, predictive checks, leave-one-out accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from irt import graded, tables
from irt.checks.loo import Loo, smoothed_loo
from irt.design import Design
from irt.graded import GradedParameters
from irt.responses import Floats, ResponseMatrix

CELLS = 4_000_000

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


def item_fit(data: ResponseMatrix, theta: Floats, items: GradedParameters) -> pd.DataFrame:
    """`infit,outfit,point_biserial,flags` per item at the expected abilities `theta` `[S]` and the point estimates.

    As `irt.tables.item_fit` with the variance of graded scores.
    """
    asked = data.asked
    expected = moments({"theta": theta[None], "a": items.a[None], "thresholds": items.thresholds[None]}, items.top)
    variance = np.maximum(expected.variance, 1e-12)
    squares = np.where(asked, (np.nan_to_num(data.scores) - expected.score) ** 2, 0.0)
    correlation = tables.rest_correlation(data)
    return pd.DataFrame(
        {
            "infit": squares.sum(axis=0) / np.where(asked, variance, 0.0).sum(axis=0),
            "outfit": (squares / variance).sum(axis=0) / np.maximum(asked.sum(axis=0), 1),
            "point_biserial": correlation,
            "flags": _flags(data, correlation),
        }
    )


def accuracy_by_level(
    draws: Mapping[str, Floats], design: Design, top: Top, tails: tuple[float, float]
) -> pd.DataFrame:
    """Expected share of the highest score of a student at each level whose other effects and residual are 0."""
    frames = []
    for term in design.terms:
        effects = draws[f"effect.{term.name}"]
        shares = np.empty(effects.shape)
        for level in range(effects.shape[1]):
            score = graded.expected_score(effects[:, level, None], draws["a"], draws["thresholds"], top)
            shares[:, level] = (score / top).mean(axis=1)
        low, high = np.quantile(shares, tails, axis=0)
        columns = {"accuracy": shares.mean(axis=0), "low": low, "high": high}
        frames.append(pd.DataFrame({"facet": term.name, "level": list(term.levels)} | columns))
    empty = pd.DataFrame(columns=["facet", "level", "accuracy", "low", "high"])
    return pd.concat(frames, ignore_index=True) if frames else empty


def predictive_check(
    data: ResponseMatrix, draws: Mapping[str, Floats], tails: tuple[float, float], seed: int
) -> dict[str, pd.DataFrame]:
    """Replicate the table from the posterior and compare points of students and of items, as shares."""
    assert data.top is not None
    rng = np.random.default_rng([seed, 2])
    by_student = np.empty((len(draws["a"]), len(data.students)))
    by_item = np.empty((len(draws["a"]), len(data.items)))
    for index, (theta, a, thresholds) in enumerate(zip(draws["theta"], draws["a"], draws["thresholds"], strict=True)):
        reached = graded.cumulative(theta[:, None], a, thresholds, data.top)
        replica = np.where(data.asked, (rng.random(data.scores.shape)[:, :, None] < reached).sum(axis=2), 0)
        by_student[index], by_item[index] = replica.sum(axis=1), replica.sum(axis=0)
    points, possible = data.successes, data.attempts
    return {
        "students": tables.checked("student", data.students, points.sum(1), possible.sum(1), by_student, tails),
        "items": tables.checked("item", data.items, points.sum(0), possible.sum(0), by_item, tails),
    }


def loo(data: ResponseMatrix, draws: Mapping[str, Floats]) -> Loo:
    """PSIS-LOO over the answered (student, item) cells."""
    assert data.top is not None
    rows, columns = np.nonzero(data.asked)
    size = max(1, CELLS // (len(draws["a"]) * draws["thresholds"].shape[2]))
    parts = []
    for start in range(0, len(rows), size):
        row, column = rows[start : start + size], columns[start : start + size]
        logs = graded.log_probability(
            draws["theta"][:, row], draws["a"][:, column], draws["thresholds"][:, column], data.top[column]
        )
        category = data.scores[row, column].astype(np.int64)
        parts.append(smoothed_loo(logs[:, np.arange(len(row)), category]))
    pointwise, k = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Loo(float(pointwise.sum()), float(np.sqrt(len(pointwise) * pointwise.var())), pointwise, k)


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
        if rho < -1.28 * se:
            found.append("negative discrimination; perhaps scored in reverse")
        words.append("; ".join(found))
    return words
