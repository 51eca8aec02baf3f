"""The questions on the page: which do not measure and why, which carry the exam, and the whole list."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from exam_gen.records import Question
from ragexam.report.measured import Measured
from ragexam.report.words import clipped, percent, plain

SHOWN_WORST = 12
SHOWN_BEST = 5
LISTED = 1000
_STEM, _CHOICE, _PASSAGE, _LISTED_STEM = 1500, 400, 3000, 220


@dataclass(frozen=True)
class Fault:
    """Why a question is looked at first: a short name, a sentence, and how grave it is (1 the gravest)."""

    name: str
    sentence: str
    grade: int


MISKEYED = Fault(
    "probably keyed wrongly",
    "Better pipelines get it wrong more often than worse ones, and fewer get it right than by guessing: "
    "another choice is probably the right one.",
    1,
)
BACKWARDS = Fault(
    "better pipelines get it wrong",
    "Better pipelines get it right less often than worse ones: the key may be wrong, or a second choice is right as "
    "well. With few pipelines it can also be bad luck.",
    2,
)
TOO_HARD = Fault("nobody gets it right", "No pipeline answers it: check the key, then drop it.", 3)
WORSE_THAN_CHANCE = Fault(
    "below chance",
    "Fewer pipelines get it right than guessing would: the key may be wrong or a distractor too good.",
    3,
)
MISFIT = Fault(
    "does not fit the model",
    "Its answers are less predictable than its difficulty allows: it may ask about something else than the others.",
    4,
)
GUESSED = Fault(
    "near chance",
    "Pipelines get it right about as often as guessing would, good ones hardly more often than poor ones: it is too "
    "hard, ambiguous, or not answerable from the passage.",
    5,
)
FLAT = Fault("tells little", "Next to the other questions it says very little about these pipelines' ability.", 6)
TOO_EASY = Fault(
    "everyone gets it right", "Every pipeline answers it: it tells nothing about any of them and can go.", 7
)
_FLAGS: Mapping[str, Fault] = {
    "probable mis-key": MISKEYED,
    "negative discrimination": BACKWARDS,
    "all wrong": TOO_HARD,
    "all correct": TOO_EASY,
}
_OUTFIT, _INFIT = 1.5, 1.2
_LITTLE = 0.25
_NEAR_CHANCE, _BELOW_CHANCE = 0.08, 0.6


def questions_view(
    questions: Sequence[Question],
    scores: pd.DataFrame,
    measured: Measured | None,
    pruned: Collection[str] = (),
) -> Mapping[str, object]:
    """What the template shows about questions; without a fit, faults come from accuracy alone."""
    share = scores.dropna(subset=["score"]).groupby("item")["score"].mean()
    items = None if measured is None else measured.items
    faults = {question.id: faults_of(question, share.get(question.id, math.nan), items) for question in questions}
    remarks = {name: [*(fault.name for fault in found)] for name, found in faults.items()}
    for name in pruned:
        remarks.setdefault(name, []).append("pruned")
    faulty = [question for question in questions if faults[question.id]]
    faulty.sort(key=lambda question: _badness(question, faults[question.id], items))
    numbers = {question.id: place for place, question in enumerate(questions, start=1)}
    worst = faulty[:SHOWN_WORST]
    best = _best(questions, faults, items)

    def card(question: Question) -> Mapping[str, object]:
        return _card(question, numbers[question.id], share.get(question.id, math.nan), faults[question.id], items)

    listed = questions[:LISTED]
    return {
        "sentences": _sentences(len(questions), faulty, worst, items is not None),
        "worst": [card(question) for question in worst],
        "best": [card(question) for question in best],
        "measured": items is not None,
        "list_title": f"All {len(questions)} questions"
        if len(listed) == len(questions)
        else f"The first {LISTED} of {len(questions)} questions",
        "caption": "Accuracy over all pipelines"
        + ("; information is averaged over the pipelines' abilities" if items is not None else ""),
        "rows": [
            _row(question, numbers[question.id], share.get(question.id, math.nan), remarks[question.id], items)
            for question in listed
        ],
    }


def faults_of(question: Question, share: float, items: pd.DataFrame | None) -> list[Fault]:
    """The faults of a question, gravest first: the fit's flags, then what its fit and accuracy say."""
    found = set(_accuracy_faults(question, share))
    if items is not None and question.id in items.index:
        found |= set(_measured_faults(question, share, items))
    if MISKEYED in found:
        found -= {BACKWARDS, WORSE_THAN_CHANCE}
    if found & {MISKEYED, BACKWARDS, TOO_HARD, TOO_EASY, WORSE_THAN_CHANCE, GUESSED}:
        found -= {FLAT}
    return sorted(found, key=lambda fault: fault.grade)


def _accuracy_faults(question: Question, share: float) -> Iterator[Fault]:
    if share >= 1:
        yield TOO_EASY
    elif share <= 0:
        yield TOO_HARD
    elif share < _BELOW_CHANCE / len(question.choices):
        yield WORSE_THAN_CHANCE


def _measured_faults(question: Question, share: float, items: pd.DataFrame) -> Iterator[Fault]:
    found: Any = items.loc[question.id]
    yield from (_FLAGS[flag.strip()] for flag in str(found["flags"]).split(";") if flag.strip() in _FLAGS)
    if found["outfit"] > _OUTFIT and found["infit"] > _INFIT:
        yield MISFIT
    chance = 1 / len(question.choices)
    if chance * _BELOW_CHANCE <= share <= chance + _NEAR_CHANCE and found["point_biserial"] < 0.1:
        yield GUESSED
    if found["information"] < _LITTLE * float(items["information"].median()):
        yield FLAT


def _badness(question: Question, faults: Sequence[Fault], items: pd.DataFrame | None) -> tuple[float, float]:
    information = 0.0 if items is None or question.id not in items.index else _of(items, question, "information")
    return faults[0].grade, information


def _best(
    questions: Sequence[Question], faults: Mapping[str, Sequence[Fault]], items: pd.DataFrame | None
) -> list[Question]:
    """The most informative questions without a fault."""
    if items is None:
        return []
    sound = [question for question in questions if not faults[question.id] and question.id in items.index]
    return sorted(sound, key=lambda question: -_of(items, question, "information"))[:SHOWN_BEST]


def _sentences(n: int, faulty: Sequence[Question], worst: Sequence[Question], measured: bool) -> list[str]:
    if not faulty:
        return [f"None of the {n} questions stands out as broken."]
    lines = [f"{len(faulty)} of {n} questions {'deserve' if len(faulty) > 1 else 'deserves'} a look."]
    if len(worst) < len(faulty):
        lines.append(f"The {len(worst)} gravest are shown in full; the list below marks the others.")
    if not measured:
        lines.append("Without a fitted model only questions that all, none or too few answer can be found.")
    return lines


def _card(
    question: Question, number: int, share: float, faults: Sequence[Fault], items: pd.DataFrame | None
) -> Mapping[str, object]:
    facts = [f"{percent(share)} right"]
    # Where all or none are right, discrimination and difficulty are the prior's.
    if items is not None and question.id in items.index and 0 < share < 1:
        facts.append(f"discrimination {plain(_of(items, question, 'a'))}")
        facts.append(f"difficulty {plain(_of(items, question, 'b'))}")
    if question.topic:
        facts.append(f"topic {clipped(question.topic, 60)}")
    return {
        "number": number,
        "stem": clipped(question.stem, _STEM),
        "choices": [
            {"text": clipped(choice, _CHOICE), "key": place == question.key}
            for place, choice in enumerate(question.choices)
        ],
        "faults": [fault.name for fault in faults],
        "reasons": [fault.sentence for fault in faults],
        "facts": facts,
        "passage": clipped(question.context, _PASSAGE),
    }


def _row(
    question: Question, number: int, share: float, remarks: Sequence[str], items: pd.DataFrame | None
) -> Mapping[str, object]:
    row: dict[str, object] = {
        "number": number,
        "stem": clipped(question.stem, _LISTED_STEM),
        "answer": clipped(question.answer, 80),
        "topic": clipped(question.topic, 40),
        "accuracy": percent(share),
        "accuracy_value": _value(share),
        "remarks": ", ".join(remarks),
    }
    names = {"difficulty": "b", "discrimination": "a", "information": "information"}
    for name, column in names.items():
        value = _of(items, question, column)
        row[name], row[f"{name}_value"] = plain(value), _value(value)
    return row


def _of(items: pd.DataFrame | None, question: Question, column: str) -> float:
    """An item parameter of a question, NaN when it was not fitted."""
    if items is None or question.id not in items.index:
        return math.nan
    found: Any = items.at[question.id, column]
    return float(found)


def _value(number: float) -> str:
    return f"{number:.4f}" if math.isfinite(number) else ""
