"""Retrievers: lexical, dense, fused, re-ranked and third-party; built by kind, and measured on their own."""

from rag.retrieval._dense import passage_index
from rag.retrieval._measures import CUTOFFS, SourceRank, find_sources

__all__ = [
    "CUTOFFS",
    "SourceRank",
    "find_sources",
    "passage_index",
]
