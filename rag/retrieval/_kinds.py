"""Retrievers by kind: from a question to the passages its pipeline may read.

A retriever reads `question.stem`, in which the caller has put what is searched for (a query, or the stem itself), and
never the choices: users ask without knowing the answers, and those would also find passages for the wrong ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from examcore import Chunk
from rag._third_party import HTTP_PREFIXES, PYTHON_PREFIX
from rag.retrieval._dense import DEFAULT_ENCODER, Dense
from rag.retrieval._fusion import DEPTH, CrossEncoder, Hybrid, Reranked
from rag.retrieval._lexical import Bm25, Lsa, TfIdf
from rag.retrieval._protocol import ClosedBook, Oracle, Retriever
from rag.retrieval._third_party import EndpointRetriever, ThirdPartyRetriever, load_search
from rag.servers._options import ServerOptions, check_service_url
from rag.weights._embedded import is_embedded

MULTI_QA = "sentence-transformers/multi-qa-MiniLM-L6-cos-v1"
MS_MARCO = "cross-encoder/ms-marco-MiniLM-L-6-v2"
LFQA_QUESTIONS = "vblagoje/dpr-question_encoder-single-lfqa-base"
LFQA_PASSAGES = "vblagoje/dpr-ctx_encoder-single-lfqa-base"

EMBEDDED_RERANKER = "embedded:reranker-tiny"
"""A small BERT cross-encoder from a Python package, run by onnxruntime."""

BOUNDS = ("closed-book", "oracle")


@dataclass(frozen=True)
class RetrieverParts:
    """The parts of a retriever: family, encoders, re-ranker, and the depth of the first stage (0: default)."""

    family: str
    encoder: str = ""
    query_encoder: str = ""
    reranker: str = ""
    depth: int = 0

    @property
    def encoders(self) -> list[str]:
        """The encoders that a retriever of these parts loads."""
        return [one for one in (self.encoder, self.query_encoder) if one and self.family in ENCODING]


@dataclass(frozen=True)
class FirstStage:
    """What a family's retriever is built from; `index` may be the `passage_index` of the chunks."""

    parts: RetrieverParts
    chunks: Sequence[Chunk]
    name: str
    index: Any = None

    @property
    def dense(self) -> Dense:
        """The dense retriever of these parts."""
        return Dense(self.chunks, self.parts.encoder, self.name, self.parts.query_encoder, self.index)


FAMILIES: Mapping[str, Callable[[FirstStage], Retriever]] = {
    "closed-book": lambda one: ClosedBook(one.name),
    "oracle": lambda one: Oracle(one.chunks, one.name),
    "bm25": lambda one: Bm25(one.chunks, one.name),
    "tfidf": lambda one: TfIdf(one.chunks, one.name),
    "lsa": lambda one: Lsa(one.chunks, one.name),
    "dense": lambda one: one.dense,
    "hybrid": lambda one: Hybrid((Bm25(one.chunks), one.dense), depth=one.parts.depth or DEPTH, name=one.name),
}
"""How a retriever of each family is built; a new one is a line here, and its name is a kind."""

ENCODING = ("dense", "hybrid")
"""The families that embed passages; a new one that does is also a name here."""

KINDS: Mapping[str, RetrieverParts] = {
    **{family: RetrieverParts(family, DEFAULT_ENCODER if family in ENCODING else "") for family in FAMILIES},
    # The models of the paper (Guinet et al. 2024, section 4.2), as its published code names them.
    "siam": RetrieverParts("dense", LFQA_PASSAGES, LFQA_QUESTIONS),
    "multiqa": RetrieverParts("dense", MULTI_QA),
    "dpr": RetrieverParts("hybrid", LFQA_PASSAGES, LFQA_QUESTIONS, MS_MARCO),
    "dprv2": RetrieverParts("hybrid", MULTI_QA, "", MS_MARCO),
}
"""Kinds by name; `python:package.module:name` and `http(s)://...` are kinds, too."""

PRESETS = tuple(kind for kind, parts in KINDS.items() if parts.family != kind)
"""Kinds that are families with given models."""


def build_retriever(
    kind: str,
    chunks: Sequence[Chunk],
    *,
    name: str = "",
    encoder: str = "",
    query_encoder: str = "",
    reranker: str = "",
    depth: int = 0,
    server: ServerOptions | None = None,
    index: Any = None,
) -> Retriever:
    """A retriever over chunks; indexes are built and encoders loaded at the first question.

    `kind` is one of `KINDS`, `python:package.module:name` or the address of an endpoint (`server`: its options).
    `encoder` and `query_encoder` (families dense and hybrid) replace those of the kind; `reranker` re-orders the first
    `depth` passages of any kind that searches, and `depth` is also what each part of a hybrid contributes (0: `DEPTH`).
    `index` is the `passage_index` of the chunks by the kind's encoder, which retrievers can share.
    Raises ValueError for an unknown kind, and for a query encoder, re-ranker, depth or server that it does not use; an
    `encoder` is not read by kinds that embed nothing.
    """
    parts = parts_of(kind, encoder, query_encoder, reranker, depth)
    check_kind(kind, parts, server)
    named = name or kind
    first: Retriever
    if kind.startswith(PYTHON_PREFIX):
        first = ThirdPartyRetriever(chunks, load_search(kind, chunks), named)
    elif kind.startswith(HTTP_PREFIXES):
        first = EndpointRetriever(chunks, kind, server, named)
    else:
        first = FAMILIES[parts.family](FirstStage(parts, chunks, named, index))
    if not parts.reranker:
        return first
    return Reranked(first, CrossEncoder(parts.reranker), depth=parts.depth or DEPTH, name=named)


def parts_of(
    kind: str, encoder: str = "", query_encoder: str = "", reranker: str = "", depth: int = 0
) -> RetrieverParts:
    """The parts of a kind, replaced by those given; ValueError for an unknown kind.

    With another encoder, the kind's query encoder is dropped, as it belongs to the kind's own encoder.
    """
    if is_third_party(kind):
        return RetrieverParts(kind, encoder, query_encoder, reranker, depth)
    if kind not in KINDS:
        wanted = f"one of {', '.join(KINDS)}, python:package.module:name or an http address"
        raise ValueError(f"retriever {kind!r}: unknown; wanted {wanted}")
    own = KINDS[kind]
    return replace(
        own,
        encoder=encoder or own.encoder,
        query_encoder=query_encoder or ("" if encoder else own.query_encoder),
        reranker=reranker or own.reranker,
        depth=depth or own.depth,
    )


def check_kind(kind: str, parts: RetrieverParts, server: ServerOptions | None = None) -> None:
    """Raise ValueError in one line for parts that a kind does not use."""
    start = f"retriever {kind!r}"
    if is_embedded(parts.reranker) and parts.reranker != EMBEDDED_RERANKER:
        raise ValueError(
            f"{start}: re-ranker {parts.reranker!r}: wanted {EMBEDDED_RERANKER} or a cross-encoder's folder or hub name"
        )
    if parts.reranker and parts.family in BOUNDS:
        raise ValueError(f"{start}: has nothing to re-rank; wanted a kind that searches for {parts.reranker!r}")
    if parts.query_encoder and parts.family not in ENCODING:
        raise ValueError(f"{start}: has no encoder; wanted a dense kind for {parts.query_encoder!r}")
    if parts.depth < 0 or (parts.depth and not parts.reranker and parts.family != "hybrid"):
        raise ValueError(f"{start}: depth {parts.depth}; wanted one of at least 1, on a hybrid or with a re-ranker")
    if server is not None and not kind.startswith(HTTP_PREFIXES):
        raise ValueError(f"{start}: is on no server; wanted an http address for these options")
    if kind.startswith(HTTP_PREFIXES):
        check_service_url(kind, "retriever at an http address:")


def is_third_party(kind: str) -> bool:
    """Whether a kind names a third-party retriever: importable, or at an address."""
    return kind.startswith((PYTHON_PREFIX, *HTTP_PREFIXES))
