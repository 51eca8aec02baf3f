"""Combinations of two components that do better or worse than their parts add up to.

For every pair of facets, the answers of a combination are compared with what the fit's components alone expect of it,
question by question; what a whole row or column misses is taken out. Intervals and p-values are simultaneous over all
combinations of all pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from examcore import INTERVAL_LEVEL
from examcore.page import joined, p_value, percent, points
from irt import mean_probability
from irt.plots import records
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._fitted_model import FittedModel
from ragexam.report._page_parts import (
    NO_MODEL,
    PageSection,
    PageTable,
    TableCell,
    TableRow,
    column_heads,
    number_cell,
    points_cell,
    table_row,
)
from ragexam.report._response_scores import MEASURES, bound_of, row_interval, simultaneous_means

SHOWN = 12
"""Combinations in the table where fewer than that are clear."""
_EXPECTED_DRAWS = 100
"""Draws of the expected shares: their mean then misses that of all draws by a tenth of a standard deviation."""
_MOST_CELLS = 2000
"""Combinations that are tested; more would take minutes, and no reader looks at them."""
COLUMNS = ("facet", "level", "other_facet", "other_level", *MEASURES)


def combination_departures(model: FittedModel) -> pd.DataFrame:
    """`facet,level,other_facet,other_level,estimate,low,high,z,p_adjusted`, the clearest first.

    `estimate` is observed minus expected share right of the combination; empty where fewer than two components of the
    fit have two levels, and where there are more than 2,000 combinations.
    """
    found = _cells(model)
    return pd.DataFrame(columns=list(COLUMNS)) if found is None else simultaneous_means(*found, COLUMNS[:4])


def level_departures(model: FittedModel) -> pd.DataFrame:
    """`facet,level,estimate,low,high,z,p_adjusted`: by how much each level's accuracy misses what the fit expects.

    Observed minus expected share right over all questions; empty for a fit without components and for ratings.
    """
    fit, shown = model.fit, {one.facet: one.levels for one in model.draws}
    terms = [term for term in fit.design.terms if len(term.facets) == 1 and not term.smooth]
    names = [(term.name, level) for term in terms for level in shown[term.name]]
    if not names or fit.graded is not None:
        return pd.DataFrame(columns=[*COLUMNS[:2], *COLUMNS[4:]])
    misses = _misses(model)
    columns = [_mean(misses[term.level_of == place]) for term in terms for place in range(len(term.levels))]
    return simultaneous_means(names, np.nan_to_num(np.stack(columns, axis=1)), COLUMNS[:2])


def _cells(model: FittedModel) -> tuple[list[tuple[str, str, str, str]], NDArray[np.float64]] | None:
    """The combinations, and by question `[I, C]` by how much each misses what its parts expect."""
    fit = model.fit
    terms = [term for term in fit.design.terms if len(term.facets) == 1 and not term.smooth and len(term.levels) > 1]
    pairs = list(itertools.combinations(terms, 2))
    if not pairs or fit.graded is not None or sum(len(a.levels) * len(b.levels) for a, b in pairs) > _MOST_CELLS:
        return None
    shown = {one.facet: one.levels for one in model.draws}
    misses = _misses(model)
    names: list[tuple[str, str, str, str]] = []
    columns: list[NDArray[np.float64]] = []
    for a, b in pairs:
        cells = np.full((len(fit.data.items), len(a.levels), len(b.levels)), np.nan)
        for i, j in itertools.product(range(len(a.levels)), range(len(b.levels))):
            cells[:, i, j] = _mean(misses[(a.level_of == i) & (b.level_of == j)])
        tried = ~np.isnan(cells).all(axis=0)
        centred = _centred(np.nan_to_num(cells)) if tried.all() else np.nan_to_num(cells)
        for i, j in zip(*np.nonzero(tried), strict=True):
            names.append((a.name, shown[a.name][i], b.name, shown[b.name][j]))
            columns.append(centred[:, i, j])
    return names, np.stack(columns, axis=1)


def _misses(model: FittedModel) -> NDArray[np.float64]:
    """Observed minus expected share right `[S, I]`, NaN where a question was not asked."""
    data = model.fit.data
    return np.where(data.asked, data.proportions - _expected(model), np.nan)


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over the pipelines that answered, by question `[I]`; NaN where none did."""
    answered = (~np.isnan(rows)).sum(axis=0)
    return np.where(answered > 0, np.nansum(rows, axis=0) / np.maximum(answered, 1), np.nan)


def _expected(model: FittedModel) -> NDArray[np.float64]:
    """Probability of a right answer `[S, I]` by the components alone, without what is a pipeline's own."""
    fit = model.fit
    thin = fit.thinned(_EXPECTED_DRAWS)
    parts = np.sum(
        [thin[f"effect.{term.name}"][:, term.level_of] for term in fit.design.terms if len(term.facets) == 1], axis=0
    )
    parts = parts + (thin["theta"] - parts).mean(axis=1, keepdims=True)
    return np.asarray(mean_probability(parts, *(thin[name] for name in "abcd")))


def _centred(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Without what a whole row or a whole column misses, `[I, R, C]`."""
    rows, columns = cells.mean(axis=2, keepdims=True), cells.mean(axis=1, keepdims=True)
    return np.asarray(cells - rows - columns + cells.mean(axis=(1, 2), keepdims=True))


def interactions_section(model: FittedModel | None) -> PageSection:
    """How many combinations stand out and how far, the clearest as a table."""
    if model is None:
        return NO_MODEL
    found = combination_departures(model)
    if found.empty:
        return PageSection(("Fewer than two components have levels to combine: there is nothing to add up.",))
    clear = found[found["p_adjusted"] <= 1 - INTERVAL_LEVEL]
    lines = [_count(len(found), clear)]
    choices = [row for row in records(clear) if not (bound_of(row["level"]) or bound_of(row["other_level"]))]
    if len(clear):
        lines.append(_consequence(choices))
    return PageSection(lines, tables=(_table(found.head(max(SHOWN, len(clear)))),))


def _count(n: int, clear: pd.DataFrame) -> str:
    tested = f"Of {n} combinations of two components"
    if clear.empty:
        return (
            f"{tested} none stands out from what its parts add up to (all tested together at "
            f"{percent(INTERVAL_LEVEL)}): as far as these questions can tell, the effects of components add up."
        )
    verb = "stands" if len(clear) == 1 else "stand"
    return (
        f"{tested} {len(clear)} {verb} out from what the parts add up to; all were tested together, so that with "
        "nothing behind them one exam in ten would show any."
    )


def _consequence(choices: Sequence[Mapping[Any, Any]]) -> str:
    if not choices:
        return "All of them involve a bound (closed book or oracle): choosing by components is not affected."
    largest = max(choices, key=lambda row: abs(row["estimate"]))
    way = "better" if largest["estimate"] > 0 else "worse"
    return (
        f"Among those one could choose, the largest is {joined(list(_names(largest)), 'with')}: {way} by "
        f"{points(row_interval(largest))} than expected. Where such a departure is as large as the gain of a "
        "component, compare whole pipelines."
    )


def _table(found: pd.DataFrame) -> PageTable:
    caption = (
        "Accuracy of a combination minus what its components add up to, the clearest first; intervals (90\u00a0%) "
        "and p hold for all combinations at once"
    )
    rows = tuple(map(_line, records(found)))
    return PageTable(caption, column_heads("combination", "with", "#departure", "#adjusted p", "verdict"), rows)


def _line(row: Mapping[Any, Any]) -> TableRow:
    p, departure = row["p_adjusted"], row_interval(row)
    better = "better" if departure.estimate > 0 else "worse"
    verdict = f"{better} than its parts" if p <= 1 - INTERVAL_LEVEL else "as its parts say"
    cells = (points_cell(departure), number_cell(p_value(p), p))
    return table_row(*_names(row), *cells, TableCell(verdict, kind="told"))


def _names(row: Mapping[Any, Any]) -> Iterator[str]:
    for facet, level in (("facet", "level"), ("other_facet", "other_level")):
        shown = level_name(row[facet], row[level])
        yield shown if row[facet] in ("retriever", "llm", "icl", "shots") else f"{facet_name(row[facet])} {shown}"
