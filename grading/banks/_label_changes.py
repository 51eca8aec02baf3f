"""Which passages change their EXAM-Label when a bank is edited (EXAM++ 2024, section 1: the impact of a modification).

A label is a passage's best grade over the questions of the bank. A grade speaks of the question it was given for:
where an edit changed the wording or the key, it holds no more, and the passage has to be graded anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from grading._records import BankQuestion, Grade

Name = tuple[str, str]
"""The query and id of a question."""
UNPARSED, NOT_GRADED, NOT_ASKED = "unparsed", "not graded", "not asked"


class Edits(NamedTuple):
    """How one bank differs from another, by query and id, in the order of the banks."""

    added: tuple[Name, ...]
    removed: tuple[Name, ...]
    changed: tuple[Name, ...]


class LabelChange(NamedTuple):
    """A passage whose label changes; NaN where no grade for it is of one of the bank's questions.

    `why` says why a label is NaN: `not asked` (the bank has no question of the query), `not graded` (no grade is of its
    questions as they stand) or `unparsed` (no reply to them fits a rule); empty with two labels.
    """

    query: str
    passage: str
    before: float
    after: float
    why: str = ""


class Changes(NamedTuple):
    """The passages whose label changes, and what the grades cannot say.

    `ungraded`: the pairs of a passage and an added or changed question, which may still raise a label of the second
    bank; `foreign`: grades of questions of neither bank, which are left out.
    """

    edits: Edits
    passages: int
    changes: tuple[LabelChange, ...]
    ungraded: tuple[tuple[str, str, str], ...]
    foreign: int


def bank_difference(before: Sequence[BankQuestion], after: Sequence[BankQuestion]) -> Edits:
    """The questions added, removed and changed; sub-topic and importance change no grade and are no change here."""
    old, new = _by_name(before), _by_name(after)
    return Edits(
        tuple(name for name in new if name not in old),
        tuple(name for name in old if name not in new),
        tuple(name for name in old if name in new and _asks(old[name]) != _asks(new[name])),
    )


def label_changes(
    before: Sequence[BankQuestion],
    after: Sequence[BankQuestion],
    grades: Sequence[Grade],
    tau: float | None = None,
    regraded: Iterable[Name] = (),
) -> Changes:
    """The passages whose label differs between two banks under one set of grades.

    With `tau` only crossings of that grade count (a label of 3 and one of 1 are both below 4). Grades that are NaN
    (unparsed) count for nothing. Changed questions count as ungraded in the second bank, unless `regraded` names them:
    then their grades are of the new wording, and the first bank has none. Raises `ValueError` for a tau of 0 or less.
    """
    if tau is not None and not 0 < tau < math.inf:
        raise ValueError(f"tau: {tau:g}; wanted above 0, which stands for no answer, and finite")
    edits = bank_difference(before, after)
    fresh = set(regraded)
    stale = set(edits.changed)
    old = {name for name in _by_name(before) if name not in stale & fresh}
    new = {name for name in _by_name(after) if name not in stale - fresh}
    known = {*_by_name(before), *_by_name(after)}
    labels: dict[Name, tuple[float, float]] = {}
    graded: set[tuple[str, str, str]] = set()
    for one in grades:
        name, passage = (one.query, one.question), (one.query, one.passage)
        if name not in known:
            continue
        graded.add((one.query, one.passage, one.question))
        first, second = labels.get(passage, (math.nan, math.nan))
        labels[passage] = (
            _higher(first, one.grade) if name in old else first,
            _higher(second, one.grade) if name in new else second,
        )
    asked = [{query for query, _ in _by_name(bank)} for bank in (before, after)]
    return Changes(
        edits,
        len(labels),
        tuple(
            LabelChange(*passage, *pair, _why(passage, pair, asked, (old, new), graded))
            for passage, pair in labels.items()
            if _differ(*pair, tau)
        ),
        tuple(_ungraded(labels, [*edits.added, *edits.changed], new, graded)),
        sum((one.query, one.question) not in known for one in grades),
    )


def _ungraded(
    passages: Iterable[Name], names: Sequence[Name], counted: set[Name], graded: set[tuple[str, str, str]]
) -> Iterable[tuple[str, str, str]]:
    """Pairs of a passage and a question of the second bank that no grade speaks of."""
    of: dict[str, list[Name]] = {}
    for name in names:
        of.setdefault(name[0], []).append(name)
    for query, passage in passages:
        for name in of.get(query, ()):
            if name not in counted or (query, passage, name[1]) not in graded:
                yield query, passage, name[1]


def _why(
    passage: Name,
    labels: tuple[float, float],
    asked: Sequence[set[str]],
    counted: Sequence[set[Name]],
    graded: set[tuple[str, str, str]],
) -> str:
    """Why one of the labels is NaN, empty where neither is; the arguments in pairs are of the two banks."""
    side = next((one for one in (0, 1) if math.isnan(labels[one])), None)
    if side is None:
        return ""
    if passage[0] not in asked[side]:
        return NOT_ASKED
    known = any((*passage, question) in graded for query, question in counted[side] if query == passage[0])
    return UNPARSED if known else NOT_GRADED


def _higher(first: float, second: float) -> float:
    """The higher of two grades, where NaN is none."""
    return second if math.isnan(first) else first if math.isnan(second) else max(first, second)


def _differ(before: float, after: float, tau: float | None) -> bool:
    if tau is not None:
        return (before >= tau) != (after >= tau)
    return before != after and not (math.isnan(before) and math.isnan(after))


def _by_name(bank: Sequence[BankQuestion]) -> Mapping[Name, BankQuestion]:
    return {(one.query, one.id): one for one in bank}


def _asks(question: BankQuestion) -> tuple[object, ...]:
    return " ".join(question.question.split()), frozenset(one.text for one in question.answers), question.combine
