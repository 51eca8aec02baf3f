"""The way of one sentence through ARGUE's questions to its outcome (Mayfield et al. 2024, figure 2).

A flow is a generator: it yields the questions that it needs answered next, is sent the decisions, and returns the
judged sentence.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from grading._records import BankQuestion, Sentence, SystemReport
from grading.reports._judging_material import Ask, Decision, Kind

Citations = Literal["any", "all", "micro"]
"""How several citations of one sentence count: one that supports it is enough, all must, or each counts by itself."""

REWARDED, PENALISED, IGNORED = frozenset({3, 8}), frozenset({1, 5, 7}), frozenset({2, 4, 6})


class Unit(NamedTuple):
    """What is counted: a sentence, or with `micro` one of its citations. `outcome` is 1 to 8, None for unjudged."""

    document: str
    outcome: int | None


@dataclass(frozen=True)
class SentenceOutcome:
    """A sentence, what it came to and why; `outcome` is None when its units differ or it is not scored.

    `stated` are the (nugget, answer) pairs it states with a right citation, answer -1 for a rightly claimed absence.
    `supported` says of each cited document whether it supports the sentence. `missing` is the question that no judge
    could answer.
    """

    run: str
    topic: str
    index: int
    text: str
    units: tuple[Unit, ...]
    why: str
    stated: tuple[tuple[str, int], ...] = ()
    supported: tuple[tuple[str, bool], ...] = ()
    missing: Ask | None = None

    @property
    def outcome(self) -> int | None:
        """The outcome that all units share."""
        found = {one.outcome for one in self.units}
        return found.pop() if len(found) == 1 else None


Flow = Generator[list[Ask], list[Decision], SentenceOutcome]


def absence_nuggets(nuggets: Sequence[BankQuestion]) -> list[BankQuestion]:
    """The nuggets of a topic that ask for what the collection does not hold.

    They have no answers; or, in a topic some of whose answers are bound to documents, none that is.
    """
    some_bound = any(answer.documents for one in nuggets for answer in one.answers)
    return [
        one
        for one in nuggets
        if not one.answers or (some_bound and not any(answer.documents for answer in one.answers))
    ]


def bound_answers(nuggets: Sequence[BankQuestion], documents: Iterable[str]) -> list[tuple[BankQuestion, int]]:
    """The answers, as nugget and index, that may be cited from one of the documents; one bound to none, from any."""
    wanted = frozenset(documents)
    return [
        (nugget, index)
        for nugget in nuggets
        for index, answer in enumerate(nugget.answers)
        if not answer.documents or answer.documents & wanted
    ]


def sentence_flow(report: SystemReport, index: int, nuggets: Sequence[BankQuestion], citations: Citations) -> Flow:
    """The flow of one sentence; `nuggets` are those of its topic."""
    here = _Sentence(report, index)
    if not here.sentence.text.strip():
        return here.judged([Unit("", None)], "not scored: the sentence is empty")
    ask = here.ask("claims_absence")
    (absent,) = yield [ask]
    if absent.verdict is None:
        return here.unjudged(ask, absent)
    if absent.verdict:
        return (yield from _claimed_absence(here, nuggets))
    if here.sentence.citations:
        return (yield from _cited(here, nuggets, citations))
    return (yield from _uncited(here))


def wanted_of(ask: Ask) -> str:
    """The judgement that answers a question."""
    if ask.kind == "supported":
        return f"'supported' of document {ask.document!r}"
    if ask.kind == "answers":
        return f"'nuggets' (whether it answers nugget {ask.nugget!r})"
    return repr(ask.kind)


def named(ids: Sequence[str]) -> str:
    """Nuggets by their ids, in words."""
    return f"nugget{'s' if len(ids) > 1 else ''} {_joined(ids)}"


@dataclass(frozen=True)
class _Sentence:
    """A sentence in its report, and how to ask about it."""

    report: SystemReport
    index: int

    @property
    def sentence(self) -> Sentence:
        return self.report.sentences[self.index]

    def ask(self, kind: Kind, document: str = "", nugget: str = "", answer: int = -1) -> Ask:
        return Ask(kind, self.report.run, self.report.topic, self.index, document, nugget, answer)

    def judged(self, units: Iterable[Unit], why: str, **more: object) -> SentenceOutcome:
        place = (self.report.run, self.report.topic, self.index, self.sentence.text)
        return SentenceOutcome(*place, tuple(units), why, **more)  # type: ignore[arg-type]

    def whole(self, outcome: int, why: str, **more: object) -> SentenceOutcome:
        """One outcome for the sentence as a whole."""
        return self.judged([Unit("", outcome)], why, **more)

    def unjudged(self, ask: Ask, decision: Decision) -> SentenceOutcome:
        why = f"not scored: {wanted_of(ask)} is not judged" + (f" ({decision.why})" if decision.why else "")
        return self.judged([Unit("", None)], why, missing=ask)


def _claimed_absence(here: _Sentence, nuggets: Sequence[BankQuestion]) -> Flow:
    asks = [here.ask("answers", nugget=one.id) for one in absence_nuggets(nuggets)]
    decisions = (yield asks) if asks else []
    asked_for = [ask.nugget for ask, one in zip(asks, decisions, strict=True) if one.verdict]
    if asked_for:
        why = f"claims the absence that {named(asked_for)} asks for: rewarded"
        return here.whole(8, why, stated=tuple((one, -1) for one in asked_for))
    for ask, one in zip(asks, decisions, strict=True):
        if one.verdict is None:
            return here.unjudged(ask, one)
    return here.whole(7, "claims that something is absent, which no nugget asks for: penalised")


def _uncited(here: _Sentence) -> Flow:
    ask = here.ask("needs_citation")
    (needs,) = yield [ask]
    if needs.verdict is None:
        return here.unjudged(ask, needs)
    if not needs.verdict:
        return here.whole(4, "cites nothing and needs no citation: ignored")
    ask = here.ask("repeats")
    (repeats,) = yield [ask]
    if repeats.verdict is None:
        return here.unjudged(ask, repeats)
    if repeats.verdict:
        return here.whole(6, "lacks a citation, but its claim occurred before: ignored")
    return here.whole(5, "lacks a citation where its claim occurs for the first time: penalised")


def _cited(here: _Sentence, nuggets: Sequence[BankQuestion], citations: Citations) -> Flow:
    asks = [here.ask("supported", document=one) for one in here.sentence.citations]
    decisions = yield asks
    for ask, one in zip(asks, decisions, strict=True):
        if one.verdict is None:
            return here.unjudged(ask, one)
    support = tuple((ask.document, bool(one.verdict)) for ask, one in zip(asks, decisions, strict=True))
    supporting = [name for name, holds in support if holds]
    enough = len(supporting) == len(support) if citations == "all" else bool(supporting)
    if not enough:
        against = [name for name, holds in support if not holds]
        units = _each(support, {}) if citations == "micro" else [Unit("", 1)]
        return here.judged(units, f"not supported by {_joined(against)}, which it cites: penalised", supported=support)
    asks = [here.ask("answers", nugget=one.id, answer=at) for one, at in bound_answers(nuggets, supporting)]
    decisions = (yield asks) if asks else []
    for ask, one in zip(asks, decisions, strict=True):
        if one.verdict is None:
            return here.unjudged(ask, one)
    stated = tuple((ask.nugget, ask.answer) for ask, one in zip(asks, decisions, strict=True) if one.verdict)
    units = _each(support, _bound(stated, nuggets)) if citations == "micro" else [Unit("", 3 if stated else 2)]
    return here.judged(units, _told(support, stated, nuggets, citations), stated=stated, supported=support)


def _each(support: Sequence[tuple[str, bool]], bound: Mapping[str, bool]) -> list[Unit]:
    """One unit per citation; `bound` says of a document whether a stated answer is bound to it."""
    anywhere = bound.get("", False)
    return [Unit(name, 1 if not holds else 3 if anywhere or bound.get(name) else 2) for name, holds in support]


def _bound(stated: Iterable[tuple[str, int]], nuggets: Sequence[BankQuestion]) -> dict[str, bool]:
    """The documents that stated answers are bound to; the empty name stands for any document."""
    known = {one.id: one for one in nuggets}
    return {name: True for nugget, answer in stated for name in known[nugget].answers[answer].documents or {""}}


def _told(
    support: Sequence[tuple[str, bool]],
    stated: Sequence[tuple[str, int]],
    nuggets: Sequence[BankQuestion],
    citations: Citations,
) -> str:
    supporting = [name for name, holds in support if holds]
    against = [name for name, holds in support if not holds]
    text = f"supported by {_joined(supporting)}"
    if against:
        text += f" and not by {_joined(against)}"
        text += ", which counts by itself" if citations == "micro" else ", one is enough"
    if not stated:
        return f"{text}; answers no nugget bound to a document that supports it: ignored"
    known = {one.id: one for one in nuggets}
    texts: dict[str, list[str]] = {}
    for name, answer in stated:
        texts.setdefault(name, []).append(repr(known[name].answers[answer].text))
    parts = [
        f"nugget {name} ({', '.join(said[:-1])}{' or ' if said[1:] else ''}{said[-1]})" for name, said in texts.items()
    ]
    return f"{text}; answers {_joined(parts)}: rewarded"


def _joined(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
