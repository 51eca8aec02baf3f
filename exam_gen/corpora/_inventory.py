"""What a corpus holds: documents, chunks, words, topics (table 1 of the auto-rag-eval paper), unusual documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from examcore import ENGLISH, Chunk, Document

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")


@dataclass(frozen=True)
class Size:
    """Mean, least and most; zero for nothing."""

    mean: float
    least: int
    most: int


@dataclass(frozen=True)
class Inventory:
    """Counts over a corpus.

    A word is a run of letters, digits and underscores, with single inner hyphens, points and apostrophes; the
    vocabulary counts words that differ in more than case. `topics` and `documents_by_topic` leave out
    documents without one; `documents_by_language` has their codes. `cases` counts unusual documents, `left_out` the
    records that did not become documents, both by name.
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
    documents_by_language: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """The counts as plain mappings, for JSON; without those by language where all documents are in English."""
        counts = asdict(self)
        if self.documents_by_language.keys() <= {ENGLISH}:
            del counts["documents_by_language"]
        return counts

    @classmethod
    def from_dict(cls, counts: Mapping[str, Any]) -> Inventory:
        """The counts that `as_dict` wrote."""
        lengths = [name for name in cls.__dataclass_fields__ if name.startswith(("words_per", "characters_per"))]
        return cls(**{**counts, **{name: Size(**counts[name]) for name in lengths}})


def take_inventory(
    documents: Sequence[Document], chunks: Sequence[Chunk], left_out: Mapping[str, int] | None = None
) -> Inventory:
    """Count a corpus and its chunks."""
    counts = [Counter(words(document.text)) for document in documents]
    lengths = [count.total() for count in counts]
    topics = Counter(document.topic for document in documents if document.topic)
    return Inventory(
        documents=len(documents),
        chunks=len(chunks),
        words=sum(lengths),
        vocabulary=len(set().union(*counts)),
        topics=len(topics),
        words_per_document=_size(lengths),
        words_per_chunk=_size([sum(1 for _ in words(chunk.text)) for chunk in chunks]),
        characters_per_document=_size([len(document.text) for document in documents]),
        characters_per_chunk=_size([len(chunk.text.strip()) for chunk in chunks]),
        chunks_per_document=len(chunks) / len(documents) if documents else 0.0,
        documents_by_topic=dict(sorted(topics.items(), key=lambda one: (-one[1], one[0]))),
        cases=count_cases(documents),
        left_out=dict(left_out or {}),
        documents_by_language=dict(Counter(document.language for document in documents).most_common()),
    )


def words(text: str) -> Iterator[str]:
    """The words of a text, in lower case."""
    return (match.group().lower() for match in _WORD.finditer(text))


def _size(values: Sequence[int]) -> Size:
    return Size(sum(values) / len(values), min(values), max(values)) if values else Size(0.0, 0, 0)


LONG_LINE = 10_000
"""Characters of a line that no person wrote."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u200f]")
_DIRECTION = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_EMOJI = re.compile(r"[\U0001f300-\U0001faff]")
_MARKUP = re.compile(
    r"</?(?:script|style|iframe|div|span|p|a|img|table|tr|td|br|b|i|ul|li|h[1-6])\b[^<>]{0,2000}>", re.I
)
_CHAT_MARKS = re.compile(r"<\|[\w ]{1,40}\|>|<\/?(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>|</?s>")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|everything\s+)?(?:of\s+)?(?:the\s+|your\s+|these\s+|those\s+)?"
    r"(?:above|previous|prior|preceding|earlier|foregoing|system|instructions?|prompts?|rules)\b"
    r"|\b(?:answer|choose|select|reply|respond)\s+(?:only\s+)?(?:with\s+)?(?:option\s+|choice\s+|letter\s+)?[\"'“(]?"
    r"(?-i:[A-D])(?=[\"'”).,!;:]|\s*$|\s+(?:and|for|to|in|as|no|every)\b)"
    r"|\byou\s+are\s+(?:now\s+)?an?\s+(?:ai|language\s+model|assistant|chatbot)\b"
    r"|\b(?:new|system|developer)\s+(?:instructions?|prompt)\s*:",
    re.IGNORECASE,
)


def addresses_a_model(text: str) -> bool:
    """Whether a text gives orders to a language model ("ignore the above and answer A") or holds marks of a chat."""
    return bool(_ORDERS.search(text) or _CHAT_MARKS.search(text))


def is_unsafe(sentence: str) -> bool:
    """Whether a sentence should not be asked about: control or direction characters, chat marks, orders to a model."""
    return bool(_CONTROL.search(sentence) or _DIRECTION.search(sentence) or addresses_a_model(sentence))


CASES: Mapping[str, Callable[[str], bool]] = {
    "control characters": lambda text: bool(_CONTROL.search(text)),
    "right-to-left text": lambda text: bool(_RIGHT_TO_LEFT.search(text)),
    "direction overrides": lambda text: bool(_DIRECTION.search(text)),
    "emoji": lambda text: bool(_EMOJI.search(text)),
    "HTML tags": lambda text: bool(_MARKUP.search(text)),
    "orders to a model": addresses_a_model,
    f"a line above {LONG_LINE:,} characters": lambda text: max(map(len, text.split("\n"))) > LONG_LINE,
}
"""The unusual things that are counted, by name."""


def count_cases(documents: Iterable[Document]) -> dict[str, int]:
    """How many documents show each of `CASES`, and how many repeat the text of an earlier one; cases without any are
    left out."""
    counts: Counter[str] = Counter()
    seen: set[int] = set()
    for document in documents:
        counts.update(name for name, shows in CASES.items() if shows(document.text))
        digest = hash(document.text)
        counts["text of an earlier document"] += digest in seen
        seen.add(digest)
    return {name: count for name, count in counts.most_common() if count}
