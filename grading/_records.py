"""The records of grading: banks of questions, grades of passages, scores of systems, reports with citations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from examcore import (
    BOOTSTRAP_DRAWS,
    INTERVAL_LEVEL,
    Indices,
    IntervalEstimate,
    bootstrap,
    bootstrap_mean,
    bootstrap_of_sums,
)
from examcore.console import Interval, Seed

Floats = NDArray[np.float64]
Combine = Literal["or", "and"]
Importance = Literal["vital", "okay"]
Kind = Literal["question", "nugget"]
QuestionKey = tuple[str, str]
"""A query and the id of one of its questions."""
Bank = Mapping[str, Collection[str]]
"""Query -> ids of its questions, which may lead to their texts."""
SystemScores = Mapping[str, Mapping[str, float]]
"""System -> topic -> score; NaN where it is undefined."""


@dataclass(frozen=True)
class Sampling:
    """How intervals are computed: the share that they cover, the seed, and how often units are resampled.

    The first two are options of the commands.
    """

    interval: Interval = INTERVAL_LEVEL
    seed: Seed = 0
    draws: int = field(default=BOOTSTRAP_DRAWS, metadata={"option": False})

    def mean(self, values: Floats) -> IntervalEstimate:
        """The mean of `values` `[n]` with its interval."""
        return bootstrap_mean(values, level=self.interval, draws=self.draws, seed=self.seed)

    def of(self, statistic: Callable[[Indices], float], size: int) -> IntervalEstimate:
        """A statistic of the indices of `size` units with its interval."""
        return bootstrap(statistic, size, level=self.interval, draws=self.draws, seed=self.seed)

    def of_sums(self, statistic: Callable[[Floats], Floats], values: Floats) -> IntervalEstimate:
        """A statistic of the sums of `values` `[n, k]` over `n` units with its interval."""
        return bootstrap_of_sums(statistic, values, level=self.interval, draws=self.draws, seed=self.seed)


SAMPLING = Sampling()


@dataclass(frozen=True)
class KeyAnswer:
    """An acceptable answer, and the documents that it may be cited from, empty for any."""

    text: str
    documents: frozenset[str] = frozenset()


@dataclass(frozen=True)
class BankQuestion:
    """An open question about a query, or a nugget of ARGUE.

    `answers` are its key, empty for a question that can only be rated; one of them suffices (`or`) or all are needed
    (`and`). `subtopic` is the facet of the query that it belongs to. A `nugget` is a statement that a passage makes or
    does not make, with no answer.
    """

    id: str
    query: str
    question: str
    answers: tuple[KeyAnswer, ...] = ()
    combine: Combine = "or"
    importance: Importance = "vital"
    subtopic: str = ""
    kind: Kind = "question"


@dataclass(frozen=True)
class Grade:
    """How well a passage answers one question of the bank: 0/1, or 0 to 5; NaN for a reply that cannot be parsed.

    `passage` is the id of a passage or document, or the name of a system if whole articles are graded.
    """

    query: str
    passage: str
    question: str
    grade: float
    answer: str = ""
    reply: str = ""


@dataclass(frozen=True)
class Sentence:
    """One sentence of a report with the documents it cites, in order."""

    text: str
    citations: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemReport:
    """A system's report on a topic."""

    run: str
    topic: str
    sentences: tuple[Sentence, ...]
