"""Questions as items: what systems (or passages) make of them, dead and redundant ones, an item response model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import irt
from examcore import jaccard
from grading.formats._grades import ReadGrades, parsed
from grading.formats._trec import TrecRun
from grading.scores._cover import BUDGET, require_common

FEWEST = 10
"""Systems or passages below which an item response model says nothing about questions."""
COPY = 0.8
"""Words in common above which two questions of a query are near copies (Jaccard of bags)."""

MOST = 50_000_000
"""Cells of the largest table: passages of many queries share no question, so that nearly all of it is empty."""

Key = tuple[str, str]
"""Query and question."""
Report = Callable[[int, int], None]
"""Told how much is done: done units, all units."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GradeTable:
    """Grades `[students, items]` of systems or passages on the questions, NaN where not graded.

    `students` are systems, or passages; `items` are questions with their query.
    """

    students: tuple[str, ...]
    items: tuple[Key, ...]
    grades: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """Distinct names of the items: the question's, with its query where two queries have it."""
        count = Counter(question for _, question in self.items)
        return tuple(f"{query}/{name}" if count[name] > 1 else name for query, name in self.items)

    @property
    def blocks(self) -> int:
        """Groups of students that have no question in common, however long the chain."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

        graded = ~np.isnan(self.grades)
        return int(connected_components(csr_matrix(graded.astype(int) @ graded.T.astype(int)), directed=False)[0])


class Item(NamedTuple):
    """Classical counts of a question.

    `supported` counts the students that reach tau of the `graded` ones; `rest_correlation` is with the mean grade on
    the other questions, NaN where one of them does not vary. `redundant_with` is an earlier question of the query that
    every student answered alike, or that is its near copy in words.
    """

    query: str
    question: str
    graded: int
    mean: float
    supported: int
    rest_correlation: float
    redundant_with: str = ""
    redundant_why: str = ""

    @property
    def dead(self) -> bool:
        """Supported by nobody."""
        return self.graded > 0 and self.supported == 0

    @property
    def universal(self) -> bool:
        """Supported by everybody."""
        return self.graded > 0 and self.supported == self.graded


def table_of_passages(graded: ReadGrades) -> GradeTable:
    """Each passage (or system, where articles were graded) as a student."""
    found = _by_student(graded)
    size = len(found) * len({(one.query, one.question) for one in graded.grades})
    if size > MOST:
        raise ValueError(
            f"items: {len(found)} passages make a table of {size} cells; wanted at most {MOST} (name runs)"
        )
    return _table(found)


def table_of_runs(graded: ReadGrades, runs: Sequence[TrecRun], k: int = BUDGET) -> GradeTable:
    """Each run as a student: its grade on a question is the best among its first k passages.

    A query that a run skips gives the lowest grade, 0, on its questions; a question none of its first k passages was
    graded on is NaN. Raises `ValueError` for a run that skips all queries.
    """
    passages, questions = graded.by_passage, graded.questions
    for run in runs:
        require_common(run, questions)
    found: dict[str, dict[Key, float]] = {run.name: {} for run in runs}
    for run in runs:
        for query, asked in questions.items():
            top = run.top(query, k)
            for question in asked:
                known = dict(parsed({one: passages[query].get(one, {}).get(question, math.nan) for one in top}))
                skipped = math.nan if top else 0.0
                found[run.name][query, question] = max(known.values(), default=skipped)
    return _table(found)


def classical(
    table: GradeTable,
    tau: float = 1.0,
    texts: Mapping[Key, str] | None = None,
    progress: Report | None = None,
) -> list[Item]:
    """Classical counts of every question, in order, with what makes it redundant.

    Questions answered alike are looked for with at least 10 students, among fewer they are so by chance; near copies
    wherever their `texts` are known. Raises `ValueError` for a tau that `require_tau` refuses.
    """
    require_tau(table, tau)
    grades = table.grades
    repeated = redundant(table, texts or {}, progress)
    total, count = np.nansum(grades, axis=1), np.sum(~np.isnan(grades), axis=1)
    items = []
    for index, (query, question) in enumerate(table.items):
        column = grades[:, index]
        known = ~np.isnan(column)
        mean = float(column[known].mean()) if known.any() else math.nan
        supported = int(np.sum(column[known] >= tau))
        counts = (int(known.sum()), mean, supported, _rest_correlation(column, total, count))
        items.append(Item(query, question, *counts, *repeated.get(index, ("", ""))))
    return items


def redundant(
    table: GradeTable, texts: Mapping[Key, str], progress: Report | None = None
) -> dict[int, tuple[str, str]]:
    """Of each question (its place) that repeats an earlier one of its query: which one, and in what."""
    found: dict[int, tuple[str, str]] = {}
    places: dict[str, list[int]] = {}
    for index, (query, _) in enumerate(table.items):
        for earlier in places.get(query, []):
            why = "" if earlier in found else _why(table, texts, earlier, index)
            if why:
                found[index] = table.items[earlier][1], why
                break
        places.setdefault(query, []).append(index)
        if progress is not None:
            progress(index + 1, len(table.items))
    return found


def require_tau(table: GradeTable, tau: float) -> None:
    """Refuse a tau of 0 or less, which every grade reaches, and one that none does."""
    if not 0 < tau < math.inf:
        raise ValueError(f"tau: {tau:g}; wanted above 0, which stands for no answer, and finite")
    highest = float(np.nanmax(table.grades, initial=-np.inf))
    if not highest >= tau:
        found = f"no grade reaches it, the highest is {highest:g}" if highest > -math.inf else "no grade was parsed"
        raise ValueError(f"tau: {tau:g}; {found}; wanted a tau that some grade reaches")


def responses(table: GradeTable) -> irt.ResponseMatrix:
    """The table for `irt`: right and wrong where grades are 0 and 1, else ratings up to each question's highest.

    Left out are questions that all graded students answered alike, which say nothing of them, and then students without
    answers. Raises `ValueError` for fewer than 10 students, grades with fractions other than halves (halves are
    doubled), and fewer than two questions that vary.
    """
    if len(table.students) < FEWEST:
        raise ValueError(
            f"{len(table.students)} systems or passages cannot tell the difficulty and discrimination of "
            f"{len(table.items)} questions; wanted at least {FEWEST}"
        )
    grades = table.grades
    if np.any(np.mod(grades[~np.isnan(grades)], 1)):
        grades = grades * 2
    if np.any(np.mod(grades[~np.isnan(grades)], 1)):
        raise ValueError("grades with fractions; wanted whole numbers, or halves, for a model of ratings")
    varies: NDArray[np.bool_] = _varies(grades)
    if varies.sum() < 2:
        raise ValueError(f"{int(varies.sum())} questions vary between systems; wanted at least 2")
    some: NDArray[np.bool_] = np.asarray(~np.isnan(grades[:, varies]).all(axis=1))
    kept = grades[some][:, varies]
    names = tuple(name for name, one in zip(table.names, varies, strict=True) if one)
    students = tuple(name for name, one in zip(table.students, some, strict=True) if one)
    top = np.nanmax(kept, axis=0).astype(np.int64)
    return irt.ResponseMatrix(kept, students, names, top=None if top.max() == 1 else top)


def fit_items(
    data: irt.ResponseMatrix, *, interval: float = 0.9, seed: int = 0, progress: Report | None = None
) -> irt.Fit:
    """Difficulty and discrimination: the graded response model for ratings, else a 2pl under a population of items."""
    if data.top is not None:
        return irt.fit(data, "grm", "mml", interval=interval, seed=seed, progress=progress)
    return irt.fit(data, "2pl", "mml", priors=irt.Priors(), interval=interval, seed=seed, progress=progress)


def at_level(data: irt.ResponseMatrix, table: GradeTable, tau: float) -> irt.ResponseMatrix:
    """The same students and questions as right (grade >= tau) and wrong, without questions that no longer vary."""
    rows = [table.students.index(name) for name in data.students]
    columns = [table.names.index(name) for name in data.items]
    grades = table.grades[np.ix_(rows, columns)]
    right = np.where(np.isnan(grades), np.nan, grades >= tau)
    varies = _varies(right)
    names = tuple(name for name, one in zip(data.items, varies, strict=True) if one)
    return irt.ResponseMatrix(right[:, varies], data.students, names)


def _varies(grades: Floats) -> NDArray[np.bool_]:
    return np.array([len(np.unique(column[~np.isnan(column)])) > 1 for column in grades.T], dtype=np.bool_)


def _by_student(graded: ReadGrades) -> dict[str, dict[Key, float]]:
    found: dict[str, dict[Key, float]] = {}
    for one in graded.grades:
        found.setdefault(one.passage, {})[one.query, one.question] = one.grade
    return found


def _table(found: Mapping[str, Mapping[Key, float]]) -> GradeTable:
    items = tuple(dict.fromkeys(key for row in found.values() for key in row))
    place = {key: index for index, key in enumerate(items)}
    grades = np.full((len(found), len(items)), np.nan)
    for row, given in enumerate(found.values()):
        for key, grade in given.items():
            grades[row, place[key]] = grade
    return GradeTable(tuple(found), items, grades)


def _rest_correlation(column: Floats, total: Floats, count: NDArray[np.int64]) -> float:
    known = ~np.isnan(column) & (count > 1)
    first = column[known]
    rest = (total[known] - first) / (count[known] - 1)
    if known.sum() < 3 or np.ptp(first) == 0 or np.ptp(rest) < 1e-12:
        return math.nan
    return float(np.corrcoef(first, rest)[0, 1])


def _why(table: GradeTable, texts: Mapping[Key, str], earlier: int, index: int) -> str:
    first, second = (texts.get(table.items[one], "") for one in (earlier, index))
    if first and second and jaccard(first, second) >= COPY:
        return "near copy"
    one, other = table.grades[:, earlier], table.grades[:, index]
    both = ~np.isnan(one) & ~np.isnan(other)
    same = np.array_equal(np.isnan(one), np.isnan(other)) and np.array_equal(one[both], other[both])
    return "answered alike" if both.sum() >= FEWEST and same and np.ptp(one[both]) > 0 else ""
