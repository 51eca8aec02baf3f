"""An item's marginal likelihood in its own coordinates, the other items held: cheap, for they are summed up once.

What the other answers say of a student is his posterior on the nodes without the item. Given these rows, value,
gradient and observed information (Louis 1982) of the item's coordinates are a few products of a matrix and a vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from irt._responses import Floats
from irt.fitting._coordinates import ROWS, Curves, curvature, curves, gradient_and_information, score_weights
from irt.fitting._em import AnswerPatterns, shortened, within
from irt.kernels import RUNAWAY

STEPS, NEGLIGIBLE = 30, 1e-4
"""Newton steps at most, and the gain in log-likelihood at which they end."""
BINS = 128
"""Rows that stand for all who gave the same answer to an item."""

Mask = NDArray[np.bool_]


class ItemAnswerGroup(NamedTuple):
    """Rows of a table that were asked an item as often, with as many right; `weights` `[N, Q]` of the other answers."""

    right: float
    asked: float
    rows: NDArray[np.int64]
    counts: Floats
    weights: Floats


class Seen(NamedTuple):
    """Log-likelihood up to a constant, gradient `[K]` and observed information `[K, K]`."""

    value: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True)
class ItemAlone:
    """The likelihood of one item's coordinates `[K]`."""

    nodes: Floats
    groups: tuple[ItemAnswerGroup, ...]

    def merged(self) -> ItemAlone:
        """The same with rows of nearly equal posteriors as one: `BINS` neighbours in expected ability at most."""
        return ItemAlone(self.nodes, tuple(_merged(group, self.nodes) for group in self.groups))

    def seen(self, y: Floats) -> Seen:
        """Value and derivatives at `y`."""
        at = curves(y[:, None], self.nodes)
        right, asked = np.zeros_like(at.p), np.zeros_like(at.p)
        value, lost = 0.0, np.zeros((len(y), len(y)))
        for group in self.groups:
            chance, marginal = _chance(at, group)
            value += float(group.counts @ np.log(marginal))
            mass = chance * ((group.counts / marginal) @ group.weights)
            right[:, 0] += group.right * mass
            asked[:, 0] += group.asked * mass
            rises = [(group.right * plus - group.asked * minus)[:, 0] for plus, minus in score_weights(at)]
            scores = np.stack([at.nodes**power * rises[part] for part, power in ROWS[: len(y)]], axis=1)
            means = (group.weights @ (chance[:, None] * scores)) / marginal[:, None]
            lost += (mass[:, None] * scores).T @ scores - (group.counts[:, None] * means).T @ means
        gradient, _ = gradient_and_information(at, right, asked)
        return Seen(value, gradient[:, 0], curvature(at, right, asked)[0] - lost)

    def maximum(self, y: Floats, free: Mask) -> tuple[Floats, Seen]:
        """The highest point that Newton steps over the coordinates `free` `[K]` reach from `y`."""
        seen = self.seen(y)
        for _ in range(STEPS):
            step = np.zeros_like(y)
            step[free] = _uphill(seen.information[np.ix_(free, free)], seen.gradient[free])
            if 0.5 * float(step @ seen.gradient) < NEGLIGIBLE:
                break
            step = shortened(step[:, None])[:, 0]
            for length in (1.0, 0.3, 0.1, 0.03):
                trial = within((y + length * step)[:, None])[:, 0]
                trial[0] = np.clip(trial[0], -RUNAWAY, RUNAWAY)
                new = self.seen(trial)
                if new.value > seen.value:
                    break
            else:
                break
            y, seen = trial, new
        return y, seen

    def posteriors(self, y: Floats) -> Iterator[tuple[ItemAnswerGroup, Floats]]:
        """Each group with the posteriors of its rows `[N, Q]` when the item's coordinates are `y`."""
        at = curves(y[:, None], self.nodes)
        for group in self.groups:
            chance, marginal = _chance(at, group)
            yield group, group.weights * chance / marginal[:, None]


def log_likelihoods(table: AnswerPatterns, at: Curves) -> Floats:
    """Log-likelihoods `[R, Q]` of every row's answers at the nodes."""
    wrong = at.log_wrong @ table.trials if table.attempts is None else table.attempts @ at.log_wrong.T
    return np.asarray(table.successes @ at.log_odds.T + wrong)


def item_alone(table: AnswerPatterns, joint: Floats, at: Curves, item: int) -> ItemAlone:
    """The likelihood of `item`, from the log-likelihoods `joint` `[R, Q]` of all answers and all items' curves."""
    right = table.successes[:, item]
    asked = np.broadcast_to(table.trials[item], right.shape) if table.attempts is None else table.attempts[:, item]
    groups = []
    for n, k in np.unique(np.stack([asked, right], axis=1)[asked > 0], axis=0):
        rows = np.flatnonzero((asked == n) & (right == k))
        others = joint[rows] - (k * at.log_odds[:, item] + n * at.log_wrong[:, item])
        weights = table.weighed(others, at.nodes, rows).weights
        groups.append(ItemAnswerGroup(float(k), float(n), rows, table.counts[rows], weights))
    return ItemAlone(at.nodes, tuple(groups))


def _merged(group: ItemAnswerGroup, nodes: Floats) -> ItemAnswerGroup:
    if len(group.rows) <= BINS:
        return group
    order = np.argsort(group.weights @ nodes)
    starts = np.linspace(0, len(order), BINS, endpoint=False).astype(np.int64)
    counts = np.add.reduceat(group.counts[order], starts)
    sums = np.add.reduceat((group.counts[:, None] * group.weights)[order], starts, axis=0)
    return ItemAnswerGroup(group.right, group.asked, group.rows[order[starts]], counts, sums / counts[:, None])


def _chance(at: Curves, group: ItemAnswerGroup) -> tuple[Floats, Floats]:
    """Probability of the group's answers at each node `[Q]`, and of each row's, ability integrated `[N]`."""
    chance = np.exp(group.right * at.log_odds[:, 0] + group.asked * at.log_wrong[:, 0])
    return chance, np.maximum(group.weights @ chance, 1e-300)


def _uphill(information: Floats, gradient: Floats) -> Floats:
    """A Newton step, uphill also where the information is not positive definite."""
    sizes, axes = np.linalg.eigh(information)
    sizes = np.maximum(np.abs(sizes), 1e-6 * np.max(np.abs(sizes)) + 1e-12)
    return np.asarray(axes @ ((axes.T @ gradient) / sizes))
