"""Item coordinates of marginal likelihood: slope, intercept, and logits of the asymptotes, with exact derivatives.

    x = slope theta + intercept        c = sigmoid(x_2)        delta = sigmoid(x_3)        d = c + (1 - c) delta
    P = c + (1 - c) delta sigmoid(x)

Any slope is allowed: an item keyed wrongly has a negative one. Coordinates are arrays `[K, I]`, K = 2 to 4; a
coordinate that all items share (the slope of `1pl`) is a constant row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from irt._responses import Floats
from irt.kernels import ItemParameters, sigmoid

SHARED = {
    "1pl": (True, False),
    "2pl": (False,) * 2,
    "3pl": (False,) * 3,
    "3pl-shared": (False, False, True),
    "4pl": (False,) * 4,
}
"""For each coordinate of a model: whether all items have one value."""
TINY = 1e-150
"""Least probability: its logarithm and the square of its inverse are finite."""
ROWS = ((0, 1), (0, 0), (1, 0), (2, 0))
"""Each coordinate's derivative of P: which basis function, times which power of theta."""


class Curves(NamedTuple):
    """Curves `[Q, I]` at nodes `[Q]`: `up = sigmoid(x)`, `down = 1 - up`, P, 1 - P, log odds and log(1 - P)."""

    nodes: Floats
    x: Floats
    up: Floats
    down: Floats
    p: Floats
    q: Floats
    log_odds: Floats
    log_wrong: Floats


def curves(x: Floats, nodes: Floats) -> Curves:
    """The items' curves at the nodes."""
    z = np.multiply.outer(nodes, x[0])
    z += x[1]
    small = np.exp(-np.abs(z))
    large = 1.0 / (1.0 + small)
    small *= large
    up, down = np.where(z >= 0, large, small), np.where(z >= 0, small, large)
    if len(x) == 2:
        log_wrong = np.log(large)
        log_wrong -= np.maximum(z, 0.0)
        return Curves(nodes, x, up, down, up, down, z, log_wrong)
    c, delta = asymptotes(x)
    p = np.maximum(c + (1 - c) * delta * up, TINY)
    q = np.maximum((1 - c) * ((1 - delta) + delta * down), TINY)
    log_wrong = np.log(q)
    return Curves(nodes, x, up, down, p, q, np.log(p) - log_wrong, log_wrong)


def asymptotes(x: Floats) -> tuple[Floats, Floats]:
    """Guessing `c` and `delta` `[I]`, 0 and 1 in models without them."""
    c = sigmoid(x[2]) if len(x) > 2 else np.zeros(x.shape[1])
    delta = sigmoid(x[3]) if len(x) > 3 else np.ones(x.shape[1])
    return c, delta


def to_items(x: Floats) -> ItemParameters:
    """Discrimination, difficulty and asymptotes of coordinates `[..., K, I]`; a slope of 0 counts as 1e-8."""
    x = np.moveaxis(x, -2, 0)
    a = np.where(np.abs(x[0]) < 1e-8, 1e-8, x[0])
    c = sigmoid(x[2]) if len(x) > 2 else np.zeros_like(a)
    delta = sigmoid(x[3]) if len(x) > 3 else np.ones_like(a)
    return ItemParameters(a, -x[1] / a, c, c + (1 - c) * delta)


def signed_draws(x: Floats, covariance: Floats, shift: Floats) -> Floats:
    """Coordinates `[D, K, I]`, slope and intercept first, around `x` `[K, I]` whose slopes keep their signs.

    `shift` `[D, K, I]` are moves from Normal(0, covariance), `covariance` `[I, K, K]` within each item; both `x` and
    `covariance` may differ by draw. To first order
    these are the draws `x + shift`: `log |slope|` is moved by `asinh(u)` in place of `u`, the move of the slope over
    its size. A slope that the answers hardly tell from 0 thus has draws of both orders of magnitude, and both the slope
    and its inverse, of which difficulties are made, keep tails as thin as a normal distribution's. Intercepts follow
    the slopes drawn by their regression on them: the curve keeps its height where the answers fix it.
    """
    slope = np.where(np.abs(x[..., 0, :]) < 1e-8, 1e-8, x[..., 0, :])
    drawn = x + shift
    drawn[:, 0] = slope * np.exp(np.arcsinh(shift[:, 0] / slope))
    excess = drawn[:, 0] - slope - shift[:, 0]
    drawn[:, 1] += covariance[..., 0, 1] / np.maximum(covariance[..., 0, 0], 1e-300) * excess
    return np.asarray(drawn)


def normal_draws(point: Floats, mode: Floats, shift: Floats) -> ItemParameters:
    """Items `[D, I]` around `point` `[K, I]`, normal in log |slope|, difficulty and logits of the asymptotes.

    `shift` `[D, K, I]` are moves of the coordinates at `mode`, where their covariance was taken.
    """
    a, b, _, _ = to_items(point)
    grown = shift[:, 0] / mode[0]
    moved = point + shift
    moved[:, 0] = a * np.exp(grown)
    moved[:, 1] = -moved[:, 0] * (b + (mode[1] * grown - shift[:, 1]) / mode[0])
    return to_items(moved)


def item_errors(x: Floats, covariance: Floats) -> ItemParameters:
    """Standard errors of `a b c d` by the delta method, from the covariance `[I, K, K]` of each item's coordinates."""
    a, b, _, _ = to_items(x)
    c, delta = asymptotes(x)
    zero = np.zeros_like(a)
    by_d = [zero, zero, c * (1 - c) * (1 - delta), (1 - c) * delta * (1 - delta)] if len(x) > 3 else [zero] * 4
    rows = [zero + 1, zero, zero, zero], [-b / a, -1 / a, zero, zero], [zero, zero, c * (1 - c), zero], by_d
    slopes = np.array(rows)[:, : len(x)]
    variances = np.einsum("pki,ikl,pli->pi", slopes, covariance, slopes)
    return ItemParameters(*np.sqrt(np.maximum(variances, 0.0)))


def score_weights(at: Curves) -> list[tuple[Floats | float, Floats]]:
    """Per basis function of the model, its derivative of P over `P (1 - P)` and over `1 - P` `[Q, I]`."""
    if len(at.x) == 2:
        return [(1.0, at.up)]
    return [(part / at.p / at.q, part / at.q) for part in _basis(at)]


def gradient_and_information(at: Curves, right: Floats, asked: Floats) -> tuple[Floats, Floats]:
    """Gradient `[K, I]` and expected information `[I, K, K]` of counts `[Q, I]` of right answers among those asked."""
    if len(at.x) == 2:
        return _first(at, [right - asked * at.up]), _second(at, {(0, 0): asked * at.up * at.down})
    by_right, by_wrong = _ratios(at)
    wrong = asked - right
    scores = [right * rise - wrong * fall for rise, fall in zip(by_right, by_wrong, strict=True)]
    return _first(at, scores), _second(at, {(u, v): asked * by_right[u] * by_wrong[v] for u, v in _pairs(at)})


def curvature(at: Curves, right: Floats, asked: Floats) -> Floats:
    """Minus the second derivatives `[I, K, K]` of the same log-likelihood (observed rather than expected)."""
    if len(at.x) == 2:
        return _second(at, {(0, 0): asked * at.up * at.down})
    by_right, by_wrong = _ratios(at)
    wrong, bends = asked - right, _bends(at)
    weights = {}
    for u, v in _pairs(at):
        squares = right * by_right[u] * by_right[v] + wrong * by_wrong[u] * by_wrong[v]
        bend, which = bends[u, v]
        weights[u, v] = squares - bend * (right * by_right[which] - wrong * by_wrong[which])
    return _second(at, weights)


def _basis(at: Curves) -> list[Floats]:
    """Derivatives of P `[Q, I]` by x, by the logit of c and by the logit of delta, those the model has."""
    c, delta = asymptotes(at.x)
    top = (1 - c) * delta
    parts = [top * at.up * at.down, c * (1 - c) * ((1 - delta) + delta * at.down)]
    return [*parts, top * (1 - delta) * at.up] if len(at.x) > 3 else parts


def _ratios(at: Curves) -> tuple[list[Floats], list[Floats]]:
    """The basis over P and over 1 - P: bounded, so that counts of next to nothing stay so."""
    parts = _basis(at)
    return [part / at.p for part in parts], [part / at.q for part in parts]


def _pairs(at: Curves) -> list[tuple[int, int]]:
    width = len(at.x) - 1
    return [(u, v) for u in range(width) for v in range(u, width)]


def _bends(at: Curves) -> dict[tuple[int, int], tuple[Floats, int]]:
    """Second derivatives of P, each a factor times a basis function."""
    c, delta = asymptotes(at.x)
    return {
        (0, 0): (at.down - at.up, 0),
        (0, 1): (-c, 0),
        (1, 1): (1 - 2 * c, 1),
        (0, 2): (1 - delta, 0),
        (1, 2): (-c, 2),
        (2, 2): (1 - 2 * delta, 2),
    }


def _first(at: Curves, scores: list[Floats]) -> Floats:
    return np.stack([at.nodes**power @ scores[part] for part, power in ROWS[: len(at.x)]])


def _second(at: Curves, weights: dict[tuple[int, int], Floats]) -> Floats:
    width = len(at.x)
    powers = np.stack([np.ones_like(at.nodes), at.nodes, at.nodes**2])
    moments = {pair: powers @ weight for pair, weight in weights.items()}
    blocks = np.empty((at.x.shape[1], width, width))
    for k, (u, first) in enumerate(ROWS[:width]):
        for m, (v, second) in enumerate(ROWS[:width]):
            blocks[:, k, m] = moments[min(u, v), max(u, v)][first + second]
    return blocks


def uniforms(rng: np.random.Generator, rows: int, count: int) -> Floats:
    """Uniform numbers `[rows, count]` in (0, 1): of each row one in every `count`-th part, in random order.

    Ends of intervals read off such draws carry far less noise than off independent ones (McKay et al. 1979).
    """
    order = rng.permuted(np.tile(np.arange(count), (rows, 1)), axis=1)
    return np.asarray((order + np.clip(rng.random((rows, count)), 1e-12, None)) / count)


def normals(rng: np.random.Generator, rows: int, count: int) -> Floats:
    """Standard normal numbers `[rows, count]`, spread in the same way."""
    return np.asarray(ndtri(uniforms(rng, rows, count)))
