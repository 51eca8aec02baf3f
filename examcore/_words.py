"""Words of short texts: normal forms, stems, overlap, counts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from typing import Any


def normalized(text: str) -> str:
    """Lower-case words of a text, for comparison: without accents' variants, outer punctuation and doubled spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = " ".join(folded.split()).strip(" .,;:!?\"'`“”‘’*")
    return words or "".join(folded.split())


def unwrapped(text: str) -> str:
    """A text without the quotes, stars or white space that enclose all of it, on one line unless it is code."""
    text = text.strip()
    text = text if "```" in text else " ".join(text.split())
    for mark in ("**", "__", "*"):
        inner = text[len(mark) : -len(mark)]
        enclosed = len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark) and mark not in inner
        # `__init__` is a name, not emphasis.
        if enclosed and not (mark == "__" and re.fullmatch(r"\w+", inner)):
            return inner.strip()
    return text.removesuffix("**").rstrip() if text.count("**") == 1 else text


def counted(count: int, thing: str) -> str:
    """`1 attempt`, `2 attempts`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def jaccard(first: str, second: str) -> float:
    """Words in common over words in either, as bags: 1 for the same words, 0 for none in common (or none at all)."""
    left, right = word_bag(first), word_bag(second)
    common = (left & right).total()
    union = left.total() + right.total() - common
    return common / union if union else 0.0


def word_bag(text: str) -> Counter[str]:
    """The lower-case words of a text, as often as each occurs."""
    return Counter(text.lower().split())


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    return str(english_stemmer().stemWord(word))


@cache
def english_stemmer() -> Any:
    """The stemmer itself, for libraries that take one."""
    import Stemmer

    return Stemmer.Stemmer("english")
