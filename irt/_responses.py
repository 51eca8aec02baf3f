"""The table of who answered what: students, items, scores, and the facets that made each student."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CELLS = 4_000_000
"""Cells worked on at a time: 32 MB each time, so that a large table needs no copies of itself."""
MOST_TRIALS, LARGEST_TOP = 1_000_000, 1000
"""Most trials of an answer and highest score of a rating; more is a mistake in the table (or a measurement)."""


@dataclass(frozen=True)
class ResponseMatrix:
    """Answers of `S` students to `I` items.

    `scores` `[S, I]` holds 0 or 1 (successes out of `trials` where trials are given), NaN where the item was not asked.
    `trials` `[S, I]` holds positive whole numbers, or is None when every answer is one trial. `facets` has one row per
    student (index `students`) and one column per facet; the order of levels is that of first appearance. `notes` are
    plain sentences about how the table was read. `top` `[I]` (one number stands for all) is the highest score of each
    item of a graded table, whose scores are ratings from 0 to it; None when answers are right or wrong, or counts.
    Raises ValueError when ids repeat, shapes disagree or a score is impossible.
    """

    scores: Floats
    students: tuple[str, ...]
    items: tuple[str, ...]
    trials: Floats | None = None
    facets: pd.DataFrame | None = None
    notes: tuple[str, ...] = field(default=())
    top: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", _numbers("scores", self.scores))
        object.__setattr__(self, "students", tuple(str(student) for student in self.students))
        object.__setattr__(self, "items", tuple(str(item) for item in self.items))
        _require_unique("student", self.students)
        _require_unique("item", self.items)
        if self.scores.shape != (len(self.students), len(self.items)):
            wanted = (len(self.students), len(self.items))
            raise ValueError(f"scores have shape {self.scores.shape}; wanted {wanted} (students x items)")
        if self.trials is not None:
            object.__setattr__(self, "trials", _numbers("trials", self.trials))
        if self.top is not None:
            object.__setattr__(self, "top", _highest_scores(self))
        _require_scores(self)
        if self.facets is not None:
            object.__setattr__(self, "facets", _aligned_facets(self.facets, self.students))

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Whether each student was asked each item `[S, I]`."""
        return ~np.isnan(self.scores)

    @property
    def successes(self) -> Floats:
        """Successes (points of a graded table) `[S, I]`, 0 where not asked."""
        return np.where(self.asked, np.nan_to_num(self.scores), 0.0)

    @property
    def attempts(self) -> Floats:
        """Trials (points to be had in a graded table) `[S, I]`, 0 where not asked."""
        trials = np.ones_like(self.scores) if self.trials is None else np.nan_to_num(self.trials)
        return np.where(self.asked, trials if self.top is None else self.top, 0.0)

    @property
    def proportions(self) -> Floats:
        """Share of successes (of the highest score) `[S, I]`, NaN where not asked."""
        if self.top is not None:
            return self.scores / self.top
        return self.scores if self.trials is None else self.scores / np.where(self.asked, self.trials, np.nan)

    @property
    def answered_items(self) -> tuple[str, ...]:
        """Items that somebody was asked; of some of the students, as of `irt.connected_students`, not all may be."""
        return tuple(self.items[index] for index in np.flatnonzero(self.asked.any(axis=0)))

    def select(self, items: Sequence[str]) -> ResponseMatrix:
        """The table of these items, in this order; ValueError names an item it does not hold."""
        columns = positions("item", self.items, items)
        trials = None if self.trials is None else self.trials[:, columns]
        top = None if self.top is None else self.top[columns]
        return replace(self, scores=self.scores[:, columns], items=tuple(items), trials=trials, top=top)

    def select_students(self, students: Sequence[str]) -> ResponseMatrix:
        """The table of these students, in this order; ValueError names a student it does not hold."""
        rows = positions("student", self.students, students)
        trials = None if self.trials is None else self.trials[rows]
        facets = None if self.facets is None else self.facets.iloc[rows]
        return replace(self, scores=self.scores[rows], students=tuple(students), trials=trials, facets=facets)

    def with_facets(self, facets: Sequence[str]) -> ResponseMatrix:
        """The same answers with only these facet columns; ValueError names a facet it does not hold."""
        known = () if self.facets is None else tuple(str(name) for name in self.facets.columns)
        for name in facets:
            if name not in known:
                raise ValueError(f"unknown facet '{name}'; the table has {_listed(known)}")
        kept = None if self.facets is None or not facets else self.facets[list(facets)]
        return replace(self, facets=kept)


def require_matrix(*tables: object) -> None:
    """ValueError for anything but response tables."""
    for table in tables:
        if not isinstance(table, ResponseMatrix):
            raise ValueError(
                f"data is a {type(table).__name__}; wanted a ResponseMatrix "
                "(irt.read_responses makes one of a file or a DataFrame)"
            )


def levels(data: ResponseMatrix, facet: str) -> tuple[str, ...]:
    """Levels of a facet in order of first appearance."""
    if data.facets is None or facet not in data.facets.columns:
        raise ValueError(f"unknown facet '{facet}'; the table has {_listed(facet_names(data))}")
    return tuple(dict.fromkeys(data.facets[facet]))


def facet_names(data: ResponseMatrix) -> tuple[str, ...]:
    """Names of the facets a table carries."""
    return () if data.facets is None else tuple(str(name) for name in data.facets.columns)


def constant_facets(data: ResponseMatrix) -> tuple[str, ...]:
    """Facets with a single level: they cannot be estimated and are to be left out of a fit."""
    return tuple(name for name in facet_names(data) if len(levels(data, name)) < 2)


def without_constant_facets(data: ResponseMatrix) -> ResponseMatrix:
    """The table without facets of a single level; its notes name them."""
    constant = constant_facets(data)
    notes = tuple(
        f"Facet '{name}' has one level only and was left out: there is nothing to compare." for name in constant
    )
    kept = data.with_facets([name for name in facet_names(data) if name not in constant])
    return replace(kept, notes=(*data.notes, *notes))


def blocks(count: int, other: int) -> Iterator[slice]:
    """Parts of `count` rows or columns that are `other` long, of about `CELLS` cells each."""
    size = max(1, CELLS // max(other, 1))
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def positions(kind: str, known: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """The places of names among those known; ValueError for one that is not there."""
    where = {name: position for position, name in enumerate(known)}
    for name in wanted:
        if name not in where:
            raise ValueError(f"unknown {kind} '{name}'; wanted one of the {len(known)} known, such as '{known[0]}'")
    return [where[name] for name in wanted]


def _require_unique(kind: str, ids: tuple[str, ...]) -> None:
    for name in ids:
        if "\0" in name:
            raise ValueError(f"{kind} {name!r} holds a null character; wanted text")
    for name in pd.Index(ids)[pd.Index(ids).duplicated()]:
        raise ValueError(f"{kind} '{name}' appears twice; ids must be unique")


def _numbers(name: str, values: object) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} are not a table of numbers ({error}); wanted numbers, NaN where not asked") from None


def _highest_scores(data: ResponseMatrix) -> NDArray[np.int64]:
    if data.trials is not None:
        raise ValueError("a table has both trials and graded scores (top); wanted one of them")
    top = _numbers("top", data.top)
    if top.ndim and top.shape != (len(data.items),):
        raise ValueError(f"top has shape {top.shape}; wanted one highest score per item ({len(data.items)},)")
    top = np.broadcast_to(top, (len(data.items),))
    bad = ~((top >= 1) & (top == np.round(top)) & (top <= LARGEST_TOP))
    if bad.any():
        item = int(np.argmax(bad))
        raise ValueError(
            f"item '{data.items[item]}': top {top[item]:g} is not a whole number of at least 1 "
            f"(and at most {LARGEST_TOP})"
        )
    return top.astype(np.int64)


def _require_scores(data: ResponseMatrix) -> None:
    if data.trials is not None and data.trials.shape != data.scores.shape:
        raise ValueError(f"trials have shape {data.trials.shape}; scores have {data.scores.shape}")
    for rows in blocks(len(data.students), len(data.items)):
        _require_rows(data, rows)


def _require_rows(data: ResponseMatrix, rows: slice) -> None:
    given = data.scores[rows]
    trials = np.ones_like(given)
    if data.trials is not None:
        trials = np.nan_to_num(data.trials[rows], posinf=-1.0, neginf=-1.0)
    if data.top is not None:
        trials = np.broadcast_to(data.top, given.shape).astype(np.float64)
    asked = ~np.isnan(given)
    whole = (trials == np.round(trials)) & (trials >= 1) & (trials <= MOST_TRIALS)
    scores = np.nan_to_num(given, posinf=-1.0, neginf=-1.0)
    good = whole & (scores >= 0) & (scores <= trials) & (scores == np.round(scores))
    if np.all(good | ~asked):
        return
    row, column = np.argwhere(asked & ~good)[0]
    if not whole[row, column]:
        raise ValueError(
            f"student '{data.students[rows][row]}', item '{data.items[column]}': trials {trials[row, column]:g} is not "
            f"a whole number from 1 to {MOST_TRIALS}"
        )
    limit = "trials" if data.top is None else "top"
    counted = data.trials is not None or data.top is not None
    wanted = f"a whole number from 0 to its {limit} ({trials[row, column]:g})" if counted else "0, 1 or NaN"
    raise ValueError(
        f"student '{data.students[rows][row]}', item '{data.items[column]}': "
        f"score {given[row, column]:g} is not {wanted}"
    )


def _aligned_facets(facets: pd.DataFrame, students: tuple[str, ...]) -> pd.DataFrame:
    if len(facets) != len(students):
        raise ValueError(f"facets have {len(facets)} rows; {len(students)} students were given")
    _require_unique("facet", tuple(str(name) for name in facets.columns))
    table = facets.copy()
    table.index = pd.Index([str(student) for student in table.index], name="student")
    if tuple(table.index) != students:
        raise ValueError("the facet table's index must be the students, in their order")
    for name in table.columns:
        empty = table[name].isna() | (table[name].astype(str).str.strip() == "")
        if empty.any():
            raise ValueError(
                f"student '{table.index[int(np.argmax(empty.to_numpy()))]}' has no value of facet '{name}'"
            )
    table.columns = pd.Index([str(name) for name in table.columns])
    return table.astype(str)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) if names else "none"
