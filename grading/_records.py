"""What grading handles: banks of questions, grades of passages, reports with citations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Combine = Literal["or", "and"]
Importance = Literal["vital", "okay"]


@dataclass(frozen=True)
class KeyAnswer:
    """An acceptable answer, and the documents that it may be cited from; none named means any."""

    text: str
    documents: frozenset[str] = frozenset()


@dataclass(frozen=True)
class BankQuestion:
    """An open question about a query, or a nugget of ARGUE's.

    `answers` are its key, empty where a question is graded by rating alone; one of them is enough (`or`) or all are
    needed (`and`). `subtopic` is the facet of the query it belongs to.
    """

    id: str
    query: str
    question: str
    answers: tuple[KeyAnswer, ...] = ()
    combine: Combine = "or"
    importance: Importance = "vital"
    subtopic: str = ""


@dataclass(frozen=True)
class Grade:
    """How well a passage answers one question of the bank: 0/1, or 0 to 5; NaN for a reply that fits no rule.

    `passage` is a passage or document id, or the name of a system where whole articles are graded.
    """

    query: str
    passage: str
    question: str
    grade: float
    answer: str = ""
    reply: str = ""


@dataclass(frozen=True)
class Sentence:
    """One sentence of a report with the documents it cites, in its order."""

    text: str
    citations: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemReport:
    """A system's report on a topic."""

    run: str
    topic: str
    sentences: tuple[Sentence, ...]
