"""Filters: named rules that keep a question or drop it and say why.

A reason reads `rule: finding`; the rule's name is stable and is what statistics count.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from exam_gen.parser import normal
from exam_gen.records import Dropped, Question
from exam_gen.selfcontained import outside_reference
from exam_gen.similarity import Floats, by_id, distractors, threshold_for

Filter = Callable[[Question], str | None]
"""None keeps the question; a string drops it and says why."""


@dataclass(frozen=True)
class Sifted:
    """What the filters kept and dropped, each in the order given."""

    kept: tuple[Question, ...]
    dropped: tuple[Dropped, ...]


def sift(questions: Iterable[Question], filters: Sequence[Filter]) -> Sifted:
    """Run the filters in order; the first reason given drops the question."""
    kept: list[Question] = []
    dropped: list[Dropped] = []
    for question in questions:
        reason = next((reason for rule in filters if (reason := rule(question)) is not None), None)
        if reason is None:
            kept.append(question)
        else:
            dropped.append(Dropped(reason, str(question.metadata.get("raw", "")), question.chunk_id, question))
    return Sifted(tuple(kept), tuple(dropped))


def rule_of(reason: str) -> str:
    """The rule's name in a reason."""
    return reason.split(":")[0].strip()


def standard_filters() -> list[Filter]:
    """Every rule that needs nothing but the question, with its default bounds; new ones for each exam."""
    return [
        stem_form(),
        choice_form(),
        marked_choice,
        catch_all,
        answer_leak,
        self_contained,
        length_cue(),
        near_duplicate(),
    ]


def stem_form(min_characters: int = 20, max_characters: int = 1000) -> Filter:
    """The stem ends in a question mark and keeps to bounds on its length (the paper: more than 50 characters)."""

    def rule(question: Question) -> str | None:
        length = len(question.stem.strip())
        if length < min_characters:
            return f"stem too short: {length} characters, wanted {min_characters}"
        if length > max_characters:
            return f"stem too long: {length} characters, wanted at most {max_characters}"
        if not question.stem.rstrip(" \"'”’)*`").endswith(("?", "？", "؟")):
            return "no question mark: the stem does not end in one"
        return None

    return rule


def choice_form(max_characters: int = 500) -> Filter:
    """Choices have text, differ in more than case and punctuation, and are not longer than a bound."""

    def rule(question: Question) -> str | None:
        texts = [normal(choice) for choice in question.choices]
        if len(texts) < 2:
            return f"too few choices: {len(texts)}"
        if not all(re.search(r"\w|[^\w\s]", text) for text in texts):
            return f"empty choice: {texts.index('')}"
        if len(set(texts)) < len(texts):
            return f"duplicate choices: {len(texts) - len(set(texts))} of {len(texts)}"
        longest = max(map(len, question.choices))
        return (
            f"choice too long: {longest} characters, wanted at most {max_characters}"
            if longest > max_characters
            else None
        )

    return rule


_MARKED = re.compile(
    r"\b(?:correct|right|wrong|incorrect)\s+(?:answer|choice|option)\b|\((?:correct|incorrect|wrong)\)|[✓✔✅❌]"
    r"|^\s*[(\[]?[A-Da-d][).\]]\s|\bexplanation\s*:|\banswer\s*:",
    re.I,
)


def marked_choice(question: Question) -> str | None:
    """No choice says whether it is right, carries a label, or swallowed the answer line."""
    number = next((number for number, one in enumerate(question.choices) if _MARKED.search(one)), None)
    return None if number is None else f"marked choice: {number}"


_CATCH_ALL = re.compile(
    r"\b(?:all|none|any|both|neither|each|either|some)\s+(?:of\s+)?(?:the\s+)?(?:above|these|those|them|other|others|options|"
    r"choices|answers|listed|mentioned|given|following)\b|^(?:both|neither|either)\s+\(?[A-D]\)?\s+(?:and|n?or)\b"
    r"|^\(?[A-D]\)?\s+(?:and|&)\s+\(?[A-D]\)?\.?$|^(?:all|both|neither)\.?$"
    r"|\b(?:cannot|can't|not)\s+be\s+determined\b|^(?:not\s+(?:mentioned|specified|given|stated)|i\s+don'?t\s+know)\b",
    re.I,
)


def catch_all(question: Question) -> str | None:
    """No choice stands for others ("all of the above", "both A and C") or for none ("cannot be determined")."""
    number = next((number for number, one in enumerate(question.choices) if _CATCH_ALL.search(one.strip())), None)
    return None if number is None else f"catch-all choice: {number}"


def answer_leak(question: Question) -> str | None:
    """The stem does not give the key away: by holding it whole, or a long run of its words that no distractor has."""
    stem = _words(question.stem)
    key = _words(question.answer)
    others = [_words(one) for one in distractors(question)]
    if not key or all(_run(other, stem) == len(other) for other in others):
        return None
    shared = _run(key, stem)
    if shared == len(key) and len("".join(key)) > 2:
        return f"answer leak: all {len(key)} words of the key are in the stem"
    elsewhere = max((_run(other, stem) for other in others), default=0)
    if shared >= max(4, 0.6 * len(key)) and shared > elsewhere + 1:
        return f"answer leak: {shared} of {len(key)} words of the key are in the stem"
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", normal(text))


def _run(part: Sequence[str], whole: Sequence[str]) -> int:
    """The longest run of neighbouring words of `part` that also stands in `whole`."""
    best = 0
    above = [0] * (len(whole) + 1)
    for word in part:
        row = [0] * (len(whole) + 1)
        for place, other in enumerate(whole, start=1):
            if word == other:
                row[place] = above[place - 1] + 1
        best = max(best, *row)
        above = row
    return best


def self_contained(question: Question) -> str | None:
    """The stem can be understood without the passage: it neither points to a text nor leans on an unnamed thing."""
    found = outside_reference(question.stem)
    return None if found is None else f"not self-contained: {found!r}"


_NAMES_A_TEXT = re.compile(
    r"\b(?:documentation|paper|article|research|study)\b|\b(?:in|of the)\s*[\"“][^\"”]+[\"”]", re.I
)


def names_no_text(question: Question) -> str | None:
    """The paper's own, stricter form of `self_contained`: no word for a text at all, and no title in quotes."""
    match = _NAMES_A_TEXT.search(question.stem)
    return f"names a text: {match.group()!r}" if match else None


def length_cue(ratio: float = 1.6, characters: int = 12) -> Filter:
    """The key is not much longer than the longest or much shorter than the shortest distractor.

    Both must be passed: `ratio` times, and by `characters`.
    """

    def rule(question: Question) -> str | None:
        key = len(question.answer)
        lengths = [len(one) for one in distractors(question)]
        longest, shortest = max(lengths, default=key), min(lengths, default=key)
        if key > ratio * longest and key - longest >= characters:
            return f"length cue: the key has {key} characters, the longest distractor {longest}"
        if shortest > ratio * key and shortest - key >= characters:
            return f"length cue: the key has {key} characters, the shortest distractor {shortest}"
        return None

    return rule


@dataclass
class _Stems:
    """An index of the stems that passed, word to their numbers."""

    threshold: float
    places: dict[str, array[int]] = field(default_factory=dict)
    sizes: array[int] = field(default_factory=lambda: array("i"))
    ids: list[str] = field(default_factory=list)

    def __call__(self, question: Question) -> str | None:
        # Names with dots and underscores are single words: `str.lower` and `str.upper` are different questions.
        words = set(re.findall(r"\w+(?:\.\w+)*", normal(question.stem)))
        number, similarity = self._nearest(words)
        if similarity >= self.threshold:
            return f"near-duplicate stem: {similarity:.2f} with {self.ids[number]}"
        for word in words:
            self.places.setdefault(word, array("i")).append(len(self.ids))
        self.sizes.append(len(words))
        self.ids.append(question.id)
        return None

    def _nearest(self, words: set[str]) -> tuple[int, float]:
        hits = [np.array(self.places[word], dtype=np.int64) for word in words if word in self.places]
        if not hits:
            return 0, 0.0
        common = np.bincount(np.concatenate(hits), minlength=len(self.ids))
        similarity = common / (np.array(self.sizes) + len(words) - common)
        best = int(similarity.argmax())
        return best, float(similarity[best])


def near_duplicate(threshold: float = 0.8) -> Filter:
    """The stem shares less than `threshold` of its words (Jaccard over word sets) with every stem kept before.

    It remembers the stems it kept: make a new one for each exam and put it last, where only questions that stay arrive.
    """
    return _Stems(threshold)


def above(rule: str, values: Mapping[str, float], threshold: float) -> Filter:
    """Drop questions whose value (by question id) lies above the threshold."""

    def check(question: Question) -> str | None:
        value = values[question.id]
        return f"{rule}: {value:.3f}, wanted at most {threshold:.3f}" if value > threshold else None

    return check


def similarity_filter(
    rule: str,
    questions: Sequence[Question],
    values: Floats,
    *,
    threshold: float | None = None,
    share: float | None = None,
) -> Filter:
    """Drop questions of too high a similarity: above a threshold, or the wanted share with the highest.

    `values` are those of `questions`, for instance `word_similarities(questions).extra`.
    """
    if (threshold is None) == (share is None):
        raise ValueError(f"{rule}: found threshold {threshold} and share {share}; wanted exactly one of them")
    limit = threshold if threshold is not None else threshold_for(values, share if share is not None else 0.0)
    return above(rule, by_id(questions, values), limit)
