"""The questions of the bank: what answers each, which tell nothing, and their best and worst passages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from examcore.page import clipped
from grading._records import Grade
from grading.formats._grades import ReadGrades, parsed
from grading.page._evidence import GradingEvidence
from grading.page._scores import Board, name
from grading.scores._items import redundant, table_of_passages

WORDS = 300
"""Characters of a passage that show what it is about; the file has all."""


@dataclass(frozen=True)
class QuestionSummary:
    """A question: how many of the `graded` passages answer it, how many of the `of` systems do, and its mean grade.

    `best` and `worst` are passages with their grades, None where no grade was parsed; `redundant` says what an earlier
    question makes of it, empty where nothing.
    """

    number: int
    query: str
    id: str
    text: str
    graded: int
    passages: int
    systems: int
    of: int
    mean: float
    best: tuple[str, float] | None
    worst: tuple[str, float] | None
    redundant: str

    @property
    def stem(self) -> str:
        """Its text, or its id, as far as that is shown."""
        return clipped(self.text or self.id, WORDS)

    @property
    def dead(self) -> bool:
        """Answered by none of the systems, or of the passages where there are no systems."""
        return self.graded > 0 and (self.systems if self.of else self.passages) == 0

    @property
    def universal(self) -> bool:
        """Answered by all of them, of which there are at least two."""
        found, size = (self.systems, self.of) if self.of else (self.passages, self.graded)
        return size > 1 and found == size


def asked_questions(evidence: GradingEvidence, found: Board) -> list[QuestionSummary]:
    """Every question of the bank, in its order."""
    repeated = _redundant(evidence)
    questions: list[QuestionSummary] = []
    for query, texts in evidence.bank.items():
        grades = _by_question(evidence.graded.by_passage.get(query, {}))
        for one, text in texts.items():
            given = sorted(grades.get(one, {}).items(), key=lambda pair: -pair[1])
            covered = sum(one in cover.queries[query].questions for cover in found.covers.values())
            questions.append(
                QuestionSummary(
                    number=len(questions) + 1,
                    query=query,
                    id=one,
                    text=text,
                    graded=len(given),
                    passages=sum(grade >= found.tau for _, grade in given),
                    systems=covered,
                    of=len(found.covers),
                    mean=sum(grade for _, grade in given) / len(given) if given else math.nan,
                    best=given[0] if given else None,
                    worst=given[-1] if len(given) > 1 else None,
                    redundant=repeated.get((query, one), ""),
                )
            )
    return questions


def _by_question(passages: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for passage, grades in passages.items():
        for question, grade in parsed(grades):
            found.setdefault(question, {})[passage] = grade
    return found


def _redundant(evidence: GradingEvidence) -> dict[tuple[str, str], str]:
    """What earlier question of its query each one repeats, by words or by grades (`grading.scores._items`)."""
    graded: dict[str, list[Grade]] = {}
    for one in evidence.graded.grades:
        graded.setdefault(one.query, []).append(one)
    found = {}
    for query, grades in graded.items():
        texts = {(query, one): text for one, text in evidence.bank.get(query, {}).items() if text}
        table = table_of_passages(ReadGrades(tuple(grades)))
        for place, (earlier, why) in redundant(table, texts).items():
            found[table.items[place]] = f"{why} of {name(earlier)}".replace("answered alike of", "answered as is")
    return found
