"""Claim-level scores of free-text answers: are they faithful to what was read, and is what was found lost?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from examcore import IntervalEstimate, counted, mean_interval, read_json_lines, shown_json
from grading.reports import Claim, JudgedClaims

MEASURES = {
    "faithfulness": "claims that the passages read state",
    "citation_support": "claims that the passages they cite state",
    "context_precision": "passages read that hold the right answer",
    "context_recall": "answers with such a passage",
    "lost": "of these, not right",
}
"""The scores by name, and what each is a share of."""


class OfPipeline(Protocol):
    """Something about a pipeline."""

    @property
    def pipeline(self) -> str:
        """Its id."""
        ...


Turn = TypeVar("Turn", bound=OfPipeline)


class ClaimToRead(NamedTuple):
    """A claim of an answer that no passage states, on the judge's grounds, with what was read."""

    pipeline: str
    question: str
    claim: str
    why: str
    passages: str


@dataclass(frozen=True)
class AnswerClaims:
    """The judged claims of a run's free-text answers.

    `right` says which answers are right, by pipeline and question; `texts` holds the passages read, by the same.
    """

    judge: str
    judged: Sequence[JudgedClaims]
    right: Mapping[tuple[str, str], bool]
    texts: Mapping[tuple[str, str], Sequence[str]]

    @property
    def scores(self) -> dict[str, dict[str, IntervalEstimate]]:
        """Of each pipeline the scores that can be told, means over its answers."""
        ranked = sorted(self.judged, key=lambda one: one.pipeline)
        return {name: self._scores_of(list(some)) for name, some in groupby(ranked, lambda one: one.pipeline)}

    def unstated(self) -> list[ClaimToRead]:
        """The claims that no passage states, one of each pipeline's answers after another."""
        found = [
            ClaimToRead(one.pipeline, one.question, claim.text, claim.why, " … ".join(self.texts[key_of(one)]))
            for one in self.judged
            for claim in one.claims
            if claim.stated is False
        ]
        return by_turns(found)

    def record(self) -> dict[str, Any]:
        """The scores as JSON types."""
        return {
            "judge": self.judge,
            "answers": len(self.judged),
            "claims": sum(len(one.claims) for one in self.judged),
            "not_judged": self.open,
            "pipelines": {
                name: {measure: one.as_dict() for measure, one in scores.items()}
                for name, scores in self.scores.items()
            },
        }

    @property
    def open(self) -> int:
        """Claims of which it cannot be said whether the passages state them."""
        return sum(claim.stated is None for one in self.judged for claim in one.claims)

    def lines(self) -> list[str]:
        """The scores for a reader."""
        rows = [
            f"  {name}: " + (", ".join(f"{_named(measure)} {_shown(one)}" for measure, one in scores.items()) or "none")
            for name, scores in self.scores.items()
        ]
        return [self.trust(), *rows]

    def trust(self) -> str:
        """Who judged what, in sentences."""
        claims = counted(sum(len(one.claims) for one in self.judged), "claim")
        without = f" Of {self.open} it cannot be said what was read." if self.open else ""
        return (
            f"{self.judge} judged {claims} of {counted(len(self.judged), 'answer')}; how well it judges was not "
            f"checked by hand.{without}"
        )

    def _scores_of(self, judged: Sequence[JudgedClaims]) -> dict[str, IntervalEstimate]:
        found: dict[str, list[float]] = {name: [] for name in MEASURES}
        for one in judged:
            for name, value in _measured(one):
                found[name].append(value)
            if any(one.holds):
                found["lost"].append(float(not self.right[key_of(one)]))
        return {name: mean_interval(np.array(values)) for name, values in found.items() if values}


def by_turns(found: Iterable[Turn]) -> list[Turn]:
    """One of each pipeline after another."""
    ranked = sorted(found, key=lambda one: one.pipeline)
    piles = [list(some) for _, some in groupby(ranked, lambda one: one.pipeline)]
    return [one for turn in zip_longest(*piles) for one in turn if one is not None]


def key_of(one: JudgedClaims) -> tuple[str, str]:
    """The pipeline and the question of an answer."""
    return one.pipeline, one.question


def _measured(one: JudgedClaims) -> Iterator[tuple[str, float]]:
    """The scores of an answer that can be told."""
    parts = {
        "faithfulness": [claim.stated for claim in one.claims],
        "citation_support": [claim.cited for claim in one.claims],
        "context_precision": list(one.holds),
    }
    for name, verdicts in parts.items():
        known = [verdict for verdict in verdicts if verdict is not None]
        if known:
            yield name, sum(known) / len(known)
    if any(one.holds) or (one.holds and None not in one.holds):
        yield "context_recall", float(any(one.holds))


def claim_line(judge: str, one: JudgedClaims, passages: Sequence[tuple[str, str]]) -> dict[str, object]:
    """An answer's line of the file of judged claims; `passages` are ids and texts."""
    return {
        "pipeline": one.pipeline,
        "question": one.question,
        "judge": judge,
        "claims": [claim._asdict() for claim in one.claims],
        "passages": [
            {"id": name, "text": text, "holds": holds} for (name, text), holds in zip(passages, one.holds, strict=True)
        ],
    }


def read_claims(path: Path, right: Mapping[tuple[str, str], bool]) -> AnswerClaims:
    """The judged claims of answers that are right or not; ValueError in one line for a damaged file."""
    judged, texts, judge = list[JudgedClaims](), dict[tuple[str, str], list[str]](), ""
    for line in read_json_lines(path):
        row: Mapping[str, Any] = line.fields
        try:
            claims = tuple(Claim(**one) for one in row["claims"])
            read = [(str(each["text"]), each["holds"]) for each in row["passages"]]
            one = JudgedClaims(str(row["pipeline"]), str(row["question"]), claims, tuple(holds for _, holds in read))
            known, judge = key_of(one), str(row["judge"])
            texts[known] = [text for text, _ in read if text]
        except (KeyError, TypeError):
            raise ValueError(
                f"{line.place}: {shown_json(row)}; wanted pipeline, question, judge, claims and passages"
            ) from None
        if known in right:
            judged.append(one)
    return AnswerClaims(judge, judged, right, texts)


def _named(measure: str) -> str:
    return measure.replace("_", " ")


def _shown(one: IntervalEstimate) -> str:
    return f"{one.estimate:.0%} ({one.low:.0%} to {one.high:.0%})"
