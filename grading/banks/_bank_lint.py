"""Faults of a question bank that a program can see: each finding names the rule, the questions, and what is wrong."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from examcore import jaccard, normalized
from grading._records import BankQuestion, Grade
from grading.formats._bank_files import by_query
from grading.graders._verification import meet, normalised, polarity


class Finding(NamedTuple):
    """A fault: the rule's name, the query, the ids of the questions, and one sentence."""

    rule: str
    query: str
    ids: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class Limits:
    """From where on a rule speaks.

    `near`: Jaccard similarity of two questions' words; `fewest` questions of a query; `most_answers` of a question any
    of whose answers counts; `broad`: share of at least `passages` graded passages that reach grade `tau`.
    """

    near: float = 0.8
    fewest: int = 3
    most_answers: int = 10
    broad: float = 0.8
    passages: int = 5
    tau: float = 1.0


RULES = (
    "empty-question",
    "not-a-question",
    "duplicate",
    "near-duplicate",
    "contradiction",
    "unsatisfiable-and",
    "duplicate-answer",
    "answer-in-question",
    "no-answer",
    "too-broad",
    "few-questions",
)
"""Every rule, in the order in which findings are listed."""

MANY = 20
"""Statements from which on a bank of which they are more than half is one of statements."""

_ASKS = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how)\b|\A\W*(?:is|are|was|were|do|does|did|can|could|will|would"
    r"|should|must|may|might|has|have|had|name|list|describe|explain|give|define|compare|discuss|identify|state)\b",
    re.IGNORECASE,
)
_ONE_VALUE = re.compile(
    r"\b(?:when|which year|what year|how (?:many|much|long|old|far|tall|high|deep))\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d[\d.,]*")
_NEGATION = re.compile(r"\b(?:no|not|never|none|neither|cannot|without)\b|n['’]t\b", re.IGNORECASE)


def lint(
    bank: Sequence[BankQuestion], grades: Sequence[Grade] = (), limits: Limits | None = None
) -> tuple[Finding, ...]:
    """All findings, by rule and then in the bank's order; with `grades` also questions that most passages answer."""
    chosen = limits or Limits()
    bound = any(key.documents for one in bank for key in one.answers)
    keyed = any(one.answers for one in bank)
    found: list[Finding] = []
    for query, questions in by_query(bank).items():
        for one in questions:
            found += _alone(one, chosen, bound=bound, keyed=keyed)
        found += _pairs(questions, chosen)
        if len(questions) < chosen.fewest:
            said = (
                f"query {query!r} has {len(questions)} questions; scores of so few say little (wanted {chosen.fewest})"
            )
            found.append(Finding("few-questions", query, tuple(one.id for one in questions), said))
    found += _answered_by_most(bank, grades, chosen)
    found = _gathered(found, len(bank))
    return tuple(sorted(found, key=lambda one: RULES.index(one.rule)))


def _gathered(found: list[Finding], size: int) -> list[Finding]:
    """The findings; a bank of statements, as nuggets are, is told of once and not for each of them."""
    mute = [one for one in found if one.rule == "not-a-question"]
    if len(mute) < MANY or len(mute) <= size / 2:
        return found
    said = f"{len(mute)} of {size} ask nothing: a bank of statements, which a model can rate and not answer"
    ids = tuple(dict.fromkeys(name for one in mute for name in one.ids))
    return [Finding("not-a-question", "", ids, said), *(one for one in found if one.rule != "not-a-question")]


def _alone(one: BankQuestion, limits: Limits, *, bound: bool, keyed: bool) -> Iterator[Finding]:
    """What is wrong with a question by itself."""
    for rule, check in _CHECKS:
        for said in check(one, limits):
            yield Finding(rule, one.query, (one.id,), said)
    if bound:
        for said in _unbound(one):
            yield Finding("unsatisfiable-and", one.query, (one.id,), said)
    if keyed and not one.answers and one.combine == "or":
        yield Finding(
            "no-answer", one.query, (one.id,), f"{one.id}: has no key although others have; it cannot be verified"
        )


def _empty(one: BankQuestion, _: Limits) -> Iterator[str]:
    if not one.question.strip():
        yield f"{one.id}: the question is empty"


def _no_question(one: BankQuestion, _: Limits) -> Iterator[str]:
    text = one.question.strip()
    if text and not text.endswith("?") and not _ASKS.search(text):
        yield f"{one.id}: {text!r} asks nothing: no question mark and no question word"


def _broad(one: BankQuestion, limits: Limits) -> Iterator[str]:
    words = normalised(one.question).split()
    if one.question.strip() and len(re.findall(r"\w+", one.question)) < 3:
        yield f"{one.id}: {one.question!r} is a question of {len(words) or 'no'} word; many passages answer it"
    if one.combine == "or" and len(one.answers) > limits.most_answers:
        yield f"{one.id}: any of {len(one.answers)} answers counts; wanted at most {limits.most_answers}"


def _unsatisfiable(one: BankQuestion, _: Limits) -> Iterator[str]:
    """An AND that no answer meets: no answers, opposite ones, or several values of one quantity."""
    if one.combine != "and":
        return
    texts = [key.text for key in one.answers]
    if not texts:
        yield f"{one.id}: all answers are needed and there are none"
    if {polarity(text, alone=True) for text in texts} >= {True, False}:
        yield f"{one.id}: opposite answers are needed together: {_listed(texts)}"
    values = {text.strip() for text in texts if _NUMBER.fullmatch(text.strip())}
    if len(values) > 1 and _ONE_VALUE.search(one.question):
        yield f"{one.id}: {one.question!r} has one value, and several are needed together: {_listed(sorted(values))}"


def _unbound(one: BankQuestion) -> Iterator[str]:
    """In a bank whose answers are bound to documents, one without any can be cited from nowhere (ARGUE, 4.4.1)."""
    loose = [key.text for key in one.answers if not key.documents]
    if one.combine == "and" and loose:
        yield f"{one.id}: needed, and bound to no document that could be cited: {_listed(loose)}"


def _opposites(one: BankQuestion, _: Limits) -> Iterator[str]:
    truths = {polarity(key.text, alone=True) for key in one.answers}
    if one.combine == "or" and truths >= {True, False}:
        yield f"{one.id}: a truth value and its opposite both count: {_listed([key.text for key in one.answers])}"


def _same_answers(one: BankQuestion, _: Limits) -> Iterator[str]:
    for text, count in Counter(normalised(key.text) for key in one.answers).items():
        if count > 1 and text:
            yield f"{one.id}: the answer {text!r} stands {count} times"


def _leak(one: BankQuestion, _: Limits) -> Iterator[str]:
    asked = f" {normalised(one.question)} "
    for key in one.answers:
        words = normalised(key.text)
        is_choice = re.search(r"\bor\b", one.question, re.IGNORECASE) is not None
        if len(words) > 2 and f" {words} " in asked and polarity(key.text, alone=True) is None and not is_choice:
            yield f"{one.id}: the answer {key.text!r} stands in the question"


_CHECKS: tuple[tuple[str, Callable[[BankQuestion, Limits], Iterator[str]]], ...] = (
    ("empty-question", _empty),
    ("not-a-question", _no_question),
    ("too-broad", _broad),
    ("unsatisfiable-and", _unsatisfiable),
    ("contradiction", _opposites),
    ("duplicate-answer", _same_answers),
    ("answer-in-question", _leak),
)


def _pairs(questions: Sequence[BankQuestion], limits: Limits) -> Iterator[Finding]:
    """Questions of one query that ask the same, and what their keys say of each other."""
    asked = [(one, normalized(one.question)) for one in questions if one.question.strip()]
    for (first, left), (second, right) in combinations(asked, 2):
        near = 1.0 if left == right else jaccard(left, right)
        if near < limits.near:
            continue
        ids, said = (first.id, second.id), f"{first.id} and {second.id}"
        if left == right:
            yield Finding("duplicate", first.query, ids, f"{said} ask the same: {first.question!r}")
        else:
            told = f"{said} ask nearly the same (similarity {near:.2f}): {first.question!r}, {second.question!r}"
            yield Finding("near-duplicate", first.query, ids, told)
        if why := _contradict(first, second, same=left == right):
            yield Finding("contradiction", first.query, ids, f"{said} {why}")


def _contradict(first: BankQuestion, second: BankQuestion, *, same: bool) -> str:
    """How the keys of two questions that ask (nearly) the same contradict each other; empty where they do not.

    Nearly the same may differ in the word that matters: there only opposite truth values contradict, and only where not
    just one of the two is negated.
    """
    if not first.answers or not second.answers or meet(first.answers, second.answers):
        return ""
    keys = f"{_listed([one.text for one in first.answers])} and {_listed([one.text for one in second.answers])}"
    if same:
        return f"ask the same and have no answer in common: {keys}"
    truths = [{polarity(key.text, alone=True) for key in one.answers} for one in (first, second)]
    negated = [bool(_NEGATION.search(one.question)) for one in (first, second)]
    if {frozenset(truths[0]), frozenset(truths[1])} == {frozenset({True}), frozenset({False})} and len(
        set(negated)
    ) == 1:
        return f"ask nearly the same and have opposite keys: {keys}"
    return ""


def _answered_by_most(bank: Sequence[BankQuestion], grades: Sequence[Grade], limits: Limits) -> Iterator[Finding]:
    """Questions that nearly every graded passage of their query answers: they tell no passages apart."""
    reached: dict[tuple[str, str], list[bool]] = {}
    for one in grades:
        if not math.isnan(one.grade):
            reached.setdefault((one.query, one.question), []).append(one.grade >= limits.tau)
    for question in bank:
        found = reached.get((question.query, question.id), [])
        if len(found) >= limits.passages and sum(found) / len(found) > limits.broad:
            said = f"{question.id}: {sum(found)} of {len(found)} passages reach grade {limits.tau:g}"
            yield Finding("too-broad", question.query, (question.id,), said)


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(repr(one) for one in texts)
