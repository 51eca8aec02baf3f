"""Bounds of retrieval: no passage (floor), and the passage the question was written from (ceiling)."""

from __future__ import annotations

from collections.abc import Sequence

from examcore import Chunk, Question


class ClosedBook:
    """Finds no passage: the model answers from memory."""

    def __init__(self, name: str = "closed-book") -> None:
        self.name = name

    def retrieve(self, question: Question, k: int) -> list[Chunk]:  # noqa: ARG002 (the protocol's signature)
        """No passage."""
        return []


class Oracle:
    """Finds the passage that the question was written from."""

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
