"""A passage in pieces: where the sentence a question was written from stands in it, and where the key does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

MAX_PATTERN = 2000
"""Longer texts are not looked for."""
MAX_MARKS = 100
"""A key that stands more often than this, such as "is", is marked so many times."""
PLAIN, SENTENCE, KEY = "", "sentence", "key"

Piece = tuple[str, str]
"""A stretch of the passage, and what it is: plain, of the sentence, or the key."""


def pieces(passage: str, key: str, sentence: str = "") -> list[Piece]:
    """The passage cut into pieces that join to it again; letter case and runs of white space count as equal.

    The key is marked inside its sentence when it stands there, else wherever it stands.
    """
    source = next(_places(passage, sentence), None)
    inside = [] if source is None else [at for at in _places(passage, key) if source[0] <= at[0] and at[1] <= source[1]]
    keys = inside or list(_places(passage, key))
    kinds = [*((at, KEY) for at in keys)]
    if source is not None:
        kinds += [(at, SENTENCE) for at in _rest(source, keys)]
    return list(_cut(passage, sorted(kinds)))


def hidden_characters(text: str) -> list[str]:
    """Names of the control and direction characters in a text, which a reader would not see."""
    found = {
        one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co") and one not in "\n\r\t\u200d\ufe0f"
    }
    return [f"U+{ord(one):04X} {unicodedata.name(one, 'control character').lower()}" for one in sorted(found)]


def _places(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    words = wanted.split()
    if not words or len(wanted) > MAX_PATTERN:
        return
    pattern = r"\s+".join(map(re.escape, words))
    # At a word's edge only, so that the key "is" is not found in "this".
    before = r"(?<!\w)" if re.match(r"\w", words[0]) else ""
    after = r"(?!\w)" if re.search(r"\w$", words[-1]) else ""
    for count, match in enumerate(re.finditer(before + pattern + after, text, re.IGNORECASE)):
        if count == MAX_MARKS:
            return
        yield match.span()


def _rest(source: tuple[int, int], keys: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The source without the keys in it."""
    at = source[0]
    for start, end in keys:
        if start >= source[1] or end <= source[0]:
            continue
        if at < start:
            yield at, start
        at = end
    if at < source[1]:
        yield at, source[1]


def _cut(text: str, marked: list[tuple[tuple[int, int], str]]) -> Iterator[Piece]:
    at = 0
    for (start, end), kind in marked:
        if at < start:
            yield text[at:start], PLAIN
        yield text[start:end], kind
        at = end
    if at < len(text):
        yield text[at:], PLAIN
