"""Dense retrieval: nearest sentence embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from examcore import Chunk, Question
from rag.retrieval._encoders import DEFAULT_ENCODER, Vectors, embed, encode, encoder_place
from rag.retrieval._protocol import searched_text


class Dense:
    """Inner product of embeddings (the cosine, where they have unit length), exact search; ties by chunk order.

    `query_encoder` embeds the questions if they need another encoder (DPR); by default it is `encoder`. `index` is the
    `passage_index` of the chunks if it exists already; else it is built at the first question.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        encoder: str = DEFAULT_ENCODER,
        cache_dir: Path | None = None,
        name: str = "dense",
        query_encoder: str = "",
        index: Any = None,
    ) -> None:
        self.name = name
        self._given = index
        self._chunks = tuple(chunks)
        self._encoder = encoder
        self._query_encoder = query_encoder or encoder
        self._cache_dir = cache_dir
        self._questions: dict[str, Vectors] = {}

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k passages nearest to the stem.

        Raises ValueError when the two encoders have different dimensions.
        """
        if not self._chunks:
            return []
        # One question at a time: in a batch its numbers would depend on the other questions.
        if question.stem not in self._questions:
            self._questions[question.stem] = encode([question.stem], encoder_place(self._query_encoder))
        asked = self._questions[question.stem]
        if asked.shape[1] != self._index.d:
            raise ValueError(
                f"retriever {self.name}: question {question.id!r}: encoder {self._query_encoder} gives "
                f"{asked.shape[1]} numbers and {self._encoder} {self._index.d}; wanted two encoders of one model"
            )
        # Fetch a few more, so that ties at the edge are broken by chunk order and not by the index.
        wide = min(len(self._chunks), k + 16)
        scores, indices = self._index.search(asked, wide)
        order = np.lexsort((indices[0], -scores[0]))[:k]
        return [self._chunks[int(indices[0][one])] for one in order]

        if self._given is not None:
            return self._given
        return passage_index(self._chunks, self._encoder, self._cache_dir)

    @cached_property
    def _index(self) -> Any:
        if self._given is not None:
            return self._given
        return passage_index(self._chunks, self._encoder, self._cache_dir)


def passage_index(
    chunks: Sequence[Chunk],
    encoder: str = DEFAULT_ENCODER,
    cache_dir: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """A search index of the passages' embeddings; `progress` counts those that are encoded now."""
    import faiss

    vectors = embed([searched_text(chunk) for chunk in chunks], encoder=encoder, cache_dir=cache_dir, progress=progress)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return index
