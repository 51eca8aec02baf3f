"""An answer's own likelihood times the Gaussian of its logit, compiled by numba."""

from __future__ import annotations

import math

import numpy as np

from irt.fitting._numba_functions import compiled

TINY = 1e-300
"""Least probability whose logarithm is taken."""
REACH, STEP, STRIDE, MOST = 6.5, 0.65, 1.2, 200
"""Of the trapezoidal rule over a logit: how far it goes, and its step, in standard deviations; the step's longest in
logits; points on a side at most. Its error falls exponentially with either step: a logistic curve is as smooth as that.
"""


@compiled
def spaced(width):  # type: ignore[no-untyped-def]
    """The step of the rule, in standard deviations, for a logit of this standard deviation, and points on a side."""
    count = min(max(math.ceil(REACH / STEP), math.ceil(REACH * width / STRIDE)), MOST)
    return REACH / count, count


@compiled
def tilt(answers, bounds, logits, sites, found, by_item):  # type: ignore[no-untyped-def]
    """Moments of every answer's logit when its site gives way to its likelihood.

    `answers` are (right, trials), each `[I, S]`; `bounds` (c, delta) `[I]`; `logits` their (means, standard deviations)
    `[I, S]`; `sites` (precision, linear) `[I, S]`. `found` takes the log mean of the likelihood over the site, the
    logit's mean and its variance, each `[I, S]`, and `by_item` `[I, 4]` slope and expected information of the
    log-likelihood by the logits of c and of delta.
    """
    heights = np.empty(2 * MOST + 1)
    by_item[:] = 0.0
    for i in range(len(logits[0])):
        bounded = bounds[0][i] > 0 or bounds[1][i] < 1
        for s in range(logits[0].shape[1]):
            centre, width, trials = logits[0][i, s], logits[1][i, s], answers[1][i, s]
            found[0][i, s], found[1][i, s], found[2][i, s] = 0.0, centre, width**2
            if trials == 0:
                continue
            right, top = answers[0][i, s], -np.inf
            step, side = spaced(width)
            for k in range(2 * side + 1):
                at = step * (k - side)
                x = centre + width * at
                height = 0.5 * sites[0][i, s] * x**2 - sites[1][i, s] * x - 0.5 * at**2
                if bounded:
                    p, q, _ = _chances(x, bounds[0][i], bounds[1][i])
                    height += right * math.log(p) + (trials - right) * math.log(q)
                else:
                    height += right * min(x, 0.0) - (trials - right) * max(x, 0.0)
                    height -= trials * math.log1p(math.exp(-abs(x)))
                heights[k] = height
                top = max(top, height)
            total, first, second = 0.0, 0.0, 0.0
            for k in range(2 * side + 1):
                at = step * (k - side)
                heights[k] = math.exp(heights[k] - top)
                total += heights[k]
                first += heights[k] * at
                second += heights[k] * at**2
            first, second = first / total, second / total
            found[0][i, s] = top + math.log(total * step / math.sqrt(2 * math.pi))
            found[1][i, s] = centre + width * first
            found[2][i, s] = width**2 * max(second - first**2, 1e-12)
            if bounded:
                for k in range(2 * side + 1):
                    x = centre + width * step * (k - side)
                    _add_asymptotes(by_item[i], heights[k] / total, x, right, trials, bounds[0][i], bounds[1][i])


@compiled
def _chances(x, c, delta):  # type: ignore[no-untyped-def]
    """Probabilities of a right and of a wrong answer, and the logistic curve."""
    small = math.exp(-abs(x))
    up = (1.0 if x >= 0 else small) / (1 + small)
    down = (small if x >= 0 else 1.0) / (1 + small)
    return max(c + (1 - c) * delta * up, TINY), max((1 - c) * (1 - delta + delta * down), TINY), up


@compiled
def _add_asymptotes(total, share, x, right, trials, c, delta):  # type: ignore[no-untyped-def]
    p, q, up = _chances(x, c, delta)
    by_low, by_high = c * (1 - c) * (1 - delta * up), (1 - c) * delta * (1 - delta) * up
    score = right / p - (trials - right) / q
    total[0] += share * score * by_low
    total[1] += share * trials * by_low**2 / p / q
    total[2] += share * score * by_high
    total[3] += share * trials * by_high**2 / p / q
