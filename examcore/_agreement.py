"""How far labellers agree beyond chance: Cohen's kappa and Krippendorff's alpha."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from examcore._intervals import IntervalEstimate, percentile_interval, require_level

Label = Hashable
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
KappaWeights = Literal["none", "linear", "quadratic"]
AlphaMetric = Literal["nominal", "ordinal", "interval", "masi"]


def cohen_kappa(
    first: Sequence[Label],
    second: Sequence[Label],
    *,
    weights: KappaWeights = "none",
    groups: Sequence[Hashable] | None = None,
    interval: float = 0.9,
    draws: int = 1000,
    seed: int = 0,
) -> IntervalEstimate:
    """Cohen's kappa of two labellers over the same items: `1 - D_o / D_e`, `(p_o - p_e) / (1 - p_e)` (Cohen 1960).

    With `weights` labels are numbers and a disagreement counts by their distance, or its square (Cohen 1968). NaN when
    both use one and the same label throughout. The interval resamples items, or whole `groups` of them (a group name
    per item). `ValueError` for unequal or no lengths and for labels that are no numbers where distances are asked for.
    """
    if len(first) != len(second) or not first:
        raise ValueError(f"labels: found {len(first)} and {len(second)}; wanted two equally long, not empty sequences")
    codes, labels = _codes([first, second], ordered=weights != "none")
    cost = _distances(labels, _POWERS[weights])
    pairs = np.eye(cost.size)[codes[0] * len(labels) + codes[1]]
    return _with_interval(_units(pairs, groups), lambda table: _kappa(table, cost), interval, draws, seed)


def krippendorff_alpha(
    labels: Sequence[Sequence[Label | None]],
    *,
    metric: AlphaMetric = "nominal",
    groups: Sequence[Hashable] | None = None,
    interval: float = 0.9,
    draws: int = 1000,
    seed: int = 0,
) -> IntervalEstimate:
    """Krippendorff's alpha, `1 - D_o / D_e`, one row per labeller, None where not labelled.

    `ordinal` and `interval` differences take labels as numbers (Krippendorff 2011); `masi` takes them as sets, for
    items with several labels each, and counts how much two sets share (Passonneau 2006). Items with fewer than two
    labels do not count. NaN when no item counts or all labels are equal. The interval resamples items, or whole
    `groups` of them (a group name per item). `ValueError` for rows of unequal length or fewer than two rows.
    """
    lengths = {len(row) for row in labels}
    if len(labels) < 2 or len(lengths) != 1 or lengths == {0}:
        raise ValueError(
            f"labels: found {len(labels)} rows of lengths {sorted(lengths)}; wanted 2 or more, equally long"
        )
    codes, names = _codes(labels, ordered=metric in {"ordinal", "interval"})
    counts = (codes == np.arange(len(names))[:, None, None]).sum(axis=1)
    cost = None if metric == "ordinal" else _masi(names) if metric == "masi" else _distances(names, _POWERS[metric])
    units = _units(_coincidences(counts), groups)
    return _with_interval(units, lambda table: _alpha(table, cost), interval, draws, seed)


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


def _masi(labels: Sequence[Label]) -> Floats:
    """MASI distances of label sets `[labels, labels]`: 1 - Jaccard index x 1, 2/3, 1/3 or 0.

    The second factor falls from equal sets to one that holds the other, to ones that meet, to ones that do not.
    """
    sets = [one for one in labels if isinstance(one, frozenset)]
    if len(sets) < len(labels):
        raise ValueError(f"labels: found {labels[0]!r}; wanted frozen sets of labels")
    return np.array([[1 - _shared(one, other) for other in sets] for one in sets]).reshape(len(sets), len(sets))


def _shared(one: frozenset[Hashable], other: frozenset[Hashable]) -> float:
    if one == other:
        return 1.0
    kind = 2 / 3 if one < other or other < one else 1 / 3
    return kind * len(one & other) / len(one | other)


def _coincidences(counts: Codes) -> Floats:
    """The pairs of labels that each item gives `[items, labels * labels]`, of label counts `[labels, items]`."""
    per_item = counts.sum(axis=0)
    kinds, kind = np.unique(counts, axis=1, return_inverse=True)
    pairs = np.einsum("ci,ki->ick", kinds, kinds) - np.einsum("ci,ck->ick", kinds, np.eye(len(counts)))
    weighted = pairs / np.maximum(kinds.sum(axis=0) - 1, 1)[:, None, None]
    return np.where(per_item[:, None] > 1, weighted.reshape(kinds.shape[1], -1)[kind], 0.0)


def _kappa(table: Floats, cost: Floats) -> float:
    """Kappa of the counts of label pairs `[labels * labels]`."""
    table = table.reshape(cost.shape)
    expected = float(np.sum(np.outer(table.sum(axis=1), table.sum(axis=0)) * cost))
    return 1 - float(np.sum(table * cost)) * float(table.sum()) / expected if expected > 0 else np.nan


def _alpha(table: Floats, cost: Floats | None) -> float:
    """Alpha of coincidences `[labels * labels]`; without a cost, by the ordinal difference of these labels."""
    size = math.isqrt(table.size)
    table = table.reshape(size, size)
    pairable = table.sum(axis=1)
    cost = _ordinal(pairable) if cost is None else cost
    expected = float(pairable @ cost @ pairable)
    return 1 - (float(pairable.sum()) - 1) * float(np.sum(table * cost)) / expected if expected > 0 else np.nan


def _ordinal(counts: Floats) -> Floats:
    """Squared ordinal differences `[labels, labels]`: labels given between two ranks, the ends counting half."""
    middle = np.cumsum(counts) - counts / 2
    return np.asarray((middle[:, None] - middle) ** 2)


def _units(items: Floats, groups: Sequence[Hashable] | None) -> tuple[Floats, Floats]:
    """What is resampled: the distinct rows of `items` (or of the sums of their groups), and how often each occurs."""
    if groups is not None:
        if len(groups) != len(items):
            raise ValueError(f"groups: found {len(groups)}; wanted one for each of {len(items)} items")
        numbers = {name: at for at, name in enumerate(dict.fromkeys(groups))}
        sums = np.zeros((len(numbers), items.shape[1]))
        np.add.at(sums, [numbers[one] for one in groups], items)
        items = sums
    rows, often = np.unique(items, axis=0, return_counts=True)
    return rows, often.astype(float)


def _with_interval(
    units: tuple[Floats, Floats], statistic: Callable[[Floats], float], interval: float, draws: int, seed: int
) -> IntervalEstimate:
    """The statistic of the sum of all units and the interval of resampled units (undefined resamples left out)."""
    require_level(interval)
    rows, often = units
    size = int(often.sum())
    estimate = statistic(often @ rows)
    counts = np.random.default_rng(seed).multinomial(size, often / size, size=draws)
    values = np.array([statistic(one) for one in counts @ rows])
    if size < 2:
        return IntervalEstimate(estimate, np.nan, np.nan)
    return percentile_interval(estimate, values, interval)
