"""How far labellers agree beyond chance: Cohen's kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Label = Hashable
Codes = NDArray[np.int64]


class Agreement(NamedTuple):
    """An agreement coefficient with its central bootstrap interval; NaN where it is undefined."""

    estimate: float
    low: float
    high: float


def cohen_kappa(
    first: Sequence[Label],
    second: Sequence[Label],
    *,
    interval: float = 0.9,
    draws: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Cohen's kappa of two labellers over the same items: `(p_o - p_e) / (1 - p_e)` (Cohen 1960).

    NaN when both use one and the same label throughout. The interval resamples items. `ValueError` for unequal or
    no lengths.
    """
    if len(first) != len(second) or not first:
        raise ValueError(f"labels: found {len(first)} and {len(second)}; wanted two equally long, not empty sequences")
    codes = _codes([first, second])
    size = int(codes.max()) + 1
    return _with_interval(codes, lambda sample: _kappa(sample, size), interval, draws, seed)


def krippendorff_alpha(
    labels: Sequence[Sequence[Label | None]],
    *,
    interval: float = 0.9,
    draws: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Krippendorff's alpha for nominal labels, `1 - D_o / D_e`, one row per labeller, None where not labelled.

    Items with fewer than two labels do not count (Krippendorff 2011). NaN when no item counts or all labels are equal.
    The interval resamples items. `ValueError` for rows of unequal length or fewer than two rows.
    """
    lengths = {len(row) for row in labels}
    if len(labels) < 2 or len(lengths) != 1 or lengths == {0}:
        raise ValueError(
            f"labels: found {len(labels)} rows of lengths {sorted(lengths)}; wanted 2 or more, equally long"
        )
    codes = _codes(labels)
    counts = np.stack([(codes == value).sum(axis=0) for value in range(int(codes.max()) + 1)] or [codes[0] * 0])
    return _with_interval(counts, _alpha, interval, draws, seed)


def _codes(rows: Sequence[Sequence[Label | None]]) -> Codes:
    """Label numbers `[labellers, items]`, -1 where not labelled."""
    numbers: dict[Label, int] = {}
    return np.array(
        [[-1 if one is None else numbers.setdefault(one, len(numbers)) for one in row] for row in rows], dtype=np.int64
    )


def _kappa(codes: Codes, size: int) -> float:
    observed = float(np.mean(codes[0] == codes[1]))
    first, second = (np.bincount(row, minlength=size) / row.size for row in codes)
    expected = float(first @ second)
    return (observed - expected) / (1 - expected) if expected < 1 else np.nan


def _alpha(counts: Codes) -> float:
    """Alpha of label counts `[labels, items]`."""
    per_item = counts.sum(axis=0)
    counts, per_item = counts[:, per_item > 1], per_item[per_item > 1]
    pairable = counts.sum(axis=1)
    total = int(pairable.sum())
    expected = total**2 - int((pairable**2).sum())
    if expected == 0:
        return np.nan
    disagreeing = float((((per_item**2) - (counts**2).sum(axis=0)) / (per_item - 1)).sum())
    return 1 - (total - 1) * disagreeing / expected


def _with_interval(
    table: Codes, statistic: Callable[[Codes], float], interval: float, draws: int, seed: int
) -> Agreement:
    """The statistic of a table `[…, items]` and the interval of resampled items (undefined resamples left out)."""
    if not 0 < interval < 1:
        raise ValueError(f"interval: found {interval}; wanted a share between 0 and 1")
    estimate = statistic(table)
    items = table.shape[1]
    rng = np.random.default_rng(seed)
    values = np.array([statistic(table[:, rng.integers(items, size=items)]) for _ in range(draws)])
    values = values[np.isfinite(values)]
    if not np.isfinite(estimate) or not values.size:
        return Agreement(estimate, np.nan, np.nan)
    low, high = np.quantile(values, [(1 - interval) / 2, (1 + interval) / 2])
    return Agreement(estimate, float(low), float(high))
