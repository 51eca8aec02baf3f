"""The yes/no questions that ARGUE asks about sentences of reports, and who answers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from grading._records import BankQuestion, SystemReport

Kind = Literal["claims_absence", "supported", "answers", "needs_citation", "repeats"]


class Ask(NamedTuple):
    """One yes/no question about a sentence (`sentence` counts from 0).

    `supported` names the document; `answers` the nugget and which of its answers, -1 for a nugget whose absence is
    claimed.
    """

    kind: Kind
    run: str
    topic: str
    sentence: int
    document: str = ""
    nugget: str = ""
    answer: int = -1


class Decision(NamedTuple):
    """Yes, no, or None where the judge cannot say; `why` tells in a few words on what grounds.

    `failed`: a model gave no reply at all, and may give one when it is asked again.
    """

    verdict: bool | None
    why: str = ""
    failed: bool = False


class Judge(Protocol):
    """Answers yes/no questions about sentences."""

    def decide(self, asks: Sequence[Ask]) -> list[Decision]:
        """One decision per question, in order."""
        ...


class ReportMaterial:
    """What judges read: `reports` by run and topic, `nuggets` by topic and id.

    `documents` are the texts of cited documents, `requests` what each topic's report was asked for.
    """

    def __init__(
        self,
        reports: Iterable[SystemReport],
        nuggets: Iterable[BankQuestion],
        documents: Mapping[str, str] | None = None,
        requests: Mapping[str, str] | None = None,
    ) -> None:
        self.reports = {(one.run, one.topic): one for one in reports}
        self.nuggets = {(one.query, one.id): one for one in nuggets}
        self.documents, self.requests = documents or {}, requests or {}

    def sentence(self, ask: Ask) -> str:
        """The sentence that is asked about."""
        return self.reports[ask.run, ask.topic].sentences[ask.sentence].text

    def before(self, ask: Ask) -> list[str]:
        """The sentences before it."""
        return [one.text for one in self.reports[ask.run, ask.topic].sentences[: ask.sentence]]

    def is_cited(self, ask: Ask) -> bool:
        """Whether the sentence cites anything."""
        return bool(self.reports[ask.run, ask.topic].sentences[ask.sentence].citations)

    def nugget(self, ask: Ask) -> BankQuestion:
        """The nugget that is asked about."""
        return self.nuggets[ask.topic, ask.nugget]


class InTurn:
    """Several judges: each is asked what those before it left open. `decided` holds all decisions."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self.judges = judges
        self.decided: dict[Ask, Decision] = {}

    def decide(self, asks: Sequence[Ask]) -> list[Decision]:
        """The first judge's decision that is one, else the last reason for there being none."""
        found = [Decision(None, "no judge")] * len(asks)
        for judge in self.judges:
            at = [place for place, one in enumerate(found) if one.verdict is None]
            for place, one in zip(at, judge.decide([asks[place] for place in at]) if at else [], strict=True):
                found[place] = one
        self.decided.update(zip(asks, found, strict=True))
        return found
