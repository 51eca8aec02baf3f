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
            total = _take_moments(heights, (step, side, top), (centre, width), (i, s), found)
            if bounded:
                for k in range(2 * side + 1):
                    x = centre + width * step * (k - side)
                    _add_asymptotes(by_item[i], heights[k] / total, x, right, trials, bounds[0][i], bounds[1][i])


@compiled
def _take_moments(heights, rule, logit, cell, found):  # type: ignore[no-untyped-def]
    """Turn log heights at the points of the rule, the highest known, into heights, whose sum is returned, and take the
    moments of a cell's logit (mean, standard deviation).
    """
    step, side, top = rule
    centre, width = logit
    total, first, second = 0.0, 0.0, 0.0
    for k in range(2 * side + 1):
        at = step * (k - side)
        heights[k] = math.exp(heights[k] - top)
        total += heights[k]
        first += heights[k] * at
        second += heights[k] * at**2
    first, second = first / total, second / total
    found[0][cell] = top + math.log(total * step / math.sqrt(2 * math.pi))
    found[1][cell] = centre + width * first
    found[2][cell] = width**2 * max(second - first**2, 1e-12)
    return total


@compiled
def tilt_ratings(answers, ladders, logits, sites, found, by_step):  # type: ignore[no-untyped-def]
    """The same of ratings. `answers` are (scores, highest scores), each `[I, S]`, the latter 0 where not asked;
    `ladders` (thresholds `[I, K]` less their mean, whether these are steps of partial credit). `by_step` takes slope
    `[I, K]`, expected information `[I, K, K]` by the thresholds of an item, and the cell's expected information by
    its logit and a threshold `[I, S, K]`.
    """
    thresholds, partial = ladders
    heights, reached = np.empty(2 * MOST + 1), np.empty(thresholds.shape[1] + 2)
    by_step[0][:] = 0.0
    by_step[1][:] = 0.0
    by_step[2][:] = 0.0
    for i in range(len(thresholds)):
        ladder = thresholds[i]
        for s in range(logits[0].shape[1]):
            centre, width, most = logits[0][i, s], logits[1][i, s], int(answers[1][i, s])
            found[0][i, s], found[1][i, s], found[2][i, s] = 0.0, centre, width**2
            if most == 0:
                continue
            score, top = int(answers[0][i, s]), -np.inf
            # The curves of partial credit are as much steeper as there are scores.
            step, side = spaced(width * (most + 1) / 2 if partial else width)
            for k in range(2 * side + 1):
                at = step * (k - side)
                x = centre + width * at
                height = 0.5 * sites[0][i, s] * x**2 - sites[1][i, s] * x - 0.5 * at**2
                heights[k] = height + _of_rating(x, score, ladder, most, partial)
                top = max(top, heights[k])
            total = _take_moments(heights, (step, side, top), (centre, width), (i, s), found)
            if most > 1:
                for k in range(2 * side + 1):
                    x = centre + width * step * (k - side)
                    _reach(x, ladder, most, partial, reached)
                    _add_steps(by_step, (i, s), heights[k] / total, (score, most, partial), ladder, reached)


@compiled
def _of_rating(x, score, ladder, most, partial):  # type: ignore[no-untyped-def]
    """Log probability of a score at a logit."""
    if partial:
        own, height, top = 0.0, 0.0, 0.0
        for k in range(most):
            height += x - ladder[k]
            top = max(top, height)
            if k + 1 == score:
                own = height
        height, total = 0.0, math.exp(-top)
        for k in range(most):
            height += x - ladder[k]
            total += math.exp(height - top)
        return own - top - math.log(total)
    height = 0.0
    if score > 0:
        height += min(x - ladder[score - 1], 0.0) - math.log1p(math.exp(-abs(x - ladder[score - 1])))
    if score < most:
        height += min(ladder[score] - x, 0.0) - math.log1p(math.exp(-abs(x - ladder[score])))
    if 0 < score < most:
        height += math.log(max(-math.expm1(ladder[score - 1] - ladder[score]), TINY))
    return height


@compiled
def _reach(x, ladder, most, partial, reached):  # type: ignore[no-untyped-def]
    """Chances of scores of at least 0, ..., `most + 1` into `reached`."""
    reached[0], reached[most + 1] = 1.0, 0.0
    for k in range(most):
        if partial:
            reached[k + 1] = math.exp(_of_rating(x, k + 1, ladder, most, partial))
        else:
            reached[k + 1] = 1 / (1 + math.exp(min(ladder[k] - x, 700.0)))
    if partial:
        for k in range(most - 1, 0, -1):
            reached[k] += reached[k + 1]


@compiled
def _add_steps(by_step, cell, share, rating, ladder, reached):  # type: ignore[no-untyped-def]
    """Add what an answer says of its item's thresholds at one point of the rule, whose `share` of the cell is given."""
    slope, information, across = by_step
    i, s = cell
    score, most, partial = rating
    for h in range(most):
        own = reached[h + 1]
        if partial:
            slope[i, h] += share * (own - (1.0 if score > h else 0.0))
            for g in range(most):
                information[i, h, g] += share * (reached[max(g, h) + 1] - own * reached[g + 1])
                across[i, s, h] -= share * (reached[max(g, h) + 1] - own * reached[g + 1])
            continue
        above = 1.0 if h + 1 == most else -math.expm1(ladder[h] - ladder[h + 1])
        below = 1.0 if h == 0 else -math.expm1(ladder[h - 1] - ladder[h])
        if score == h + 1:
            slope[i, h] -= share * (1 - own + (1 - above) / max(above, TINY))
        if score == h:
            slope[i, h] += share * (own + (1 - below) / max(below, TINY))
        up = own * (1 - own) ** 2 / max((1 - reached[h + 2]) * above, TINY)
        down = own**2 * (1 - own) / max(reached[h] * below, TINY)
        information[i, h, h] += share * (up + down)
        if h + 1 < most:
            side = share * (1 - own) * reached[h + 2] / max(above, TINY)
            information[i, h, h + 1] -= side
            information[i, h + 1, h] -= side
        across[i, s, h] -= share * own * (1 - own) * (reached[h] - reached[h + 2])


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
