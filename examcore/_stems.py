"""Stems of English words (Porter's second algorithm, "Snowball")."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    return str(english_stemmer().stemWord(word))


@cache
def english_stemmer() -> Any:
    """The stemmer itself, for libraries that take one."""
    import Stemmer

    return Stemmer.Stemmer("english")
