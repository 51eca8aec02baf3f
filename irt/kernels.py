"""Item response functions of the four-parameter logistic model, in log space; numpy or jax arrays alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from irt._responses import Floats

__all__ = [
    "ItemParameters",
    "information",
    "log_likelihood",
    "log_probability",
    "log_sigmoid",
    "namespace",
    "probability",
    "sigmoid",
    "smoothed_logit",
]

SMALLEST_LOG = -700.0
"""Log-probability of a category at least, so that its inverse is finite."""
RUNAWAY = 12.0
"""A slope beyond this, per standard deviation of ability, counts as on its way to infinity."""


class InformationMoments(NamedTuple):
    """Per item, of the score about ability: information `sum P'^2 / P`, and Warm's `J = sum P' P'' / P`."""

    information: Floats
    tilt: Floats


class Categories(NamedTuple):
    """Of answers at known abilities `[..., C]`: chance of each category, its logarithm (0 where an item has no such
    category), and the slope of that logarithm in ability."""

    chance: Floats
    log: Floats
    slope: Floats


class ItemParameters(NamedTuple):
    """Discrimination, difficulty, guessing (lower asymptote) and upper asymptote, `[I]` each."""

    a: Floats
    b: Floats
    c: Floats
    d: Floats

    def at(self, places: Any) -> ItemParameters:
        """The items at these places (of draws `[D, I]`: in each)."""
        return ItemParameters(*(np.asarray(values)[..., places] for values in self))

    def share(self, theta: Floats) -> Floats:
        """Expected share of right answers; broadcasts `theta` against the items."""
        return np.asarray(probability(theta, *self))

    def information(self, theta: Floats) -> Floats:
        """Fisher information about ability; broadcasts `theta` against the items."""
        return np.asarray(information(theta, *self))

    def moments(self, theta: Floats) -> InformationMoments:
        """Moments of one answer, broadcast as `information`; J is `sum a (1 - 2 s) I_i`."""
        known = self.information(theta)
        return InformationMoments(known, -self.a * np.tanh(self.a * (theta - self.b) / 2) * known)

    def log_categories(self, theta: Floats) -> Floats:
        """Log probabilities `[..., 2]` of a right and a wrong answer."""
        return np.stack(log_probability(theta, *self), axis=-1)

    def category_slopes(self, theta: Floats) -> Floats:
        """Derivatives `[..., 2]` of `log_categories`: `P' / P` and `-P' / Q`, finite where P or Q vanishes."""
        right, wrong = log_probability(theta, *self)
        root = np.sign(self.a) * np.sqrt(self.information(theta))  # P' = sqrt(I P Q)
        return np.stack([root * np.exp((wrong - right) / 2), -root * np.exp((right - wrong) / 2)], axis=-1)

    def categories(self, theta: Floats) -> Categories:
        """Right and wrong, with logarithms of at least `SMALLEST_LOG`."""
        up, log = sigmoid(self.a * (theta - self.b)), np.maximum(self.log_categories(theta), SMALLEST_LOG)
        steep = (self.a * (self.d - self.c) * up * (1 - up))[..., None]
        return Categories(np.exp(log), log, steep * np.exp(-log) * (1.0, -1.0))

    def draw(self, rng: np.random.Generator, theta: Floats, attempts: Floats) -> Floats:
        """Successes `[S, I]` drawn at abilities `[S]`, 0 where there were no attempts."""
        p = np.clip(probability(theta[:, None], *self), 0.0, 1.0)
        return rng.binomial(attempts.astype(np.int64), p).astype(np.float64)


def probability(theta: Any, a: Any, b: Any, c: Any = 0.0, d: Any = 1.0) -> Any:
    """P(correct) = c + (d - c) sigmoid(a (theta - b)), broadcast over its arguments (Barton & Lord 1981)."""
    xp = namespace(theta, a, b, c, d)
    return c + (d - c) * xp.exp(log_sigmoid(xp, a * (theta - b)))


def log_probability(theta: Any, a: Any, b: Any, c: Any = 0.0, d: Any = 1.0) -> tuple[Any, Any]:
    """`(log P, log(1 - P))`, finite wherever the exact values are representable."""
    xp = namespace(theta, a, b, c, d)
    x = a * (theta - b)
    with np.errstate(divide="ignore"):
        log_c, log_top, log_range = xp.log(c), xp.log1p(-xp.asarray(d)), xp.log(d - xp.asarray(c))
    right = xp.logaddexp(log_c, log_range + log_sigmoid(xp, x))
    wrong = xp.logaddexp(log_top, log_range + log_sigmoid(xp, -x))
    return right, wrong


def log_likelihood(successes: Any, trials: Any, theta: Any, a: Any, b: Any, c: Any = 0.0, d: Any = 1.0) -> Any:
    """Log-likelihood `[S, I]` of `successes` out of `trials` (the binomial coefficient is left out); 0 if no trials.

    `theta` `[S]`, item parameters `[I]`.
    """
    xp = namespace(theta, a, b, c, d)
    right, wrong = log_probability(theta[:, None], a, b, c, d)
    failures = trials - successes
    return xp.where(successes > 0, successes * right, 0.0) + xp.where(failures > 0, failures * wrong, 0.0)


def information(theta: Any, a: Any, b: Any, c: Any = 0.0, d: Any = 1.0) -> Any:
    """Fisher information about ability, per unit ability squared, broadcast over its arguments.

    `P'^2 / (P (1 - P))` with `P' = a (d - c) s (1 - s)`; for d = 1 this is Lord's (1980)
    `a^2 (1 - P)/P ((P - c)/(1 - c))^2`.
    """
    xp = namespace(theta, a, b, c, d)
    x = a * (theta - b)
    log_slope = log_sigmoid(xp, x) + log_sigmoid(xp, -x)
    right, wrong = log_probability(theta, a, b, c, d)
    return (a * (d - c)) ** 2 * xp.exp(2.0 * log_slope - right - wrong)


def sigmoid(x: Floats) -> Floats:
    """Logistic function without overflow."""
    half: Floats = 0.5 * (1.0 + np.tanh(0.5 * x))
    return half


def smoothed_logit(right: Floats, wrong: Floats) -> Floats:
    """Log odds with half a count more on either side, so that they are finite."""
    return np.asarray(np.log((right + 0.5) / (wrong + 0.5)))


def log_sigmoid(xp: Any, x: Any) -> Any:
    """Log of the logistic function in the arrays of `xp`, without underflow."""
    return -xp.logaddexp(0.0, -x)


def namespace(*arrays: Any) -> Any:
    """jax.numpy when any argument is a jax array or tracer, else numpy; jax is not imported otherwise."""
    if any(type(array).__module__.startswith("jax") for array in arrays):
        import jax.numpy

        return jax.numpy
    return np
