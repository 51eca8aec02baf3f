"""Random numbers of which each row holds one from every stretch of its distribution (McKay, Beckman & Conover 1979).

Ends of intervals read off such draws carry far less noise than off independent ones.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from irt._responses import Floats


def uniforms(rng: np.random.Generator, rows: int, count: int) -> Floats:
    """Uniform numbers `[rows, count]` in (0, 1): of each row one in every `count`-th part, in random order."""
    order = rng.permuted(np.tile(np.arange(count), (rows, 1)), axis=1)
    return np.asarray((order + np.clip(rng.random((rows, count)), 1e-12, None)) / count)


def normals(rng: np.random.Generator, rows: int, count: int) -> Floats:
    """Standard normal numbers `[rows, count]`, spread in the same way."""
    return np.asarray(ndtri(uniforms(rng, rows, count)))
