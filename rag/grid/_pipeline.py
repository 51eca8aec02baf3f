"""One pipeline of a grid: a language model, a retriever, and numbers of examples and passages."""

from __future__ import annotations

from dataclasses import dataclass

FACETS = ("llm", "retriever", "icl")
"""The facet columns of every response table, in order."""

FACTORS = ("passages", "budget", "queries")
"""Further facet columns, for grids that cross the number of passages, their length, or what retrievers search for."""

_MARKS = {"passages": "k", "budget": "b", "queries": "q-"}

OWN_FACETS = "own"
"""The retriever of black boxes in every table: each brings its own."""


@dataclass(frozen=True)
class Pipeline:
    """One examinee: a language model, a retriever (both by their names in the grid) and a number of shots.

    `passages` (how many it reads), `budget` (their characters) and `queries` (the kind that its retriever searches for)
    are None unless the grid crosses them; then the settings of the sitting hold.
    """

    llm: str
    retriever: str
    shots: int = 0
    passages: int | None = None
    budget: int | None = None
    queries: str | None = None

    @property
    def id(self) -> str:
        """The name its answers are stored under: `smollm2-135m+bm25+icl2`; if crossed, `+k3`, `+b2000`, `+q-stem`."""
        return "+".join([self.llm, self.retriever, f"icl{self.shots}", *self._marks])

    @property
    def reading(self) -> str:
        """What its passages depend on: `bm25`, or `bm25-k3-b2000`."""
        return "-".join([self.retriever, *self._marks])

    @property
    def factors(self) -> dict[str, int | str]:
        """Its level in each further factor."""
        levels = {"passages": self.passages, "budget": self.budget, "queries": self.queries}
        return {name: level for name, level in levels.items() if level is not None}

    @property
    def facets(self) -> dict[str, str]:
        """Its level in each facet."""
        named = {"llm": self.llm, "retriever": self.retriever, "icl": str(self.shots)}
        return named | {name: str(level) for name, level in self.factors.items()}

    @property
    def _marks(self) -> list[str]:
        return [f"{_MARKS[name]}{level}" for name, level in self.factors.items()]
