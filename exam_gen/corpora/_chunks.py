"""Chunks: documents cut at sentence ends into spans of bounded size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from examcore import Chunk, Document, ReportProgress, TextUnit, text_units

SENTENCE_WORDS = 3
"""A heading, table cell or label of fewer words does not count as a sentence."""


@dataclass(frozen=True)
class ChunkBounds:
    """Least and most sentences, characters and tokens of a chunk; a maximum of None is no bound.

    Maxima always hold. Minima hold unless the document is shorter or a maximum would break. Characters and tokens are
    those of the chunk's text without the white space around it.
    """

    min_sentences: int = 1
    max_sentences: int | None = None
    min_characters: int = 300
    max_characters: int | None = 1500
    min_tokens: int = 0
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("sentences", "characters", "tokens"):
            low, high = getattr(self, f"min_{name}"), getattr(self, f"max_{name}")
            if low < 0:
                raise ValueError(f"min_{name}: found {low}; wanted 0 or more")
            if high is not None and high < max(low, 1):
                raise ValueError(f"max_{name}: found {high}; wanted at least {max(low, 1)} (min_{name} is {low})")


def chunk(
    documents: Sequence[Document],
    bounds: ChunkBounds | None = None,
    count_tokens: Callable[[str], int] | None = None,
    *,
    progress: ReportProgress | None = None,
) -> list[Chunk]:
    """Cut documents into chunks that follow each other without gap or overlap, ids `document#0`, `document#1`…

    A document's chunks, put together, are `text[first.start:last.end]`; outside it is only white space. Cuts lie at
    sentence ends, where possible before a heading or paragraph. A sentence, table or code block that alone breaks a
    maximum is split at line ends or between words.

    `count_tokens` is needed for bounds on tokens; it is called per sentence, and a joined text is taken to have at
    most as many tokens as its parts. `progress` is called with documents done and in all.
    """
    bounds = bounds or ChunkBounds()
    if count_tokens is None and (bounds.min_tokens or bounds.max_tokens is not None):
        raise ValueError("bounds on tokens: found no token counter; wanted count_tokens")
    count = count_tokens if count_tokens and (bounds.min_tokens or bounds.max_tokens is not None) else None
    found: list[Chunk] = []
    for done, document in enumerate(documents, start=1):
        found += _chunks(document, bounds, count)
        if progress:
            progress(done, len(documents))
    return found


def _chunks(document: Document, bounds: ChunkBounds, count: Callable[[str], int] | None) -> Iterator[Chunk]:
    text = document.text
    units = text_units(text, document.language)
    pieces = _Pieces.of(text, [p for unit in units for p in _split(text, unit, bounds, count)], bounds, count)
    for number, (first, after) in enumerate(_spans(pieces)):
        start = pieces.starts[first] if first else pieces.contents[0].start
        end = pieces.starts[after] if after < len(pieces.starts) else pieces.contents[-1].end
        yield Chunk(
            id=f"{document.id}#{number}",
            document_id=document.id,
            text=text[start:end],
            start=start,
            end=end,
            title=document.title,
            topic=document.topic,
            language=document.language,
        )


def _content(text: str, part: TextUnit) -> TextUnit:
    """The part without white space at its ends; empty at its end when there is nothing else."""
    body = text[part.start : part.end]
    left = len(body) - len(body.lstrip())
    return TextUnit(part.start + left, part.start + max(left, len(body.rstrip())), part.level)


class _Pieces(NamedTuple):
    """The parts a document is packed from, with running totals (one longer than the parts)."""

    starts: list[int]
    contents: list[TextUnit]
    sentences: list[int]
    tokens: list[int]
    bounds: ChunkBounds

    @classmethod
    def of(
        cls, text: str, parts: Sequence[TextUnit], bounds: ChunkBounds, count: Callable[[str], int] | None
    ) -> _Pieces:
        weights = (len(re.findall(r"\w+", text[part.start : part.end])) >= SENTENCE_WORDS for part in parts)
        tokens = (count(text[part.start : part.end]) if count else 0 for part in parts)
        return cls(
            starts=[part.start for part in parts],
            contents=[_content(text, part) for part in parts],
            sentences=list(accumulate(weights, initial=0)),
            tokens=list(accumulate(tokens, initial=0)),
            bounds=bounds,
        )

    def characters(self, first: int, after: int) -> int:
        return self.contents[after - 1].end - self.contents[first].start

    def _sizes(self, first: int, after: int) -> tuple[int, int, int]:
        counted = (self.sentences[after] - self.sentences[first], self.tokens[after] - self.tokens[first])
        return (self.characters(first, after), *counted)

    def fits(self, first: int, after: int) -> bool:
        """Whether the parts `first:after` together keep to every maximum."""
        most = (self.bounds.max_characters, self.bounds.max_sentences, self.bounds.max_tokens)
        return all(one is None or size <= one for size, one in zip(self._sizes(first, after), most, strict=True))

    def is_enough(self, first: int, after: int) -> bool:
        """Whether the parts `first:after` together keep to every minimum."""
        least = (self.bounds.min_characters, self.bounds.min_sentences, self.bounds.min_tokens)
        return all(size >= one for size, one in zip(self._sizes(first, after), least, strict=True))


def _split(text: str, unit: TextUnit, bounds: ChunkBounds, count: Callable[[str], int] | None) -> Iterator[TextUnit]:
    """The unit, or its halves' halves… when it alone is too long; nothing when it is blank."""
    content = _content(text, unit)
    length = content.end - content.start
    too_long = bounds.max_characters is not None and length > bounds.max_characters
    if not too_long and count and bounds.max_tokens is not None:
        too_long = count(text[content.start : content.end]) > bounds.max_tokens
    if length < 2 or not too_long:
        yield unit
        return
    cut = _middle(text, content)
    yield from _split(text, TextUnit(unit.start, cut, unit.level), bounds, count)
    yield from _split(text, TextUnit(cut, unit.end, 0), bounds, count)


def _middle(text: str, content: TextUnit) -> int:
    """The start of a line nearest the middle of a span (in its middle half), else of a word, else the middle."""
    middle = (content.start + content.end) // 2
    quarter = (content.end - content.start) // 4
    for pattern, reach in ((r"\n\s*", quarter), (r"\s+", middle - content.start)):
        cuts = [
            match.end()
            for match in re.compile(pattern).finditer(text, max(middle - reach, content.start), middle + reach)
            if content.start < match.end() < content.end
        ]
        if cuts:
            return min(cuts, key=lambda cut: abs(cut - middle))
    return middle


def _spans(pieces: _Pieces) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    first, total = 0, len(pieces.starts)
    while first < total:
        after = _cut(pieces, first)
        spans.append((first, after))
        first = after
    return _mended(pieces, spans)


def _cut(pieces: _Pieces, first: int) -> int:
    """Where the chunk that begins at part `first` ends: as far as it fits, back to a heading or paragraph if near."""
    total = len(pieces.starts)
    reach = first + 1
    while reach < total and pieces.fits(first, reach + 1):
        reach += 1
    if reach == total:
        return total
    half = pieces.characters(first, reach) / 2
    candidates = [
        after
        for after in range(first + 1, reach + 1)
        if pieces.characters(first, after) >= half and pieces.is_enough(first, after)
    ]

    def quality(after: int) -> tuple[int, int]:
        # A heading at a chunk's end would be cut off from what it announces.
        return (-1 if pieces.contents[after - 1].level == 2 else pieces.contents[after].level), after

    return max(candidates, key=quality, default=reach)


def _mended(pieces: _Pieces, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """A chunk below a minimum joins its neighbour, or takes parts from it, when the maxima allow."""
    found = spans[:1]
    for span in spans[1:]:
        whole = all(pieces.is_enough(*side) for side in (found[-1], span))
        found[-1:] = [found[-1], span] if whole else _pooled(pieces, found[-1], span)
    return found


def _pooled(pieces: _Pieces, left: tuple[int, int], right: tuple[int, int]) -> list[tuple[int, int]]:
    """The parts of two neighbouring chunks as one chunk, as two that are both long enough, or as they were."""
    first, after = left[0], right[1]
    if pieces.fits(first, after):
        return [(first, after)]
    shared = [
        cut
        for cut in range(first + 1, after)
        if all(pieces.fits(*side) and pieces.is_enough(*side) for side in ((first, cut), (cut, after)))
    ]
    if not shared:
        return [left, right]
    cut = max(shared, key=lambda cut: (pieces.contents[cut].level, -abs(pieces.starts[cut] - pieces.starts[right[0]])))
    return [(first, cut), (cut, after)]
