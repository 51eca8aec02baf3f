"""ARGUE: what each sentence of a report with citations is worth (Mayfield et al. 2024, section 4.5 and figure 2).

Yes/no questions lead every sentence to one of eight outcomes. A judge answers the questions: a file of human
judgements, a language model, an entailment model (see `judgments` and `judges`).

| a sentence that | outcome | effect |
|---|---|---|
| cites a document that does not support it | 1 | penalised |
| is supported and answers no nugget bound to the document | 2 | ignored |
| is supported and answers a nugget bound to the document | 3 | rewarded |
| cites nothing and needs not | 4 | ignored |
| cites nothing, needs to, and makes its claim for the first time | 5 | penalised |
| cites nothing, needs to, and repeats a claim | 6 | ignored |
| claims that something is absent, which is no nugget | 7 | penalised |
| claims that something is absent, which is a nugget | 8 | rewarded |

The way of a sentence to its outcome is a generator, a flow: it yields the questions that it needs answered next, is
sent the decisions, and returns the judged sentence.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from grading._records import BankQuestion, Sentence, SystemReport
from grading.formats._bank_files import by_query
from grading.reports._judging_material import Ask, Decision, Judge, Kind

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

    @property
    def numbered(self) -> str:
        """`#3 +`; where each citation counts by itself and they differ, `#3 + #1 -`; `#? ?` without an outcome."""
        if self.outcome is not None:
            return f"#{self.outcome} {effect(self.outcome)}"
        units = {unit.document: unit.outcome for unit in self.units}
        each = [units[name] for name in dict(self.supported) if units.get(name) is not None]
        return " ".join(f"#{found} {effect(found)}" for found in each) or "#? ?"

    def record(self) -> dict[str, Any]:
        """The sentence as JSON types."""
        units = {unit.document: {"outcome": unit.outcome} for unit in self.units}
        return {
            "run": self.run,
            "topic": self.topic,
            "sentence": self.index,
            "text": self.text,
            "outcome": self.outcome,
            "effect": effect(self.outcome),
            "nuggets": list(dict.fromkeys(name for name, _ in self.stated)),
            "citations": [
                {"document": name, "supported": holds, **units.get(name, {})}
                for name, holds in dict(self.supported).items()
            ],
            "why": self.why,
        }


def effect(outcome: int | None) -> str:
    """`+` rewarded, `-` penalised, `0` ignored, `?` for no outcome or several."""
    if outcome is None:
        return "?"
    return "+" if outcome in REWARDED else "0" if outcome in IGNORED else "-"


Flow = Generator[list[Ask], list[Decision], SentenceOutcome]


def argue(
    reports: Sequence[SystemReport],
    nuggets: Iterable[BankQuestion],
    judge: Judge,
    *,
    citations: Citations = "any",
    skip_unjudged: bool = False,
) -> list[SentenceOutcome]:
    """Every sentence of the reports in order, with its outcome.

    Questions are asked in rounds over all sentences, so that a judge sees them in batches. Raises `ValueError` when a
    judge leaves open what the flow needs, naming the first sentence and the judgement, unless `skip_unjudged`: such
    sentences have no outcome then and count for nothing.
    """
    by_topic = by_query(nuggets)
    flows = [
        sentence_flow(report, index, by_topic.get(report.topic, []), citations)
        for report in reports
        for index in range(len(report.sentences))
    ]
    judged = _run(flows, judge)
    if not skip_unjudged:
        _require_judged(judged)
    return _repeated_told(judged, by_topic)


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
    try:
        if (yield from _verdict(here.ask("claims_absence"))):
            return (yield from _claimed_absence(here, nuggets))
        if here.sentence.citations:
            return (yield from _cited(here, nuggets, citations))
        return (yield from _uncited(here))
    except _LeftOpenError as error:
        why = f"not scored: {wanted_of(error.ask)} is not judged" + (f" ({error.why})" if error.why else "")
        return here.judged([Unit("", None)], why, missing=error.ask)


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


class _LeftOpenError(Exception):
    """A question that no judge could answer ends the flow."""

    def __init__(self, ask: Ask, why: str) -> None:
        super().__init__(why)
        self.ask, self.why = ask, why


def _verdicts(asks: list[Ask]) -> Generator[list[Ask], list[Decision], list[bool]]:
    """The answers to some questions, all of which are needed."""
    decisions = (yield asks) if asks else []
    for ask, one in zip(asks, decisions, strict=True):
        if one.verdict is None:
            raise _LeftOpenError(ask, one.why)
    return [bool(one.verdict) for one in decisions]


def _verdict(ask: Ask) -> Generator[list[Ask], list[Decision], bool]:
    (found,) = yield from _verdicts([ask])
    return found


def _claimed_absence(here: _Sentence, nuggets: Sequence[BankQuestion]) -> Flow:
    asks = [here.ask("answers", nugget=one.id) for one in absence_nuggets(nuggets)]
    decisions = (yield asks) if asks else []
    asked_for = [ask.nugget for ask, one in zip(asks, decisions, strict=True) if one.verdict]
    if asked_for:
        why = f"claims the absence that {named(asked_for)} asks for: rewarded"
        return here.whole(8, why, stated=tuple((one, -1) for one in asked_for))
    for ask, one in zip(asks, decisions, strict=True):
        if one.verdict is None:
            raise _LeftOpenError(ask, one.why)
    return here.whole(7, "claims that something is absent, which no nugget asks for: penalised")


def _uncited(here: _Sentence) -> Flow:
    if not (yield from _verdict(here.ask("needs_citation"))):
        return here.whole(4, "cites nothing and needs no citation: ignored")
    if (yield from _verdict(here.ask("repeats"))):
        return here.whole(6, "lacks a citation, but its claim occurred before: ignored")
    return here.whole(5, "lacks a citation where its claim occurs for the first time: penalised")


def _cited(here: _Sentence, nuggets: Sequence[BankQuestion], citations: Citations) -> Flow:
    asks = [here.ask("supported", document=one) for one in here.sentence.citations]
    support = tuple(zip(here.sentence.citations, (yield from _verdicts(asks)), strict=True))
    supporting = [name for name, holds in support if holds]
    enough = len(supporting) == len(support) if citations == "all" else bool(supporting)
    if not enough:
        against = [name for name, holds in support if not holds]
        units = _each(support, {}) if citations == "micro" else [Unit("", 1)]
        return here.judged(units, f"not supported by {_joined(against)}, which it cites: penalised", supported=support)
    asks = [here.ask("answers", nugget=one.id, answer=at) for one, at in bound_answers(nuggets, supporting)]
    answers = yield from _verdicts(asks)
    stated = tuple((ask.nugget, ask.answer) for ask, holds in zip(asks, answers, strict=True) if holds)
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


def _run(flows: Sequence[Flow], judge: Judge) -> list[SentenceOutcome]:
    """Advance all flows in step, with one call of the judge per round."""
    done: dict[int, SentenceOutcome] = {}
    waiting: dict[int, list[Ask]] = {}
    for number, flow in enumerate(flows):
        try:
            waiting[number] = next(flow)
        except StopIteration as stop:
            done[number] = stop.value
    while waiting:
        asks = list(dict.fromkeys(ask for each in waiting.values() for ask in each))
        found = dict(zip(asks, judge.decide(asks), strict=True))
        turn, waiting = waiting, {}
        for number, each in turn.items():
            try:
                waiting[number] = flows[number].send([found[ask] for ask in each])
            except StopIteration as stop:
                done[number] = stop.value
    return [done[number] for number in range(len(flows))]


def _repeated_told(
    judged: Sequence[SentenceOutcome], nuggets: Mapping[str, Sequence[BankQuestion]]
) -> list[SentenceOutcome]:
    """The same sentences; where what one states was stated before in its report, its reason says so.

    Of a nugget all of whose answers are wanted, only the same answer is a repetition.
    """
    partial = {(topic, one.id) for topic, found in nuggets.items() for one in found if one.combine == "and"}
    seen: dict[tuple[str, str], set[tuple[str, int]]] = {}
    told: list[SentenceOutcome] = []
    for one in judged:
        before = seen.setdefault((one.run, one.topic), set())
        stated = {(name, answer if (one.topic, name) in partial else -1) for name, answer in one.stated}
        again = sorted({name for name, _ in stated & before})
        before |= stated
        told.append(replace(one, why=f"{one.why}; {named(again)} occurred before and counts once") if again else one)
    return told


def _require_judged(judged: Sequence[SentenceOutcome]) -> None:
    missing = [(one, one.missing) for one in judged if one.missing is not None]
    if not missing:
        return
    one, ask = missing[0]
    text = one.text if len(one.text) <= 60 else one.text[:57] + "..."
    more = f" (and {len(missing) - 1} more sentences)" if len(missing) > 1 else ""
    reason = one.why.removeprefix(f"not scored: {wanted_of(ask)} is not judged").strip()
    raise ValueError(
        f"run {one.run}, topic {one.topic}, sentence {one.index} {text!r}: not judged{f' {reason}' if reason else ''}; "
        f"wanted {wanted_of(ask)}{more}"
    )
