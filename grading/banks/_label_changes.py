"""Which passages change their EXAM-Label when a bank is edited (EXAM++ 2024, section 1: the impact of a modification).

A label is a passage's best grade over the questions of the bank. If an edit changes the wording or the key of a
question, its grades no longer count, and the passage has to be graded again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grading._printing import counted_notes, noted
from grading._records import BankQuestion, Grade, QuestionKey
from grading.formats._bank_files import read_bank
from grading.formats._common_parts import require_reached, require_shared_questions
from grading.formats._file_faults import Fault, in_words
from grading.formats._grades import ReadGrades, read_grades
from grading.scores._cover import Labels, exam_labels, require_tau

UNPARSED, NOT_GRADED, NOT_ASKED = "unparsed", "not graded", "not asked"
PRINTED = 40
"""Changed passages that are printed without `--json`."""


class BankDifference(NamedTuple):
    """The questions that an edit added, removed and changed, in the order of the banks."""

    added: tuple[QuestionKey, ...]
    removed: tuple[QuestionKey, ...]
    changed: tuple[QuestionKey, ...]

    def record(self) -> dict[str, list[dict[str, str]]]:
        """The questions as objects."""
        return {what: [{"query": query, "id": one} for query, one in keys] for what, keys in self._asdict().items()}


class LabelChange(NamedTuple):
    """A passage whose label changes; NaN if it has no grade by the questions of one of the banks.

    `why` is the reason for a NaN: `not asked` (the bank has no question of the query), `not graded` (no grade by its
    questions as they are worded) or `unparsed` (no reply to them can be parsed).
    """

    query: str
    passage: str
    before: float
    after: float
    why: str = ""

    def __str__(self) -> str:
        """`5 -> 3`, or in words where one of the banks gives the passage no label."""
        before = f"{self.why} before" if math.isnan(self.before) else f"{self.before:g}"
        after = "no longer asked" if self.why == NOT_ASKED else self.why
        return f"{before} -> {after if math.isnan(self.after) else f'{self.after:g}'}"


class UngradedPair(NamedTuple):
    """A passage and a question that it has no grade by."""

    query: str
    passage: str
    question: str


class Changes(NamedTuple):
    """The passages whose label changes, and what the grades do not tell.

    `ungraded`: pairs with added and changed questions, which may still raise a label of the second bank; `foreign`: the
    number of grades of questions of neither bank, which are ignored; `notes` are sentences on the banks.
    """

    tau: float | None
    edits: BankDifference
    passages: int
    changes: tuple[LabelChange, ...]
    ungraded: tuple[UngradedPair, ...]
    foreign: int
    notes: Sequence[str] = ()

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "tau": self.tau,
            "questions": self.edits,
            "passages": self.passages,
            "n_changed": len(self.changes),
            "up": sum(one.after > one.before for one in self.changes),
            "down": sum(one.after < one.before for one in self.changes),
            "changes": self.changes,
            "ungraded": self.ungraded,
            "foreign_grades": self.foreign,
            "notes": self.notes,
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        counts = ", ".join(f"{len(some)} {name}" for name, some in self.edits._asdict().items())
        changed = len(self.changes)
        lines = [f"questions: {counts}", f"labels: {changed} of {self.passages} passages change"]
        lines += [f"  {one.query}  {one.passage}  {one}" for one in self.changes[:PRINTED]]
        if changed > PRINTED:
            lines.append(f"  … {changed - PRINTED} more (--json lists all)")
        passages = len({one[:2] for one in self.ungraded})
        pairs = f"pairs of {passages} passages and added or changed questions have no grade"
        lines += counted_notes({f"{pairs}; grade them before the labels are used": len(self.ungraded)})
        return [*lines, *noted(self.notes), *counted_notes({"grades are of questions of neither bank": self.foreign})]


def bank_difference(before: Sequence[BankQuestion], after: Sequence[BankQuestion]) -> BankDifference:
    """The questions added, removed and changed; sub-topic and importance affect no grade and do not count."""
    old, new = ({(one.query, one.id): _asked(one) for one in bank} for bank in (before, after))
    return BankDifference(
        tuple(name for name in new if name not in old),
        tuple(name for name in old if name not in new),
        tuple(name for name in old if name in new and old[name] != new[name]),
    )


def changed_labels(before: Path, after: Path, grades: Path, tau: float | None) -> Changes:
    """The passages whose label differs between the banks of two files; `ValueError` for grades of neither bank."""
    faults: list[Fault] = []
    old, new, read = read_bank(before, faults), read_bank(after, faults), read_grades(grades)
    found = label_changes(old, new, read.grades, tau)
    known = dict.fromkeys((one.query, one.id) for one in (*old, *new))
    require_shared_questions(grades, read, known, f"{before} or {after}")
    if tau is not None:
        require_reached(grades, read, tau)
    return found._replace(notes=in_words(faults))


def label_changes(
    before: Sequence[BankQuestion], after: Sequence[BankQuestion], grades: Sequence[Grade], tau: float | None = None
) -> Changes:
    """The passages whose label differs between two banks, by the same grades.

    With `tau` only crossings of that grade count (labels of 3 and 1 are both below 4). Unparsed grades (NaN) are
    ignored, and so are grades of changed questions in the second bank. Raises `ValueError` for a tau that is not above
    0.
    """
    if tau is not None:
        require_tau(tau)
    edits = bank_difference(before, after)
    old, new = ({(one.query, one.id) for one in bank} for bank in (before, after))
    either = old | new
    known = [one for one in grades if (one.query, one.question) in either]
    counted = new - set(edits.changed)
    labels = [_labels(known, old), _labels(known, counted)]
    unlabelled = [set(one.unlabelled) for one in labels]
    queries = [{query for query, _ in bank} for bank in (old, new)]
    passages = dict.fromkeys((one.query, one.passage) for one in known)
    changes = []
    for query, passage in passages:
        first, second = (one.best.get(query, {}).get(passage, math.nan) for one in labels)
        if _differ(first, second, tau):
            undefined = 0 if math.isnan(first) else 1 if math.isnan(second) else None
            why = "" if undefined is None else _why((query, passage), queries[undefined], unlabelled[undefined])
            changes.append(LabelChange(query, passage, first, second, why))
    graded = {(one.query, one.passage, one.question) for one in known if (one.query, one.question) in counted}
    pairs = (
        UngradedPair(query, passage, question)
        for query, passage in passages
        for asked, question in (*edits.added, *edits.changed)
        if asked == query
    )
    ungraded = tuple(pair for pair in pairs if pair not in graded)
    return Changes(tau, edits, len(passages), tuple(changes), ungraded, len(grades) - len(known))


def _labels(grades: Sequence[Grade], questions: set[QuestionKey]) -> Labels:
    return exam_labels(ReadGrades(tuple(one for one in grades if (one.query, one.question) in questions)))


def _why(passage: tuple[str, str], queries: set[str], unlabelled: set[tuple[str, str]]) -> str:
    """Why a passage has no label by the questions of a bank."""
    if passage[0] not in queries:
        return NOT_ASKED
    return UNPARSED if passage in unlabelled else NOT_GRADED


def _differ(before: float, after: float, tau: float | None) -> bool:
    if tau is not None:
        return (before >= tau) != (after >= tau)
    return before != after and not (math.isnan(before) and math.isnan(after))


def _asked(question: BankQuestion) -> tuple[object, ...]:
    """What the grades of a question depend on."""
    return " ".join(question.question.split()), frozenset(one.text for one in question.answers), question.combine
