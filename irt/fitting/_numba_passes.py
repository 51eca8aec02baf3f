"""The passes of `irt.fitting._likelihood_passes` compiled by numba: one exponential and one division a cell.

With `e = exp(-|x|)` and `w = 1/(1 + e)` every probability is a ratio of `1 + e`, so nothing overflows. Logarithms are
not taken cell by cell: factors are multiplied, split into mantissa and exponent where they can be small, and the
logarithm of the product is taken once per block of items. Sums may be reassociated (that is what lets the loops use
vector registers), what belongs to one cell may not. A block's work arrays stay in the first-level cache.
"""

from __future__ import annotations

import math
from functools import partial

import numba  # type: ignore[import-untyped]
import numpy as np

from irt.fitting._numba_functions import Function, compiled

BLOCK = 256
"""Items at a time: products of as many factors in [1, 2] stay below 2^256."""
FAR = 700.0
"""Logits beyond this leave the range of `exp` in double precision (709)."""
LOG2E = 1.4426950408889634
"""1/ln 2: a power of e as a power of 2, whose whole part goes into the exponent."""
LN2 = 0.6931471805599453
"""ln 2, to come back."""
MAGIC = 6755399441055744.0 + 1023.0
"""1.5 * 2^52 rounds to a whole number, 1023 is the bias of the exponent: the low bits of the sum are those of 2^n."""
MANTISSA = 0x000FFFFFFFFFFFFF
"""The bits of a double below its exponent (IEEE 754)."""
ONE = 0x3FF0000000000000
"""The bits of the double 1.0."""
LARGEST = 1e200
"""Curvatures are cut here, so that their sums over a table stay finite."""
SMALLEST = 1e-307
"""The least probability whose logarithm is taken: just above the smallest normal double."""


_exactly = numba.njit(forceinline=True, error_model="numpy", fastmath={"contract"})
_summing = partial(compiled, fastmath=frozenset({"contract", "reassoc", "nsz"}))


@_exactly
def _exp(x):  # type: ignore[no-untyped-def]
    """exp on [-708, 0] to 3e-16: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2] (Chebyshev fit)."""
    shifted = x * LOG2E + MAGIC
    r = x - (shifted - MAGIC) * LN2
    power = np.int64(np.float64(shifted).view(np.int64) << 52).view(np.float64)
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + 1.0000000000000067762 * r) + r2 * (0.50000000000000056451 + 0.16666666666553954401 * r)
    middle = (0.041666666666572767692 + 0.0083333333858250861512 * r) + r2 * (
        0.0013888888932619635148 + 0.00019841170070971307319 * r
    )
    high = (0.000024801504180837138252 + 2.7640263790318920718e-6 * r) + r2 * 2.7626426376580332797e-7
    return power * (low + r4 * (middle + r4 * high))


@_exactly
def _log(x):  # type: ignore[no-untyped-def]
    """log of a positive normal number: its exponent, and 2 artanh((m - 1)/(m + 1)) of the mantissa in [.7, 1.4]."""
    bits = np.float64(x).view(np.int64)
    shift = (bits - 0x3FE6A09E667F3BCD) >> 52
    m = np.int64(bits - (shift << 52)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    z2 = z * z
    low = (2.0 + 0.66666666666667652638 * z) + z2 * (0.39999999999298066995 + 0.28571428761609481123 * z)
    high = (0.22222196953363014792 + 0.18183637299480900587 * z) + z2 * (
        0.15312377735831459197 + 0.14811282567749027413 * z
    )
    return shift * LN2 + s * (low + z2 * z2 * high)


@_exactly
def _plain_cell(y, x):  # type: ignore[no-untyped-def]
    """For c = 0, d = 1: log P = linear - log(factor), slope in x, and information about x."""
    z = y * x
    e = _exp(max(-abs(z), -FAR))
    w = 1.0 / (1.0 + e)
    below = z < 0.0
    return z if below else 0.0, 1.0 + abs(y) * e, y * w * (1.0 if below else e), abs(y) * e * w * w


@_exactly
def _terms(x, c, d):  # type: ignore[no-untyped-def]
    """P and 1 - P over w, with what their derivatives are made of; `beyond` is how far x exceeds the exponential."""
    far = abs(x)
    e = _exp(max(-far, -FAR))
    above = x >= 0.0
    uu = 1.0 if above else e
    vv = e if above else 1.0
    right = max(d * uu + c * vv, SMALLEST)
    wrong = max((1.0 - d) * uu + (1.0 - c) * vv, SMALLEST)
    r = 1.0 / ((1.0 + e) * (right * wrong))
    w = r * (right * wrong)
    beyond = max(far - FAR, 0.0)
    # Where the factor of 1 is 0 the logarithm is linear in x, also beyond the range of the exponential.
    right_beyond = beyond if (d if above else c) == 0.0 else 0.0
    wrong_beyond = beyond if (1.0 - d if above else 1.0 - c) == 0.0 else 0.0
    return e, uu, vv, right, wrong, r, w, right_beyond, wrong_beyond


@_exactly
def _information(known, e, uu, vv, r, w, gain):  # type: ignore[no-untyped-def]
    """Expected information of a cell about (x, c, d): xx, xc, xd, cc, cd, dd."""
    er = known * (gain * r)
    sharp = known * (r * (1.0 + e))
    cc, cd, dd = min(sharp * vv * vv, LARGEST), min(sharp * e, LARGEST), min(sharp * uu * uu, LARGEST)
    return er * gain * w, er * vv, er * uu, cc, cd, dd


@_exactly
def _full_cell(y, x, c, d):  # type: ignore[no-untyped-def]
    """One answer: linear part, mantissa and exponent of the likelihood, slopes in x, c, d, and the information."""
    e, uu, vv, right, wrong, r, w, right_beyond, wrong_beyond = _terms(x, c, d)
    hit = y > 0.0
    linear = -abs(y) * (right_beyond if hit else wrong_beyond)
    factor = w * (right if hit else wrong) if y != 0.0 else 1.0
    bits = np.float64(factor).view(np.int64)
    mantissa = np.int64((bits & MANTISSA) | ONE).view(np.float64)
    inverse = y * (r * (wrong if hit else right)) * (1.0 + e)
    gain = (d - c) * e
    slopes = gain * w * inverse, inverse * vv, inverse * uu
    return linear, mantissa, bits >> 52, slopes, _information(abs(y), e, uu, vv, r, w, gain)


@_exactly
def _counts_cell(k, f, x, c, d):  # type: ignore[no-untyped-def]
    """Repeated trials: log-likelihood, slopes in x, c, d, and the information."""
    e, uu, vv, right, wrong, r, w, right_beyond, wrong_beyond = _terms(x, c, d)
    value = k * (_log(w * right) - right_beyond) + f * (_log(w * wrong) - wrong_beyond)
    inverse = (1.0 + e) * (k * (r * wrong) - f * (r * right))
    gain = (d - c) * e
    slopes = gain * w * inverse, inverse * vv, inverse * uu
    return value, slopes, _information(k + f, e, uu, vv, r, w, gain)


@_exactly
def _add(sums, kept, i, u, slopes, info, curved):  # type: ignore[no-untyped-def]
    """Adds a cell's slopes and information to its item's sums, and keeps what couples it to its student.

    Sums lie in one array at constant distances: the vectoriser would have to compare the addresses of 14 arrays.
    """
    sums[i] += slopes[0] * u
    sums[BLOCK + i] += slopes[0]
    sums[2 * BLOCK + i] += slopes[1]
    sums[3 * BLOCK + i] += slopes[2]
    if not curved:
        return
    sums[4 * BLOCK + i] += info[0] * u * u
    sums[5 * BLOCK + i] += info[0] * u
    sums[6 * BLOCK + i] += info[0]
    sums[7 * BLOCK + i] += info[1] * u
    sums[8 * BLOCK + i] += info[1]
    sums[9 * BLOCK + i] += info[2] * u
    sums[10 * BLOCK + i] += info[2]
    sums[11 * BLOCK + i] += info[3]
    sums[12 * BLOCK + i] += info[4]
    sums[13 * BLOCK + i] += info[5]
    kept[i] = info[0]
    kept[BLOCK + i] = info[1]
    kept[2 * BLOCK + i] = info[2]


@_exactly
def _copy(kept, weights):  # type: ignore[no-untyped-def]
    for row in range(3):
        for i in range(weights.shape[1]):
            weights[row, i] = kept[row * BLOCK + i]


@_exactly
def _accumulate(sums, items):  # type: ignore[no-untyped-def]
    for row in range(items.shape[0]):
        for i in range(items.shape[1]):
            items[row, i] += sums[row * BLOCK + i]


def _plain(curved: bool) -> Function:
    """For single answers, c = 0 and d = 1: sums over students of g u, g; if `curved` also of h u^2, h u, h.

    `rows` `[2 or 3, S]` receives each student's log-likelihood, its slope in ability and its information; `items`
    `[2 or 5, I]` the sums; `weights` `[1, S, I]` h = n P (1 - P), in whatever precision it has.
    """

    @_summing
    def run(codes, _, theta, parameters, start, stop, rows, items, weights):  # type: ignore[no-untyped-def]
        a, b = parameters[0], parameters[1]
        for first in range(0, a.shape[0], BLOCK):
            last = min(first + BLOCK, a.shape[0])
            aa, bb, gu, gs = a[first:last], b[first:last], items[0, first:last], items[1, first:last]
            if curved:
                huu, hu, hs = items[2, first:last], items[3, first:last], items[4, first:last]
            for s in range(start, stop):
                t, row = theta[s], codes[s, first:last]
                if curved:
                    weight = weights[0, s, first:last]
                product, total, slope, bend = 1.0, 0.0, 0.0, 0.0
                for i in range(aa.shape[0]):
                    u = t - bb[i]
                    linear, factor, g, h = _plain_cell(np.float64(row[i]), aa[i] * u)
                    total += linear
                    product *= factor
                    slope += aa[i] * g
                    gu[i] += g * u
                    gs[i] += g
                    if curved:
                        bend += aa[i] * aa[i] * h
                        huu[i] += h * u * u
                        hu[i] += h * u
                        hs[i] += h
                        weight[i] = h
                rows[0, s] += total - math.log(product)
                rows[1, s] += slope
                if curved:
                    rows[2, s] += bend

    return run


def _full(curved: bool, counted: bool) -> Function:
    """For any asymptotes; `counted` for `successes` and `failures` of repeated trials, else both are the codes.

    As `_plain`, `items` `[4 or 14, I]` being the sums of g u, g, slopes in c and d, and if `curved` of h u^2, h u, h,
    hc u, hc, hd u, hd, cc, cd, dd; `weights` `[3, S, I]` receives h, hc, hd.
    """

    @_summing
    def run(successes, failures, theta, parameters, start, stop, rows, items, weights):  # type: ignore[no-untyped-def]
        a, b, c, d = parameters
        for first in range(0, a.shape[0], BLOCK):
            last = min(first + BLOCK, a.shape[0])
            aa, bb, cc, dd = a[first:last], b[first:last], c[first:last], d[first:last]
            sums, kept = np.zeros(14 * BLOCK), np.empty(3 * BLOCK)
            for s in range(start, stop):
                t, right, wrong = theta[s], successes[s, first:last], failures[s, first:last]
                product, total, slope, bend, exponents = 1.0, 0.0, 0.0, 0.0, np.int64(0)
                for i in range(aa.shape[0]):
                    u = t - bb[i]
                    x, k = aa[i] * u, np.float64(right[i])
                    if counted:
                        value, slopes, info = _counts_cell(k, np.float64(wrong[i]), x, cc[i], dd[i])
                    else:
                        value, mantissa, exponent, slopes, info = _full_cell(k, x, cc[i], dd[i])
                        product *= mantissa
                        exponents += exponent
                    total += value
                    slope += aa[i] * slopes[0]
                    bend += aa[i] * aa[i] * info[0]
                    _add(sums, kept, i, u, slopes, info, curved)
                if not counted:
                    total = total + math.log(product) + (exponents - 1023 * aa.shape[0]) * LN2
                rows[0, s] += total
                rows[1, s] += slope
                if curved:
                    rows[2, s] += bend
                    _copy(kept, weights[:, s, first:last])
            _accumulate(sums, items[:, first:last])

    return run


plain_gradient, plain_curvature = _plain(False), _plain(True)
full_gradient, full_curvature = _full(False, False), _full(True, False)
counts_gradient, counts_curvature = _full(False, True), _full(True, True)


@_summing
def probabilities(theta, a, b, c, d, start, stop, total):  # type: ignore[no-untyped-def]
    """Adds P of every draw, `theta` `[D, S]` and items `[D, I]`, to `total` `[S, I]`."""
    for s in range(start, stop):
        row = total[s]
        for draw in range(theta.shape[0]):
            t, aa, bb, cc, dd = theta[draw, s], a[draw], b[draw], c[draw], d[draw]
            for i in range(aa.shape[0]):
                x = aa[i] * (t - bb[i])
                e = _exp(max(-abs(x), -FAR))
                row[i] += cc[i] + (dd[i] - cc[i]) * (1.0 if x >= 0.0 else e) / (1.0 + e)
