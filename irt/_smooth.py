"""A smooth effect of a number: chunk size, corpus length, passages given to the model."""

from __future__ import annotations

import numpy as np

from irt._responses import Floats

WIGGLE = 0.25
"""Mean prior variance of the bends relative to that of the straight line."""


def spline_root(values: Floats) -> Floats:
    """`[L, L]`: independent unit weights to effects of `L` different values, smooth and summing to zero.

    The effects are a straight line plus an integrated Wiener process, the prior behind the cubic smoothing spline
    (Wahba 1978), over the values' range. The line's mean variance over the values is 1, that of the bends `WIGGLE`.
    Of the roots of their covariance this is the one whose zero-sum coordinates act at right angles to each other.
    """
    values = np.asarray(values, dtype=np.float64)
    x = (values - values.min()) / np.ptp(values)
    low, high = np.minimum(x[:, None], x), np.maximum(x[:, None], x)
    line, bends = _unit(np.outer(x, x)), _unit(low**2 * (3 * high - low) / 6)
    size, vectors = np.linalg.eigh(line + WIGGLE * bends)
    root: Floats = (vectors[:, 1:] * np.sqrt(size[1:])) @ zero_sum_basis((len(x),))
    return root


def zero_sum_basis(shape: tuple[int, ...]) -> Floats:
    """Orthonormal rows `[free, levels]`: numpyro's coordinates of a zero-sum array, flattened."""
    basis = np.ones((1, 1))
    for size in shape:
        share = 1 / (size + np.sqrt(size))
        rows = np.hstack([np.eye(size - 1) - share, np.full((size - 1, 1), -1 / np.sqrt(size))])
        basis = np.kron(basis, rows)
    return basis


def _unit(covariance: Floats) -> Floats:
    """The covariance of the same effects after they were moved to sum to zero, scaled to mean variance 1."""
    centre = np.eye(len(covariance)) - 1.0 / len(covariance)
    centred = centre @ covariance @ centre
    scaled: Floats = centred / np.trace(centred) * len(covariance)
    return scaled
