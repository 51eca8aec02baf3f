"""What a passage is about, by its words: those that it repeats and few other passages have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from examcore import Chunk, content_stems, text_units

COMMON, FEW = 0.12, 3
"""A word in a larger share of the passages than this, and in more of them than a few, names no subject."""
REPEATED = 2
"""Sentences of a passage in which a word of its subject stands, or once in its title."""


def common_stems(chunks: Sequence[Chunk]) -> frozenset[str]:
    """The stems that stand in so many passages that they name the subject of none."""
    counts = Counter(one for chunk in chunks for one in content_stems(f"{chunk.title} {chunk.text}"))
    limit = max(FEW, COMMON * len(chunks))
    return frozenset(one for one, count in counts.items() if count > limit)


def is_about(text: str, chunk: Chunk, common: frozenset[str]) -> bool:
    """Whether a text has a word of the passage's subject: of its title, or of two of its sentences; no common one.

    Of the questions that people asked, on three collections, nine in ten have one that their document repeats. A
    question without any is about a detail that could stand anywhere ("What was seen in all cases?").
    """
    parts = [chunk.text[one.start : one.end] for one in text_units(chunk.text)]
    counts = Counter(one for part in parts for one in content_stems(part))
    subject = {one for one, count in counts.items() if count >= REPEATED} | content_stems(chunk.title)
    return bool(content_stems(text) & (subject - common))
