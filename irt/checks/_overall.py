"""Does the model as a whole fit? M2 compares the shares right of items and of pairs of items with the model's.

Maydeu-Olivares & Joe (2005, 2006). The test holds for any estimator whose error shrinks with the square root of the
number of students, because only the part of the residuals that no change of the parameters can explain is judged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, chndtr

from irt._responses import Floats, ResponseMatrix
from irt.checks._inputs import (
    ALPHA,
    AbilityQuadrature,
    complete_scores,
    population,
    require_known_model,
    require_matching,
)
from irt.fitting._coordinates import SHARED
from irt.kernels import ItemParameters, sigmoid

MOST_ITEMS = 100
"""Items whose 5,050 moments have a covariance of 200 MB."""
CLOSE = 0.05
"""RMSEA up to which a model fits closely (Maydeu-Olivares & Joe 2014)."""
MANY = 100
"""Students below which the note warns that a misfit may stay unseen."""


class OverallFit(NamedTuple):
    """M2 with its degrees of freedom and p; RMSEA with a 90 % interval; SRMSR; CFI and TLI (None where undefined).

    RMSEA and SRMSR measure how large the misfit is, whatever the number of students: up to .05 is close.
    """

    m2: float
    df: int
    p: float
    rmsea: float
    rmsea_low: float
    rmsea_high: float
    srmsr: float
    cfi: float | None
    tli: float | None
    students: int
    items: int
    flag: bool
    note: str
    sentence: str


def m2(data: ResponseMatrix, items: ItemParameters, model: str = "2pl") -> OverallFit:
    """Limited-information test of `model` at these parameters, abilities Normal(0, 1).

    `1pl` has I + 1 parameters, `2pl` 2 I, `3pl` 3 I, `3pl-shared` 2 I + 1, `4pl` 4 I. Complete rows are used. `flag`
    marks a misfit that is significant at 5 % and not close (RMSEA above .05; Maydeu-Olivares & Joe 2014). Raises
    ValueError for several trials per answer, fewer than 20 complete rows, too few items for the parameters, an item
    that cannot vary under the model, and more than 100 items (the covariance of their pairs would not fit in memory).
    """
    require_known_model(model)
    require_matching(data, items)
    count = len(data.items)
    if count > MOST_ITEMS:
        raise ValueError(
            f"M2 of {count} items needs the covariance of {count * (count + 1) // 2} moments; wanted at most "
            f"{MOST_ITEMS} items: pass a subset of the table and of the parameters"
        )
    scores, note = complete_scores(data, "M2")
    where = population(items)
    statistic, df = _statistic(scores, where, derivatives(where, items, model), SHARED[model])
    share = np.clip(scores.mean(axis=0), 1e-6, 1 - 1e-6)
    apart = AbilityQuadrature(np.zeros(1), np.ones(1), share[None])
    base, base_df = _statistic(scores, apart, np.ones((1, count, 1)), (False,))
    return _assembled(statistic, df, base, base_df, srmsr(scores, where), scores, note)


def derivatives(where: AbilityQuadrature, items: ItemParameters, model: str) -> Floats:
    """Slopes `[Q, I, K]` of P in each item's free parameters (discrimination, intercept, guessing, upper asymptote)."""
    a, b, c, d = items
    up = sigmoid(a * (where.nodes[:, None] - b))
    by_logit = (d - c) * up * (1 - up)
    return np.stack([by_logit * where.nodes[:, None], by_logit, 1 - up, up][: len(SHARED[model])], axis=2)


def srmsr(scores: Floats, where: AbilityQuadrature) -> float:
    """Root mean square difference of observed and expected correlations over pairs (constant items left out)."""
    varied = scores.std(axis=0) > 0
    if varied.sum() < 2:
        return 0.0
    p = where.p[:, varied]
    share = where.weights @ p
    joint = p.T @ (where.weights[:, None] * p) - np.outer(share, share)
    sd = np.sqrt(share * (1 - share))
    pairs = np.triu_indices(int(varied.sum()), 1)
    gap = np.asarray(np.corrcoef(scores[:, varied].T))[pairs] - (joint / np.outer(sd, sd))[pairs]
    return float(np.sqrt(np.mean(gap**2)))


def _statistic(scores: Floats, where: AbilityQuadrature, slopes: Floats, shared: tuple[bool, ...]) -> tuple[float, int]:
    """M2 and its degrees of freedom: residual moments, in the directions that no parameter moves."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    first, second = np.triu_indices(scores.shape[1], 1)
    observed = np.concatenate([scores.mean(axis=0), (scores.T @ scores / len(scores))[first, second]])
    moments = np.hstack([where.p, where.p[:, first] * where.p[:, second]])
    expected = where.weights @ moments
    delta = _jacobian(where, slopes, shared)
    df = len(observed) - delta.shape[1]
    if df < 1:
        raise ValueError(f"M2 of {scores.shape[1]} items has {df} degrees of freedom; wanted at least 1: add items")
    try:
        factor = cho_factor(_covariance(where, moments, expected), lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise ValueError(_dependent(expected[: scores.shape[1]])) from error
    weighted = cho_solve(factor, np.column_stack([observed - expected, delta]), check_finite=False)
    moved = delta.T @ weighted
    explained = np.linalg.lstsq(moved[:, 1:], moved[:, 0], rcond=None)[0]
    value = (observed - expected) @ weighted[:, 0] - moved[:, 0] @ explained
    return max(float(len(scores) * value), 0.0), df


def _dependent(share: Floats) -> str:
    worst = int(np.argmax(np.abs(share - 0.5)))
    return (
        f"M2 wants answers that vary; item {worst + 1} has an expected share right of {share[worst]:.6f}: leave it out"
    )


def _jacobian(where: AbilityQuadrature, slopes: Floats, shared: tuple[bool, ...]) -> Floats:
    """Slopes of the moments in the parameters, item by item, after those of parameters that all items have `shared`."""
    _, count, kinds = slopes.shape
    first, second = np.triu_indices(count, 1)
    weighted = where.weights[:, None, None] * slopes
    alone, paired = weighted.sum(axis=0), np.einsum("qik,qj->ikj", weighted, where.p, optimize=True)
    delta = np.zeros((count + len(first), count, kinds))
    delta[np.arange(count), np.arange(count)] = alone
    rows = count + np.arange(len(first))
    delta[rows, first] = paired[first, :, second]
    delta[rows, second] = paired[second, :, first]
    common = np.array(shared)
    return np.column_stack([delta[:, :, common].sum(axis=1), delta[:, :, ~common].reshape(len(delta), -1)])


def _covariance(where: AbilityQuadrature, moments: Floats, expected: Floats) -> Floats:
    """Covariance of the products of one and of two answers: joint moments of up to four items."""
    count = where.p.shape[1]
    joint = moments.T @ (where.weights[:, None] * moments)
    position = np.zeros((count, count), dtype=np.intp)
    pairs = np.triu_indices(count, 1)
    position[pairs] = count + np.arange(len(pairs[0]))
    position += position.T
    position[np.arange(count), np.arange(count)] = np.arange(count)
    for item in range(count):
        # Moments that share an item hold its answer once, since an answer times itself is itself.
        others = where.p.copy()
        others[:, item] = 1.0
        rows = position[item]
        joint[np.ix_(rows, rows)] = others.T @ ((where.weights * where.p[:, item])[:, None] * others)
    size = np.arange(len(expected))
    joint[size, size] = expected
    joint -= np.outer(expected, expected)
    return np.asarray(joint)


def _assembled(
    value: float, df: int, base: float, base_df: int, residual: float, scores: Floats, note: str
) -> OverallFit:
    scale = df * (len(scores) - 1)
    rmsea = float(np.sqrt(max(value - df, 0.0) / scale))
    low, high = (float(np.sqrt(_noncentrality(value, df, tail) / scale)) for tail in (0.95, 0.05))
    p = float(chdtrc(df, value))
    excess, base_excess = max(value - df, 0.0), max(base - base_df, 0.0)
    cfi = 1 - excess / max(excess, base_excess) if max(excess, base_excess) > 0 else None
    tli = (base / base_df - value / df) / (base / base_df - 1) if base > base_df else None
    if len(scores) < MANY:
        note = "; ".join(filter(None, (note, f"with {len(scores)} students a misfit can stay unseen")))
    flag = p < ALPHA and rmsea > CLOSE
    said = (
        f"The model does not fit as a whole (M2 {value:.0f}, df {df}, p {p:.2g}; RMSEA {rmsea:.3f}, SRMSR "
        f"{residual:.3f}): look for items that depend on each other, a second ability, or guessing."
        if flag
        else ""
    )
    return OverallFit(
        value, df, p, rmsea, low, high, residual, cfi, tli, len(scores), scores.shape[1], flag, note, said
    )


def _noncentrality(value: float, df: int, tail: float) -> float:
    """Noncentrality at which a chi-square exceeds `value` with probability 1 - `tail`; 0 when none does."""
    from scipy.optimize import brentq

    if chndtr(value, df, 0.0) <= tail:
        return 0.0
    top = max(value, 10.0)
    while chndtr(value, df, top) > tail:
        top *= 2
    return float(brentq(lambda shift: chndtr(value, df, shift) - tail, 1e-9, top))
