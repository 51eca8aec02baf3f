"""Which documents of a source make up the corpus: bounds on length and date, topics, and draws by lot."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from exam_gen.corpora._tables import LocatedDocument
from examcore import Document


@dataclass(frozen=True)
class Selection:
    """What a document must be to enter the corpus; the default takes all.

    `min_characters`, `max_characters`: of its text. `before`: dated before that year. `topics`: that many, the ones
    with most documents, or the ones named. `per_topic`: the most documents of one topic, drawn by the seed.
    """

    min_characters: int = 0
    max_characters: int | None = None
    before: int | None = None
    topics: int | tuple[str, ...] | None = None
    per_topic: int | None = None

    def __post_init__(self) -> None:
        if self.min_characters < 0:
            raise ValueError(f"min_characters: found {self.min_characters}; wanted 0 or more")
        if self.max_characters is not None and self.max_characters < max(1, self.min_characters):
            raise ValueError(
                f"max_characters: found {self.max_characters}; wanted at least {max(1, self.min_characters)}"
            )
        for name in ("topics", "per_topic"):
            value = getattr(self, name)
            if isinstance(value, int) and value < 1:
                raise ValueError(f"{name}: found {value}; wanted at least 1")

    def fault(self, document: Document) -> str | None:
        """Why a document is not taken, None when it is."""
        length = len(document.text)
        if length < self.min_characters:
            return f"shorter than {self.min_characters} characters"
        if self.max_characters is not None and length > self.max_characters:
            return f"longer than {self.max_characters} characters"
        if self.before is not None and not (document.date[:4].isdigit() and int(document.date[:4]) < self.before):
            return f"not dated before {self.before}" if document.date else "no date"
        if isinstance(self.topics, tuple) and document.topic not in self.topics:
            return "other topic"
        return None


class Selected(NamedTuple):
    """The chosen documents in the source's order, each with its place, and how many were left out by reason."""

    documents: list[tuple[str, Document]]
    left_out: Mapping[str, int]


class _Ticket(NamedTuple):
    """A drawn document; the smallest tickets stay."""

    lot: int
    number: int
    place: str
    document: Document


def select(
    found: Iterable[LocatedDocument], selection: Selection | None = None, *, sample: int | None = None, seed: int = 0
) -> Selected:
    """Choose documents in one pass; with `per_topic` no more than the chosen ones of each topic are held in memory.

    Lots depend on seed and id alone: a larger sample with the same seed contains the smaller one.
    """
    if sample is not None and sample < 1:
        raise ValueError(f"sample: found {sample}; wanted a whole number of at least 1")
    drawn = _Drawn(selection or Selection(), seed)
    for placed in found:
        drawn.add(placed)
    kept = drawn.kept()
    if sample is not None and sample < len(kept):
        drawn.left_out["not drawn into the sample"] += len(kept) - sample
        kept = heapq.nsmallest(sample, kept)
    ordered = sorted(kept, key=lambda ticket: ticket.number)
    return Selected([(one.place, one.document) for one in ordered], dict(drawn.left_out))


@dataclass
class _Drawn:
    """The documents drawn so far, a heap for each topic whose first ticket is the next to go."""

    selection: Selection
    seed: int
    heaps: dict[str, list[tuple[int, int, _Ticket]]] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    number: int = 0

    def add(self, placed: LocatedDocument) -> None:
        self.number += 1
        document = placed.document
        reason = placed.reason if document is None else self.selection.fault(document)
        if document is None or reason is not None:
            self.left_out[str(reason)] += 1
            return
        topic = document.topic
        self.seen[topic] += 1
        ticket = _Ticket(lot(self.seed, document.id), self.number, placed.place, document)
        heap = self.heaps.setdefault(topic, [])
        entry = (-ticket.lot, -ticket.number, ticket)
        if self.selection.per_topic is None or len(heap) < self.selection.per_topic:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
            self.left_out[f"beyond {self.selection.per_topic} of a topic"] += 1

    def kept(self) -> list[_Ticket]:
        topics = list(self.heaps)
        if isinstance(self.selection.topics, int):
            topics = sorted(self.seen, key=lambda topic: (-self.seen[topic], topic))[: self.selection.topics]
            others = sum(len(heap) for topic, heap in self.heaps.items() if topic not in topics)
            if others:
                self.left_out["other topic"] += others
        return [ticket for topic in topics for _, _, ticket in self.heaps[topic]]


def lot(seed: int, name: str) -> int:
    """A number drawn from a seed and a name."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest(), "big")
