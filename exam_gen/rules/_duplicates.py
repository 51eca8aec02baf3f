"""Questions that ask the same as an earlier one, found without comparing all pairs."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from exam_gen.rules._rule import Measure, RuleMeasure, RuleTools
from examcore import Question, normalized


def stem_words(question: Question) -> frozenset[str]:
    """The different words of a stem; names with dots are single words: `str.lower` and `str.upper` differ."""
    return frozenset(re.findall(r"\w+(?:\.\w+)*", normalized(question.stem)))


@dataclass
class WordSets:
    """An index of word sets that finds the one most like a new set (Jaccard), if it is at least `floor` similar."""

    floor: float
    sizes: array[int] = field(default_factory=lambda: array("i"))
    _places: dict[str, array[int]] = field(default_factory=dict)

    def add(self, words: frozenset[str]) -> None:
        """Put a set at the end."""
        for word in words:
            self._places.setdefault(word, array("i")).append(len(self.sizes))
        self.sizes.append(len(words))

    def nearest(self, words: frozenset[str]) -> tuple[int, float]:
        """The number of the most similar set (the first of equals) and the similarity; 0 when below the floor."""
        hits = [np.array(self._places[word]) for word in words if word in self._places]
        if not hits:
            return 0, 0.0
        common = np.bincount(np.concatenate(hits), minlength=len(self.sizes))
        similarity = common / (np.array(self.sizes) + len(words) - common)
        best = int(similarity.argmax())
        return (best, float(similarity[best])) if similarity[best] >= self.floor else (0, 0.0)


FLOOR = 0.4
"""Lower similarities count as none where a share is wanted: they mean nothing."""


def earlier_stems(floor: float = FLOOR, group: Callable[[Question], str] | None = None) -> Measure:
    """The similarity of each stem with the earlier one most like it (Jaccard over word sets), 0 below `floor`.

    With `group`, only earlier questions of the same group (for instance with the same key) are compared. Earlier ones
    count whether or not they are kept, so that a stricter limit never keeps what a laxer one drops.
    """

    def measure(questions: Sequence[Question], _: RuleTools) -> RuleMeasure:
        words = [stem_words(question) for question in questions]
        groups: dict[str, list[int]] = defaultdict(list)
        for number, question in enumerate(questions):
            groups[group(question) if group else ""].append(number)
        values, notes = np.zeros(len(questions)), [""] * len(questions)
        for members in groups.values():
            found = _earlier([words[number] for number in members], floor) if len(members) > 1 else []
            for number, (other, similarity) in zip(members, found, strict=False):
                values[number] = similarity
                notes[number] = f" with {questions[members[other]].id}" if similarity else ""
        return RuleMeasure(values, notes)

    return measure


def same_key(question: Question) -> str:
    """What questions with the same key have in common."""
    return normalized(question.answer)


def _earlier(words: Sequence[frozenset[str]], floor: float) -> list[tuple[int, float]]:
    """For each set, the number of the most similar one before it, and the similarity."""
    index, found = WordSets(floor), []
    for one in words:
        found.append(index.nearest(one))
        index.add(one)
    return found


@dataclass
class NewStems:
    """A filter for questions that arrive one by one: None and remembered, or what is wrong with a copy.

    Only stems that passed are remembered: make a new one for each exam and put it last.
    """

    threshold: float
    ids: list[str] = field(default_factory=list)
    index: WordSets = field(init=False)

    def __post_init__(self) -> None:
        self.index = WordSets(self.threshold)

    def __call__(self, question: Question) -> str | None:
        """Compare with the stems remembered."""
        words = stem_words(question)
        number, similarity = self.index.nearest(words)
        if similarity > self.threshold:
            return f"near-duplicate: {similarity:.4g} with {self.ids[number]}, wanted at most {self.threshold:.4g}"
        self.index.add(words)
        self.ids.append(question.id)
        return None
