"""Probable wrong keys: items that better students get wrong, and the option they choose instead.

An item is suspected when right answers do not rise with the score on the other items. Where the chosen options are
known, another option is suggested as the key when choosing it rises with that score, and does so more than the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from irt._responses import Floats, ResponseMatrix, require_matrix
from irt._tables import rest_correlation
from irt.checks._inputs import ALPHA, false_discovery_rates, optional
from irt.checks._tails import REACH, holm
from irt.kernels import ItemParameters

FEWEST_TAKERS = 5
"""Takers below which an option's correlation is chance."""
FEWEST_STUDENTS = 10
"""Answers below which Fisher's z is far from normal."""
Mask = NDArray[np.bool_]


class Suggestion(NamedTuple):
    """An option, and the correlation of choosing it with the share right on the other items, with a 95 % interval.

    `p` is the one-sided chance that it comes out positive, and larger than the key's, by this much.
    """

    option: str
    correlation: float
    low: float
    high: float
    p: float


def miskeys(
    data: ResponseMatrix,
    options: pd.DataFrame | None = None,
    key: Mapping[str, object] | None = None,
    items: ItemParameters | None = None,
) -> pd.DataFrame:
    """`item,key,discrimination,rest_correlation,low,high,p,p_adjusted,suggested,suggested_correlation,
    suggested_low,suggested_high,suggested_p,flag,note,sentence`, suggestions first, then the lowest rest correlation.

    `rest_correlation` is that of the item with the share right on the others, with a 95 % interval (Fisher's z); `p` is
    the one-sided chance of one as low, `p_adjusted` Benjamini and Hochberg's. `options` has one row per student (its
    index; a plain range of numbers means their order) and one column per item (the chosen option, empty if none), `key`
    the keyed option by item. Items whose correlation is not
    significantly positive are searched for a better key: an option with at least 5 takers that correlates positively
    and more than the key (dependent correlations; Meng, Rosenthal & Rubin 1992). It is `suggested` when `suggested_p`,
    adjusted by Holm over all options so searched, is below 5 %. Flagged are items with a significantly negative
    correlation, a negative discrimination in `items`, or a suggestion. Raises ValueError when only one of `options` and
    `key` is given, or when they do not cover the table.
    """
    require_matrix(data)
    if (options is None) != (key is None):
        raise ValueError("found one of options and key; wanted both, or neither")
    rho, count = rest_correlation(data), data.asked.sum(axis=0)
    known = (np.abs(rho) > 0) & (count >= FEWEST_STUDENTS)
    low, high = _interval(rho, count)
    p = ndtr(np.arctanh(np.clip(rho, -0.999999, 0.999999)) * np.sqrt(np.maximum(count - 3, 1)))
    corrected = false_discovery_rates(p, known)
    found: dict[str, Suggestion] = {}
    if options is not None and key is not None:
        found = suggested_keys(data, options, key)
    table = pd.DataFrame({"item": list(data.items)})
    table["key"] = [str(key[item]) if key else "" for item in data.items]
    slope = np.zeros(len(rho)) if items is None else np.asarray(items.a)
    table["discrimination"] = optional(slope, np.full(len(rho), items is not None))
    found_of = {"rest_correlation": rho, "low": low, "high": high, "p": p, "p_adjusted": corrected}
    for name, values in found_of.items():
        table[name] = optional(values, known)
    return _finished(table, found, known & (corrected < ALPHA), known)


def suggested_keys(data: ResponseMatrix, options: pd.DataFrame, key: Mapping[str, object]) -> dict[str, Suggestion]:
    """The most convincing other key of each suspected item, its p adjusted over all options that were considered."""
    chosen = chosen_options(data, options, key)
    candidates: list[tuple[str, Suggestion]] = []
    for index, item in enumerate(data.items):
        asked = data.asked[:, index]
        rest, answers, keyed = _rest_share(data, index)[asked], chosen[asked, index], str(key[item])
        right = np.asarray(answers == keyed)
        if len(rest) < FEWEST_STUDENTS or rest.std() < 1e-12 or _positive(_correlation(right, rest), len(rest)) < ALPHA:
            continue
        others = sorted(set(answers) - {"", keyed})
        takers = [(option, np.asarray(answers == option)) for option in others]
        candidates += [
            (item, _judged(option, taken, right, rest)) for option, taken in takers if taken.sum() >= FEWEST_TAKERS
        ]
    corrected = holm(np.array([one.p for _, one in candidates]))
    best: dict[str, Suggestion] = {}
    for (item, one), p in zip(candidates, corrected, strict=True):
        if p < ALPHA and (item not in best or p < best[item].p):
            best[item] = one._replace(p=float(p))
    return best


def _judged(option: str, taken: Mask, right: Mask, rest: Floats) -> Suggestion:
    """Is the option's correlation positive, and larger than the key's? The less certain of the two counts."""
    count, rho, keyed = len(rest), _correlation(taken, rest), _correlation(right, rest)
    square = (rho**2 + keyed**2) / 2
    between = _correlation(taken, right.astype(np.float64))
    f = min((1 - between) / (2 * (1 - square)), 1.0)
    h = (1 - f * square) / (1 - square)
    gap = (np.arctanh(rho) - np.arctanh(keyed)) * np.sqrt((count - 3) / (2 * (1 - between) * h))
    low, high = _interval(rho, count)
    return Suggestion(option, rho, float(low), float(high), max(float(ndtr(-gap)), _positive(rho, count)))


def _correlation(chosen: Mask, other: Floats) -> float:
    if chosen.all() or not chosen.any() or np.ptp(other) == 0:
        return 0.0
    return float(np.clip(np.corrcoef(chosen, other)[0, 1], -0.999999, 0.999999))


def _positive(rho: float, count: int) -> float:
    """One-sided p of a correlation (Fisher's z)."""
    return float(ndtr(-np.arctanh(rho) * np.sqrt(max(count - 3, 1))))


def _interval(rho: Any, count: Any) -> tuple[Any, Any]:
    reach = REACH / np.sqrt(np.maximum(np.asarray(count) - 3, 1))
    centre = np.arctanh(np.clip(rho, -0.999999, 0.999999))
    return np.tanh(centre - reach), np.tanh(centre + reach)


def _rest_share(data: ResponseMatrix, index: int) -> Floats:
    k, n = data.successes, data.attempts
    right, tried = k.sum(axis=1) - k[:, index], n.sum(axis=1) - n[:, index]
    return np.asarray(right / np.maximum(tried, 1))


def chosen_options(data: ResponseMatrix, options: pd.DataFrame, key: Mapping[str, object]) -> NDArray[np.object_]:
    """Chosen options `[S, I]` as text, '' where none; whole numbers lose a trailing '.0'."""
    columns = {str(name): name for name in options.columns}
    for item in data.items:
        if item not in columns:
            raise ValueError(f"the chosen options have no column for item '{item}'")
        if item not in key:
            raise ValueError(f"the key has no option for item '{item}'")
    table = options[[columns[item] for item in data.items]].iloc[_rows_of(data.students, options.index)]
    texts = [["" if pd.isna(value) else _text(value) for value in row] for row in table.itertuples(index=False)]
    return np.array(texts, dtype=object).reshape(len(data.students), len(data.items))


def _rows_of(students: Sequence[str], index: pd.Index) -> list[int]:
    """Positions of the students in the index of a table of options, which are their order where it names nobody."""
    if isinstance(index, pd.RangeIndex):
        if len(index) != len(students):
            raise ValueError(f"the chosen options have {len(index)} rows; wanted {len(students)}, one per student")
        return list(range(len(index)))
    rows = {str(name): position for position, name in enumerate(index)}
    for student in students:
        if student not in rows:
            raise ValueError(f"the chosen options have no row of student '{student}'; the table has that student")
    return [rows[student] for student in students]


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _finished(table: pd.DataFrame, found: Mapping[str, Suggestion], negative: Mask, known: Mask) -> pd.DataFrame:
    picks = [found.get(item) for item in table["item"]]
    has = np.array([pick is not None for pick in picks], dtype=bool)
    empty = Suggestion("", 0.0, 0.0, 0.0, 1.0)
    table["suggested"] = [(pick or empty).option for pick in picks]
    for name in ("correlation", "low", "high", "p"):
        table[f"suggested_{name}"] = optional([getattr(pick or empty, name) for pick in picks], has)
    table["flag"] = negative | has
    lack = f"answers that do not vary, or fewer than {FEWEST_STUDENTS} students"
    table["note"] = np.where(known, "", lack)
    table["sentence"] = [
        _sentence(row.item, row.key, pick, bool(bad))
        for row, pick, bad in zip(table.itertuples(), picks, negative, strict=True)
    ]
    correlation = table["rest_correlation"].to_numpy(dtype=np.float64, na_value=2.0)
    return table.iloc[np.lexsort((correlation, ~has))].reset_index(drop=True)


def _sentence(item: object, key: object, pick: Suggestion | None, negative: bool) -> str:
    if pick is not None:
        return (
            f"Item '{item}' is probably keyed wrongly: the more students get right elsewhere, the more choose "
            f"'{pick.option}' (correlation {pick.correlation:.2f}, 95 % {pick.low:.2f} to {pick.high:.2f}), not the "
            f"key '{key}'; check whether '{pick.option}' is right."
        )
    if negative:
        return f"Item '{item}' is answered worse by better students: check its key, or drop it."
    return ""
