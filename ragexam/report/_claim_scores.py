"""Scores of free-text answers counted from claims: what is asked of a judge, and what its decisions come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import (
    Chunk,
    IntervalEstimate,
    Question,
    cohen_kappa,
    counted,
    language_named,
    mean_interval,
    words,
)
from grading.reports import (
    UNRELATED,
    CitedClaim,
    ClaimAsk,
    ClaimCut,
    ClaimOdds,
    Decision,
    cited_claims,
    claims_of,
    cut_of_labels,
    cut_of_unrelated,
    held_out_verdicts,
    shares_a_sentence,
    text_hash,
    word_for_word,
)

FAITHFULNESS, COVERAGE = "faithfulness", "answer_coverage"
PRECISION, RECALL, CITATIONS = "context_precision", "context_recall", "citation_support"
LOST_IN_RETRIEVAL, LOST_IN_ANSWERING = "lost_in_retrieval", "lost_in_answering"
SCORES = {
    FAITHFULNESS: "claims of the answer that its passages state",
    COVERAGE: "claims of the source that the answer states",
    PRECISION: "passages that hold the source",
    RECALL: "claims of the source that the passages state",
    CITATIONS: "cited sentences that what they cite states",
    LOST_IN_RETRIEVAL: "claims of the source that neither passages nor answer state",
    LOST_IN_ANSWERING: "claims of the source that the passages state and the answer does not",
}
"""The scores of a pipeline, each a mean of shares over its answers."""
STATED, NOT_STATED = "stated", "not stated"
CLAIM_LABELS = (STATED, NOT_STATED)
"""What a claim is labelled by hand."""
LEAST_WORDS = 4
"""Words of a sentence below which it may stand in any text: headings, marks of lists."""
ACCURACY_LEVEL = 0.95
"""What intervals of scores cover, as those of accuracy do beside them."""
ONE_SIDED, FEWEST_DECIDED = 0.95, 20
"""Share of a judge's decisions that are the same from which the page warns of it, and how many there must be."""
KAPPA_LEVEL = 0.9
"""What intervals of agreement cover, as those of answers' labels do."""

ClaimKey = tuple[str, str]
"""A claim and the hash of a text, of which it is asked whether it states the claim."""


class ClaimScore(NamedTuple):
    """A mean of shares over answers with its interval, over how many answers; `reason` where nothing can be told."""

    interval: IntervalEstimate
    answers: int
    reason: str = ""

    def record(self) -> dict[str, Any]:
        """The score as JSON types."""
        return {**self.interval.as_dict(), "answers": self.answers, "reason": self.reason or None}


NOT_GIVEN = "no passages given"
NOT_KNOWN = "the texts of its passages are not known"
NO_CLAIM = "no answer states anything"
NO_SOURCE = "no source passage is known"
NO_NUGGET = "its questions have no nugget"
NO_CITATION = "no sentence cites a passage"
NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class ClaimedAnswer:
    """An answer as its claims are counted: `passages` are texts, None where one is not known; `ids` name them.

    An answer that declines states nothing. `nuggets`: what it should state, in place of what the source states.
    """

    pipeline: str
    question: Question
    reply: str
    declined: bool
    ids: tuple[str, ...]
    passages: tuple[str | None, ...]
    nuggets: tuple[str, ...] | None = None

    @cached_property
    def claims(self) -> list[CitedClaim]:
        """What it states, sentence by sentence, in the language that the question is asked in."""
        return [] if self.declined else cited_claims(self.reply, self.ids, self.question.language)

    @cached_property
    def source(self) -> list[str]:
        """The claims of the passage that the question was written from."""
        language = self.question.language
        return [one for one in claims_of(self.question.context, language) if _says_something(one, language)]

    @property
    def wanted(self) -> Sequence[str]:
        """The claims that it is held against: the nuggets of its question, else those of its source."""
        return self.source if self.nuggets is None else self.nuggets

    @property
    def reading(self) -> str | None:
        """All its passages as one text; None where there is none, or one is not known."""
        return _joined(self.passages) if self.passages else None

    def claim_asks(self) -> list[ClaimAsk]:
        """Whether its passages state what it states."""
        text = self.reading
        return [] if text is None else [self._ask(one, text) for one in self.claims]

    def citation_asks(self) -> list[ClaimAsk]:
        """Whether what a sentence cites states it; a mark that names no passage cites an empty text."""
        asks = []
        for one in self.claims:
            cited = [self.passages[place] if place >= 0 else "" for place in one.cites]
            text = _joined(cited)
            if cited and text is not None:
                asks.append(self._ask(one, text))
        return asks

    def coverage_asks(self) -> list[ClaimAsk]:
        """Whether the answer states what is wanted; the question goes before it, for short answers."""
        text = f"{self.question.stem}\n{self.reply.strip()}" if self.claims else ""
        return [ClaimAsk(self.question.id, one, text) for one in self.wanted]

    def recall_asks(self) -> list[ClaimAsk]:
        """Whether its passages state what is wanted."""
        text = self.reading
        return [] if text is None else [ClaimAsk(self.question.id, one, text) for one in self.wanted]

    def asks(self) -> Iterator[ClaimAsk]:
        """All that the scores need to know."""
        for some in (self.claim_asks(), self.citation_asks(), self.coverage_asks(), self.recall_asks()):
            yield from some

    def holding(self) -> list[bool] | None:
        """Which of its passages are the source or have one of its sentences; None where that cannot be told."""
        if not self.passages or not self.source:
            return None
        mine = [
            name == self.question.chunk_id
            or (None if text is None else any(word_for_word(one, text, self.question.language) for one in self.source))
            for name, text in zip(self.ids, self.passages, strict=True)
        ]
        return None if None in mine else [bool(one) for one in mine]

    def _ask(self, claim: CitedClaim, text: str) -> ClaimAsk:
        return ClaimAsk(self.question.id, f"{self.question.stem} {claim.text}", text)


def settled(ask: ClaimAsk, question: Question) -> Decision | None:
    """What takes no judge: an empty text states nothing, and a text states its own sentences."""
    if not ask.text.strip():
        return Decision(False, "there is no text")
    if word_for_word(ask.claim.removeprefix(f"{question.stem} "), ask.text, question.language):
        return Decision(True, "it stands there word for word")
    return None


def _joined(texts: Sequence[str | None]) -> str | None:
    known = [one for one in texts if one is not None]
    return "\n\n".join(known) if len(known) == len(texts) else None


def passage_texts(ids: Sequence[str], known: Mapping[str, str], language: str) -> tuple[str | None, ...]:
    """The text of each passage: a known one's, or its name where that is a text itself; None where neither."""
    return tuple(known.get(one, one if _says_something(one, language) else None) for one in ids)


def _says_something(text: str, language: str) -> bool:
    """Whether a text has as many words as a statement takes; in a script without spaces, pairs of characters."""
    found = text.split() if language_named(language).spaced else words(text, language)
    return len(found) >= LEAST_WORDS


def known_passages(chunks: Sequence[Chunk], questions: Sequence[Question]) -> dict[str, str]:
    """The texts of passages by id, under their titles as models read them."""
    sources = {one.chunk_id: one.context for one in questions if one.chunk_id}
    return sources | {one.id: f"{one.title}\n\n{one.text}" if one.title else one.text for one in chunks}


@dataclass(frozen=True)
class ClaimFindings:
    """The claims of a run's free-text answers: what a judge said of them by key, and labels given by hand.

    A judge decides, or gives odds, of which a cut makes decisions.
    """

    answers: Sequence[ClaimedAnswer]
    judge: str
    said: Mapping[ClaimKey, Decision | ClaimOdds]
    hand: Mapping[ClaimKey, str]

    @cached_property
    def odds(self) -> dict[ClaimKey, ClaimOdds]:
        """The odds of each question that a judge has given odds of."""
        return {key: one for key, one in self.said.items() if isinstance(one, ClaimOdds)}

    @cached_property
    def labelled(self) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[str]]:
        """The leads of questions that were labelled by hand, whether the labels say stated, and their topics."""
        asks = [one for one in self.asks if one.key in self.odds and one.key in self.hand]
        stated = np.array([self.hand[one.key] == STATED for one in asks], dtype=bool)
        return np.array([self.odds[one.key].lead for one in asks]), stated, [one.topic for one in asks]

    @cached_property
    def unrelated_cut(self) -> ClaimCut | None:
        """The cut that unrelated texts give; None where the judge gave no odds."""
        claims = {(one.topic, one.claim): self.odds[one.key] for one in self.asks if one.key in self.odds}
        return cut_of_unrelated(list(claims.values())) if claims else None

    @cached_property
    def cut(self) -> ClaimCut | None:
        """The lead above which a claim counts as stated: of the labels given by hand, else of unrelated texts."""
        leads, stated, _ = self.labelled
        return None if self.unrelated_cut is None else cut_of_labels(leads, stated, self.unrelated_cut)

    @cached_property
    def decisions(self) -> dict[ClaimKey, Decision]:
        """What the judge has decided by itself or by the cut."""
        found = {key: one for key, one in self.said.items() if isinstance(one, Decision)}
        if self.cut is not None:
            for key, one in self.odds.items():
                found[key] = Decision(one.lead > self.cut.lead, f"it leads by {one.lead:.2f} nats")
        return found

    def unrelated_texts(self, seed: int = 0) -> dict[str, list[str]]:
        """For each question texts to hold its claims against, drawn at random: what other questions were written from.

        Where that is not known it is what was read for them first. Those on other documents go first; one that shares a
        sentence with a text of the question is left out.
        """
        asked = {one.question.id: one.question for one in self.answers}
        own: dict[str, dict[str, None]] = {name: {} for name in asked}
        for one in self.answers:
            texts = [one.question.context, *(text for text in one.passages if text is not None)]
            own[one.question.id].update(dict.fromkeys(text for text in texts if text.strip()))
        firsts = {name: next(iter(texts)) for name, texts in own.items() if texts}
        return {name: _far_texts(one, asked, own[name], firsts, seed) for name, one in asked.items()}

    @cached_property
    def by_pipeline(self) -> dict[str, list[ClaimedAnswer]]:
        """The answers of each pipeline."""
        ranked = sorted(self.answers, key=lambda one: one.pipeline)
        return {name: list(some) for name, some in groupby(ranked, lambda one: one.pipeline)}

    @cached_property
    def scores(self) -> dict[str, dict[str, ClaimScore]]:
        """The scores of each pipeline by name."""
        return {name: self._scores(some) for name, some in self.by_pipeline.items()}

    @cached_property
    def asks(self) -> list[ClaimAsk]:
        """All that a judge has to decide, each once."""
        found: dict[tuple[str, str], ClaimAsk] = {}
        for answer in self.answers:
            for one in answer.asks():
                if one.key not in found and settled(one, answer.question) is None:
                    found[one.key] = one
        return list(found.values())

    @property
    def has_nuggets(self) -> bool:
        """Whether answers are held against nuggets rather than against the sentences of their sources."""
        return any(one.nuggets is not None for one in self.answers)

    @property
    def is_judged(self) -> bool:
        """Whether there is anything to show: a judge has decided, or nothing is left to ask one."""
        return bool(self.judge) or not self.asks

    @property
    def open(self) -> list[ClaimAsk]:
        """What is not decided."""
        return [one for one in self.asks if one.key not in self.decisions]

    def decision(self, answer: ClaimedAnswer, ask: ClaimAsk) -> Decision:
        """What is known of a question; open where the judge has not decided it."""
        known = settled(ask, answer.question)
        return known or self.decisions.get(ask.key) or Decision(None, NOT_JUDGED)

    def faithfulness(self, answer: ClaimedAnswer) -> float:
        """The share of an answer's claims that its passages state; NaN where that is not known."""
        return self._share(answer, answer.claim_asks())

    def agreement(self) -> IntervalEstimate | None:
        """Cohen's kappa of the judge's decisions and the labels, clustered by question; None without labels.

        Where the labels set the cut, each is compared with the decision by that of the other questions' labels.
        """
        if self.unrelated_cut is not None and self.labelled[2]:
            leads, stated, topics = self.labelled
            judged = held_out_verdicts(leads, stated, topics, self.unrelated_cut)
            return cohen_kappa(judged, stated.tolist(), groups=topics, interval=KAPPA_LEVEL)
        both = [
            (self.decisions[one.key].verdict, self.hand[one.key] == STATED, one.topic)
            for one in self.asks
            if one.key in self.hand and one.key in self.decisions
        ]
        if not both:
            return None
        decided, labelled, groups = zip(*both, strict=True)
        return cohen_kappa(decided, labelled, groups=groups, interval=KAPPA_LEVEL)

    def record(self) -> dict[str, Any]:
        """The scores as JSON types."""
        kappa = self.agreement()
        return {
            "judge": self.judge or None,
            "cut": None if self.cut is None else self.cut.record(),
            "judged": len(self.asks) - len(self.open),
            "open": len(self.open),
            "pipelines": {
                name: {
                    **{one: score.record() for one, score in scores.items()},
                    "answers": len(self.by_pipeline[name]),
                    "claims": sum(len(one.claims) for one in self.by_pipeline[name]),
                    "unstated": self.unstated(name),
                }
                for name, scores in self.scores.items()
            },
            "hand_labels": len(self.hand),
            "kappa": None if kappa is None else kappa.as_dict(),
        }

    def unstated(self, pipeline: str) -> int:
        """How many claims of a pipeline's answers its passages do not state."""
        return sum(
            self.decision(one, ask).verdict is False for one in self.by_pipeline[pipeline] for ask in one.claim_asks()
        )

    def lines(self) -> list[str]:
        """The scores for a reader."""
        found = []
        for name, scores in self.scores.items():
            found.append(name)
            for what, score in scores.items():
                told = score.reason or (
                    f"{score.interval.estimate:.0%} ({score.interval.low:.0%} to {score.interval.high:.0%}) of "
                    f"{counted(score.answers, 'answer')}"
                )
                found.append(f"  {what.replace('_', ' '):<18} {told}")
        return [*found, *self.trust()]

    def trust(self) -> list[str]:
        """Who decided, what stays open, and how far that can be trusted, in sentences."""
        if not self.judge:
            return ["Rules decided about all claims."]
        told = [f"{self.judge} decided {len(self.asks) - len(self.open)} of {len(self.asks)} questions about claims."]
        told += [*(() if self.cut is None else self.cut.lines()), *self._one_sided()]
        kappa = self.agreement()
        if kappa is None:
            return [*told, "No claim was labelled by hand, so how far that can be trusted is not known."]
        shown = f"{kappa.estimate:.2f} ({KAPPA_LEVEL:.0%} interval {kappa.low:.2f} to {kappa.high:.2f})"
        labels = counted(len(self.hand), "claim")
        return [*told, f"Against {labels} labelled by hand, Cohen's kappa is {shown}."]

    def _one_sided(self) -> list[str]:
        """A warning of a judge that nearly always says the same."""
        said = [self.decisions[one.key].verdict for one in self.asks if one.key in self.decisions]
        for verdict, word in ((True, "stated"), (False, "not stated")):
            if len(said) >= FEWEST_DECIDED and said.count(verdict) >= ONE_SIDED * len(said):
                return [
                    f"It said {word} of {said.count(verdict)} of them: such a judge hardly tells claims apart. Do not "
                    "rely on these scores before some claims are labelled by hand (--claim-sheet)."
                ]
        return []

    def _scores(self, answers: Sequence[ClaimedAnswer]) -> dict[str, ClaimScore]:
        read = [one for one in answers if one.reading is not None]
        no_passages = NOT_KNOWN if any(one.passages for one in answers) else NOT_GIVEN
        no_source = "" if any(one.source for one in answers) else NO_SOURCE
        nothing_wanted = "" if any(one.wanted for one in answers) else NO_NUGGET if self.has_nuggets else NO_SOURCE
        cited = [self._share(one, one.citation_asks()) for one in answers if one.citation_asks()]
        held = [found for one in answers if (found := one.holding()) is not None]
        lost = [both for one in read if (both := self._lost(one)) is not None]
        missing = nothing_wanted or ("" if read else no_passages) or NOT_JUDGED
        stating = [one for one in read if one.claims]
        return {
            FAITHFULNESS: _score(
                map(self.faithfulness, stating), NOT_JUDGED if stating else NO_CLAIM if read else no_passages
            ),
            COVERAGE: _score((self._share(one, one.coverage_asks()) for one in answers), nothing_wanted or NOT_JUDGED),
            PRECISION: _score((float(np.mean(one)) for one in held), no_source or no_passages),
            RECALL: _score((self._share(one, one.recall_asks()) for one in read), missing),
            CITATIONS: _score(iter(cited), NOT_JUDGED if cited else NO_CITATION),
            LOST_IN_RETRIEVAL: _score((one for one, _ in lost), missing),
            LOST_IN_ANSWERING: _score((one for _, one in lost), missing),
        }

    def _share(self, answer: ClaimedAnswer, asks: Sequence[ClaimAsk]) -> float:
        verdicts = [one for ask in asks if (one := self.decision(answer, ask).verdict) is not None]
        return float(np.mean(verdicts)) if verdicts else np.nan

    def _lost(self, answer: ClaimedAnswer) -> tuple[float, float] | None:
        """The shares of the source's claims that were lost in retrieval and in answering; None where not known."""
        pairs = [
            (self.decision(answer, read).verdict, self.decision(answer, said).verdict)
            for read, said in zip(answer.recall_asks(), answer.coverage_asks(), strict=True)
        ]
        known = [(read, said) for read, said in pairs if read is not None and said is not None]
        if not known:
            return None
        lost = [read for read, said in known if not said]
        return lost.count(False) / len(known), lost.count(True) / len(known)


def _far_texts(
    mine: Question, asked: Mapping[str, Question], own: Iterable[str], firsts: Mapping[str, str], seed: int
) -> list[str]:
    def order(name: str) -> tuple[bool, str]:
        is_near = bool(mine.document_id) and asked[name].document_id == mine.document_id
        return is_near, text_hash(f"{seed}\n{mine.id}\n{name}")

    drawn = dict.fromkeys(firsts[name] for name in sorted(firsts, key=order) if name != mine.id)
    far = (one for one in drawn if not any(shares_a_sentence(one, text, mine.language) for text in own))
    return list(islice(far, UNRELATED))


def _score(shares: Iterator[float], reason: str) -> ClaimScore:
    """The mean of what is known with its interval; the reason where nothing is."""
    known = np.array([one for one in shares if np.isfinite(one)])
    return ClaimScore(mean_interval(known, level=ACCURACY_LEVEL), len(known), "" if known.size else reason)
