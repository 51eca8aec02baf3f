"""The families of retrievers, one module each; `rag.retrieval._kinds` builds them by kind."""

from rag.retrieval._dense import passage_index
from rag.retrieval._measures import CUTOFFS, SourceRank, find_sources

__all__ = [
    "CUTOFFS",
    "SourceRank",
    "find_sources",
    "passage_index",
]
