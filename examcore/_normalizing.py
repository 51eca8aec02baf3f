"""Normal forms of short texts, for comparing and showing them."""

from __future__ import annotations

import re
import unicodedata


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
