"""How often pipelines are right, and how sure that is: averages over questions, one by one or tested together."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from examcore import INTERVAL_LEVEL, IntervalEstimate, bootstrap_mean, mean_interval
from rag import OWN_FACETS

FLOOR, CEILING = "closed book", "oracle"
_BOUNDS: Mapping[str, str] = {"closedbook": FLOOR, "closedb": FLOOR, "oracle": CEILING}
_NOT_FACETS = frozenset({"student", "item", "score", "trials"})
_DRAWS = 10_000
"""Bootstrap samples: the limits of a 95 % interval then vary by about 2 % of its width from seed to seed."""
DRAWS = 4000
"""Draws of the largest deviation: its 90 % quantile is then known to about one percent."""
MEASURES = ("estimate", "low", "high", "z", "p_adjusted")
NOTHING = IntervalEstimate(math.nan, math.nan, math.nan)


def read_scores(path: Path) -> pd.DataFrame:
    """The long response table of a run: `student, item, score` (0 to 1, NaN when not asked) and text facet columns.

    `trials`, where present, divides the score. Raises `ValueError` in one line when a column is missing or a score
    is not a number.
    """
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}; wanted a table student,item,score") from None
    lacking = [name for name in ("student", "item", "score") if name not in table.columns]
    if lacking:
        raise ValueError(f"{path}:1: no column {lacking[0]!r}; wanted student,item,score and facet columns")
    scores = pd.to_numeric(table["score"], errors="coerce")
    if "trials" in table.columns:
        scores = scores / pd.to_numeric(table["trials"], errors="coerce")
    wrong = ~scores.between(0, 1) & (table["score"].str.strip() != "")
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"{path}:{row + 2}: score {table['score'].iloc[row]!r}; wanted 0, 1 or nothing")
    return table.assign(score=scores.astype(float))


def pipelines_of(scores: pd.DataFrame) -> dict[str, dict[str, str]]:
    """The level of each facet, by pipeline."""
    first = scores.drop_duplicates("student").set_index("student")[list(facets_of(scores))]
    return {str(name): dict(zip(first.columns, row, strict=True)) for name, *row in first.itertuples()}


def row_interval(row: Any, estimate: str = "estimate", low: str = "low", high: str = "high") -> IntervalEstimate:
    """The interval in three columns of a row."""
    return IntervalEstimate(float(row[estimate]), float(row[low]), float(row[high]))


def facets_of(scores: pd.DataFrame) -> tuple[str, ...]:
    """The facet columns of a response table, in its order."""
    return tuple(str(name) for name in scores.columns if name not in _NOT_FACETS)


def without_black_boxes(scores: pd.DataFrame) -> pd.DataFrame:
    """The rows of pipelines with components to compare: all but black boxes, if others took part."""
    if "retriever" not in scores.columns:
        return scores
    crossed = scores[scores["retriever"] != OWN_FACETS]
    return scores if crossed.empty else crossed


def only_black_boxes(scores: pd.DataFrame) -> bool:
    """Whether all pipelines are black boxes, whose names are their only component."""
    return "retriever" in scores.columns and bool((scores["retriever"] == OWN_FACETS).all())


def bound_of(level: str) -> str | None:
    """Which bound a retriever is: no passage at all, or the passage the question was written from; else None.

    Case, blanks, hyphens and underscores do not count; a topic with its number, `Oracle (3)`, is none.
    """
    return _BOUNDS.get(re.sub(r"[\s_-]", "", level.lower()))


def levels_of(scores: pd.DataFrame, facet: str) -> list[str]:
    """The levels of a facet as they first appear, the floor first and the ceiling last."""
    return sorted(scores[facet].unique(), key=lambda level: {FLOOR: -1, CEILING: 1}.get(bound_of(level) or "", 0))


def bounds_in(scores: pd.DataFrame) -> set[str]:
    """The bounds that took part, in any facet."""
    levels = (level for facet in facets_of(scores) for level in levels_of(scores, facet))
    return {bound for level in levels if (bound := bound_of(level))}


def choices_of(scores: pd.DataFrame, facet: str) -> list[str]:
    """The levels one could choose: all but the bounds."""
    return [level for level in levels_of(scores, facet) if bound_of(level) is None]


def accuracy(scores: pd.DataFrame) -> IntervalEstimate:
    """Accuracy of the rows given, over questions."""
    means = scores.dropna(subset=["score"]).groupby("item", sort=False)["score"].mean()
    return mean_interval(means.to_numpy(float), level=0.95)


def paired_difference(
    scores: pd.DataFrame, facet: str, first: str, *others: str, level: float = 0.95, draws: int = _DRAWS
) -> IntervalEstimate:
    """Accuracy of `first` minus the mean over `others`, paired over questions and pipelines alike in all else.

    Percentile bootstrap over questions; the limits are NaN where only one question was answered by all.
    """
    rest = [name for name in facets_of(scores) if name != facet]
    answered = scores[scores[facet].isin([first, *others])].dropna(subset=["score"])
    wide = answered.pivot_table(index=["item", *rest], columns=facet, values="score", aggfunc="mean")
    if not {first, *others} <= set(wide.columns):
        return NOTHING
    gaps = wide[first] - wide[list(others)].mean(axis=1, skipna=False)
    return bootstrap_mean(gaps.dropna().groupby("item").mean().to_numpy(float), level=level, draws=draws)


def simultaneous_means(
    names: Sequence[tuple[str, ...]], values: NDArray[np.float64], named: Sequence[str], seed: int = 0
) -> pd.DataFrame:
    """Means of the columns `[I, C]` over questions, the clearest first: the `named` columns, then `MEASURES`.

    `low` and `high` (90 %) hold for all columns at once, and `p_adjusted` is the chance that any of them would be as
    far from 0 with nothing behind them. A column that does not vary but is not 0 has no limits. They come from the
    largest standardised deviation of all, drawn with the correlations of the questions' values (a Gaussian multiplier
    bootstrap, Chernozhukov, Chetverikov and Kato 2013; divided by the error of the error, which for normal values makes
    it the maximum of a multivariate t).
    """
    n = len(values)
    means = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(means))
    still = error < 1e-12
    error = np.where(still, 1.0, error)
    rng = np.random.default_rng(seed)
    away = rng.standard_normal((DRAWS, n)) @ (values - means) / np.sqrt(n * max(n - 1, 1))
    unknown_error = np.sqrt(rng.chisquare(max(n - 1, 1), DRAWS) / max(n - 1, 1))
    extreme = np.abs(np.where(still, 0.0, away / error)).max(axis=1) / unknown_error
    z = np.where(still, 0.0, means / error)
    unknown = still & (np.abs(means) > 1e-12)
    reach = np.where(unknown, np.nan, float(np.quantile(extreme, INTERVAL_LEVEL)) * np.where(still, 0.0, error))
    p = (1 + len(extreme) - np.searchsorted(np.sort(extreme), np.abs(z))) / (1 + len(extreme))
    table = pd.DataFrame(names, columns=list(named))
    table = table.assign(estimate=means, low=means - reach, high=means + reach, z=z, p_adjusted=p)
    return table.iloc[np.argsort(-np.abs(z), kind="stable")].reset_index(drop=True)
