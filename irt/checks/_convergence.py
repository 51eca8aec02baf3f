"""Have the chains mixed? Rank-normalised split R-hat, bulk and tail effective sample size (Vehtari et al. 2021)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt._responses import Floats


class Mixing(NamedTuple):
    """Per quantity: R-hat, effective sample sizes of the bulk and of the 5 % and 95 % quantiles."""

    r_hat: Floats
    ess_bulk: Floats
    ess_tail: Floats


def mixing(draws: Floats) -> Mixing:
    """Convergence of `draws` `[C, D, Q]` (chains, draws, quantities); constant quantities count as mixed."""
    halves = _split(np.asarray(draws, dtype=np.float64))
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    bulk = _rank_normalised(halves)
    r_hat = np.maximum(_r_hat(bulk), _r_hat(_rank_normalised(folded)))
    low, high = np.quantile(halves, [0.05, 0.95], axis=(0, 1))
    tail = np.minimum(_ess((halves <= low).astype(np.float64)), _ess((halves <= high).astype(np.float64)))
    total = float(halves.shape[0] * halves.shape[1])
    constant = np.ptp(halves, axis=(0, 1)) < 1e-12 * (1 + np.abs(halves[0, 0]))
    return Mixing(
        np.where(constant, 1.0, r_hat), np.where(constant, total, _ess(bulk)), np.where(constant, total, tail)
    )


def _split(draws: Floats) -> Floats:
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _rank_normalised(draws: Floats) -> Floats:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    flat = draws.reshape(-1, draws.shape[2])
    ranks = rankdata(flat, method="average", axis=0)
    return np.asarray(ndtri((ranks - 0.375) / (len(flat) + 0.25))).reshape(draws.shape)


def _r_hat(draws: Floats) -> Floats:
    count = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    return np.asarray(
        np.sqrt(np.divide(between, within, out=np.zeros_like(within), where=within > 0) + (count - 1) / count)
    )


def _ess(draws: Floats) -> Floats:
    """Effective sample size per quantity, Geyer's initial monotone sequence over the combined autocorrelation."""
    chains, count, _ = draws.shape
    covariance = _autocovariance(draws)
    within = covariance[:, 0].mean(axis=0) * count / (count - 1)
    plus = within * (count - 1) / count
    if chains > 1:
        plus = plus + draws.mean(axis=1).var(axis=0, ddof=1)
    safe = np.where(plus > 0, plus, 1.0)
    rho = 1.0 - (within - covariance.mean(axis=0)) / safe
    rho[0] = 1.0
    pairs = rho[: count - count % 2].reshape(-1, 2, rho.shape[1]).sum(axis=1)
    alive: NDArray[np.bool_] = np.logical_and.accumulate(pairs > 0, axis=0)
    monotone = np.minimum.accumulate(np.where(alive, pairs, 0.0), axis=0)
    tau = np.maximum(-1.0 + 2.0 * monotone.sum(axis=0), 1.0 / np.log10(chains * count))
    return np.asarray(np.where(plus > 0, chains * count / tau, chains * count))


def _autocovariance(draws: Floats) -> Floats:
    """`[C, D, Q]` autocovariance along the draws (biased, by fast Fourier transform)."""
    from scipy.fft import irfft, next_fast_len, rfft

    count = draws.shape[1]
    size = next_fast_len(2 * count, real=True)
    spectrum = rfft(draws - draws.mean(axis=1, keepdims=True), n=size, axis=1)
    return np.asarray(irfft(np.abs(spectrum) ** 2, n=size, axis=1)[:, :count] / count)
