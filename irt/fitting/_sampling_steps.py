"""Steps that the Gibbs sampler is made of, compiled by numba: slices, and draws from normal distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba  # type: ignore[import-untyped]

from irt.fitting._numba_functions import Function, compiled

FARTHEST, NARROWEST = 1000.0, 1e-13
"""First widths that a slice may reach out, and the share of one below which its search ends where it began."""


def _inlined(function: Callable[..., Any]) -> Function:
    """Compiled into who calls it: numba does not store what is compiled for a function among the arguments."""
    return numba.njit(inline="always", error_model="numpy")(function)


@compiled
def exponential(rng):  # type: ignore[no-untyped-def]
    """A standard exponential draw. numpy's own would keep numba from storing what it compiled."""
    return -math.log1p(-rng.random())


@compiled
def normal(rng):  # type: ignore[no-untyped-def]
    """A standard normal draw (Box & Muller 1958)."""
    return math.sqrt(2 * exponential(rng)) * math.cos(2 * math.pi * rng.random())


@_inlined
def slice_move(rng, height, given, width):  # type: ignore[no-untyped-def]
    """A move from 0 that leaves the density with log `height(move, given)` as it is: slice sampling, stepping out by
    `width` and shrinking (Neal 2003).
    """
    level = height(0.0, given) - exponential(rng)
    low = -width * rng.random()
    high = low + width
    least = low - FARTHEST * width
    while low > least and height(low, given) > level:
        low -= width
    while high < least + 2 * FARTHEST * width and height(high, given) > level:
        high += width
    move = low + (high - low) * rng.random()
    while not height(move, given) > level:
        if high - low < NARROWEST * width:  # a density that cannot be computed here
            move = 0.0
            break
        if move < 0:
            low = move
        else:
            high = move
        move = low + (high - low) * rng.random()
    return move


@compiled
def scale_drawn(rng, scale, free, square, width):  # type: ignore[no-untyped-def]
    """A scale with a half-normal prior of this width, given the sum of squares of the `free` quantities it governs."""
    move = slice_move(rng, _scale_height, (math.log(scale), float(free), square, width), 1.0)
    return max(scale * math.exp(move), 1e-6)


@compiled
def _scale_height(move, given):  # type: ignore[no-untyped-def]
    start, free, square, width = given
    v = start + move
    return (1 - free) * v - 0.5 * square * math.exp(-2 * v) - 0.5 * math.exp(2 * v) / width**2


@compiled
def factorise(matrix):  # type: ignore[no-untyped-def]
    """Cholesky's root of a matrix whose lower part is given, in its place."""
    for j in range(len(matrix)):
        for k in range(j + 1):
            total = matrix[j, k]
            for m in range(k):
                total -= matrix[j, m] * matrix[k, m]
            matrix[j, k] = math.sqrt(max(total, 1e-12)) if j == k else total / matrix[k, k]


@compiled
def solve_lower(root, right):  # type: ignore[no-untyped-def]
    """`root^-1 right` of columns, for a lower triangular root."""
    solved = right.copy()
    for j in range(len(root)):
        for k in range(j):
            for column in range(solved.shape[1]):
                solved[j, column] -= root[j, k] * solved[k, column]
        for column in range(solved.shape[1]):
            solved[j, column] /= root[j, j]
    return solved


@compiled
def normal_drawn(rng, root, linear):  # type: ignore[no-untyped-def]
    """A draw from the normal distribution of precision `root root'` and mean its inverse times `linear`."""
    drawn = linear.copy()
    size = len(drawn)
    for j in range(size):
        for k in range(j):
            drawn[j] -= root[j, k] * drawn[k]
        drawn[j] = drawn[j] / root[j, j]
    for j in range(size - 1, -1, -1):
        drawn[j] += normal(rng)
        for k in range(j + 1, size):
            drawn[j] -= root[k, j] * drawn[k]
        drawn[j] /= root[j, j]
    return drawn
