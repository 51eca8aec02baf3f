"""Which items leave in a round of pruning: what each is worth, and which groups may not shrink further."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from irt import _tables as tables
from irt import kernels
from irt._responses import Floats, ResponseMatrix
from irt._result import Fit

FEWEST_DRAWS, MOST_DRAWS, CELLS = 100, 1000, 20_000
"""Draws of the parameters: the most for which draws times items stay below `CELLS`, between the fewest and the most."""
NODES = 15
"""Quantiles of the students' abilities at which information is averaged."""
WRONG = "negative discrimination, probable mis-key"
"""How the reason of a probable wrong key begins."""
NEGATIVE = 1.28
"""Standard errors below 0 from which a correlation counts as negative (one-sided 10 %)."""


class Drop(NamedTuple):
    """An item left out, why, and in which round."""

    item: str
    reason: str
    round: int


@dataclass(frozen=True)
class Balance:
    """How much of an exam each group of items must make up.

    `label` names the group of every item, `sizes` the items of each group in the whole exam. Without `shares` no group
    loses more than its part, to within one item; `shares` are the smallest parts that named groups may fall to.
    """

    label: Mapping[str, str]
    sizes: Mapping[str, int]
    shares: Mapping[str, float] | None = None

    def needs(self, count: int, goal: int) -> dict[str, int]:
        """Fewest items of each group in an exam of `count`, on the way to `goal` items."""
        if self.shares is None:
            whole = sum(self.sizes.values())
            return {label: floor(size * count / whole + 1e-9) for label, size in self.sizes.items()}
        # Rounding up at every length could ask for more items than there are; only the end must meet it.
        return {label: max(_up(share * goal), floor(share * count)) for label, share in self.shares.items()}

    def require(self, goal: int) -> None:
        """ValueError, in one line, when the smallest shares cannot be met by `goal` items."""
        for label, share in (self.shares or {}).items():
            wanted, there = _up(share * goal), self.sizes.get(label, 0)
            if not 0 <= share <= 1:
                raise ValueError(f"group '{label}': {share:g} is not a share between 0 and 1")
            if wanted > there:
                raise ValueError(f"group '{label}': found {there} items; wanted {wanted}, {share:.0%} of {goal}")
        total = sum(_up(share * goal) for share in (self.shares or {}).values())
        if total > goal:
            raise ValueError(
                f"the smallest shares of groups take {total} items; wanted at most {goal}, the items to keep"
            )


def balance_of(
    items: Sequence[str], groups: Mapping[str, str] | None, shares: Mapping[str, float] | None, goal: int
) -> Balance:
    """The balance asked for, checked; without groups all items are one group. ValueError says what cannot be met."""
    if groups is None:
        if shares is not None:
            raise ValueError("found shares without groups; wanted a label for every item")
        return Balance(dict.fromkeys(items, ""), {"": len(items)})
    for item in items:
        if item not in groups:
            raise ValueError(f"item '{item}' has no group; wanted a label for every item")
    balance = Balance(groups, Counter(groups[item] for item in items), shares)
    balance.require(goal)
    return balance


def expected_worth(result: Fit, criterion: str, at: Sequence[float] | None = None) -> Floats:
    """Posterior expectation `[I]` of discrimination, or of information over the students' abilities or `at` some.

    An expectation over draws, not the value at an estimate: an item of which little is known counts as what such items
    are worth on average, so that noise is not rewarded.
    """
    if criterion == "discrimination":
        return np.asarray(result.draws["a"].mean(axis=0))
    middles = (np.arange(NODES) + 0.5) / NODES
    nodes = np.quantile(result.draws["theta"], middles) if at is None else np.asarray(at, dtype=np.float64)
    return np.asarray(expected_information(result, nodes).mean(axis=0))


def expected_information(result: Fit, theta: Sequence[float] | Floats) -> Floats:
    """Posterior expectation of each item's information at abilities `theta` `[T]`: `[T, I]`."""
    draws = result.thinned(int(np.clip(CELLS // len(result.data.items), FEWEST_DRAWS, MOST_DRAWS)))
    parameters = [draws[name] for name in "abcd"]
    return np.stack([kernels.information(node, *parameters).mean(axis=0) for node in np.asarray(theta, float)])


def negative_correlations(data: ResponseMatrix) -> Floats:
    """Correlation `[I]` with the rest of the exam where it is credibly negative, else 0."""
    rho = tables.rest_correlation(data)
    error = 1 / np.sqrt(np.maximum(data.asked.sum(axis=0) - 1, 1))
    return np.where(rho < -NEGATIVE * error, rho, 0.0)


def items_to_drop(
    result: Fit, value: Floats, criterion: str, count: int, balance: Balance, goal: int, number: int = 1
) -> list[Drop]:
    """The `count` items worth least in round `number`, negative discriminations before all others, ties in exam order.

    No group falls below what the balance needs, so fewer than `count` may leave, but one at least.
    """
    items = result.data.items
    rho = negative_correlations(result.data)
    symbol = "a = " if criterion == "discrimination" else ""
    whom = " for new levels" if result.design.item_facets else ""
    for length in (len(items) - count, goal):
        left, needs = Counter(balance.label[item] for item in items), balance.needs(length, goal)
        gone: list[Drop] = []
        for index in np.lexsort((value, rho)):
            group = balance.label[items[index]]
            reason = f"{WRONG}: correlation with the rest of the exam {rho[index]:.2f}"
            if rho[index] >= 0:
                reason = f"lowest {criterion}{whom} of {len(items)} items: {symbol}{value[index]:.2f}"
            if len(gone) < count and left[group] > needs.get(group, 0):
                left[group] -= 1
                gone.append(Drop(items[index], reason, number))
        if gone:
            return gone
    raise AssertionError("a balance that can be met always lets an item leave")


def _up(count: float) -> int:
    return ceil(count - 1e-9)
