"""Retrievers: lexical, dense, fused, re-ranked and third-party; built by kind, and measured on their own."""

from rag.retrieval._dense import passage_index
from rag.retrieval._measures import CUTOFFS, SourceRank, find_sources
from rag.retrieval._third_party import ThirdPartyRetriever

__all__ = ["CUTOFFS", "SourceRank", "ThirdPartyRetriever", "find_sources", "passage_index"]
