"""How close a reformulated question is to its gold standard: weighted overlap of word n-grams.

Shaw, Solway, Gaizauskas and Greenwood (2008), section 3: Jaccard, Dice and cosine over sets of n-grams, or block
distance over multisets, for one, two and three words, averaged by weights; the paper settles on Jaccard with 2, 1, 0.
Of several gold forms the closest counts. The paper's worked figures (Table 9) are those of n-grams that follow each
other without overlap, the last one shorter where words are left: `stepping`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

Measure = Literal["jaccard", "dice", "cosine", "block"]
Gram = tuple[str, ...]
Counts = Mapping[Gram, int]
WEIGHTS = (2.0, 1.0, 0.0)
"""Of one, two and three words."""
_WORD = re.compile(r"\w+(?:['’.\-]\w+)*")


class Similarity(NamedTuple):
    """The weighted mean, and the similarity for each n-gram length that has a weight.

    A length that neither text reaches is NaN and left out of the mean.
    """

    score: float
    by_length: Mapping[int, float]


def words(text: str) -> list[str]:
    """The words of a text in lower case, without the marks around them: `Jay-Z's`, `U.S`, `1991` are one each."""
    return _WORD.findall(text.casefold().replace("’", "'"))


def similarity(
    text: str,
    gold: Sequence[str],
    *,
    weights: Sequence[float] = WEIGHTS,
    measure: Measure = "jaccard",
    stepping: bool = False,
) -> Similarity:
    """From 0 to 1, of the gold form that is closest; 1 for the same words in the same order.

    NaN where the text, or every gold form, has no words, and where no length with a weight can be compared. Raises
    `ValueError` for weights that `require_weights` refuses and for no gold form.
    """
    weights = require_weights(weights)
    if not gold:
        raise ValueError("gold: no text; wanted at least one to compare with")
    counted = steps if stepping else ngrams
    found = [_compared(words(text), words(one), weights, MEASURES[measure], counted) for one in gold]
    return max(found, key=lambda one: -1.0 if math.isnan(one.score) else one.score)


def require_weights(weights: Sequence[float]) -> tuple[float, float, float]:
    """Three weights, of one, two and three words; those not given are 0.

    Raises `ValueError` for none or more than three, for one that is negative or no number, and when all are 0.
    """
    shown = ",".join(f"{one:g}" for one in weights)
    if not 1 <= len(weights) <= 3:
        raise ValueError(f"weights: {len(weights)} of them; wanted one to three, of one, two and three words")
    if not all(math.isfinite(one) and one >= 0 for one in weights):
        raise ValueError(f"weights: {shown}; wanted numbers of 0 or more")
    if not any(weights):
        raise ValueError(f"weights: {shown}; wanted at least one above 0")
    first, second, third = [*map(float, weights), 0.0, 0.0][:3]
    return first, second, third


def jaccard(first: Counts, second: Counts) -> float:
    """Shared n-grams over all, as sets."""
    return len(first.keys() & second.keys()) / len(first.keys() | second.keys())


def dice(first: Counts, second: Counts) -> float:
    """Twice the shared n-grams over the sum of both, as sets."""
    return 2 * len(first.keys() & second.keys()) / (len(first) + len(second))


def cosine(first: Counts, second: Counts) -> float:
    """Shared n-grams over the geometric mean of both, as sets; 0 where one text is too short to have any."""
    return len(first.keys() & second.keys()) / math.sqrt(len(first) * len(second)) if first and second else 0.0


def block(first: Counts, second: Counts) -> float:
    """`(n1 + n2 - L1) / (n1 + n2)`, where `L1` is the block distance of the counts."""
    total = sum(first.values()) + sum(second.values())
    apart = sum(abs(first.get(gram, 0) - second.get(gram, 0)) for gram in first.keys() | second.keys())
    return (total - apart) / total


MEASURES: dict[Measure, Callable[[Counts, Counts], float]] = {
    "jaccard": jaccard,
    "dice": dice,
    "cosine": cosine,
    "block": block,
}


def ngrams(tokens: Sequence[str], length: int) -> Counter[Gram]:
    """How often each run of `length` neighbouring words stands in a text."""
    return Counter(tuple(tokens[start : start + length]) for start in range(len(tokens) - length + 1))


def steps(tokens: Sequence[str], length: int) -> Counter[Gram]:
    """How often each run stands in a text that is cut into runs of `length` words, the last of which may be shorter."""
    return Counter(tuple(tokens[start : start + length]) for start in range(0, len(tokens), length))


def _compared(
    first: Sequence[str],
    second: Sequence[str],
    weights: Sequence[float],
    measure: Callable[[Counts, Counts], float],
    counted: Callable[[Sequence[str], int], Counter[Gram]],
) -> Similarity:
    by_length: dict[int, float] = {}
    for length, weight in enumerate(weights, start=1):
        if weight:
            left, right = counted(first, length), counted(second, length)
            by_length[length] = measure(left, right) if left or right else math.nan
    if not first or not second:
        return Similarity(math.nan, by_length)
    usable = {length: value for length, value in by_length.items() if not math.isnan(value)}
    total = sum(weights[length - 1] for length in usable)
    score = sum(weights[length - 1] * value for length, value in usable.items()) / total if total else math.nan
    return Similarity(score, by_length)
