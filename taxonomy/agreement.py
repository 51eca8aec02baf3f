"""How far labellers agree beyond chance: Cohen's kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Label = Hashable
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Weights = Literal["none", "linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval"]


class Agreement(NamedTuple):
    """An agreement coefficient with its central bootstrap interval; NaN where it is undefined."""

    estimate: float
    low: float
    high: float


def cohen_kappa(
    first: Sequence[Label],
    second: Sequence[Label],
    *,
    weights: Weights = "none",
    groups: Sequence[Hashable] | None = None,
    interval: float = 0.9,
    draws: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Cohen's kappa of two labellers over the same items: `1 - D_o / D_e`, `(p_o - p_e) / (1 - p_e)` (Cohen 1960).

    With `weights` labels are numbers and a disagreement counts by their distance, or its square (Cohen 1968). NaN when
    both use one and the same label throughout. The interval resamples items, or whole `groups` of them (a group name
    per item). `ValueError` for unequal or no lengths and for labels that are no numbers where distances are asked for.
    """
    if len(first) != len(second) or not first:
        raise ValueError(f"labels: found {len(first)} and {len(second)}; wanted two equally long, not empty sequences")
    codes, labels = _codes([first, second], ordered=weights != "none")
    cost = _distances(labels, _POWERS[weights])
    return _with_interval(codes, lambda sample: _kappa(sample, cost), _units(groups, codes), interval, draws, seed)


def krippendorff_alpha(
    labels: Sequence[Sequence[Label | None]],
    *,
    metric: Metric = "nominal",
    groups: Sequence[Hashable] | None = None,
    interval: float = 0.9,
    draws: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Krippendorff's alpha, `1 - D_o / D_e`, one row per labeller, None where not labelled.

    `ordinal` and `interval` differences take labels as numbers (Krippendorff 2011). Items with fewer than two labels
    do not count. NaN when no item counts or all labels are equal. The interval resamples items, or whole `groups` of
    them (a group name per item). `ValueError` for rows of unequal length or fewer than two rows.
    """
    lengths = {len(row) for row in labels}
    if len(labels) < 2 or len(lengths) != 1 or lengths == {0}:
        raise ValueError(
            f"labels: found {len(labels)} rows of lengths {sorted(lengths)}; wanted 2 or more, equally long"
        )
    codes, names = _codes(labels, ordered=metric != "nominal")
    counts = (codes == np.arange(len(names))[:, None, None]).sum(axis=1)
    cost = None if metric == "ordinal" else _distances(names, _POWERS[metric])
    return _with_interval(counts, lambda sample: _alpha(sample, cost), _units(groups, codes), interval, draws, seed)


_POWERS = {"none": 0, "nominal": 0, "linear": 1, "quadratic": 2, "interval": 2}


def _codes(rows: Sequence[Sequence[Label | None]], *, ordered: bool) -> tuple[Codes, list[Label]]:
    """Label numbers `[labellers, items]`, -1 where not labelled, and the labels; ascending where `ordered`."""
    found = dict.fromkeys(one for row in rows for one in row if one is not None)
    labels = sorted(found, key=_number) if ordered else list(found)
    numbers = {label: at for at, label in enumerate(labels)}
    return np.array([[-1 if one is None else numbers[one] for one in row] for row in rows], dtype=np.int64), labels


def _number(label: Label) -> float:
    if isinstance(label, bool) or not isinstance(label, int | float):
        raise ValueError(f"labels: found {label!r}; wanted numbers, whose distances count")
    return float(label)


def _distances(labels: Sequence[Label], power: int) -> Floats:
    """What a disagreement costs `[labels, labels]`: 1, or the distance of the labels raised to a power."""
    if not power:
        return 1 - np.eye(len(labels))
    values = np.array([_number(one) for one in labels])
    return np.asarray(np.abs(values[:, None] - values) ** power)


def _kappa(codes: Codes, cost: Floats) -> float:
    size = len(cost)
    table = np.bincount(codes[0] * size + codes[1], minlength=size**2).reshape(size, size) / codes.shape[1]
    expected = float(np.sum(np.outer(table.sum(axis=1), table.sum(axis=0)) * cost))
    return 1 - float(np.sum(table * cost)) / expected if expected > 0 else np.nan


def _alpha(counts: Codes, cost: Floats | None) -> float:
    """Alpha of label counts `[labels, items]`; without a cost, by the ordinal difference of these labels."""
    per_item = counts.sum(axis=0)
    counts, per_item = counts[:, per_item > 1], per_item[per_item > 1]
    pairable = counts.sum(axis=1)
    cost = _ordinal(pairable) if cost is None else cost
    expected = float(pairable @ cost @ pairable)
    if expected == 0:
        return np.nan
    disagreeing = float((((cost @ counts) * counts).sum(axis=0) / (per_item - 1)).sum())
    return 1 - (int(pairable.sum()) - 1) * disagreeing / expected


def _ordinal(counts: NDArray[np.int64]) -> Floats:
    """Squared ordinal differences `[labels, labels]`: the labels given between two ranks, the ends counting half."""
    middle = np.cumsum(counts) - counts / 2
    return np.asarray((middle[:, None] - middle) ** 2)


def _units(groups: Sequence[Hashable] | None, codes: Codes) -> list[NDArray[np.intp]] | None:
    """The items of each group; None when every item stands for itself."""
    if groups is None:
        return None
    if len(groups) != codes.shape[1]:
        raise ValueError(f"groups: found {len(groups)}; wanted one for each of {codes.shape[1]} items")
    numbers = {name: at for at, name in enumerate(dict.fromkeys(groups))}
    at = np.array([numbers[one] for one in groups])
    return [np.flatnonzero(at == number) for number in range(len(numbers))]


def _with_interval(
    table: Codes,
    statistic: Callable[[Codes], float],
    units: list[NDArray[np.intp]] | None,
    interval: float,
    draws: int,
    seed: int,
) -> Agreement:
    """The statistic of a table `[…, items]` and the interval of resampled items (undefined resamples left out)."""
    if not 0 < interval < 1:
        raise ValueError(f"interval: found {interval}; wanted a share between 0 and 1")
    estimate = statistic(table)
    size = table.shape[1] if units is None else len(units)
    rng = np.random.default_rng(seed)
    drawn = (rng.integers(size, size=size) for _ in range(draws))
    values = np.array([statistic(table[:, one if units is None else _items(units, one)]) for one in drawn])
    values = values[np.isfinite(values)]
    if not np.isfinite(estimate) or not values.size or size < 2:
        return Agreement(estimate, np.nan, np.nan)
    low, high = np.quantile(values, [(1 - interval) / 2, (1 + interval) / 2])
    return Agreement(estimate, float(low), float(high))


def _items(units: list[NDArray[np.intp]], drawn: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate([units[one] for one in drawn])
