"""Cells of a response table as numbers: what may stand there, and the line of what may not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from irt._responses import LARGEST_TOP, MOST_TRIALS, Floats

BLANK = ("", "NA")
"""Scores of items that were not asked, as spreadsheets and R write them; `nan` more often is a program's fault."""
FACET = " (no cell of this column is a number: name it as a facet by facets=, --facets, or remove the column)"
MISSING = ("nan", "na", "n/a", "null", "none", ".", "-")
"""How other programs write what is not there, in small letters."""
Top = int | Mapping[str, int]
"""Highest score of a rating: one number, or one per item."""


@dataclass(frozen=True)
class TableSource:
    """Where a table came from, so that an error can name the line."""

    path: Path
    first: int

    def at(self, row: int) -> str:
        """File and line of a row."""
        return f"{self.path}:{row + self.first}"


@dataclass(frozen=True)
class RatingLimits:
    """Whether scores are ratings, and their highest values if told."""

    graded: bool
    top: Top | None

    def limits(self, items: Sequence[str], source: TableSource) -> Floats | None:
        """Highest score `[I]`, infinite where the table is to tell; None when scores are 0 or 1."""
        if not self.graded:
            return None
        told = [] if self.top is None else self.top.values() if isinstance(self.top, Mapping) else [self.top]
        for value in told:
            if not (1 <= value <= LARGEST_TOP and value == int(value)):
                raise ValueError(f"{source.path}: top {value:g} is not a whole number from 1 to {LARGEST_TOP}")
        if not isinstance(self.top, Mapping):
            return np.full(len(items), np.inf if self.top is None else float(self.top))
        for item in items:
            if item not in self.top:
                raise ValueError(f"{source.path}: top is missing for item '{item}'; wanted one number per item")
        return np.array([float(self.top[item]) for item in items])


def known_top(limits: Floats, scores: Floats) -> np.ndarray:
    """Highest scores `[I]`, the largest that an item `[S, I]` got where nothing was told, at least 1."""
    return np.where(np.isfinite(limits), limits, np.maximum(np.nanmax(scores, axis=0, initial=1.0), 1.0))


def require_filled(column: pd.Series, rows: np.ndarray, name: str, source: TableSource) -> None:
    """ValueError for a cell without an id."""
    empty = (column.str.strip() == "").to_numpy()
    if empty.any():
        raise ValueError(f"{source.at(rows[int(np.argmax(empty))])}: {name} is empty; wanted an id")


def column_limits(
    column: pd.Series, items: tuple[str, ...], item_of: np.ndarray, rows: np.ndarray, source: TableSource
) -> Floats:
    """Highest scores `[I]` from the column `top`, which is constant within an item."""
    values = pd.to_numeric(column.str.strip(), errors="coerce").to_numpy(dtype=np.float64)
    limits = np.zeros(len(items))
    limits[item_of[::-1]] = values[::-1]
    bad = ~((values >= 1) & (values == np.round(values)) & np.isfinite(values)) | (values != limits[item_of])
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{source.at(rows[row])}: top '{column.iloc[row]}' of item '{items[item_of[row]]}' is not a whole number "
            "of at least 1 that is the same in all its rows"
        )
    return limits


def parse_scores(
    text: np.ndarray,
    rows: np.ndarray,
    source: TableSource,
    trials: Floats | None,
    highest: Floats | None = None,
    columns: Sequence[str] = (),
) -> Floats:
    """Scores `[N]` of cells, NaN where blank; ValueError names the line of one that cannot be.

    Its column, too, where the cells are those of `columns`, row by row.
    """
    stripped = pd.Series(text, dtype=object).str.strip()
    blank = stripped.isin(BLANK).to_numpy()
    values = pd.to_numeric(stripped.where(~blank, "0"), errors="coerce").to_numpy(dtype=np.float64, copy=True)
    limit = np.ones_like(values) if trials is None else trials
    limit = limit if highest is None else highest
    bad = ~((values >= 0) & (values <= limit) & (values == np.round(values)) & np.isfinite(values)) & ~blank
    if bad.any():
        row = int(np.argmax(bad))
        wanted = _wanted(values[row], trials is not None, None if highest is None else highest[row], limit[row])
        column, advice = "", ""
        if columns:
            column = f"column '{columns[row % len(columns)]}': "
            advice = FACET if np.isnan(values[row % len(columns) :: len(columns)]).all() else ""
        if not advice and stripped[row].lower() in MISSING:
            advice = " (not asked is an empty cell or NA)"
        raise ValueError(f"{source.at(rows[row])}: {column}score '{text[row]}' is not {wanted}{advice}")
    values[blank] = np.nan
    return values


def _wanted(found: float, counted: bool, highest: float | None, limit: float) -> str:
    """What a score should have been."""
    if highest is not None:
        return "a whole number from 0" + (f" to {highest:g}" if np.isfinite(highest) else "") + ", or empty"
    if counted:
        return f"a whole number from 0 to its trials ({limit:g}), or empty"
    return "0, 1 or empty" + (" (ratings are read with graded=True, --graded)" if 1 < found < np.inf else "")


def parse_trials(table: pd.DataFrame, rows: np.ndarray, source: TableSource) -> Floats:
    """Trials of each row, 1 where neither they nor a score is given."""
    column = table["trials"].str.strip()
    unasked = (column.isin(BLANK) & table["score"].str.strip().isin(BLANK)).to_numpy()
    values = pd.to_numeric(column.where(~unasked, "1"), errors="coerce").to_numpy(dtype=np.float64)
    bad = ~((values >= 1) & (values == np.round(values)) & (values <= MOST_TRIALS))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{source.at(rows[row])}: trials '{column.iloc[row]}' is not a whole number of at least 1 "
            f"(and at most {MOST_TRIALS})"
        )
    return values
