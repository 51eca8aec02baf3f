"""Whether a text that a model wrote is in the language that was asked for."""

from __future__ import annotations

import re
from functools import lru_cache

from examcore import find_language, function_words, language_named, words

_LETTERS = re.compile(r"[^\W\d_]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_SENTENCE = re.compile(r"[?？。]")
"""Without such a mark a Japanese text may have Chinese characters alone."""
LEAST_LETTERS = 20
"""Letters of a text whose language can be told; letters of Chinese or Japanese count twice."""


@lru_cache(maxsize=1 << 14)
def other_language(text: str, code: str) -> str | None:
    """The English name of the language that a text is in where that is surely not the one of the code, else None.

    A text with Japanese letters is Japanese. Of short texts, which the finder takes for a neighbour's, only those count
    that have more function words of the language found than of the one wanted.
    """
    if _KANA.search(text) or (code == "ja" and not _LETTERS.search(text)):
        return None if code == "ja" else "Japanese"
    if sum(1 + (letter > "\u2e7f") for letter in _LETTERS.findall(text)) < LEAST_LETTERS:
        return None
    found = find_language(text)
    if found is None or found == code or ({found, code} == {"ja", "zh"} and not _SENTENCE.search(text)):
        return None
    said = set(words(text, "en"))
    there, wanted = (len(said & function_words(one)) for one in (found, code))
    told = function_words(found) and function_words(code)
    return language_named(found).name if not told or there > wanted else None


def foreign(text: str, code: str) -> str | None:
    """Why a text is not in the language of the code: `German, wanted French`; None if it may be."""
    found = other_language(text, code)
    return None if found is None else f"{found}, wanted {language_named(code).name}"
