"""Students whose answers agree far more than their abilities explain: the same system entered twice, or near copies.

Given ability and items, two students' residuals are independent. Their summed product, the locally most powerful
statistic against a shared cause, is compared with its distribution (saddlepoint approximation: with many easy items it
is too skewed for a normal one), after removing what is common to all pairs of the table, such as a second ability.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from irt._residuals import Residuals, residuals
from irt._responses import Floats, ResponseMatrix
from irt.checks._inputs import ALPHA, listed, optional, require_matching
from irt.checks._tails import holm, upper_tail
from irt.kernels import ItemParameters

FEWEST_ITEMS = 10
"""Common items below which chance makes answers agree."""
MOST_EXACT = 500
"""Pairs whose tail is computed by saddlepoint: those beyond are far from significant."""
Indices = NDArray[np.intp]


class Duplicates(NamedTuple):
    """`pairs` `student_a,student_b,items,agreement,expected,residual_correlation,p,p_adjusted,identical,flag,note,
    sentence`, most alike first; `groups` `group,students,members,residual_correlation,counts_as,flag,note,sentence`;
    and how many independent students the table is worth.
    """

    pairs: pd.DataFrame
    groups: pd.DataFrame
    effective_students: float


def duplicates(data: ResponseMatrix, items: ItemParameters, least: float = 0.5, largest: int = 50) -> Duplicates:
    """Pairs whose residual correlation is significant (Holm over all pairs) and at least `least`.

    Their answers must agree as much, too: by `least` of the way from what the abilities explain to all of them. Two who
    answer out of order, such as with the scale turned round, have residuals alike on the few items that are very easy
    or hard to them, while copies agree on all.

    The table holds the `largest` most extreme pairs and every flagged or identical one (students of like ability may
    answer a short or steep exam identically by chance). `agreement` is the share of equal answers
    and `expected` what the abilities explain of it (empty for counts). Flagged pairs are joined to groups; a group of m
    with mean residual correlation r counts as m / (1 + (m - 1) r) students. Pairs with fewer than 10 items in common
    are not judged. Raises ValueError when no pair has that many.
    """
    require_matching(data, items)
    found = residuals(data.successes, data.attempts, items)
    together = data.asked.astype(np.float64) @ data.asked.T.astype(np.float64)
    first, second = np.triu_indices(len(data.students), 1)
    judged = together[first, second] >= FEWEST_ITEMS
    first, second = first[judged], second[judged]
    if not len(first):
        raise ValueError(f"no two students were asked {FEWEST_ITEMS} common items; copies cannot be told")
    correlation, p = _compared(found, data.attempts, first, second)
    corrected = holm(p)
    flag = (corrected < ALPHA) & (correlation >= least)
    if data.attempts.max() <= 1:  # agreement is defined
        flag[flag] = _agreement(data, found, first[flag], second[flag]).beyond >= least
    order = np.lexsort((-correlation, p))
    must = flag | _identical(data, first, second)
    kept = order[must[order] | (np.arange(len(order)) < largest)]
    pairs = _pair_table(data, found, first[kept], second[kept], correlation[kept], p[kept], corrected[kept], flag[kept])
    groups = _group_table(data, first[flag], second[flag], found)
    lost = float((groups["students"] - groups["counts_as"]).sum())
    worth = len(data.students) - lost
    if len(groups):
        total = f"Altogether the {len(data.students)} students are worth about {worth:.0f}."
        groups.loc[0, "sentence"] = f"{groups['sentence'].iloc[0]} {total}"
    return Duplicates(pairs, groups, worth)


def _compared(found: Residuals, attempts: Floats, first: Indices, second: Indices) -> tuple[Floats, Floats]:
    """Residual correlation and upper-tail p of each pair."""
    correlation = _correlation(found)[first, second]
    product = (found.residual @ found.residual.T)[first, second]
    sd = np.sqrt(np.maximum((found.variance @ found.variance.T)[first, second], 1e-24))
    z = product / sd
    centre = float(np.median(z))
    # A spread beyond 1 is what the whole table shares; only what stands out from it points to copies.
    scale = max(1.0, 1.4826 * float(np.median(np.abs(z - centre))))
    z = (z - centre) / scale
    p = ndtr(-z)
    extreme = np.argsort(-z)[:MOST_EXACT]
    extreme = extreme[z[extreme] > 2]
    if len(extreme):
        values, chances = _products(found, attempts, first[extreme], second[extreme])
        p[extreme] = upper_tail(values, chances, z[extreme] * sd[extreme])
    return correlation, p


class _Agreement(NamedTuple):
    """Items both of a pair were asked, equal answers among them, and the share expected at their abilities, `[P]`."""

    size: Floats
    same: Floats
    expected: Floats

    @property
    def beyond(self) -> Floats:
        """Agreement beyond the expected share, as a part of what is left to agree on."""
        return np.asarray((self.same / self.size - self.expected) / np.maximum(1 - self.expected, 1e-9))


def _agreement(data: ResponseMatrix, found: Residuals, first: Indices, second: Indices) -> _Agreement:
    both = data.asked[first] & data.asked[second]
    same = both & (data.successes[first] == data.successes[second]) & (data.attempts[first] == data.attempts[second])
    size = both.sum(axis=1)
    ours, theirs = found.p[first], found.p[second]
    expected = np.where(both, ours * theirs + (1 - ours) * (1 - theirs), 0.0).sum(axis=1) / size
    return _Agreement(size, same.sum(axis=1), expected)


def _correlation(found: Residuals) -> Floats:
    """Uncentred correlations `[S, S]` of residuals over the items both were asked."""
    used = (found.variance > 0).astype(np.float64)
    squares = found.residual**2 @ used.T
    norm = np.sqrt(squares * squares.T)
    cross = found.residual @ found.residual.T
    return np.divide(cross, norm, out=np.zeros_like(norm), where=norm > 1e-12)


def _products(found: Residuals, attempts: Floats, first: Indices, second: Indices) -> tuple[Floats, Floats]:
    """Every value `[R, I, K]` of a pair's residual product on each item, with its probability."""
    from scipy.special import comb

    count = np.arange(int(attempts.max(initial=1.0)) + 1)
    n, p = attempts[..., None], found.p[..., None]
    chance = np.where(count <= n, comb(n, count) * p**count * (1 - p) ** np.maximum(n - count, 0), 0.0)
    value = np.where(count <= n, count - n * p, 0.0)
    values = value[first][..., :, None] * value[second][..., None, :]
    chances = chance[first][..., :, None] * chance[second][..., None, :]
    shape = (len(first), attempts.shape[1], len(count) ** 2)
    return values.reshape(shape), chances.reshape(shape)


def _identical(data: ResponseMatrix, first: Indices, second: Indices) -> NDArray[np.bool_]:
    """Whether the pair has the same cells asked and the same answers."""
    rows = np.hstack([data.successes, data.attempts])
    _, code = np.unique(rows, axis=0, return_inverse=True)
    return np.asarray(code.ravel()[first] == code.ravel()[second])


def _pair_table(
    data: ResponseMatrix, found: Residuals, first: Indices, second: Indices, correlation: Floats, p: Floats,
    corrected: Floats, flag: NDArray[np.bool_],
) -> pd.DataFrame:  # fmt: skip
    size, same, expected = _agreement(data, found, first, second)
    single = np.full(len(first), data.attempts.max() <= 1)
    names = np.array(data.students, dtype=object)
    identical = same == size
    said = [
        f"Students '{one}' and '{other}' {'give identical answers' if exact else 'answer almost alike'} on {count} "
        f"items (residual correlation {rho:.2f}): probably one system twice."
        if bad
        else ""
        for one, other, exact, count, rho, bad in zip(
            names[first], names[second], identical, size, correlation, flag, strict=True
        )
    ]
    return pd.DataFrame(
        {
            "student_a": names[first],
            "student_b": names[second],
            "items": size,
            "agreement": optional(same / size, single),
            "expected": optional(expected, single),
            "residual_correlation": correlation,
            "p": p,
            "p_adjusted": corrected,
            "identical": identical,
            "flag": flag,
            "note": np.where(single, "", "counts of trials: agreement is not defined"),
            "sentence": said,
        }
    )


def _group_table(data: ResponseMatrix, first: Indices, second: Indices, found: Residuals) -> pd.DataFrame:
    groups = _connected(first, second)
    rows: list[dict[str, object]] = []
    for number, members in enumerate(groups, start=1):
        names = [data.students[index] for index in members]
        block = _correlation(Residuals(*(values[members] for values in found)))
        rho = float(np.clip(block[np.triu_indices(len(members), 1)].mean(), 0, 1))
        worth = len(members) / (1 + (len(members) - 1) * rho)
        rows.append(
            {
                "group": number,
                "students": len(members),
                "members": ", ".join(names),
                "residual_correlation": rho,
                "counts_as": worth,
                "flag": True,
                "note": "",
                "sentence": f"Students {listed(names)} answer alike (residual correlation {rho:.2f}) and count as "
                f"about {worth:.1f} instead of {len(members)}: keep one of them, or intervals are too narrow.",
            }
        )
    columns = ["group", "students", "members", "residual_correlation", "counts_as", "flag", "note", "sentence"]
    return pd.DataFrame(rows, columns=columns)


def _connected(first: Indices, second: Indices) -> list[list[int]]:
    """Connected groups of the pairs, each in ascending order."""
    from scipy.cluster.hierarchy import DisjointSet  # takes a while to load

    groups = DisjointSet([*first.tolist(), *second.tolist()])
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        groups.merge(one, other)
    return sorted(sorted(group) for group in groups.subsets())
