"""Draws of Polya-Gamma variables, which make a logistic likelihood normal (Polson, Scott & Windle 2013).

With `omega ~ PG(n, x)`, `n` answers with `y` right at logit `x` count as one normal observation of `x` with precision
`omega` and mean `(y - n/2) / omega`.
"""

from __future__ import annotations

import math

from irt.fitting._numba_functions import compiled
from irt.fitting._sampling_steps import exponential, normal

CUT = 0.64
"""Where the two series that the density alternates between meet best (Devroye 2009)."""
MANY = 60
"""Answers from which on the sum of as many variables is drawn as a normal one of the same mean and variance."""


@compiled
def polya_gamma(rng, count, x):  # type: ignore[no-untyped-def]
    """A draw from PG(count, x), `count` a whole number."""
    half = 0.5 * abs(x)
    if count >= MANY:
        mean, variance = _moments(half)
        return max(count * mean + math.sqrt(count * variance) * normal(rng), 1e-12)
    rate = math.pi**2 / 8 + half**2 / 2
    right = math.pi / (2 * rate) * math.exp(-rate * CUT)
    left = 2 * math.exp(-half) * _inverse_gaussian_below(half)
    share = right / (right + left)
    total = 0.0
    for _ in range(int(count)):
        total += _one(rng, half, rate, share)
    return total


@compiled
def _one(rng, half, rate, share):  # type: ignore[no-untyped-def]
    """A draw from PG(1, 2 half): proposals from either side of the cut, accepted by the alternating series."""
    while True:
        right = rng.random() < share
        at = CUT + exponential(rng) / rate if right else _inverse_gaussian(rng, half)
        total = _coefficient(0, at)
        height = rng.random() * total
        n = 0
        while True:
            n += 1
            if n % 2:
                total -= _coefficient(n, at)
                if height <= total:
                    return 0.25 * at
            else:
                total += _coefficient(n, at)
                if height > total:
                    break


@compiled
def _coefficient(n, at):  # type: ignore[no-untyped-def]
    """The n-th term of the series of the density of J*(1, 0)."""
    rank = n + 0.5
    if at > CUT:
        return math.pi * rank * math.exp(-0.5 * (rank * math.pi) ** 2 * at)
    return math.pi * rank * (2 / (math.pi * at)) ** 1.5 * math.exp(-2 * rank**2 / at)


@compiled
def _inverse_gaussian(rng, half):  # type: ignore[no-untyped-def]
    """A draw from the inverse Gaussian of mean 1/half and shape 1, below the cut."""
    if half * CUT < 1:
        while True:
            first = exponential(rng)
            if first * first <= 2 * exponential(rng) / CUT:
                at = CUT / (1 + CUT * first) ** 2
                if rng.random() <= math.exp(-0.5 * half**2 * at):
                    return at
    mean = 1 / half
    while True:
        square = normal(rng) ** 2
        at = mean + 0.5 * mean**2 * square - 0.5 * mean * math.sqrt(4 * mean * square + (mean * square) ** 2)
        if rng.random() > mean / (mean + at):
            at = mean**2 / at
        if at <= CUT:
            return at


@compiled
def _inverse_gaussian_below(half):  # type: ignore[no-untyped-def]
    """Probability that the inverse Gaussian of mean 1/half and shape 1 lies below the cut."""
    root = math.sqrt(1 / CUT)
    upper = 0.5 * math.erfc(-root * (CUT * half - 1) / math.sqrt(2))
    other = 0.5 * math.erfc(root * (CUT * half + 1) / math.sqrt(2))
    return upper + (math.exp(2 * half) * other if other > 0 else 0.0)


@compiled
def _moments(half):  # type: ignore[no-untyped-def]
    """Mean and variance of PG(1, 2 half)."""
    x = 2 * half
    if x < 1e-3:
        return 0.25 - x**2 / 48, 1 / 24 - x**2 / 120
    tanh = math.tanh(half)
    return tanh / (2 * x), (tanh / x - 0.5 * (1 - tanh**2)) / (2 * x**2)
