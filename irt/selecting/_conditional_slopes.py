"""How steeply items follow ability, their difficulty conditioned away.

Given students' abilities and how many of them solved an item, who they are depends on the item's slope alone: under the
logistic model `P(y | sum y = t)` is proportional to `exp(slope sum theta y)`, its norming constant an elementary
symmetric function of `exp(slope theta)` (Rasch 1960; Andersen 1970; Breslow & Day 1980, ch. 7, for case-control
studies). So no estimate of the difficulty, pulled towards others or run off to infinity, can pass for discrimination,
and items that all or none solved say nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from irt._responses import Floats

SHIFTS = 2.0 * np.sinh(2.5 * np.linspace(-1.0, 1.0, 21)) / np.sinh(2.5)
"""Log slopes about the common one at which items are evaluated, close together in the middle."""
COARSE = np.linspace(-2.5, 2.5, 11)
"""Log slopes at which the common one is looked for."""
BLOCK = 40
"""Attempts of an item that are conditioned on together."""
NOTHING = 1e-9
"""Information below which a group of items says nothing."""


class ConditionalSlopes(NamedTuple):
    """Score and information `[G, I]` of each item's log slope, at `slope exp(SHIFTS)`; `slope` suits all items best."""

    slope: float
    score: Floats
    information: Floats


def conditional_slopes(successes: Floats, attempts: Floats, theta: Floats) -> ConditionalSlopes:
    """Scores of `I` items given counts `[S, I]` and abilities `[S, I]` (for each item those the others tell).

    Students are conditioned on in blocks of about 40 attempts, which loses little and keeps the sums short.
    """
    coarse, _ = _at(np.exp(COARSE), successes, attempts, theta)
    start = float(np.exp(_root(COARSE, coarse.sum(axis=1))))
    score, information = _at(start * np.exp(SHIFTS), successes, attempts, theta)
    return ConditionalSlopes(start, score, information)


def group_shift(slopes: ConditionalSlopes, group: np.ndarray) -> tuple[float, float]:
    """Log slope of a group of items relative to the common one, by conditional maximum likelihood; and its error.

    The shift is 0 and the error infinite when no item of the group tells anything.
    """
    score, information = slopes.score[:, group].sum(axis=1), slopes.information[:, group].sum(axis=1)
    if information.max() < NOTHING:
        return 0.0, np.inf
    shift = _root(SHIFTS, score)
    known = max(float(np.interp(shift, SHIFTS, information)), NOTHING)
    return shift, float(1 / np.sqrt(known))


def _root(shifts: Floats, score: Floats) -> float:
    """Where a decreasing score over `shifts` is zero; the nearer end where it never is."""
    below = np.flatnonzero(score <= 0)
    if not len(below):
        return float(shifts[-1])
    place = int(below[0])
    if place == 0:
        return float(shifts[0])
    left, right = score[place - 1], score[place]
    return float(shifts[place - 1] + (shifts[place] - shifts[place - 1]) * left / (left - right))


def _at(slopes: Floats, successes: Floats, attempts: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Score and information `[G, I]` of the log slope at each of `slopes` `[G]`, summed over blocks of students."""
    shape = (len(slopes), successes.shape[1])
    score, information = np.zeros(shape), np.zeros(shape)
    for block in _blocks(attempts):
        mean, variance = _moments(slopes, successes[block], attempts[block], theta[block])
        found = (theta[block] * successes[block]).sum(axis=0)
        score += slopes[:, None] * (found - mean)
        information += slopes[:, None] ** 2 * variance
    return score, information


def _blocks(attempts: Floats) -> list[np.ndarray]:
    each = max(int(BLOCK // max(attempts.max(initial=1.0), 1.0)), 8)
    return np.array_split(np.arange(len(attempts)), max(1, round(len(attempts) / each)))


def _moments(slopes: Floats, successes: Floats, attempts: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Mean and variance `[G, I]` of `sum theta y` given the number of successes.

    Symmetric functions of increasing order are built up attempt by attempt, with their first two derivatives by the
    slope, whose ratios are the moments; dividing by the largest keeps them in range.
    """
    size = int(attempts.sum(axis=0).max(initial=0.0))
    moments = np.zeros((3, len(slopes), successes.shape[1], size + 1))
    moments[0, :, :, 0] = 1.0
    for row, count in zip(theta, attempts, strict=True):
        for trial in range(int(count.max(initial=0.0))):
            x = np.where(count > trial, np.exp(np.clip(slopes[:, None] * row, -200, 200)), 0.0)[:, :, None]
            t = row[:, None]
            v, f, s = moments[..., :-1]
            moments[..., 1:] += np.stack([x * v, x * (f + t * v), x * (s + 2 * t * f + t**2 * v)])
            moments /= moments[0].max(axis=2, keepdims=True)
    place = successes.sum(axis=0).astype(int)[None, None, :, None]
    value, first, second = np.take_along_axis(moments, place, axis=3)[..., 0]
    value = np.maximum(value, 1e-300)
    mean = first / value
    return mean, np.maximum(second / value - mean**2, 0.0)
