"""The protocol of retrievers, and the text of a passage that they search."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from examcore import Chunk, Question


class Retriever(Protocol):
    """Finds passages for a question."""

    @property
    def name(self) -> str:
        """The name it goes by in the grid."""
        ...

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """At most k passages, best first; always the same for the same question."""
        ...


def searched_text(chunk: Chunk) -> str:
    """The searched text of a passage: its title and text."""
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text


def top_indices(scores: Any, k: int) -> list[int]:
    """Indices of the k largest scores, largest first; ties by index."""
    return [int(index) for index in np.argsort(-np.asarray(scores), kind="stable")[:k]]
