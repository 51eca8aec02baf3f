"""Two tables as one: what a student's exam did not hold is missing by design, and one fit calibrates both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from irt._argument_checks import require_names
from irt._responses import Floats, ResponseMatrix, facet_names, require_matrix

FEWEST = 3
"""Items to link by: two fix a line, the third shows whether they agree."""


class Joined(NamedTuple):
    """One table of two, for a concurrent calibration, and the items they share."""

    data: ResponseMatrix
    anchors: tuple[str, ...]


def join(
    first: ResponseMatrix,
    second: ResponseMatrix,
    labels: tuple[str, str] | None = None,
    *,
    facet: str | None = None,
) -> Joined:
    """Both tables as one, common items once; what a student's exam did not hold is missing by design.

    Students must differ; `labels` prefixes their ids (`label:student`). `facet` adds a column of that name with the
    labels, so that a fit estimates how the two groups differ: groups of different ability need it. Facets that only
    one table has are left out, which the notes say. Raises ValueError with fewer than 3 common items.
    """
    require_matrix(first, second)
    anchors = tuple(item for item in second.items if item in set(first.items))
    require_enough(len(anchors), "common items")
    if first.top is not None or second.top is not None:
        raise ValueError("a table of ratings cannot be joined; wanted two tables of right and wrong answers")
    if labels is not None and len(set(require_names("labels", labels))) != 2:
        raise ValueError(f"labels are {labels!r}; wanted two different names")
    if facet is not None and labels is None:
        raise ValueError(f"facet '{facet}' needs labels, the names of the two tables")
    parts = [
        _labelled(data, None if labels is None else labels[place], facet) for place, data in enumerate((first, second))
    ]
    twice = set(parts[0].students) & set(parts[1].students)
    if twice:
        raise ValueError(f"student '{min(twice)}' is in both tables; give labels to tell them apart")
    items = (*first.items, *(item for item in second.items if item not in set(first.items)))
    scores, trials = (np.vstack([_widened(part, items, name) for part in parts]) for name in ("scores", "attempts"))
    shared = [name for name in facet_names(parts[0]) if name in facet_names(parts[1])]
    lost = sorted((set(facet_names(parts[0])) | set(facet_names(parts[1]))) - set(shared))
    notes = [f"{len(anchors)} items are common to both tables."]
    notes += [f"Facet '{name}' is in one table only and was left out." for name in lost]
    facets = pd.concat([part.facets[shared] for part in parts if part.facets is not None]) if shared else None
    students = parts[0].students + parts[1].students
    counts = None if first.trials is None and second.trials is None else np.where(np.isnan(scores), np.nan, trials)
    data = ResponseMatrix(scores, students, items, counts, facets, (*first.notes, *second.notes, *notes))
    return Joined(data, anchors)


def require_enough(count: int, what: str) -> None:
    """ValueError when there are too few items to link by."""
    if count < FEWEST:
        raise ValueError(f"{count} {what}; at least {FEWEST} are needed to link two scales")


def _labelled(data: ResponseMatrix, label: str | None, facet: str | None) -> ResponseMatrix:
    if label is None:
        return data
    students = tuple(f"{label}:{student}" for student in data.students)
    index = pd.Index(students, name="student")
    facets = None if data.facets is None else data.facets.set_axis(index)
    if facet is not None:
        if facets is not None and facet in facets.columns:
            raise ValueError(f"facet '{facet}' is already a column; wanted another name")
        facets = (pd.DataFrame(index=index) if facets is None else facets).assign(**{facet: label})
    return replace(data, students=students, facets=facets)


def _widened(data: ResponseMatrix, items: Sequence[str], name: str) -> Floats:
    return pd.DataFrame(getattr(data, name), columns=data.items).reindex(columns=list(items)).to_numpy(np.float64)
