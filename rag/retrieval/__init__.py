"""Retrievers: lexical, dense, fused, re-ranked and third-party; built by kind, and measured on their own."""

from rag.retrieval._dense import passage_index
from rag.retrieval._measures import CUTOFFS, Search, SourceRank, find_sources, searches_of
from rag.retrieval._third_party import ThirdPartyRetriever

__all__ = ["CUTOFFS", "Search", "SourceRank", "ThirdPartyRetriever", "find_sources", "passage_index", "searches_of"]
