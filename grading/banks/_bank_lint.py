"""Faults of a question bank that a program can find; each names the rule, the questions, and what is wrong."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from examcore import jaccard, normalized
from grading._printing import counted_notes, noted
from grading._records import BankQuestion, Grade
from grading.formats._bank_files import by_query, read_bank
from grading.formats._common_parts import require_reached, require_shared_questions
from grading.formats._file_faults import Fault, in_words
from grading.formats._grades import read_grades
from grading.graders._verification import meet, normalised, polarity


class Finding(NamedTuple):
    """A fault: the rule's name, the query, the ids of the questions, and one sentence."""

    rule: str
    query: str
    ids: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class Limits:
    """The limits of the rules, which are the options of `ragexam grade bank lint`."""

    tau: Annotated[float, typer.Option(help="The grade from which a question is answered.")] = 1.0
    fewest: Annotated[int, typer.Option(min=1, help="Questions a query should have at least.")] = 3
    near: Annotated[float, typer.Option(min=0.1, max=1, help="Similarity from which questions ask the same.")] = 0.8


LIMITS = Limits()
MOST_ANSWERS = 10
"""Answers of which any one counts: more make a question too broad."""
BROAD, PASSAGES = 0.8, 5
"""A question is too broad where more than this share of at least so many graded passages reach tau."""
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
"""A bank with at least this many statements, if they are more than half of it, is reported once as such."""

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


class BankFindings(NamedTuple):
    """The findings on a bank, how many of each rule, and grades of questions that the bank does not have."""

    bank: Path
    n: int
    queries: int
    counts: dict[str, int]
    findings: Sequence[Finding]
    grades_of_other_questions: int
    notes: Sequence[str]

    def lines(self) -> list[str]:
        """The result for a reader."""
        width = max(map(len, self.counts), default=0)
        foreign = {"grades are of questions that the bank does not have": self.grades_of_other_questions}
        return [
            f"{self.bank}: {self.n} questions for {self.queries} queries; {len(self.findings)} findings",
            *(f"  {one.rule:<{width}}  {one.query}  {one.sentence}" for one in self.findings),
            *noted(self.notes),
            *counted_notes(foreign),
        ]


def lint_file(path: Path, grades: Path | None, limits: Limits) -> BankFindings:
    """The findings on the bank of a file, with `grades` also on what its grades say."""
    faults: list[Fault] = []
    bank = read_bank(path, faults)
    known = dict.fromkeys((one.query, one.id) for one in bank)
    graded: tuple[Grade, ...] = ()
    if grades is not None:
        read = read_grades(grades)
        require_shared_questions(grades, read, known, str(path))
        require_reached(grades, read, limits.tau)
        graded = read.grades
    found = lint(bank, graded, limits)
    counts = dict(Counter(one.rule for one in found))
    foreign = sum((one.query, one.question) not in known for one in graded)
    queries = len({one.query for one in bank})
    return BankFindings(path, len(bank), queries, counts, found, foreign, in_words(faults))


def lint(bank: Sequence[BankQuestion], grades: Sequence[Grade] = (), limits: Limits = LIMITS) -> tuple[Finding, ...]:
    """All findings, by rule and then in the bank's order; with `grades` also questions that most passages answer."""
    cites_documents = any(key.documents for one in bank for key in one.answers)
    has_keys = any(one.answers for one in bank)
    found: list[Finding] = []
    for query, questions in by_query(bank).items():
        for one in questions:
            faults = [*_wording(one), *_key(one), *_answers(one)]
            if cites_documents:
                faults += _uncitable(one)
            if has_keys and not one.answers and one.combine == "or":
                faults.append(("no-answer", "has no key although others have; it cannot be verified"))
            found += [Finding(rule, query, (one.id,), f"{one.id}: {fault}") for rule, fault in faults]
        found += _pairs(questions, limits)
        if len(questions) < limits.fewest:
            fault = f"query {query!r} has {len(questions)} questions, too few for a score (wanted {limits.fewest})"
            found.append(Finding("few-questions", query, tuple(one.id for one in questions), fault))
    found += _answered_by_most(bank, grades, limits)
    found = _statements_as_one(found, len(bank))
    return tuple(sorted(found, key=lambda one: RULES.index(one.rule)))


def _statements_as_one(found: list[Finding], size: int) -> list[Finding]:
    """The findings, with a single one for a bank of statements, such as nuggets."""
    statements = [one for one in found if one.rule == "not-a-question"]
    if len(statements) < MANY or len(statements) <= size / 2:
        return found
    fault = f"{len(statements)} of {size} ask nothing: a bank of statements, which a model can rate but not answer"
    ids = tuple(dict.fromkeys(name for one in statements for name in one.ids))
    return [Finding("not-a-question", "", ids, fault), *(one for one in found if one.rule != "not-a-question")]


def _wording(one: BankQuestion) -> Iterator[tuple[str, str]]:
    """The rule and fault of each fault in the words of a question."""
    text = one.question.strip()
    if not text:
        yield "empty-question", "the question is empty"
        return
    if not text.endswith("?") and not _ASKS.search(text):
        yield "not-a-question", f"{text!r} asks nothing: no question mark and no question word"
    if len(re.findall(r"\w+", text)) < 3:
        words = len(normalised(text).split())
        yield "too-broad", f"{one.question!r} is a question of {words or 'no'} word; many passages answer it"


def _key(one: BankQuestion) -> Iterator[tuple[str, str]]:
    """The rule and fault of each fault in how a question combines its answers."""
    texts = [key.text for key in one.answers]
    has_opposites = {polarity(text, alone=True) for text in texts} >= {True, False}
    if one.combine == "or":
        if len(texts) > MOST_ANSWERS:
            yield "too-broad", f"any of {len(texts)} answers counts; wanted at most {MOST_ANSWERS}"
        if has_opposites:
            yield "contradiction", f"a truth value and its opposite both count: {_listed(texts)}"
    else:
        if not texts:
            yield "unsatisfiable-and", "all answers are needed and there are none"
        if has_opposites:
            yield "unsatisfiable-and", f"opposite answers are needed together: {_listed(texts)}"
        values = sorted({text.strip() for text in texts if _NUMBER.fullmatch(text.strip())})
        if len(values) > 1 and _ONE_VALUE.search(one.question):
            fault = f"{one.question!r} has one value, and several are needed together: {_listed(values)}"
            yield "unsatisfiable-and", fault


def _answers(one: BankQuestion) -> Iterator[tuple[str, str]]:
    """The rule and fault of each repeated answer, and of each that the question reveals."""
    texts = [key.text for key in one.answers]
    for text, count in Counter(map(normalised, texts)).items():
        if count > 1 and text:
            yield "duplicate-answer", f"the answer {text!r} occurs {count} times"
    if re.search(r"\bor\b", one.question, re.IGNORECASE) is None:
        asked = f" {normalised(one.question)} "
        for text in texts:
            words = normalised(text)
            if len(words) > 2 and f" {words} " in asked and polarity(text, alone=True) is None:
                yield "answer-in-question", f"the answer {text!r} is in the question"


def _uncitable(one: BankQuestion) -> Iterator[tuple[str, str]]:
    """In a bank that binds answers to documents, a needed answer without any cannot be cited (ARGUE, 4.4.1)."""
    unbound = [key.text for key in one.answers if not key.documents]
    if one.combine == "and" and unbound:
        yield "unsatisfiable-and", f"needed, and bound to no document that could be cited: {_listed(unbound)}"


def _pairs(questions: Sequence[BankQuestion], limits: Limits) -> Iterator[Finding]:
    """Questions of one query that ask the same, and contradictions between their keys."""
    asked = [(one, normalized(one.question)) for one in questions if one.question.strip()]
    for (first, left), (second, right) in combinations(asked, 2):
        near = 1.0 if left == right else jaccard(left, right)
        if near < limits.near:
            continue
        ids, both = (first.id, second.id), f"{first.id} and {second.id}"
        if left == right:
            yield Finding("duplicate", first.query, ids, f"{both} ask the same: {first.question!r}")
        else:
            fault = f"{both} ask nearly the same (similarity {near:.2f}): {first.question!r}, {second.question!r}"
            yield Finding("near-duplicate", first.query, ids, fault)
        if why := _contradict(first, second, same=left == right):
            yield Finding("contradiction", first.query, ids, f"{both} {why}")


def _contradict(first: BankQuestion, second: BankQuestion, *, same: bool) -> str:
    """How the keys of two questions that ask (nearly) the same contradict each other; empty if they do not.

    Near duplicates may differ in the decisive word: their keys contradict only if they are opposite truth values and
    both questions or neither is negated.
    """
    if not first.answers or not second.answers or meet(first.answers, second.answers):
        return ""
    keys = f"{_listed([one.text for one in first.answers])} and {_listed([one.text for one in second.answers])}"
    if same:
        return f"ask the same and have no answer in common: {keys}"
    truths = [{polarity(key.text, alone=True) for key in one.answers} for one in (first, second)]
    negated = [bool(_NEGATION.search(one.question)) for one in (first, second)]
    if truths in ([{True}, {False}], [{False}, {True}]) and negated[0] == negated[1]:
        return f"ask nearly the same and have opposite keys: {keys}"
    return ""


def _answered_by_most(bank: Sequence[BankQuestion], grades: Sequence[Grade], limits: Limits) -> Iterator[Finding]:
    """Questions that nearly every graded passage of their query answers, so that they do not distinguish passages."""
    reached: dict[tuple[str, str], list[bool]] = {}
    for one in grades:
        if not math.isnan(one.grade):
            reached.setdefault((one.query, one.question), []).append(one.grade >= limits.tau)
    for question in bank:
        found = reached.get((question.query, question.id), [])
        if len(found) >= PASSAGES and sum(found) / len(found) > BROAD:
            fault = f"{question.id}: {sum(found)} of {len(found)} passages reach grade {limits.tau:g}"
            yield Finding("too-broad", question.query, (question.id,), fault)


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(repr(one) for one in texts)
