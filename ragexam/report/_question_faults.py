"""What may be wrong with a question, and how it shows in the answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pandas as pd

from examcore import Question
from irt.checks import dependence, miskeys
from ragexam.report._fitted_model import FittedModel
from ragexam.report._response_scores import FLOOR, bound_of, facets_of
from ragexam.report._run_evidence import RunEvidence


@dataclass(frozen=True)
class QuestionFault:
    """Why a question is looked at first: a short name, a sentence, what to do, and how grave it is (1 the gravest)."""

    name: str
    sentence: str
    advice: str
    grade: int


MISKEYED = QuestionFault(
    "probably keyed wrongly",
    "Better pipelines get it wrong more often than worse ones, and another choice is probably the right one.",
    "Read it with its passage; correct the key or drop it.",
    1,
)
BACKWARDS = QuestionFault(
    "better pipelines get it wrong",
    "Better pipelines get it right less often than worse ones: the key may be wrong, or a second choice is right as "
    "well. Judged one question at a time, so among many some will be bad luck.",
    "Read question and key.",
    2,
)
DEPENDENT = QuestionFault(
    "depends on another",
    "It is answered like another question beyond what ability explains: one may repeat the other or give it away.",
    "Keep one of them.",
    2,
)
TOO_HARD = QuestionFault("nobody gets it right", "No pipeline answers it.", "Check the key, then drop it.", 3)
WORSE_THAN_CHANCE = QuestionFault(
    "below chance",
    "Fewer pipelines get it right than guessing would: the key may be wrong or a distractor too good.",
    "Read the choice that most took.",
    3,
)
GUESSABLE = QuestionFault(
    "guessable",
    "Most pipelines without any passage get it right: it can be answered from the model's memory or from its wording.",
    "It says little about retrieval; drop it or reword it.",
    4,
)
MISFIT = QuestionFault(
    "does not fit the model",
    "Its answers are less predictable than its difficulty allows: it may ask about something else than the others.",
    "Read it; keep it if it is sound.",
    5,
)
GUESSED = QuestionFault(
    "near chance",
    "Pipelines get it right about as often as guessing would, good ones hardly more often than poor ones: it is too "
    "hard, ambiguous, or not answerable from the passage.",
    "Read it with its passage.",
    6,
)
FLAT = QuestionFault(
    "tells little",
    "Next to the other questions it says very little about these pipelines' ability.",
    "Harmless; can go.",
    7,
)
TOO_EASY = QuestionFault(
    "everyone gets it right", "Every pipeline answers it: it tells nothing about any of them.", "Can go.", 8
)
FAULTS = (MISKEYED, BACKWARDS, DEPENDENT, TOO_HARD, WORSE_THAN_CHANCE, GUESSABLE, MISFIT, GUESSED, FLAT, TOO_EASY)
"""All of them, the gravest first."""
_FLAGS: Mapping[str, QuestionFault] = {
    "probable mis-key": MISKEYED,
    "negative discrimination": BACKWARDS,
    "all wrong": TOO_HARD,
    "all correct": TOO_EASY,
}
_OUTFIT, _INFIT = 1.5, 1.2
"""Mean squares above which a question does not fit: Wright and Linacre (1994) call 0.5 to 1.5 productive."""
_LITTLE = 0.25
"""A question below this share of the median information tells little."""
_NEAR_CHANCE, _BELOW_CHANCE = 0.08, 0.6
"""Near chance: up to so much above it. Below chance: under so large a part of it, which luck alone seldom gives."""
_UNRELATED = 0.1
"""A point-biserial correlation below this: who is right hardly depends on ability."""
_FEWEST_BLIND, _KNOWN = 3, 2 / 3
"""Guessable: so many closed-book pipelines answered, and so much of the way from chance to certainty is gone."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class AnswerSigns:
    """What the answers say about questions, each by question id.

    `share` right over all pipelines; `blind` how many of how many closed-book pipelines are right; `keys` a sentence on
    the choice that is probably right; `partners` the questions it depends on; `items` the fit's table, None without
    one; `unchecked` why a check was left out.
    """

    share: Mapping[str, float]
    blind: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    partners: Mapping[str, Sequence[str]] = field(default_factory=dict)
    items: pd.DataFrame | None = None
    unchecked: tuple[str, ...] = ()

    def of(self, question: Question, column: str) -> float:
        """An item parameter of a question, NaN when it was not fitted."""
        if self.items is None or question.id not in self.items.index:
            return math.nan
        found: Any = self.items.at[question.id, column]
        return float(found)

    def share_of(self, question: Question) -> float:
        """The share right, NaN where nobody answered."""
        return self.share.get(question.id, math.nan)


def answer_signs(evidence: RunEvidence) -> AnswerSigns:
    """Read the signs off the answers; with a fit also probable keys and dependence between questions."""
    scores, model = evidence.scores, evidence.model
    means = scores.dropna(subset=["score"]).groupby("item")["score"].mean()
    share = {str(name): float(value) for name, value in means.items()}
    blind = _blind(scores)
    if model is None:
        return AnswerSigns(share, blind)
    unchecked: list[str] = []
    keys = _checked("wrong keys", unchecked, lambda: _keys(model, evidence))
    partners = _checked("dependence", unchecked, lambda: _partners(model))
    return AnswerSigns(share, blind, keys, partners, model.items, tuple(unchecked))


def faults_of(question: Question, signs: AnswerSigns) -> list[QuestionFault]:
    """The faults of a question, gravest first: the fit's flags, then what its fit and accuracy say."""
    found = {*_accuracy_faults(question, signs), *_measured_faults(question, signs)}
    if MISKEYED in found:
        found -= {BACKWARDS, WORSE_THAN_CHANCE}
    if found & {MISKEYED, BACKWARDS, TOO_HARD, TOO_EASY, WORSE_THAN_CHANCE, GUESSED}:
        found -= {FLAT}
    if TOO_EASY in found:
        found -= {GUESSABLE}
    return sorted(found, key=lambda fault: fault.grade)


def reason(question: Question, fault: QuestionFault, signs: AnswerSigns, numbers: Mapping[str, int]) -> str:
    """The sentence of a fault with what is known of this question; `numbers` are the questions' numbers on the page."""
    if fault is MISKEYED and question.id in signs.keys:
        return f"{fault.sentence} {signs.keys[question.id]}"
    if fault is GUESSABLE:
        right, asked = signs.blind[question.id]
        return f"{fault.sentence} {right} of {asked} closed-book pipelines are right."
    if fault is DEPENDENT:
        others = ", ".join(str(numbers[one]) for one in signs.partners[question.id] if one in numbers)
        return f"{fault.sentence} See question {others}."
    return fault.sentence


def _accuracy_faults(question: Question, signs: AnswerSigns) -> Iterator[QuestionFault]:
    share, chance = signs.share_of(question), 1 / len(question.choices)
    if share >= 1:
        yield TOO_EASY
    elif share <= 0:
        yield TOO_HARD
    elif share < _BELOW_CHANCE * chance:
        yield WORSE_THAN_CHANCE
    right, asked = signs.blind.get(question.id, (0, 0))
    if asked >= _FEWEST_BLIND and right / asked >= chance + _KNOWN * (1 - chance):
        yield GUESSABLE


def _measured_faults(question: Question, signs: AnswerSigns) -> Iterator[QuestionFault]:
    if question.id in signs.keys:
        yield MISKEYED
    if question.id in signs.partners:
        yield DEPENDENT
    if signs.items is None or question.id not in signs.items.index:
        return
    found: Any = signs.items.loc[question.id]
    yield from (_FLAGS[flag.strip()] for flag in str(found["flags"]).split(";") if flag.strip() in _FLAGS)
    if found["outfit"] > _OUTFIT and found["infit"] > _INFIT:
        yield MISFIT
    share, chance = signs.share_of(question), 1 / len(question.choices)
    if chance * _BELOW_CHANCE <= share <= chance + _NEAR_CHANCE and found["point_biserial"] < _UNRELATED:
        yield GUESSED
    if found["information"] < _LITTLE * float(signs.items["information"].median()):
        yield FLAT


def _blind(scores: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Right answers and answers of the pipelines that read nothing, by question."""
    closed = scores[list(facets_of(scores))].map(lambda level: bound_of(level) == FLOOR).any(axis=1)
    part = scores[closed].dropna(subset=["score"])
    found = part.groupby("item")["score"].agg(["sum", "count"])
    return {str(name): (round(row["sum"]), int(row["count"])) for name, row in found.iterrows()}


def _checked(name: str, unchecked: list[str], check: Callable[[], Mapping[str, _T]]) -> dict[str, _T]:
    """What a check finds; where it refuses, nothing, and its reason goes to `unchecked`."""
    try:
        return dict(check())
    except ValueError as refusal:
        unchecked.append(f"{name} ({refusal})")
        return {}


def _keys(model: FittedModel, evidence: RunEvidence) -> dict[str, str]:
    """Of the questions whose chosen options point to another key, which one and how clearly."""
    fit, answers = model.fit, evidence.answers
    known = {question.id: question for question in evidence.questions}
    if answers is None or not set(fit.data.items) <= set(answers["item"]):
        return {}
    chosen = answers.pivot(index="student", columns="item", values="chosen")
    if not set(fit.data.students) <= set(chosen.index):
        return {}
    key = {item: known[item].key for item in fit.data.items}
    found = miskeys(fit.data, chosen.where(chosen >= 0), key, fit.parameters)
    sentences = {}
    for row in found[found["suggested"] != ""].to_dict("records"):
        question, place = known[str(row["item"])], int(row["suggested"])
        sentences[question.id] = (
            f"The more a pipeline gets right elsewhere, the more it chooses {chr(65 + place)} (correlation "
            f"{row['suggested_correlation']:.2f}, 95\u00a0% {row['suggested_low']:.2f} to {row['suggested_high']:.2f})."
        )
    return sentences


def _partners(model: FittedModel) -> dict[str, list[str]]:
    """The questions each one depends on, tested together."""
    fit = model.fit
    fit.require_right_or_wrong("dependence")
    pairs = dependence(fit.data, fit.parameters, seed=fit.seed).pairs
    found: dict[str, list[str]] = {}
    for row in pairs[pairs["flag"]].to_dict("records"):
        for one, other in ((row["item_a"], row["item_b"]), (row["item_b"], row["item_a"])):
            found.setdefault(str(one), []).append(str(other))
    return found
