"""What a corpus holds: documents, chunks, words, vocabulary, topics (table 1 of the auto-rag-eval paper)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from exam_gen.corpora._unusual_documents import count_cases
from examcore import Chunk, Document

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")


class Size(NamedTuple):
    """Mean, least and most; zero for nothing."""

    mean: float
    least: int
    most: int


@dataclass(frozen=True)
class Inventory:
    """Counts over a corpus.

    A word is a run of letters, digits and underscores, with single inner hyphens, points and apostrophes; the
    vocabulary counts words that differ in more than case. `topics` and `documents_by_topic` leave out
    documents without one. `cases` counts unusual documents, `left_out` the records that did not become documents, both
    by name.
    """

    documents: int
    chunks: int
    words: int
    vocabulary: int
    topics: int
    words_per_document: Size
    words_per_chunk: Size
    characters_per_document: Size
    characters_per_chunk: Size
    chunks_per_document: float
    documents_by_topic: Mapping[str, int]
    cases: Mapping[str, int]
    left_out: Mapping[str, int]

    def as_dict(self) -> dict[str, object]:
        """The counts as plain mappings, for JSON."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value._asdict() if isinstance(value, Size) else value for name, value in fields.items()}

    @classmethod
    def from_dict(cls, counts: Mapping[str, Any]) -> Inventory:
        """The counts that `as_dict` wrote."""
        lengths = [name for name in cls.__dataclass_fields__ if name.startswith(("words_per", "characters_per"))]
        return cls(**{**counts, **{name: Size(**counts[name]) for name in lengths}})


def take_inventory(
    documents: Sequence[Document], chunks: Sequence[Chunk], left_out: Mapping[str, int] | None = None
) -> Inventory:
    """Count a corpus and its chunks."""
    lengths: list[int] = []
    vocabulary: set[str] = set()
    for document in documents:
        found = list(words(document.text))
        lengths.append(len(found))
        vocabulary.update(found)
    topics = Counter(document.topic for document in documents if document.topic)
    return Inventory(
        documents=len(documents),
        chunks=len(chunks),
        words=sum(lengths),
        vocabulary=len(vocabulary),
        topics=len(topics),
        words_per_document=_size(lengths),
        words_per_chunk=_size([sum(1 for _ in words(chunk.text)) for chunk in chunks]),
        characters_per_document=_size([len(document.text) for document in documents]),
        characters_per_chunk=_size([len(chunk.text.strip()) for chunk in chunks]),
        chunks_per_document=len(chunks) / len(documents) if documents else 0.0,
        documents_by_topic=dict(sorted(topics.items(), key=lambda one: (-one[1], one[0]))),
        cases=count_cases(documents),
        left_out=dict(left_out or {}),
    )


def words(text: str) -> Iterator[str]:
    """The words of a text, in lower case."""
    return (match.group().lower() for match in _WORD.finditer(text))


def _size(values: Sequence[int]) -> Size:
    return Size(sum(values) / len(values), min(values), max(values)) if values else Size(0.0, 0, 0)
