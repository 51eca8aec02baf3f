"""Questions as items: classical counts, dead and redundant questions, an item response model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import irt
from examcore import ReportProgress, jaccard, unreported
from grading._records import Floats, QuestionKey
from grading.formats._grades import ReadGrades, parsed
from grading.formats._score_tables import grid_of
from grading.formats._trec import TrecRun
from grading.scores._cover import BUDGET, require_common, require_tau

FEWEST = 10
"""Fewer systems or passages than this cannot estimate an item response model."""
COPY = 0.8
"""Jaccard similarity of bags of words from which two questions of a query are near copies."""
MOST = 50_000_000
"""Cells of the largest table; passages of different queries share no question, so most cells are empty."""


@dataclass(frozen=True)
class GradeTable:
    """Grades `[students, items]` of systems or passages on questions, NaN where not graded."""

    students: tuple[str, ...]
    items: tuple[QuestionKey, ...]
    grades: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """Distinct names of the items: the question's id, with its query if two queries have that id."""
        count = Counter(question for _, question in self.items)
        return tuple(f"{query}/{name}" if count[name] > 1 else name for query, name in self.items)

    @property
    def blocks(self) -> int:
        """The number of connected groups of students, which have no question in common."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

        graded = ~np.isnan(self.grades)
        return int(connected_components(csr_matrix(graded.astype(int) @ graded.T.astype(int)), directed=False)[0])


class Item(NamedTuple):
    """Classical counts of a question.

    `supported` counts the `graded` students that reach tau; `rest_correlation` is the correlation with the mean grade
    on the other questions, NaN where one of them does not vary. `redundant_with` is an earlier question of the query
    that every student answered alike, or that is a near copy in words.
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
    found: dict[str, dict[QuestionKey, float]] = {}
    for one in graded.grades:
        found.setdefault(one.passage, {})[one.query, one.question] = one.grade
    size = len(found) * len({(one.query, one.question) for one in graded.grades})
    if size > MOST:
        raise ValueError(
            f"items: {len(found)} passages make a table of {size} cells; wanted at most {MOST} (name runs)"
        )
    return _table(found)


def table_of_runs(graded: ReadGrades, runs: Sequence[TrecRun], k: int = BUDGET) -> GradeTable:
    """Each run as a student: its grade on a question is the best among its first k passages.

    The questions of a query that a run skips have grade 0; a question that none of the first k passages was graded on
    is NaN. Raises `ValueError` for a run that skips all queries.
    """
    passages, questions = graded.by_passage, graded.questions
    for run in runs:
        require_common(run, questions)
    found: dict[str, dict[QuestionKey, float]] = {run.name: {} for run in runs}
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
    texts: Mapping[QuestionKey, str] | None = None,
    progress: ReportProgress = unreported,
) -> list[Item]:
    """Classical counts of every question, in order, and which earlier question it repeats.

    Near copies are found where their `texts` are known, questions answered alike with at least 10 students, since among
    fewer this happens by chance. Raises `ValueError` for a tau that `require_reached` refuses.
    """
    require_reached(table, tau)
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
    table: GradeTable, texts: Mapping[QuestionKey, str], progress: ReportProgress = unreported
) -> dict[int, tuple[str, str]]:
    """For each item (by index) that repeats an earlier question of its query: that question, and the reason."""
    found: dict[int, tuple[str, str]] = {}
    places: dict[str, list[int]] = {}
    for index, (query, _) in enumerate(table.items):
        for earlier in places.get(query, []):
            why = "" if earlier in found else _why(table, texts, earlier, index)
            if why:
                found[index] = table.items[earlier][1], why
                break
        places.setdefault(query, []).append(index)
        progress(index + 1, len(table.items))
    return found


def require_reached(table: GradeTable, tau: float) -> None:
    """Refuse a tau that is not above 0, and one that no grade reaches."""
    require_tau(tau)
    highest = float(np.nanmax(table.grades, initial=-np.inf))
    if not highest >= tau:
        found = f"no grade reaches it, the highest is {highest:g}" if highest > -math.inf else "no grade was parsed"
        raise ValueError(f"tau: {tau:g}; {found}; wanted a tau that some grade reaches")


def responses(table: GradeTable) -> irt.ResponseMatrix:
    """The table for `irt`: right or wrong if grades are 0 and 1, otherwise ratings up to each question's highest.

    Questions that all students answered alike are left out, then students without answers. Grades with halves are
    doubled. Raises `ValueError` for fewer than 10 students, other fractions, and fewer than two questions that vary.
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
    data: irt.ResponseMatrix, *, interval: float = 0.9, seed: int = 0, progress: ReportProgress = unreported
) -> irt.Fit:
    """Difficulty and discrimination: the graded response model for ratings, otherwise a 2pl with item priors."""
    if data.top is not None:
        return irt.fit(data, "grm", "mml", interval=interval, seed=seed, progress=progress)
    return irt.fit(data, "2pl", "mml", priors=irt.Priors(), interval=interval, seed=seed, progress=progress)


def at_level(data: irt.ResponseMatrix, table: GradeTable, tau: float) -> irt.ResponseMatrix:
    """The same students and questions as right (grade >= tau) or wrong, without questions that no longer vary."""
    grades = table.grades[np.ix_(np.isin(table.students, data.students), np.isin(table.names, data.items))]
    right = np.where(np.isnan(grades), np.nan, grades >= tau)
    varies = _varies(right)
    names = tuple(name for name, one in zip(data.items, varies, strict=True) if one)
    return irt.ResponseMatrix(right[:, varies], data.students, names)


def _varies(grades: Floats) -> NDArray[np.bool_]:
    return np.array([len(np.unique(column[~np.isnan(column)])) > 1 for column in grades.T], dtype=np.bool_)


def _table(found: Mapping[str, Mapping[QuestionKey, float]]) -> GradeTable:
    return GradeTable(*grid_of({(student, key): grade for student, row in found.items() for key, grade in row.items()}))


def _rest_correlation(column: Floats, total: Floats, count: NDArray[np.int64]) -> float:
    known = ~np.isnan(column) & (count > 1)
    first = column[known]
    rest = (total[known] - first) / (count[known] - 1)
    if known.sum() < 3 or np.ptp(first) == 0 or np.ptp(rest) < 1e-12:
        return math.nan
    return float(np.corrcoef(first, rest)[0, 1])


def _why(table: GradeTable, texts: Mapping[QuestionKey, str], earlier: int, index: int) -> str:
    first, second = (texts.get(table.items[one], "") for one in (earlier, index))
    if first and second and jaccard(first, second) >= COPY:
        return "near copy"
    one, other = table.grades[:, earlier], table.grades[:, index]
    both = ~np.isnan(one) & ~np.isnan(other)
    same = np.array_equal(np.isnan(one), np.isnan(other)) and np.array_equal(one[both], other[both])
    return "answered alike" if both.sum() >= FEWEST and same and np.ptp(one[both]) > 0 else ""
