"""Similarity of choices with the passage and with each other: Jaccard over word n-grams, and by embedding.

Definitions of the auto-rag-eval paper (appendix A.2). Words are what white space separates, in lower case, and count as
often as they stand (bags, not sets). The n-gram length is the mean number of words of the choices, rounded down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exam_gen.records import Question

Embed = Callable[[Sequence[str]], NDArray[np.floating]]
"""Texts to vectors `[texts, dimensions]`."""

Floats = NDArray[np.float64]


class Similarities(NamedTuple):
    """Both similarities `[questions]` of an exam.

    `extra`: by how much the distractor closest to the passage is closer to it than the key (negative: the key is).
    `intra`: the similarity of the key and the distractor closest to it.
    """

    extra: Floats
    intra: Floats


def jaccard(first: str, second: str) -> float:
    """Words in common over words in either, as bags: 1 for the same words, 0 for none in common (or none at all)."""
    left, right = (Counter(text.lower().split()) for text in (first, second))
    union = (left | right).total()
    return (left & right).total() / union if union else 0.0


def mean_words(choices: Sequence[str]) -> int:
    """The n-gram length for a question's choices: their mean number of words rounded down, at least 1."""
    return max(1, sum(len(choice.split()) for choice in choices) // len(choices))


def best_windows(choices: Sequence[str], document: str, n: int) -> Floats:
    """The Jaccard similarity `[choices]` of each choice and the `n` neighbouring document words closest to it.

    0 for a document of fewer than `n` words, as in the reference.
    """
    words = document.lower().split()
    windows = len(words) - n + 1
    bags = [Counter(choice.lower().split()) for choice in choices]
    if windows < 1:
        return np.zeros(len(bags))
    index: dict[str, int] = {}
    ids = np.array([index.setdefault(word, len(index)) for word in words])
    known = [(row, index[word], count) for row, bag in enumerate(bags) for word, count in bag.items() if word in index]
    common = np.zeros((len(bags), windows))
    if known:
        rows, numbers, limits = np.array(known).T
        sums = np.zeros((len(known), len(words) + 1), dtype=np.int32)
        np.cumsum(ids == numbers[:, None], axis=1, out=sums[:, 1:])
        counts = np.minimum(sums[:, n:] - sums[:, :-n], limits[:, None])
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        common[rows[starts]] = np.add.reduceat(counts, starts, axis=0)
    sizes = np.array([bag.total() for bag in bags])[:, None] + n
    best: Floats = (common / (sizes - common)).max(axis=1)
    return best


def word_similarities(questions: Sequence[Question]) -> Similarities:
    """Both similarities by word n-grams; the passage is each question's `context`."""
    extra, intra = np.zeros(len(questions)), np.zeros(len(questions))
    for row, question in enumerate(questions):
        closeness = best_windows(question.choices, question.context, mean_words(question.choices))
        extra[row] = _lead(closeness, question.key)
        intra[row] = max((jaccard(one, question.answer) for one in distractors(question)), default=0.0)
    return Similarities(extra, intra)


def embedding_similarities(questions: Sequence[Question], embed: Embed) -> Similarities:
    """Both similarities by cosine of embeddings; `embed` is called once, with every different text once."""
    texts = list(dict.fromkeys(text for question in questions for text in (question.context, *question.choices)))
    if not texts:
        return Similarities(np.zeros(0), np.zeros(0))
    vectors = np.asarray(embed(texts), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise ValueError(f"embed: found an array of shape {vectors.shape}; wanted ({len(texts)}, dimensions)")
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    place = {text: row for row, text in enumerate(texts)}
    extra, intra = np.zeros(len(questions)), np.zeros(len(questions))
    for row, question in enumerate(questions):
        choices = vectors[[place[choice] for choice in question.choices]]
        extra[row] = _lead(choices @ vectors[place[question.context]], question.key)
        intra[row] = np.delete(choices @ choices[question.key], question.key).max(initial=-1.0)
    return Similarities(extra, intra)


def distractors(question: Question) -> tuple[str, ...]:
    """The wrong choices, in order."""
    return question.choices[: question.key] + question.choices[question.key + 1 :]


def threshold_for(values: Sequence[float] | Floats, share: float) -> float:
    """The threshold above which at most the wanted share of values lies, as near to it as ties allow."""
    if not 0 <= share <= 1:
        raise ValueError(f"share: found {share}; wanted a number from 0 to 1")
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    # Rounding guards against shares such as 0.3 * 10 = 2.9999….
    removed = int(np.floor(round(share * ordered.size, 9)))
    if removed == 0 or not ordered.size:
        return float("inf")
    return float(ordered[-removed - 1]) if removed < ordered.size else float("-inf")


def by_id(questions: Sequence[Question], values: Floats) -> Mapping[str, float]:
    """The values under the questions' ids."""
    return {question.id: float(value) for question, value in zip(questions, values, strict=True)}


def _lead(closeness: Floats, key: int) -> float:
    return float(np.delete(closeness, key).max(initial=-1.0) - closeness[key])
