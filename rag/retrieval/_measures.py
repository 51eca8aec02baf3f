"""Measures of retrieval alone: how often, and how high, the passage a question was written from is found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examcore import Question, ReportProgress
from rag.retrieval._protocol import Retriever

CUTOFFS = (1, 3, 10)
"""Cutoffs of the measures; the last is the depth of the lists."""


@dataclass(frozen=True)
class SourceRank:
    """One retriever's rank of each question's source passage, from 1; NaN if it is not in the list."""

    retriever: str
    questions: tuple[str, ...]
    ranks: NDArray[np.float64]
    depth: int

    def measured(self, cutoffs: Sequence[int] = CUTOFFS) -> dict[str, NDArray[np.float64]]:
        """By measure, a value in [0, 1] per question, in their order, as `ir_measures` computes them.

        `hit@k` is 1 where the source is among the first k; `mrr@k` 1 / rank, 0 below k; `ndcg@k` 1 / log2(1 + rank),
        0 below k; the source is the one relevant passage. Ranks below `depth` are unknown, so larger cutoffs are left
        out.
        """
        import ir_measures

        known = [k for k in cutoffs if k <= self.depth]
        if not known:
            return {}
        measures = {
            **{f"hit@{k}": ir_measures.Success @ k for k in known},
            f"mrr@{known[-1]}": ir_measures.RR @ known[-1],
            f"ndcg@{known[-1]}": ir_measures.nDCG @ known[-1],
        }
        sources = [ir_measures.Qrel(one, "source", 1) for one in self.questions]
        names = {str(measure): name for name, measure in measures.items()}
        values: dict[str, dict[str, float]] = {name: {} for name in measures}
        for one in ir_measures.iter_calc(list(measures.values()), sources, self._run()):
            values[names[str(one.measure)]][one.query_id] = float(one.value)
        return {name: np.array([found.get(one, 0.0) for one in self.questions]) for name, found in values.items()}

    def _run(self) -> list[object]:
        """The lists in trec_eval's form: the source at its rank, other documents above it."""
        import ir_measures

        documents: list[object] = []
        for question, rank in zip(self.questions, self.ranks, strict=True):
            above = self.depth if math.isnan(rank) else int(rank) - 1
            documents += [ir_measures.ScoredDoc(question, f"other{n}", float(-n)) for n in range(1, above + 1)]
            if not math.isnan(rank):
                documents.append(ir_measures.ScoredDoc(question, "source", float(-rank)))
        return documents


def find_sources(
    retrievers: Mapping[str, Retriever],
    questions: Sequence[Question],
    *,
    depth: int = CUTOFFS[-1],
    progress: ReportProgress | None = None,
) -> list[SourceRank]:
    """The rank, among its first `depth` passages, at which each retriever finds each question's source chunk.

    Raises ValueError for a question that names no chunk, and whatever the retrievers raise.
    """
    for question in questions:
        if not question.chunk_id:
            raise ValueError(f"question {question.id!r}: names no chunk; wanted the one it was written from")
    found: list[SourceRank] = []
    total = len(retrievers) * len(questions)
    for name, retriever in retrievers.items():
        ranks: list[float] = []
        for question in questions:
            if progress is not None:
                progress(len(found) * len(questions) + len(ranks), total)
            ids = [chunk.id for chunk in retriever.retrieve(question, depth)]
            ranks.append(ids.index(question.chunk_id) + 1 if question.chunk_id in ids else math.nan)
        found.append(SourceRank(name, tuple(one.id for one in questions), np.array(ranks, dtype=np.float64), depth))
    return found
