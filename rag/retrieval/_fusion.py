"""Retrievers built from others: fused by rank, or re-ranked by a cross-encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examcore import Chunk, Question
from rag.retrieval._protocol import Retriever, searched_text, top_indices

RRF = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""

DEPTH = 50
"""Passages that each part of a hybrid contributes, and that a re-ranker reads."""

Reranker = Callable[[str, Sequence[str]], Sequence[float]]
"""The relevance of each passage to a question; larger is better."""


class Hybrid:
    """Reciprocal rank fusion of several retrievers."""

    def __init__(self, parts: Sequence[Retriever], *, depth: int = DEPTH, name: str = "hybrid") -> None:
        self.name = name
        self._parts = tuple(parts)
        self._depth = depth

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k best of the fused list; ties by the order in which the parts found them."""
        fused: dict[str, float] = {}
        found: dict[str, Chunk] = {}
        for part in self._parts:
            for rank, chunk in enumerate(part.retrieve(question, max(k, self._depth)), start=1):
                fused[chunk.id] = fused.get(chunk.id, 0.0) + 1 / (RRF + rank)
                found.setdefault(chunk.id, chunk)
        return [found[one] for one in sorted(fused, key=lambda one: -fused[one])][:k]


class Reranked:
    """Re-orders the first `depth` passages of another retriever; those below keep their order."""

    def __init__(self, first: Retriever, rerank: Reranker, *, depth: int = DEPTH, name: str = "") -> None:
        self.name = name or first.name
        self._first, self._rerank, self._depth = first, rerank, depth
        self._ordered: dict[str, list[Chunk]] = {}

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k best; ties in the first stage's order. Raises ValueError when the re-ranker gives unusable numbers."""
        best = self._best(question)
        if k <= len(best):
            return best[:k]
        known = {chunk.id for chunk in best}
        return [*best, *(chunk for chunk in self._first.retrieve(question, k) if chunk.id not in known)][:k]

    def _best(self, question: Question) -> list[Chunk]:
        """The passages that the re-ranker reads, in its order; computed once per question, because it is slow."""
        if question.stem not in self._ordered:
            read = self._first.retrieve(question, self._depth)
            self._ordered[question.stem] = [
                read[index] for index in top_indices(self._scores(question, read), len(read))
            ]
        return self._ordered[question.stem]

    def _scores(self, question: Question, read: Sequence[Chunk]) -> NDArray[np.float64]:
        if not read:
            return np.zeros(0)
        scores = np.asarray(self._rerank(question.stem, [searched_text(chunk) for chunk in read]), dtype=np.float64)
        if scores.shape != (len(read),) or not np.isfinite(scores).all():
            raise ValueError(
                f"retriever {self.name}: question {question.id!r}: the re-ranker gave {_described(scores)}; wanted "
                f"{len(read)} finite numbers"
            )
        return scores


def _described(scores: Any) -> str:
    return f"{scores.size} numbers" if np.isfinite(scores).all() else "a number that is not finite"
