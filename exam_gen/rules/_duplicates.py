"""Questions that ask the same as an earlier one, found without comparing all pairs."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from exam_gen.rules._rule import Check, Measure, RuleMeasure, RuleTools
from examcore import Question, language_named, normalized, words


def stem_words(question: Question) -> frozenset[str]:
    """The different words of a stem; names with dots are single words: `str.lower` and `str.upper` differ.

    Of a script without spaces, the pairs of neighbouring characters.
    """
    if not language_named(question.language).spaced:
        return frozenset(words(question.stem, question.language))
    return frozenset(re.findall(r"\w+(?:\.\w+)*", normalized(question.stem)))


class WordSets:
    """An index of named word sets that finds the one most like a new set (Jaccard), at least `floor` similar."""

    def __init__(self, floor: float) -> None:
        self.floor = floor
        self._names: list[str] = []
        self._sizes: array[int] = array("i")
        self._places: dict[str, array[int]] = {}

    def add(self, name: str, words: frozenset[str]) -> None:
        """Put a set at the end."""
        for word in words:
            self._places.setdefault(word, array("i")).append(len(self._sizes))
        self._names.append(name)
        self._sizes.append(len(words))

    def nearest(self, words: frozenset[str]) -> tuple[str, float]:
        """The name of the most similar set (the first of equals) and the similarity; 0 when below the floor."""
        hits = [np.array(self._places[word]) for word in words if word in self._places]
        if not hits:
            return "", 0.0
        common = np.bincount(np.concatenate(hits), minlength=len(self._sizes))
        similarity = common / (np.array(self._sizes) + len(words) - common)
        best = int(similarity.argmax())
        return (self._names[best], float(similarity[best])) if similarity[best] >= self.floor else ("", 0.0)


FLOOR = 0.4
"""Lower similarities count as none where a share is wanted: they mean nothing."""


def earlier_stems(floor: float = FLOOR, group: Callable[[Question], str] | None = None) -> Measure:
    """The similarity of each stem with the earlier one most like it (Jaccard over word sets), 0 below `floor`.

    With `group`, only earlier questions of the same group (for instance with the same key) are compared. Earlier ones
    count whether or not they are kept, so that a stricter limit never keeps what a laxer one drops.
    """

    def measure(questions: Sequence[Question], _: RuleTools) -> RuleMeasure:
        indices: dict[str, WordSets] = defaultdict(lambda: WordSets(floor))
        values, notes = np.zeros(len(questions)), [""] * len(questions)
        for number, question in enumerate(questions):
            index, words = indices[group(question) if group else ""], stem_words(question)
            other, values[number] = index.nearest(words)
            notes[number] = f" with {other}" if values[number] else ""
            index.add(question.id, words)
        return RuleMeasure(values, notes)

    return measure


def same_key(question: Question) -> str:
    """What questions with the same key have in common."""
    return normalized(question.answer)


def new_stems(threshold: float) -> Check:
    """A check of questions that arrive one by one: None and remembered, or what is wrong with a copy.

    Only stems that passed are remembered: make a new one for each exam and put it last.
    """
    index = WordSets(threshold)

    def check(question: Question) -> str | None:
        words = stem_words(question)
        other, similarity = index.nearest(words)
        if similarity > threshold:
            return f"near-duplicate: {similarity:.4g} with {other}, wanted at most {threshold:.4g}"
        index.add(question.id, words)
        return None

    return check
