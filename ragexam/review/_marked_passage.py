"""A passage in pieces: where the sentence a question was written from stands in it, and where the key does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from examcore import UNSPACED, Question, language_named

MAX_PATTERN = 2000
"""Longer texts are not looked for."""
MAX_MARKS = 100
"""A key that stands more often than this, such as "is", is marked so many times."""
PLAIN, SENTENCE, KEY = "", "sentence", "key"

_LETTER = rf"[^\W{UNSPACED}]"
"""A character of a word in a script that parts words."""

Piece = tuple[str, str]
"""A stretch of the passage, and what it is: plain, of the sentence, or the key."""


def pieces(passage: str, key: str, sentence: str = "") -> list[Piece]:
    """The passage cut into pieces that join to it again; letter case and runs of white space count as equal.

    The key is marked inside its sentence when it stands there, else wherever it stands.
    """
    kinds = [PLAIN] * len(passage)
    start, end = next(_places(passage, sentence), (0, 0))
    kinds[start:end] = [SENTENCE] * (end - start)
    keys = list(_places(passage, key))
    for at, to in [one for one in keys if start <= one[0] and one[1] <= end] or keys:
        kinds[at:to] = [KEY] * (to - at)
    runs = groupby(zip(passage, kinds, strict=True), key=itemgetter(1))
    return [("".join(letter for letter, _ in run), kind) for kind, run in runs]


def hidden_characters(text: str) -> list[str]:
    """Names of the control and direction characters in a text, which a reader would not see."""
    found = {
        one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co") and one not in "\n\r\t\u200d\ufe0f"
    }
    return [f"U+{ord(one):04X} {unicodedata.name(one, 'control character').lower()}" for one in sorted(found)]


def spoken(question: Question | None) -> dict[str, str]:
    """The attributes of a question's texts in the page: the language, and the direction they are read in."""
    return {} if question is None else language_named(question.language).attributes


def _places(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    words = wanted.split()
    if not words or len(wanted) > MAX_PATTERN:
        return
    pattern = r"\s+".join(map(re.escape, words))
    # At a word's edge only, so that the key "is" is not found in "this"; words that nothing parts have no edge.
    before = f"(?<!{_LETTER})" if re.match(_LETTER, words[0]) else ""
    after = f"(?!{_LETTER})" if re.search(f"{_LETTER}$", words[-1]) else ""
    for count, match in enumerate(re.finditer(before + pattern + after, text, re.IGNORECASE)):
        if count == MAX_MARKS:
            return
        yield match.span()
