"""Which documents of a source make up the corpus: bounds on length and date, topics, and draws by lot."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from operator import itemgetter
from typing import NamedTuple, TypeVar

from exam_gen.corpora._tables import LocatedDocument
from examcore import Chunk, Document, Question

Part = TypeVar("Part", Chunk, Question)


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
    """A drawn document by its lot and its place in the source, both negative: the first ticket of a heap goes first."""

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
    chosen, left_out = selection or Selection(), Counter[str]()
    heaps, seen = _drawn(found, chosen, seed, left_out)
    topics = list(heaps)
    if isinstance(chosen.topics, int):
        topics = sorted(seen, key=lambda topic: (-seen[topic], topic))[: chosen.topics]
        if others := sum(len(heap) for topic, heap in heaps.items() if topic not in topics):
            left_out["other topic"] += others
    kept = [ticket for topic in topics for ticket in heaps[topic]]
    if sample is not None and sample < len(kept):
        left_out["not drawn into the sample"] += len(kept) - sample
        kept = heapq.nlargest(sample, kept)
    kept.sort(key=lambda ticket: -ticket.number)
    return Selected([(one.place, one.document) for one in kept], dict(left_out))


def _drawn(
    found: Iterable[LocatedDocument], chosen: Selection, seed: int, left_out: Counter[str]
) -> tuple[dict[str, list[_Ticket]], Counter[str]]:
    """The documents drawn of each topic, as a heap, and how many there are; counts the others in `left_out`."""
    heaps, seen = defaultdict[str, list[_Ticket]](list), Counter[str]()
    for number, (place, document, why) in enumerate(found, start=1):
        reason = why if document is None else chosen.fault(document)
        if document is None or reason is not None:
            left_out[str(reason)] += 1
            continue
        seen[document.topic] += 1
        heap = heaps[document.topic]
        heapq.heappush(heap, _Ticket(-lot(seed, document.id), -number, place, document))
        if chosen.per_topic is not None and len(heap) > chosen.per_topic:
            heapq.heappop(heap)
            left_out[f"beyond {chosen.per_topic} of a topic"] += 1
    return heaps, seen


def lot(seed: int, name: str) -> int:
    """A number drawn from a seed and a name."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest(), "big")


def in_turn(parts: Sequence[Part]) -> list[Part]:
    """The first chunk or question of each document, then the second of each that has one, and so on."""
    turns: dict[str, Iterator[int]] = defaultdict(count)
    return [part for _, part in sorted(((next(turns[one.document_id]), one) for one in parts), key=itemgetter(0))]
