"""One pipeline of a grid: a language model, a retriever, and numbers of examples and passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Mode = Literal["likelihood", "letters", "text"]
"""How a language model answers: choices by their log-likelihoods, the letter of a choice, or its own words."""

FACETS = ("llm", "retriever", "icl")
"""The facet columns of every response table, in order."""

READING = ("passages", "budget", "queries")
"""The factors that decide what passages a pipeline reads."""
FACTORS = (*READING, "answers")
"""Further facet columns, for grids that cross the number of passages, their length, what retrievers search for, or how
models answer."""

_MARKS = {"passages": "k", "budget": "b", "queries": "q-", "answers": "a-"}

OWN_FACETS = "own"
"""The retriever of black boxes in every table: each brings its own."""


@dataclass(frozen=True)
class Pipeline:
    """One examinee: a language model, a retriever (both by their names in the grid) and a number of shots.

    `passages` (how many it reads), `budget` (their characters), `queries` (the kind that its retriever searches for)
    and `answers` (its mode) are None unless the grid crosses them; then the settings of sitting and model hold.
    """

    llm: str
    retriever: str
    shots: int = 0
    passages: int | None = None
    budget: int | None = None
    queries: str | None = None
    answers: Mode | None = None

    @property
    def id(self) -> str:
        """The name its answers are stored under: `smollm2-135m+bm25+icl2`, with crossed factors `+k3+b2000+a-text`."""
        return "+".join([self.llm, self.retriever, f"icl{self.shots}", *self._marks(FACTORS)])

    @property
    def examinee(self) -> str:
        """Who answers: `smollm2-135m`, or where the grid crosses modes `smollm2-135m+a-text`."""
        return "+".join([self.llm, *self._marks(("answers",))])

    @property
    def reading(self) -> str:
        """What its passages depend on: `bm25`, or `bm25-k3-b2000`."""
        return "-".join([self.retriever, *self._marks(READING)])

    @property
    def factors(self) -> dict[str, int | str]:
        """Its level in each further factor."""
        return {name: level for name in FACTORS if (level := getattr(self, name)) is not None}

    @property
    def facets(self) -> dict[str, str]:
        """Its level in each facet."""
        named = {"llm": self.llm, "retriever": self.retriever, "icl": str(self.shots)}
        return named | {name: str(level) for name, level in self.factors.items()}

    def _marks(self, factors: Sequence[str]) -> list[str]:
        return [f"{_MARKS[name]}{level}" for name, level in self.factors.items() if name in factors]
