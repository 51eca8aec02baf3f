"""A question as the page shows it, and what is known of all questions: numbers, faults, neighbours."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from examcore import Question, language_named
from examcore.page import clipped, percent, plain_number
from ragexam.report._page_parts import QuestionCard
from ragexam.report._question_faults import FAULTS, AnswerSigns, QuestionFault, reason

HEADING, PASSAGE = 300, 3000
"""Characters of a card's heading and of its passage."""
_STEM, _CHOICE = 1500, 400
"""Characters of a stem and of a choice on a card."""
ANY_FAULT, NO_FAULT, BEST, PRUNED = "any", "none", "best", "pruned"
"""Tokens that the filters look for, beside those of single faults and topics."""


@dataclass(frozen=True)
class KnownQuestions:
    """What the cards and the table say of all questions: their numbers, faults, and tokens to filter by."""

    signs: AnswerSigns
    numbers: Mapping[str, int]
    faults: Mapping[str, Sequence[QuestionFault]]
    neighbours: Mapping[str, Sequence[int]]
    best: Collection[str]
    pruned: Collection[str]
    topics: Mapping[str, str]

    def tokens(self, question: Question) -> str:
        """What filters find a question by."""
        faults = self.faults[question.id]
        found = [fault_token(fault) for fault in faults] or [NO_FAULT]
        found += [ANY_FAULT] if faults else []
        found += [BEST] if question.id in self.best else []
        found += [PRUNED] if question.id in self.pruned else []
        return " ".join([*found, self.topics[question.topic]])

    def remarks(self, question: Question) -> list[str]:
        """Faults and what else is known of a question, by name."""
        found = [fault.name for fault in self.faults[question.id]]
        found += ["carries the exam"] if question.id in self.best else []
        return found + (["pruned"] if question.id in self.pruned else [])


def question_card(question: Question, known: KnownQuestions, readable: bool) -> QuestionCard:
    """The card of a question, with its passage where that is `readable`."""
    faults = known.faults[question.id]
    return QuestionCard(
        number=known.numbers[question.id],
        heading=clipped(question.stem, HEADING),
        stem=clipped(question.stem, _STEM) if len(question.stem) > HEADING else "",
        choices=card_choices(question),
        passage=clipped(question.context, PASSAGE) if readable else "",
        language=language_named(question.language),
        tokens=known.tokens(question),
        faults=[fault.name for fault in faults],
        best=question.id in known.best,
        pruned=question.id in known.pruned,
        reasons=[f"{reason(question, fault, known.signs, known.numbers)} {fault.advice}" for fault in faults],
        facts=list(_facts(question, known)),
    )


def card_choices(question: Question) -> list[tuple[str, bool]]:
    """The choices of a question, long ones clipped, and which one is the key."""
    return [(clipped(text, _CHOICE), place == question.key) for place, text in enumerate(question.choices)]


def fault_token(fault: QuestionFault) -> str:
    """What filters find the questions with a fault by."""
    return f"f{FAULTS.index(fault)}"


def _facts(question: Question, known: KnownQuestions) -> Iterator[str]:
    signs, share = known.signs, known.signs.share_of(question)
    yield f"{percent(share)} right"
    right, asked = signs.blind.get(question.id, (0, 0))
    if asked:
        yield f"{right} of {asked} without a passage"
    # Where all or none are right, discrimination and difficulty are the prior's.
    if signs.items is not None and question.id in signs.items.index and 0 < share < 1:
        yield from (f"{name} {plain_number(signs.of(question, key))}" for name, key in _PARAMETERS.items())
    if question.topic:
        yield f"topic {clipped(question.topic, 60)}"
    yield from (f"same passage as question {other}" for other in known.neighbours[question.id][:3])


_PARAMETERS = {"discrimination": "a", "difficulty": "b", "information": "information"}
