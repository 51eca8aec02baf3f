"""Words of short texts, in any language: normal forms, stems, overlap, counts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from typing import Any

from examcore._languages import ENGLISH, language_named

FUNCTION_WORDS = frozenset(
    """a about above across after again against all almost along already also although always am among an and any are
    around as at away be became because become becomes been before behind being below between both but by came can
    cannot could did do does doing done down during each either else enough even ever every few for from further get
    gets given gives go goes got had has have having he hence her here hers him his how however i if in including inside
    instead into is it its itself just keep keeps kept least less let like made make makes many may me might more most
    much must my near need needs neither never no none nor not nothing now of off often on once one only onto or other
    others otherwise our out outside over own per perhaps quite rather really regarding respectively same say says seem
    seems see seen she should since so some something still such take takes than that the their them then there
    therefore these they thing things this those though through throughout thus to together too toward towards under
    unless until up upon us use used uses using usually versus very via was way ways we well were what when where
    whether which while who whom whose why will with within without would yet you your""".split()  # noqa: SIM905
)
"""Words that carry the grammar of a sentence rather than its content."""


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
def stem(word: str, code: str = ENGLISH) -> str:
    """The stem of a lower-case word; the word itself in a language without a stemmer."""
    found = stemmer(code)
    return word if found is None else str(found.stemWord(word))


@cache
def stemmer(code: str = ENGLISH) -> Any | None:
    """The stemmer of a language itself, for libraries that take one; None where there is none."""
    import Stemmer

    name = language_named(code).stemmer
    return Stemmer.Stemmer(name) if name else None


@cache
def function_words(code: str = ENGLISH) -> frozenset[str]:
    """The words that carry the grammar of a language's sentences, as far as a library lists them."""
    if code == ENGLISH:
        return FUNCTION_WORDS
    from bm25s import stopwords

    name = language_named(code).stop_words
    return frozenset(getattr(stopwords, f"STOPWORDS_{name}")) if name else frozenset()


UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff々〆"
"""Thai, Japanese and Chinese characters, as a class of a pattern."""
_RUN = re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+")


def words(text: str, code: str = ENGLISH) -> list[str]:
    """The lower-case words of a text, in order.

    Of a script without spaces, the pairs of neighbouring characters (as in Lucene's analyzer of Chinese, Japanese and
    Korean); Latin words among them are whole.
    """
    if language_named(code).spaced:
        return re.findall(r"\w+", text.lower())
    runs = _RUN.findall(unicodedata.normalize("NFKC", text).lower())
    return [part for run in runs for part in _pairs(run)]


def _pairs(run: str) -> list[str]:
    if run[0] < "\u0e00" or len(run) == 1:
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]


def text_width(text: str) -> int:
    """How long a text is, in characters; one of Chinese, Japanese or Korean says as much as two letters and is two."""
    return len(text) if text.isascii() else sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in text)


def content_stems(text: str, code: str = ENGLISH) -> set[str]:
    """The stems of a text's words that are not function words."""
    empty = function_words(code)
    return {stem(word, code) for word in words(text, code) if word not in empty}


def overlap(query: str, passage: str, code: str = ENGLISH) -> float:
    """The share of a query's content words, stemmed, that stand in a passage; 1 for a query without content words."""
    asked = content_stems(query, code)
    return len(asked & content_stems(passage, code)) / len(asked) if asked else 1.0
