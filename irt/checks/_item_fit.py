"""Does each item follow its curve? S-X2 compares shares right with those expected at every score.

Orlando & Thissen (2000, 2003). Students are grouped by their number right, which is observed, so the statistic has its
chi-square distribution where statistics grouped by estimated ability do not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from irt._responses import Floats, ResponseMatrix
from irt.checks._inputs import (
    ALPHA,
    AbilityQuadrature,
    complete_scores,
    false_discovery_rates,
    optional,
    population,
    require_at_most,
    require_known_model,
    require_matching,
)
from irt.kernels import ItemParameters


def s_x2(data: ResponseMatrix, items: ItemParameters, model: str = "2pl", smallest: float = 1.0) -> pd.DataFrame:
    """`item,s_x2,df,p,p_adjusted,rmsea,flag,note,sentence` for abilities Normal(0, 1).

    Neighbouring scores are merged until every expected count of right and of wrong answers is at least `smallest`. `df`
    is the number of merged scores minus the parameters `model` estimates per item. Without a degree of freedom left the
    row is empty and `note` says so. `p_adjusted` is Benjamini and Hochberg's. Raises ValueError for several trials per
    answer, for fewer than 20 complete rows, and for more than 2,000 items.
    """
    free = require_known_model(model)
    require_matching(data, items)
    require_at_most("S-X2", len(data.items))
    scores, left_out = complete_scores(data, "S-X2")
    totals = scores.sum(axis=1).astype(int)
    count = np.bincount(totals, minlength=scores.shape[1] + 1)[1:-1].astype(np.float64)
    statistic, cells = np.zeros(len(data.items)), np.zeros(len(data.items), dtype=int)
    for index, expected in enumerate(expected_shares(population(items))):
        right = np.asarray(np.bincount(totals, scores[:, index], scores.shape[1] + 1)[1:-1], dtype=np.float64)
        observed, wanted = _merged(right, count - right, expected * count, (1 - expected) * count, smallest)
        statistic[index] = float(((observed - wanted) ** 2 / wanted).sum())
        cells[index] = len(observed)
    df = cells - free
    return _table(data, statistic, df, len(scores), left_out, cells, free)


def expected_shares(where: AbilityQuadrature) -> Iterator[Floats]:
    """For each item, its expected share right among students with 1 to I - 1 right `[I - 1]`."""
    for (_, others), own in zip(_without_each(where.p, np.ones((len(where.p), 1)), 0), where.p.T, strict=True):
        right = where.weights @ (own[:, None] * others[:, :-1])
        wrong = where.weights @ ((1 - own)[:, None] * others[:, 1:])
        total = right + wrong
        yield np.divide(right, total, out=np.full(len(total), 0.5), where=total > 0)


def _without_each(p: Floats, rest: Floats, first: int) -> Iterator[tuple[int, Floats]]:
    """Score distributions of all items but one, by halving: I log I steps, and no subtraction that could cancel."""
    if p.shape[1] == 1:
        yield first, rest
        return
    half = p.shape[1] // 2
    yield from _without_each(p[:, :half], added(rest, p[:, half:]), first)
    yield from _without_each(p[:, half:], added(rest, p[:, :half]), first + half)


def added(distribution: Floats, p: Floats) -> Floats:
    """Chances of each number right `[Q, K]`, answers with chances `p` `[Q, I]` added (Lord & Wingersky 1984)."""
    start = distribution.shape[1]
    result = np.zeros((len(p), start + p.shape[1]))
    result[:, :start] = distribution
    for index in range(p.shape[1]):
        own, size = p[:, index, None], start + index
        result[:, 1 : size + 1] = result[:, 1 : size + 1] * (1 - own) + result[:, :size] * own
        result[:, 0] *= 1 - own[:, 0]
    return result


def _merged(right: Floats, wrong: Floats, e_right: Floats, e_wrong: Floats, smallest: float) -> tuple[Floats, Floats]:
    """Observed and expected counts `[G, 2]`: a cell that expects too few joins the neighbour with fewer students."""
    kept = right + wrong > 0
    observed = [np.array(pair) for pair in zip(right[kept], wrong[kept], strict=True)]
    expected = [np.array(pair) for pair in zip(e_right[kept], e_wrong[kept], strict=True)]
    while len(expected) > 1:
        sparse = next((row for row, cell in enumerate(expected) if cell.min() < smallest), None)
        if sparse is None:
            break
        near = [row for row in (sparse - 1, sparse + 1) if 0 <= row < len(expected)]
        into = min(near, key=lambda row: float(observed[row].sum()))
        observed[into] = observed[into] + observed[sparse]
        expected[into] = expected[into] + expected[sparse]
        del observed[sparse], expected[sparse]
    found, wanted = np.array(observed).reshape(-1, 2), np.array(expected).reshape(-1, 2)
    return found, np.maximum(wanted, 1e-12)


def _table(
    data: ResponseMatrix, statistic: Floats, df: Floats, students: int, left_out: str, cells: Floats, free: int
) -> pd.DataFrame:
    known = df >= 1
    safe = np.maximum(df, 1)
    p = chdtrc(safe, statistic)
    corrected = false_discovery_rates(p, known)
    flag = known & (corrected < ALPHA)
    few = [f"too few groups of scores ({count}) for {free} parameters" for count in cells]
    notes = ["; ".join(filter(None, (left_out, "" if fine else lack))) for fine, lack in zip(known, few, strict=True)]
    said = [
        f"Item '{item}' does not follow its curve (S-X2 {value:.1f}, df {freedom}, adjusted p {chance:.2g}): read it "
        "for a second right answer, a trick, or a wrong key."
        if bad
        else ""
        for item, value, freedom, chance, bad in zip(data.items, statistic, df, corrected, flag, strict=True)
    ]
    return pd.DataFrame(
        {
            "item": list(data.items),
            "s_x2": optional(statistic, known),
            "df": np.maximum(df, 0),
            "p": optional(p, known),
            "p_adjusted": optional(corrected, known),
            "rmsea": optional(np.sqrt(np.maximum(statistic - df, 0) / (safe * max(students - 1, 1))), known),
            "flag": flag,
            "note": notes,
            "sentence": said,
        }
    )
