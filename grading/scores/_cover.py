"""What grades say of rankings and passages (EXAM++ 2024): EXAM-Cover (eq. 1) and EXAM-Label (eq. 2).

EXAM-Cover is the share of a query's questions that the first k passages of a ranking answer, EXAM-Label a passage's
best grade over the questions, as relevance judgements.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from grading._printing import named, noted
from grading._records import Bank
from grading.formats._common_parts import require_parsed, require_reached
from grading.formats._grades import ReadGrades, parsed, read_grades
from grading.formats._trec import Qrels, TrecRun, qrels_lines, write_qrels

BUDGET = 20
"""Passages that count per query (section 4.3.1)."""


class Covered(NamedTuple):
    """A query of one run: EXAM-Cover, the covered questions, how many passages count, and those never graded.

    `score` is NaN if passages were retrieved and none of them was graded.
    """

    score: float
    questions: tuple[str, ...]
    passages: int
    ungraded: tuple[str, ...]


@dataclass(frozen=True)
class Cover:
    """One run: its scored queries, the bank's queries that it skips (each scored 0), and queries without questions."""

    run: str
    queries: Mapping[str, Covered]
    skipped: tuple[str, ...]
    without_bank: tuple[str, ...]

    @property
    def scores(self) -> dict[str, float]:
        """Query -> EXAM-Cover."""
        return {query: one.score for query, one in self.queries.items()}

    @property
    def passages(self) -> int:
        """How many passages count, over all queries."""
        return sum(one.passages for one in self.queries.values())

    @property
    def ungraded(self) -> int:
        """How many of these passages were never graded."""
        return sum(len(one.ungraded) for one in self.queries.values())


class Labels(NamedTuple):
    """Query -> passage -> best grade, and the `(query, passage)` pairs without a parsed grade, which have no label."""

    best: dict[str, dict[str, float]]
    unlabelled: tuple[tuple[str, str], ...]


class LabelledPassages(NamedTuple):
    """The labels of graded passages, as qrels with `tau` or as they are; `out` is the file that has them, if any."""

    tau: float | None
    n: int
    queries: int
    unparsed: int
    unlabelled: tuple[tuple[str, str], ...]
    qrels: Qrels
    labels: Mapping[str, Mapping[str, float]]
    warnings: Sequence[str]
    out: Path | None

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {name: one for name, one in self._asdict().items() if name != "out"}

    def lines(self) -> list[str]:
        """The lines of the qrels, or where they are."""
        if self.out is None:
            return [one.removesuffix("\n") for one in qrels_lines(self.qrels)]
        return [f"{self.out}: {self.n} passages of {self.queries} queries", *noted(self.warnings)]


def cover(graded: ReadGrades, run: TrecRun, tau: float, k: int = BUDGET, bank: Bank | None = None) -> Cover:
    """EXAM-Cover@k,tau of a run for every query of the bank: `|{r: max grade(p, r) >= tau}| / |bank|`.

    The bank has a query's questions over all its facets; without one it is every question graded for the query in any
    passage. k counts along the whole ranking of the query. Raises `ValueError` for a tau that is not above 0, for k
    below 1, and if no query of the run is in the bank.
    """
    require_tau(tau)
    if k < 1:
        raise ValueError(f"k: {k}; wanted at least 1")
    bank = graded.questions if bank is None else bank
    require_common(run, bank)
    passages = graded.by_passage
    queries = {query: _covered(passages.get(query, {}), run.top(query, k), tau, bank[query]) for query in bank}
    return Cover(
        run.name,
        queries,
        tuple(query for query in bank if query not in run.rankings),
        tuple(query for query in run.rankings if query not in bank),
    )


def exam_labels(graded: ReadGrades) -> Labels:
    """`EXAM-Label(p) = max_r grade(p, r)` of every passage with a parsed grade."""
    best: dict[str, dict[str, float]] = {}
    without: list[tuple[str, str]] = []
    for query, passages in graded.by_passage.items():
        for passage, grades in passages.items():
            known = [grade for _, grade in parsed(grades)]
            if known:
                best.setdefault(query, {})[passage] = max(known)
            else:
                without.append((query, passage))
    return Labels(best, tuple(without))


def labelled_passages(path: Path, tau: float | None, prompt: str | None, out: Path | None) -> LabelledPassages:
    """The labels of all passages of a file of grades, and what has none; writes the qrels to `out`.

    Raises `ValueError` as `exam_qrels`, and for grades none of which is a number or reaches `tau`.
    """
    graded = read_grades(path, prompt)
    labels, warnings, unparsed = exam_labels(graded), [*graded.notes], graded.unparsed
    found = exam_qrels(labels, tau)
    require_parsed(path, graded)
    if tau is not None:
        require_reached(path, graded, tau)
    if out is not None:
        write_qrels(out, found)
    if unparsed:
        warnings.append(f"Unparsed grades, which count in no label: {unparsed} of {len(graded.grades)}.")
    without = (passage for _, passage in labels.unlabelled)
    warnings += named("Passages without a parsed grade, which have no label", without)
    n = sum(map(len, found.values()))
    return LabelledPassages(tau, n, len(found), unparsed, labels.unlabelled, found, labels.best, warnings, out)


def exam_qrels(labels: Labels, tau: float | None = None) -> dict[str, dict[str, int]]:
    """Labels as qrels: the grades themselves, or with `tau` 1 for labels of at least `tau` and 0 for others.

    The paper's experiments use graded labels for nDCG and tau as trec_eval's relevance level for the binary measures:
    qrels without tau, measured at level tau. Raises `ValueError` for a tau that is not above 0, and without tau for a
    label that is not a whole number.
    """
    if tau is not None:
        require_tau(tau)
    return {
        query: {passage: _level(query, passage, label, tau) for passage, label in passages.items()}
        for query, passages in labels.best.items()
    }


def require_tau(tau: float) -> None:
    """Refuse a tau that is not finite or not above 0, the grade of a passage that does not answer."""
    if not 0 < tau < math.inf:
        raise ValueError(f"tau: {tau:g}; wanted above 0, the grade for no answer, and finite")


def require_common(run: TrecRun, bank: Bank) -> None:
    """Refuse a run none of whose queries is in the bank."""
    if not any(query in run.rankings for query in bank):
        theirs, ours = next(iter(run.rankings)), next(iter(bank), "nothing")
        raise ValueError(f"run {run.name!r}: queries such as {theirs!r}; wanted some of the bank's, such as {ours!r}")


def outside(graded: ReadGrades, bank: Bank) -> int:
    """How many grades are of questions that are not in the bank, and so are ignored."""
    known = {query: set(questions) for query, questions in bank.items()}
    return sum(one.question not in known.get(one.query, ()) for one in graded.grades)


def _covered(
    grades: Mapping[str, Mapping[str, float]], top: Sequence[str], tau: float, questions: Collection[str]
) -> Covered:
    known = [one for one in top if one in grades and any(parsed(grades[one]))]
    reached = {name for one in known for name, grade in parsed(grades[one]) if grade >= tau}
    found = tuple(name for name in questions if name in reached)
    ungraded = tuple(one for one in top if one not in known)
    unknown = not questions or (bool(top) and not known)
    return Covered(math.nan if unknown else len(found) / len(questions), found, len(top), ungraded)


def _level(query: str, passage: str, label: float, tau: float | None) -> int:
    if tau is not None:
        return int(label >= tau)
    if label != int(label):
        raise ValueError(f"passage {passage!r} of query {query!r}: label {label:g}; wanted whole grades, or --tau")
    return int(label)
