"""Item and person fit of ratings: the checks of `residual_fit` and `person_fit` for the graded response model.

With a highest score of 1 they are the same statistics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from irt import graded, quadrature
from irt.checks.inputs import require_finite
from irt.checks.person_fit import Corrected, student_table
from irt.checks.residual_fit import REPLICAS, item_table, judged
from irt.checks.tails import upper_tail
from irt.graded import GradedParameters
from irt.likelihoods import Rated, category_slopes, nodes_of
from irt.quadrature import Posterior
from irt.residuals import MeanSquares, mean_squares_of
from irt.responses import Floats, ResponseMatrix
from irt.scoring import score_likelihoods


class Categories(NamedTuple):
    """Of every answer at known abilities: chance `[S, I, K + 1]` of each score, its logarithm (0 where there is no such
    score), and the slope of that logarithm in ability."""

    chance: Floats
    log: Floats
    slope: Floats


def graded_item_residuals(
    data: ResponseMatrix, items: GradedParameters, replicas_count: int = REPLICAS, seed: int = 0
) -> pd.DataFrame:
    """Infit and outfit of ratings, with the columns and the judgement of `irt.checks.item_residuals`."""
    require_finite(data, items.a, items.thresholds)
    own = _posterior(data.scores, items)
    found = graded_mean_squares(data.scores, items, own.mean, 0)
    drawn = [
        graded_mean_squares(table, items, _posterior(table, items).mean, 0)
        for table in _replicas(own, data.scores, items, replicas_count, seed)
    ]
    return item_table(data, judged(found, drawn))


def graded_student_fit(data: ResponseMatrix, items: GradedParameters) -> pd.DataFrame:
    """Infit, outfit, `lz` and `lz_star` of ratings, with the columns of `irt.checks.student_fit`.

    Drasgow, Levine & Williams (1985) define `lz` for any number of categories; the correction for estimated ability is
    Snijders' (2001) with the categories' own log-likelihoods and scores (Sinharay 2016).
    """
    require_finite(data, items.a, items.thresholds)
    theta = _posterior(data.scores, items).mean
    found = graded_mean_squares(data.scores, items, theta, 1)
    at = _categories(theta, items)
    own = at.log - _mean(at, at.log)[..., None]
    plain = _total(data.scores, own) / _sd(data.scores, at, own)
    return student_table(data, theta, found, plain, _corrected(data.scores, items))


def graded_item_mean_squares(data: ResponseMatrix, items: GradedParameters) -> MeanSquares:
    """Mean squares `[I]` of ratings, each student at the expected ability a posteriori under Normal(0, 1)."""
    return graded_mean_squares(data.scores, items, _posterior(data.scores, items).mean, 0)


def graded_mean_squares(scores: Floats, items: GradedParameters, theta: Floats, axis: int) -> MeanSquares:
    """Mean squares over students (`axis=0`, per item) or over items (`axis=1`, per student) at `theta` `[S]`."""
    chance = graded.probability(theta[:, None], *items)
    value = np.arange(chance.shape[2])
    mean = chance @ value
    away = value - mean[..., None]
    asked = ~np.isnan(scores)
    variance, fourth = (np.where(asked, np.sum(chance * away**power, axis=2), 0.0) for power in (2, 4))
    return mean_squares_of(np.where(asked, np.nan_to_num(scores) - mean, 0.0), variance, fourth, axis)


def _corrected(scores: Floats, items: GradedParameters) -> Corrected:
    mode = score_likelihoods(Rated(scores, items), "map").theta
    at, asked = _categories(mode, items), ~np.isnan(scores)
    own = at.log - _mean(at, at.log)[..., None]
    shared, power = (np.where(asked, _mean(at, part * at.slope), 0.0).sum(axis=1) for part in (own, at.slope))
    own = own - (shared / np.maximum(power, 1e-12))[:, None, None] * at.slope
    total = _total(scores, own)
    steps = np.where(asked[..., None], -own, 0.0)
    chances = np.where(asked[..., None], at.chance, np.eye(own.shape[2])[0])
    return Corrected(total / _sd(scores, at, own), upper_tail(steps, chances, -total))


def _categories(theta: Floats, items: GradedParameters) -> Categories:
    log = graded.log_probability(theta[:, None], *items)
    exists = np.isfinite(log)
    chance = np.where(exists, np.exp(log), 0.0)
    slope = np.where(exists, category_slopes(theta[:, None], items), 0.0)
    return Categories(chance, np.where(exists, log, 0.0), slope)


def _mean(at: Categories, values: Floats) -> Floats:
    return np.asarray(np.sum(at.chance * values, axis=2))


def _total(scores: Floats, own: Floats) -> Floats:
    """Sum over the answers given of what their categories are worth `[S]`."""
    category = np.nan_to_num(scores).astype(np.int64)
    worth = np.take_along_axis(own, category[..., None], axis=2)[..., 0]
    return np.asarray(np.where(np.isnan(scores), 0.0, worth).sum(axis=1))


def _sd(scores: Floats, at: Categories, own: Floats) -> Floats:
    variance = np.where(np.isnan(scores), 0.0, _mean(at, own**2)).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(variance, 1e-24)))


def _posterior(scores: Floats, items: GradedParameters) -> Posterior:
    likelihood = Rated(scores, items)
    nodes = nodes_of(likelihood, quadrature.BOUND)
    return quadrature.weigh(likelihood.over(nodes), nodes)


def _replicas(found: Posterior, scores: Floats, items: GradedParameters, count: int, seed: int) -> list[Floats]:
    """Tables of ratings as the model would produce them: an ability from each student's posterior, then new ratings."""
    rng = np.random.default_rng([seed, 3])
    cumulative = np.cumsum(found.weights, axis=1)
    tables = []
    for _ in range(count):
        position = (cumulative < rng.random((len(cumulative), 1)) * cumulative[:, -1:]).sum(axis=1)
        reached = graded.cumulative(found.nodes[position][:, None], *items)
        drawn = (rng.random(scores.shape)[:, :, None] < reached).sum(axis=2).astype(np.float64)
        tables.append(np.where(np.isnan(scores), np.nan, drawn))
    return tables
