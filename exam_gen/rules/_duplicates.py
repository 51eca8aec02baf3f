"""Questions that ask the same as an earlier one, found without comparing all pairs."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from exam_gen.language._words import FUNCTION_WORDS
from exam_gen.rules._rule import Measure, RuleMeasure, RuleTools
from examcore import Question, normalized

_FEW = 400
"""Candidates up to which comparing sets is quicker than counting all postings."""


def stem_words(question: Question) -> frozenset[str]:
    """The different words of a stem; names with dots are single words: `str.lower` and `str.upper` differ."""
    return frozenset(re.findall(r"\w+(?:\.\w+)*", normalized(question.stem)))


def _usual_order(word: str) -> tuple[bool, int, str]:
    """Words that are probably rare first: long ones, function words last."""
    return word in FUNCTION_WORDS, -len(word), word


@dataclass
class WordSets:
    """An index of word sets that finds the one most similar to a new set (Jaccard), if it is at least `floor` similar.

    Two sets with similarity of at least t share a word among the first |x| - ceil(t |x|) + 1 of either, when both are
    put in one common order (prefix filtering: Bayardo, Ma and Srikant 2007). With rare words first few sets remain to
    be compared. `order` may be any order; the better it follows rarity, the faster.
    """

    floor: float
    order: Callable[[str], object] = _usual_order
    sets: list[frozenset[str]] = field(default_factory=list)
    sizes: array[int] = field(default_factory=lambda: array("i"))
    _first: dict[str, array[int]] = field(default_factory=dict)
    _all: dict[str, array[int]] = field(default_factory=dict)

    def add(self, words: frozenset[str]) -> None:
        """Put a set at the end."""
        number = len(self.sets)
        for word in self._prefix(words):
            self._first.setdefault(word, array("i")).append(number)
        for word in words:
            self._all.setdefault(word, array("i")).append(number)
        self.sets.append(words)
        self.sizes.append(len(words))

    def nearest(self, words: frozenset[str]) -> tuple[int, float]:
        """The number of the most similar set (the first of equals) and the similarity; 0 when below the floor."""
        hits = [self._first[word] for word in self._prefix(words) if word in self._first]
        if sum(map(len, hits)) <= _FEW:
            number, similarity = self._by_sets(sorted({one for places in hits for one in places}), words)
        else:
            number, similarity = self._by_counting(words)
        return (number, similarity) if similarity >= self.floor else (0, 0.0)

    def _prefix(self, words: frozenset[str]) -> list[str]:
        # The guard keeps products such as 0.7 * 10 = 7.000000000000001 from shortening the prefix by one.
        needed = int(np.ceil(self.floor * len(words) - 1e-9))
        return sorted(words, key=self.order)[: len(words) - needed + 1]  # type: ignore[arg-type]

    def _by_sets(self, numbers: Sequence[int], words: frozenset[str]) -> tuple[int, float]:
        best, found = 0, 0.0
        for number in numbers:
            common = len(words & self.sets[number])
            similarity = common / (len(words) + self.sizes[number] - common)
            if similarity > found:
                best, found = number, similarity
        return best, found

    def _by_counting(self, words: frozenset[str]) -> tuple[int, float]:
        hits = [np.frombuffer(self._all[word], dtype=np.int32) for word in words if word in self._all]
        common = np.bincount(np.concatenate(hits), minlength=len(self.sets))
        similarity = common / (np.frombuffer(self.sizes, dtype=np.int32) + len(words) - common)
        # Views of an array forbid it to grow; they must be gone before the next set is added.
        best = int(similarity.argmax())
        return best, float(similarity[best])


FLOOR = 0.4
"""Similarities below count as none where a share is wanted: they are costly to find and mean nothing."""


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
    counts = Counter(word for one in words for word in one)
    index = WordSets(floor, order=lambda word: (counts[word], word))
    found = []
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
