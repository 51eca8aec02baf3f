"""Similarity of choices with the passage and with each other: Jaccard over word n-grams, and by embedding.

Definitions of the auto-rag-eval paper (appendix A.2). Words are what white space separates, in lower case, and count as
often as they stand (bags, not sets). The n-gram length is the mean number of words of the choices, rounded down. Where
no white space parts words, pairs of neighbouring characters stand for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import ENGLISH, Question, jaccard, language_named, words

Embed = Callable[[Sequence[str]], NDArray[np.floating]]
"""Texts to vectors `[texts, dimensions]`."""

Floats = NDArray[np.float64]


class ChoiceSimilarities(NamedTuple):
    """Both similarities `[questions]` of an exam.

    `extra`: by how much the distractor closest to the passage is closer to it than the key (negative: the key is).
    `intra`: the similarity of the key and the distractor closest to it.
    """

    extra: Floats
    intra: Floats


def split_words(text: str, code: str = ENGLISH) -> list[str]:
    """The words of a text in lower case, in order."""
    return text.lower().split() if language_named(code).spaced else words(text, code)


def mean_words(choices: Sequence[str], code: str = ENGLISH) -> int:
    """The n-gram length for a question's choices: their mean number of words rounded down, at least 1."""
    return max(1, sum(len(split_words(choice, code)) for choice in choices) // len(choices))


def best_windows(choices: Sequence[str], document: str, n: int, code: str = ENGLISH) -> Floats:
    """The Jaccard similarity `[choices]` of each choice and the `n` neighbouring document words closest to it.

    0 for a document of fewer than `n` words, as in the reference.
    """
    whole = split_words(document, code)
    numbers = {word: number for number, word in enumerate(dict.fromkeys(whole))}
    ids = np.array([numbers[word] for word in whole], dtype=np.intp)

    def best(bag: Counter[str]) -> float:
        common = np.zeros(max(len(whole) - n + 1, 0))
        for word in bag.keys() & numbers.keys():
            before = np.concatenate([[0], np.cumsum(ids == numbers[word])])
            common += np.minimum(before[n:] - before[:-n], bag[word])
        return float((common / (bag.total() + n - common)).max(initial=0.0))

    return np.array([best(Counter(split_words(choice, code))) for choice in choices])


def word_similarities(questions: Sequence[Question]) -> ChoiceSimilarities:
    """Both similarities by word n-grams; the passage is each question's `context`."""
    extra, intra = np.zeros(len(questions)), np.zeros(len(questions))
    for row, one in enumerate(questions):
        code = one.language
        n = mean_words(one.choices, code)
        extra[row] = _lead(best_windows(one.choices, one.context, n, code), one.key)
        intra[row] = max((_jaccard(wrong, one.answer, code) for wrong in distractors(one)), default=0.0)
    return ChoiceSimilarities(extra, intra)


def _jaccard(first: str, second: str, code: str) -> float:
    return jaccard(" ".join(split_words(first, code)), " ".join(split_words(second, code)))


def embedding_similarities(questions: Sequence[Question], embed: Embed) -> ChoiceSimilarities:
    """Both similarities by cosine of embeddings; `embed` is called once, with every different text once."""
    texts = list(dict.fromkeys(text for question in questions for text in (question.context, *question.choices)))
    if not texts:
        return ChoiceSimilarities(np.zeros(0), np.zeros(0))
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
    return ChoiceSimilarities(extra, intra)


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


def _lead(closeness: Floats, key: int) -> float:
    return float(np.delete(closeness, key).max(initial=-1.0) - closeness[key])
