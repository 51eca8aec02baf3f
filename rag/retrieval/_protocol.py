"""The protocol of retrievers, the text that they search, and two that do not search: no passage, or the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from examcore import Chunk, Question


class Retriever(Protocol):
    """Finds passages for a question."""

    @property
    def name(self) -> str:
        """The name it goes by in the grid."""

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """At most k passages, best first; always the same for the same question."""


def searched_text(chunk: Chunk) -> str:
    """The searched text of a passage: its title and text."""
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text


def top_indices(scores: Any, k: int) -> list[int]:
    """Indices of the k largest scores, largest first; ties by index."""
    return [int(index) for index in np.argsort(-np.asarray(scores), kind="stable")[:k]]


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
