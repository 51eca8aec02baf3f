"""What the checks share: complete tables, the population of abilities, and columns that may be empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from irt._graded import Items
from irt._quadrature import posterior
from irt._responses import Floats, ResponseMatrix, require_matrix
from irt.fitting._coordinates import SHARED
from irt.kernels import ItemParameters, probability

FREE = {model: shared.count(False) for model, shared in SHARED.items()}
"""Parameters that a model estimates per item (what all items share belongs to none)."""
ALPHA = 0.05
"""Level of every check, after adjustment for many tests: the usual one."""
FEWEST_ROWS = 20
"""Complete rows below which a chi-square statistic is far from its distribution."""
MOST_ITEMS = 2000
"""Items of a check that grows with their square: 4 million pairs, 32 MB a table."""


class AbilityQuadrature(NamedTuple):
    """Abilities `[Q]`, their share in a Normal(0, 1) population `[Q]`, and P(correct) `[Q, I]`."""

    nodes: Floats
    weights: Floats
    p: Floats


def population(items: ItemParameters) -> AbilityQuadrature:
    """The population on nodes fine enough for these items."""
    nobody = np.zeros((1, len(items.b)))
    prior = posterior(nobody, nobody, items)
    return AbilityQuadrature(prior.nodes, prior.weights[0], np.asarray(probability(prior.nodes[:, None], *items)))


def complete_scores(data: ResponseMatrix, check: str) -> tuple[Floats, str]:
    """Rows `[N, I]` without an empty cell, and a note when rows were left out.

    ValueError for counts of several trials, or when fewer than `FEWEST_ROWS` rows are complete.
    """
    if np.any(data.attempts > 1):
        raise ValueError(f"{check} wants one trial per answer; the table has answers of up to {data.attempts.max():g}")
    whole = np.asarray(data.asked.all(axis=1))
    if whole.sum() < FEWEST_ROWS:
        found = f"{whole.sum()} of {len(whole)} students"
        raise ValueError(f"{check} found {found} who were asked every item; wanted at least {FEWEST_ROWS}")
    left = len(whole) - int(whole.sum())
    note = f"{whole.sum()} complete rows used; {left} with items not asked left out" if left else ""
    return data.scores[whole], note


def require_known_model(model: str) -> int:
    """Free parameters per item of a model; ValueError for another name."""
    if model not in FREE:
        raise ValueError(f"unknown model '{model}'; wanted {', '.join(FREE)}")
    return FREE[model]


def require_at_most(check: str, count: int) -> None:
    """ValueError when a check that grows with the square of the items is given too many."""
    if count > MOST_ITEMS:
        raise ValueError(f"{check} of {count} items takes too long; wanted at most {MOST_ITEMS}: pass a subset of them")


def require_matching(data: ResponseMatrix, items: Items) -> None:
    """ValueError unless there is a table, and one finite set of parameters per item."""
    require_matrix(data)
    if np.shape(items.a) != (len(data.items),) or any(len(values) != len(data.items) for values in items):
        shapes = ", ".join(str(np.shape(values)) for values in items)
        raise ValueError(f"item parameters have shapes {shapes}; wanted one of each for {len(data.items)} items")
    if not all(np.all(np.isfinite(values)) for values in items):
        raise ValueError("an item parameter is not finite")


def optional(values: ArrayLike, defined: ArrayLike) -> Any:
    """A column of numbers that is empty (`<NA>`) where `defined` is False."""
    kept: NDArray[np.bool_] = np.asarray(defined, dtype=bool)
    return pd.arrays.FloatingArray(np.where(kept, np.asarray(values, dtype=np.float64), 0.0), ~kept)


def false_discovery_rates(p: Floats, defined: NDArray[np.bool_]) -> Floats:
    """The defined p-values adjusted for many tests (Benjamini & Hochberg 1995); 1 elsewhere."""
    from scipy.stats import false_discovery_control  # takes a while to load

    result = np.ones(len(p))
    if defined.any():
        result[defined] = false_discovery_control(p[defined])
    return result


def sentences(table: pd.DataFrame) -> list[str]:
    """What a table of checks says, one plain sentence per flagged row, in its order."""
    return [str(text) for text in table["sentence"] if text]


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names for a sentence: at most `most`, then how many more."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
