"""Which passages change their EXAM-Label when a bank is edited (EXAM++ 2024, section 1: the impact of a modification).

A label is a passage's best grade over the questions of the bank. If an edit changes the wording or the key of a
question, its grades no longer count, and the passage has to be graded again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from grading._records import BankQuestion, Grade, QuestionKey
from grading.formats._grades import ReadGrades
from grading.scores._cover import Labels, exam_labels, require_tau

UNPARSED, NOT_GRADED, NOT_ASKED = "unparsed", "not graded", "not asked"


class BankDifference(NamedTuple):
    """The questions that an edit added, removed and changed, in the order of the banks."""

    added: tuple[QuestionKey, ...]
    removed: tuple[QuestionKey, ...]
    changed: tuple[QuestionKey, ...]


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


class Changes(NamedTuple):
    """The passages whose label changes, and what the grades do not tell.

    `ungraded`: `(query, passage, question)` of added and changed questions, which may still raise a label of the second
    bank; `foreign`: the number of grades of questions of neither bank, which are ignored.
    """

    edits: BankDifference
    passages: int
    changes: tuple[LabelChange, ...]
    ungraded: tuple[tuple[str, str, str], ...]
    foreign: int


def bank_difference(before: Sequence[BankQuestion], after: Sequence[BankQuestion]) -> BankDifference:
    """The questions added, removed and changed; sub-topic and importance affect no grade and do not count."""
    old, new = ({(one.query, one.id): _asked(one) for one in bank} for bank in (before, after))
    return BankDifference(
        tuple(name for name in new if name not in old),
        tuple(name for name in old if name not in new),
        tuple(name for name in old if name in new and old[name] != new[name]),
    )


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
        (query, passage, question)
        for query, passage in passages
        for asked, question in (*edits.added, *edits.changed)
        if asked == query
    )
    ungraded = tuple(pair for pair in pairs if pair not in graded)
    return Changes(edits, len(passages), tuple(changes), ungraded, len(grades) - len(known))


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
