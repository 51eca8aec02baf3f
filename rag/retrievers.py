"""Retrievers: from a question to the passages its pipeline may read.

A retriever sees the question's stem, never its choices: a user asks without knowing the answers, and searching with
the choices would hand the wrong ones' passages to the pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from exam_gen.records import Chunk, Question
from rag.encoders import DEFAULT_ENCODER, embed, encode, encoder_place
from rag.loading import offline, quiet
from rag.vectors import Vectors
from rag.weights import is_embedded

RRF = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""

DEPTH = 50
"""Passages each part of a hybrid contributes."""


class Retriever(Protocol):
    """Finds passages for a question."""

    @property
    def name(self) -> str:
        """The name it goes by in the grid."""
        ...

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """At most k passages, best first; the same question always gets the same."""
        ...


class ClosedBook:
    """Finds nothing: the model answers from memory."""

    def __init__(self, name: str = "closed-book") -> None:
        self.name = name

    def retrieve(self, question: Question, k: int) -> list[Chunk]:  # noqa: ARG002 (the seam's signature)
        """No passage."""
        return []


class Oracle:
    """Knows the passage the question was written from."""

    def __init__(self, chunks: Sequence[Chunk], name: str = "oracle") -> None:
        self.name = name
        self._chunks = {chunk.id: chunk for chunk in chunks}

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The source passage alone; ValueError when it is not among the chunks."""
        if question.chunk_id not in self._chunks:
            raise ValueError(
                f"retriever {self.name}: question {question.id!r} comes from chunk {question.chunk_id!r}, "
                "which is not among the chunks; wanted the chunks the exam was written from"
            )
        return [self._chunks[question.chunk_id]][:k]


class Bm25:
    """BM25 (Lucene's form, k1 = 1.5, b = 0.75) over stemmed words of title and text; ties by chunk order."""

    def __init__(self, chunks: Sequence[Chunk], name: str = "bm25") -> None:
        self.name = name
        self._chunks = tuple(chunks)

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k best passages that share a word with the stem."""
        if not self._chunks:
            return []
        words = [word for word in self._words([question.stem])[0] if word in self._index.vocab_dict]
        if not words:
            return []
        scores = np.asarray(self._index.get_scores(words))
        return [self._chunks[index] for index in top(scores, k) if scores[index] > 0]

    @cached_property
    def _stemmer(self) -> Any:
        import Stemmer

        return Stemmer.Stemmer("english")

    @cached_property
    def _index(self) -> Any:
        import bm25s

        index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        index.index(self._words([searched(chunk) for chunk in self._chunks]), show_progress=False)
        return index

    def _words(self, texts: Sequence[str]) -> list[list[str]]:
        import bm25s

        tokens: list[list[str]] = bm25s.tokenize(
            list(texts), stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return tokens


class Dense:
    """Cosine similarity of sentence embeddings, exact search; ties by chunk order."""

    def __init__(
        self,
        chunks: Sequence[Chunk],
        encoder: str = DEFAULT_ENCODER,
        cache_dir: Path | None = None,
        name: str = "dense",
    ) -> None:
        self.name = name
        self._chunks = tuple(chunks)
        self._encoder = encoder
        self._cache_dir = cache_dir
        self._questions: dict[str, Vectors] = {}

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k passages nearest to the stem."""
        if not self._chunks:
            return []
        # A few more than asked for, so that equal scores at the edge are ordered by us and not by the index.
        wide = min(len(self._chunks), k + 16)
        scores, indices = self._index.search(self._vector(question.stem), wide)
        order = np.lexsort((indices[0], -scores[0]))[:k]
        return [self._chunks[int(indices[0][one])] for one in order]

    def _vector(self, stem: str) -> Vectors:
        # One question at a time: in a batch its numbers would depend on its neighbours.
        if stem not in self._questions:
            self._questions[stem] = encode([stem], encoder_place(self._encoder))
        return self._questions[stem]

    @cached_property
    def _index(self) -> Any:
        import faiss

        texts = [searched(chunk) for chunk in self._chunks]
        vectors = embed(texts, encoder=self._encoder, cache_dir=self._cache_dir)
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        return index


class Hybrid:
    """Reciprocal rank fusion of several retrievers, then optionally a cross-encoder's order of the fused list."""

    def __init__(
        self, parts: Sequence[Retriever], rerank: Reranker | None = None, *, depth: int = DEPTH, name: str = "hybrid"
    ) -> None:
        self.name = name
        self._parts = tuple(parts)
        self._rerank = rerank
        self._depth = depth

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k best of the fused list; ties by the first part that found a passage."""
        fused: dict[str, float] = {}
        found: dict[str, Chunk] = {}
        for part in self._parts:
            for rank, chunk in enumerate(part.retrieve(question, max(k, self._depth)), start=1):
                fused[chunk.id] = fused.get(chunk.id, 0.0) + 1 / (RRF + rank)
                found.setdefault(chunk.id, chunk)
        chunks = [found[one] for one in sorted(fused, key=lambda one: -fused[one])]
        if self._rerank is None:
            return chunks[:k]
        candidates = chunks[: self._depth]
        scores = np.asarray(self._rerank(question.stem, [searched(chunk) for chunk in candidates]))
        return [candidates[index] for index in top(scores, k)]


Reranker = Callable[[str, Sequence[str]], Sequence[float]]
"""From a question and passages to one relevance each, larger is better."""


class CrossEncoder:
    """A sentence-transformers cross-encoder (folder or hub name) as a re-ranker, loaded at first use."""

    def __init__(self, model: str) -> None:
        self._name = model

    def __call__(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """The relevance of each passage."""
        pairs = [(question, passage) for passage in passages]
        scores = self._model.predict(pairs, show_progress_bar=False) if pairs else []
        return [float(np.ravel(score)[-1]) for score in scores]

    @cached_property
    def _model(self) -> Any:
        import sentence_transformers

        try:
            with quiet():
                return sentence_transformers.CrossEncoder(self._name, local_files_only=offline(self._name))
        except (OSError, ValueError, RuntimeError) as error:
            reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise OSError(f"re-ranker {self._name}: cannot be loaded: {reason}") from error


def build_retriever(
    kind: str,
    chunks: Sequence[Chunk],
    *,
    name: str = "",
    encoder: str = "",
    reranker: str = "",
    cache_dir: Path | None = None,
) -> Retriever:
    """A retriever of one of the `KINDS` over chunks; indexes are built and encoders loaded at the first question.

    `encoder` (kinds dense and hybrid) defaults to the embedded MiniLM; `reranker` (kind hybrid) to none. Raises
    ValueError for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"retriever {kind!r}: unknown; wanted one of {', '.join(KINDS)}")
    if is_embedded(reranker):
        raise ValueError(f"retriever {kind!r}: re-ranker {reranker!r}: wanted a cross-encoder's folder or hub name")
    if reranker and kind != "hybrid":
        raise ValueError(f"retriever {kind!r}: has no re-ranker; wanted kind hybrid for {reranker!r}")
    options = _Options(name or kind, encoder or DEFAULT_ENCODER, reranker, cache_dir)
    return KINDS[kind](chunks, options)


class _Options:
    def __init__(self, name: str, encoder: str, reranker: str, cache_dir: Path | None) -> None:
        self.name, self.encoder, self.reranker, self.cache_dir = name, encoder, reranker, cache_dir


def _hybrid(chunks: Sequence[Chunk], options: _Options) -> Retriever:
    parts = (Bm25(chunks), Dense(chunks, options.encoder, options.cache_dir))
    return Hybrid(parts, CrossEncoder(options.reranker) if options.reranker else None, name=options.name)


KINDS: Mapping[str, Callable[[Sequence[Chunk], _Options], Retriever]] = {
    "closed-book": lambda _, options: ClosedBook(options.name),
    "oracle": lambda chunks, options: Oracle(chunks, options.name),
    "bm25": lambda chunks, options: Bm25(chunks, options.name),
    "dense": lambda chunks, options: Dense(chunks, options.encoder, options.cache_dir, options.name),
    "hybrid": _hybrid,
}


def searched(chunk: Chunk) -> str:
    """The text of a passage that is searched: its title and its own text."""
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text


def top(scores: Any, k: int) -> list[int]:
    """Indices of the k largest scores, largest first, equal ones by index."""
    return [int(index) for index in np.argsort(-np.asarray(scores), kind="stable")[:k]]
