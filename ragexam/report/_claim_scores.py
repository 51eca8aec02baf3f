"""Scores of free-text answers counted from claims: what a judge's decisions come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import (
    INTERVAL_LEVEL,
    IntervalEstimate,
    cohen_kappa,
    counted,
    mean_interval,
)
from grading.reports import (
    ClaimAsk,
    ClaimCut,
    ClaimOdds,
    Decision,
    cut_of_labels,
    cut_of_unrelated,
    held_out_verdicts,
)
from ragexam.report._claimed_answers import FreeTextAnswer, settled

FAITHFULNESS, COVERAGE = "faithfulness", "answer_coverage"
PRECISION, RECALL, CITATIONS = "context_precision", "context_recall", "citation_support"
LOST_IN_RETRIEVAL, LOST_IN_ANSWERING = "lost_in_retrieval", "lost_in_answering"
"""The scores of a pipeline, each a mean of shares over its answers (`docs/endpoints.md` says of what)."""
STATED, NOT_STATED = "stated", "not stated"
CLAIM_LABELS = (STATED, NOT_STATED)
"""What a claim is labelled by hand."""
ACCURACY_LEVEL = 0.95
"""What intervals of scores cover, as those of accuracy do beside them."""
ONE_SIDED, FEWEST_DECIDED = 0.95, 20
"""Share of a judge's decisions that are the same from which the page warns of it, and how many there must be."""

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
class ClaimFindings:
    """The claims of a run's free-text answers: what a judge said of them by key, and labels given by hand.

    A judge decides, or gives odds, of which a cut makes decisions.
    """

    answers: Sequence[FreeTextAnswer]
    judge: str
    said: Mapping[ClaimKey, Decision | ClaimOdds]
    hand: Mapping[ClaimKey, str]

    @cached_property
    def odds(self) -> dict[ClaimKey, ClaimOdds]:
        """The odds of each question that a judge has given odds of."""
        return {key: one for key, one in self.said.items() if isinstance(one, ClaimOdds)}

    @cached_property
    def labelled(self) -> tuple[list[ClaimOdds], NDArray[np.bool_], list[str]]:
        """The odds of questions that were labelled by hand, whether the labels say stated, and their topics."""
        asks = [one for one in self.asks if one.key in self.odds and one.key in self.hand]
        stated = np.array([self.hand[one.key] == STATED for one in asks], dtype=bool)
        return [self.odds[one.key] for one in asks], stated, [one.topic for one in asks]

    @cached_property
    def unrelated_cut(self) -> ClaimCut | None:
        """The cut that unrelated texts give; None where the judge gave no odds."""
        claims = {(one.topic, one.claim): self.odds[one.key] for one in self.asks if one.key in self.odds}
        return cut_of_unrelated(list(claims.values())) if claims else None

    @cached_property
    def cut(self) -> ClaimCut | None:
        """Above what a claim counts as stated, by the labels given by hand, else by unrelated texts."""
        odds, stated, _ = self.labelled
        return None if self.unrelated_cut is None else cut_of_labels(odds, stated, self.unrelated_cut)

    @cached_property
    def decisions(self) -> dict[ClaimKey, Decision]:
        """What the judge has decided by itself or by the cut."""
        found = {key: one for key, one in self.said.items() if isinstance(one, Decision)}
        if self.cut is not None:
            for key, one in self.odds.items():
                found[key] = Decision(self.cut.states(one), f"log-odds {one.beside:.2f}, {one.readiness:.2f} elsewhere")
        return found

    @cached_property
    def by_pipeline(self) -> dict[str, list[FreeTextAnswer]]:
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

    def decision(self, answer: FreeTextAnswer, ask: ClaimAsk) -> Decision:
        """What is known of a question; open where the judge has not decided it."""
        known = settled(ask, answer.question)
        return known or self.decisions.get(ask.key) or Decision(None, NOT_JUDGED)

    def faithfulness(self, answer: FreeTextAnswer) -> float:
        """The share of an answer's claims that its passages state; NaN where that is not known."""
        return self._share(answer, answer.claim_asks())

    def agreement(self) -> IntervalEstimate | None:
        """Cohen's kappa of the judge's decisions and the labels, clustered by question; None without labels.

        Where the labels set the cut, each is compared with the decision by that of the other questions' labels.
        """
        if self.unrelated_cut is not None and self.labelled[2]:
            odds, stated, topics = self.labelled
            judged = held_out_verdicts(odds, stated, topics, self.unrelated_cut)
            return cohen_kappa(judged, stated.tolist(), groups=topics)
        both = [
            (self.decisions[one.key].verdict, self.hand[one.key] == STATED, one.topic)
            for one in self.asks
            if one.key in self.hand and one.key in self.decisions
        ]
        if not both:
            return None
        decided, labelled, groups = zip(*both, strict=True)
        return cohen_kappa(decided, labelled, groups=groups)

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
            return ["Rules decided all claims."]
        told = [f"{self.judge} decided {len(self.asks) - len(self.open)} of {len(self.asks)} questions about claims."]
        told += [*(() if self.cut is None else self.cut.lines()), *self._one_sided()]
        kappa = self.agreement()
        if kappa is None:
            return [*told, "No claim was labelled by hand, so how far that can be trusted is not known."]
        shown = f"{kappa.estimate:.2f} ({INTERVAL_LEVEL:.0%} interval {kappa.low:.2f} to {kappa.high:.2f})"
        labels = counted(len(self.hand), "claim")
        return [*told, f"Against {labels} labelled by hand, Cohen's kappa is {shown}."]

    def _one_sided(self) -> list[str]:
        """A warning of a judge that nearly always says the same."""
        said = [self.decisions[one.key].verdict for one in self.asks if one.key in self.decisions]
        for verdict, word in ((True, "stated"), (False, "not stated")):
            if len(said) >= FEWEST_DECIDED and said.count(verdict) >= ONE_SIDED * len(said):
                return [
                    f"It said {word} for {said.count(verdict)} of them: such a judge hardly tells claims apart. Do not "
                    "rely on these scores until some claims are labelled by hand (--claim-sheet)."
                ]
        return []

    def _scores(self, answers: Sequence[FreeTextAnswer]) -> dict[str, ClaimScore]:
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

    def _share(self, answer: FreeTextAnswer, asks: Sequence[ClaimAsk]) -> float:
        verdicts = [one for ask in asks if (one := self.decision(answer, ask).verdict) is not None]
        return float(np.mean(verdicts)) if verdicts else np.nan

    def _lost(self, answer: FreeTextAnswer) -> tuple[float, float] | None:
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


def _score(shares: Iterator[float], reason: str) -> ClaimScore:
    """The mean of what is known with its interval; the reason where nothing is."""
    known = np.array([one for one in shares if np.isfinite(one)])
    return ClaimScore(mean_interval(known, level=ACCURACY_LEVEL), len(known), "" if known.size else reason)
