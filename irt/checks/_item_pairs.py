"""Do items depend on each other beyond ability? Correlations of residuals, by pair and within groups of items.

Q3 (Yen 1984); Q3* is Q3 minus its mean over pairs, which removes the common shift of about -1/(I - 1). What is large
depends on the numbers of students and items, so the critical value comes from tables that the model itself produced
(Christensen, Makransky & Horton 2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from irt._likelihoods import likelihood_of
from irt._residuals import residuals
from irt._responses import Floats, ResponseMatrix
from irt._tables import residual_correlations
from irt.checks._inputs import ALPHA, optional, require_at_most, require_matching
from irt.checks._residual_fit import REPLICAS, replicas
from irt.checks._tails import holm
from irt.kernels import ItemParameters

FEWEST = 3
"""Students or answers without which a correlation says nothing."""
Indices = NDArray[np.intp]


class Dependence(NamedTuple):
    """`pairs` `item_a,item_b,students,q3,q3_star,p_adjusted,flag,note,sentence`, largest Q3* first; `groups`
    `group,items,pairs,q3,q3_star,p,p_adjusted,flag,note,sentence`; the mean Q3, and the critical value of the largest
    Q3*.
    """

    pairs: pd.DataFrame
    groups: pd.DataFrame
    mean: float
    critical: float


def dependence(
    data: ResponseMatrix,
    items: ItemParameters,
    groups: Mapping[str, str] | None = None,
    replicas_count: int = REPLICAS,
    seed: int = 0,
    largest: int = 10_000,
) -> Dependence:
    """Q3 of all pairs, and its mean within each group (`groups`: label by item, such as the document of a question).

    A pair's `p_adjusted` is the share of replicated tables whose largest Q3* reaches it, so one table in twenty has a
    false flag; a group's p compares its mean Q3* with the replicas, adjusted by Holm. Pairs with fewer than 3 students
    in common, or with an item of fewer than 3 right or 3 wrong answers, are empty. `pairs` holds the `largest` Q3*.
    Raises ValueError when no item of the table has a group's label, and for more than 2,000 items.
    """
    require_matching(data, items)
    require_at_most("Q3", len(data.items))
    members = _members(data, groups or {})
    successes, attempts = data.successes, data.attempts
    first, second = np.triu_indices(len(data.items), 1)
    q3, defined = _q3(successes, attempts, items)
    values, known = q3[first, second], defined[first, second]
    mean = _mean(values, known)
    tops, within = [], []
    answered = likelihood_of(data, items)
    for each in replicas(answered.posterior(), answered, replicas_count, seed):
        table = each.answers[..., 0]
        drawn, fine = _q3(table, attempts, items)
        centre = _mean(drawn[first, second], fine[first, second])
        tops.append(float(np.max(np.where(fine, drawn - centre, -1.0)[first, second], initial=-1.0)))
        within.append([_mean(drawn[pair] - centre, fine[pair]) for pair in members.values()])
    extreme = np.array(tops)
    pairs = _pair_table(data, (first, second), values, known, mean, extreme).head(largest)
    observed = [_mean(q3[pair], defined[pair]) for pair in members.values()]
    gathered = _group_table(members, np.array(observed), mean, np.array(within).reshape(replicas_count, len(members)))
    return Dependence(pairs, gathered, mean, float(np.quantile(extreme, 1 - ALPHA)))


def _q3(successes: Floats, attempts: Floats, items: ItemParameters) -> tuple[Floats, NDArray[np.bool_]]:
    found = residuals(successes, attempts, items)
    q3, known, count = residual_correlations(found.residual / np.maximum(attempts, 1), attempts > 0)
    # Two items that one and the same student missed correlate perfectly: that says nothing.
    rare = np.minimum(successes.sum(axis=0), (attempts - successes).sum(axis=0)) < FEWEST
    known &= (count >= FEWEST) & ~(rare[:, None] | rare)
    return np.where(known, q3, 0.0), known


def _members(data: ResponseMatrix, groups: Mapping[str, str]) -> dict[str, tuple[Indices, Indices]]:
    """Positions of the pairs within each group of at least two items."""
    unknown = [item for item in groups if item not in set(data.items)]
    if len(unknown) == len(groups) and groups:
        raise ValueError(f"groups name item '{unknown[0]}' and no item of the table; wanted labels by item id")
    labels: dict[str, list[int]] = {}
    for index, item in enumerate(data.items):
        if item in groups:
            labels.setdefault(groups[item], []).append(index)
    result = {}
    for label, where in labels.items():
        rows, columns = np.triu_indices(len(where), 1)
        if len(where) > 1:
            result[label] = (np.array(where)[rows], np.array(where)[columns])
    return result


def _mean(values: Floats, known: NDArray[np.bool_]) -> float:
    return float(values[known].mean()) if known.any() else 0.0


def _pair_table(
    data: ResponseMatrix, pair: tuple[Indices, Indices], values: Floats, known: NDArray[np.bool_], mean: float,
    extreme: Floats,
) -> pd.DataFrame:  # fmt: skip
    star = np.where(known, values - mean, -1.0)
    reached = len(extreme) - np.searchsorted(np.sort(extreme), star, side="left")
    p = (1 + reached) / (1 + len(extreme))
    flag = known & (p < ALPHA)
    names = np.array(data.items, dtype=object)
    asked = data.asked.astype(np.float64)
    together = (asked.T @ asked)[pair].astype(int)
    table = pd.DataFrame({"item_a": names[pair[0]], "item_b": names[pair[1]], "students": together})
    table["q3"], table["q3_star"] = optional(values, known), optional(star, known)
    table["p_adjusted"], table["flag"] = optional(p, known), flag
    table["note"] = np.where(known, "", f"fewer than {FEWEST} students in common, or right or wrong answers")
    table["sentence"] = ""
    for row in np.nonzero(flag)[0]:
        table.loc[row, "sentence"] = (
            f"Items '{names[pair[0][row]]}' and '{names[pair[1][row]]}' depend on each other beyond ability (Q3* "
            f"{star[row]:.2f}): one may repeat or give away the other; keep one."
        )
    return table.iloc[np.argsort(-star, kind="stable")].reset_index(drop=True)


def _group_table(
    members: Mapping[str, tuple[Indices, Indices]], observed: Floats, mean: float, within: Floats
) -> pd.DataFrame:
    star = observed - mean if len(members) else np.zeros(0)
    spread = np.maximum(within.std(axis=0, ddof=1), 1e-9) if len(within) > 1 else np.ones(len(members))
    z = (star - within.mean(axis=0)) / spread if len(within) else star
    p = ndtr(-z)
    corrected = holm(p)
    flag = corrected < ALPHA
    sizes = [len(set(pair[0]) | set(pair[1])) for pair in members.values()]
    said = [
        f"The {size} questions of '{label}' depend on each other beyond ability (mean Q3* {value:.2f}): they count for "
        "fewer than they are; intervals are too narrow, so drop some or treat the group as one."
        if bad
        else ""
        for label, size, value, bad in zip(members, sizes, star, flag, strict=True)
    ]
    table = pd.DataFrame(
        {
            "group": list(members),
            "items": sizes,
            "pairs": [len(pair[0]) for pair in members.values()],
            "q3": star + mean,
            "q3_star": star,
            "p": p,
            "p_adjusted": corrected,
            "flag": flag,
            "note": "",
            "sentence": said,
        }
    )
    return table.iloc[np.argsort(p, kind="stable")].reset_index(drop=True)
