"""Measures of retrieval alone: how often, and how high, a text that answers a query is found."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import STEM, Question, ReportProgress
from rag.retrieval._protocol import Retriever

CUTOFFS = (1, 3, 10)
"""Cutoffs of the measures; the last is the depth of the lists."""
CHUNKS_PER_DOCUMENT = 4
"""Passages that are looked at for each document of a list of documents."""


class Search(NamedTuple):
    """A query that is searched for, as the stem of its question; its kind; and the ids of what answers it.

    `sources` are ids of chunks, or with `by_document` of documents, any of which will do.
    """

    asked: Question
    kind: str
    sources: Collection[str]
    by_document: bool = False


@dataclass(frozen=True)
class SourceRank:
    """One retriever's ranks, from 1, of the sources of each search that are in its list of `depth`, best first."""

    retriever: str
    searches: tuple[Search, ...]
    ranks: tuple[tuple[int, ...], ...]
    depth: int

    def measured(self, kind: str = STEM, cutoffs: Sequence[int] = CUTOFFS) -> dict[str, NDArray[np.float64]]:
        """By measure, a value in [0, 1] per question that has queries of a kind, in their order: the mean over those.

        Of one query `hit@k` is 1 where a source is among the first k; `mrr@k` 1 / rank of the first, 0 below k;
        `ndcg@k` the sum of 1 / log2(1 + rank) over its sources among the first k, out of the largest possible. As
        `ir_measures` computes them. Ranks below `depth` are unknown, so larger cutoffs are left out.
        """
        known = [k for k in cutoffs if k <= self.depth]
        found: dict[str, dict[str, list[float]]] = {}
        for one, ranks in zip(self.searches, self.ranks, strict=True):
            if known and one.kind == kind:
                for name, value in query_measures(ranks, len(one.sources), known).items():
                    found.setdefault(name, {}).setdefault(one.asked.id, []).append(value)
        return {name: np.array([np.mean(one) for one in values.values()]) for name, values in found.items()}

    def of_queries(self, kind: str = STEM) -> NDArray[np.float64]:
        """nDCG to the depth of the list of every query of a kind, in their order."""
        pairs = zip(self.searches, self.ranks, strict=True)
        measure = f"ndcg@{self.depth}"
        found = [
            query_measures(ranks, len(one.sources), [self.depth])[measure] for one, ranks in pairs if one.kind == kind
        ]
        return np.array(found)

    def questions(self, kind: str = STEM) -> tuple[str, ...]:
        """The questions that have queries of a kind, in order."""
        return tuple(dict.fromkeys(one.asked.id for one in self.searches if one.kind == kind))


def query_measures(ranks: Sequence[int], sources: int, cutoffs: Sequence[int]) -> dict[str, float]:
    """The measures of one query whose sources, so many, have these ranks; see `SourceRank.measured`."""
    first, deepest = min(ranks, default=math.inf), cutoffs[-1]
    gain = sum(1 / math.log2(1 + rank) for rank in ranks if rank <= deepest)
    ideal = sum(1 / math.log2(1 + rank) for rank in range(1, min(sources, deepest) + 1))
    hits = {f"hit@{k}": float(first <= k) for k in cutoffs}
    return {**hits, f"mrr@{deepest}": 1 / first if first <= deepest else 0.0, f"ndcg@{deepest}": gain / ideal}


def searches_of(questions: Sequence[Question], *, by_document: bool = False) -> list[Search]:
    """Every query of the questions, the stem first, whose source is the chunk (or document) they were written from.

    Raises ValueError for a question that names none.
    """
    found = []
    for one in questions:
        source = one.document_id if by_document else one.chunk_id
        if not source:
            wanted = "document" if by_document else "chunk"
            raise ValueError(f"question {one.id!r}: names no {wanted}; wanted the one it was written from")
        found.append(Search(one, STEM, (source,), by_document))
        found += [Search(replace(one, stem=query.text), query.kind, (source,), by_document) for query in one.queries]
    return found


def find_sources(
    retrievers: Mapping[str, Retriever],
    searches: Sequence[Search],
    *,
    depth: int = CUTOFFS[-1],
    progress: ReportProgress | None = None,
) -> list[SourceRank]:
    """The ranks, among its first `depth` texts, at which each retriever finds the sources of each search.

    Raises whatever the retrievers raise.
    """
    found: list[SourceRank] = []
    total = len(retrievers) * len(searches)
    for name, retriever in retrievers.items():
        ranks: list[tuple[int, ...]] = []
        for one in searches:
            if progress is not None:
                progress(len(found) * len(searches) + len(ranks), total)
            ids = _listed(retriever, one, depth)
            ranks.append(tuple(rank for rank, id in enumerate(ids, 1) if id in one.sources))
        found.append(SourceRank(name, tuple(searches), tuple(ranks), depth))
    return found


def _listed(retriever: Retriever, search: Search, depth: int) -> list[str]:
    """The ids of the first texts: chunks, or the documents that they are from."""
    if not search.by_document:
        return [chunk.id for chunk in retriever.retrieve(search.asked, depth)]
    chunks = retriever.retrieve(search.asked, depth * CHUNKS_PER_DOCUMENT)
    return list(dict.fromkeys(chunk.document_id for chunk in chunks))[:depth]
