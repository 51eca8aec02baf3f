"""Words of a text and their dictionary forms."""

from __future__ import annotations

import functools
import re

LONGEST = 50
"""No English word is longer; what is longer is kept as it stands."""

WORD_PATTERN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
"""A whole word: letters, perhaps with an apostrophe inside."""


@functools.lru_cache(maxsize=50_000)
def _known_lemma(word: str) -> str:
    import simplemma

    return str(simplemma.lemmatize(word, lang="en")).lower()


def lemma(word: str) -> str:
    """The English dictionary form of a word, in lower case."""
    return _known_lemma(word.lower()) if len(word) <= LONGEST else word.lower()


def lemmas(text: str) -> list[str]:
    """The dictionary forms of a text's words, in order."""
    return [lemma(match.group()) for match in WORD_PATTERN.finditer(text)]
