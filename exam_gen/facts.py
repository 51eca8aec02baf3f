"""Which facts of a corpus to ask for: a sentence and the span of it that will be the key, in a seeded order."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from exam_gen.cases import is_unsafe
from exam_gen.prompts import GAP
from exam_gen.records import Chunk
from exam_gen.spans import Span, sentences, spans
from exam_gen.standing import stands_alone

_WEIGHTS = {"code": 1.0, "number": 0.8, "name": 0.9, "phrase": 0.6}
_LISTED = re.compile(r"(?:^|[,(]|\b(?:and|or|nor|e\.g\.|like|as|including))\s*[\"'`*(]*$")
_COMMON = 0.12
"""A span in a larger share of the chunks than this says nothing about one of them."""


@dataclass(frozen=True)
class Fact:
    """A sentence of a chunk and the span in it that is asked for."""

    chunk: Chunk
    span: Span
    score: float

    @property
    def completes(self) -> bool:
        """Whether the span says enough to be asked for by a gap: no single word but a name, code or a number."""
        return not self.span.kind.startswith(("phrase:1", "code:word", "clause"))

    @property
    def gapped(self) -> str:
        """The sentence with the key left out."""
        sentence = self.span.sentence
        return sentence[: self.span.start] + GAP + sentence[self.span.end :]


def facts(chunks: Sequence[Chunk], *, per_chunk: int, seed: int) -> list[Fact]:
    """At most `per_chunk` facts of each chunk, from different sentences: first every chunk's best, then the seconds.

    The order of chunks is drawn from `seed`. A sentence that stands in several chunks is used once.
    """
    order = list(chunks)
    random.Random(seed).shuffle(order)
    common = _common_spans(chunks)
    used: set[str] = set()
    rounds: list[list[Fact]] = [[] for _ in range(per_chunk)]
    for chunk in order:
        jitter = random.Random(f"{seed}:{chunk.id}")
        best = []
        for sentence in sentences(chunk.text):
            if sentence in used or is_unsafe(sentence) or not stands_alone(sentence, chunk.title):
                continue
            found = _of_sentence(chunk, sentence, common, jitter)
            if found:
                best.append(max(found, key=lambda fact: fact.score))
        best.sort(key=lambda fact: -fact.score)
        for place, fact in enumerate(best[:per_chunk]):
            used.add(fact.span.sentence)
            rounds[place].append(fact)
    return [fact for group in rounds for fact in group]


def _common_spans(chunks: Sequence[Chunk]) -> frozenset[str]:
    counts: Counter[str] = Counter()
    for chunk in chunks:
        counts.update({span.text.lower() for sentence in sentences(chunk.text) for span in spans(sentence)})
    limit = max(3.0, _COMMON * len(chunks))
    return frozenset(text for text, count in counts.items() if count > limit)


def _of_sentence(chunk: Chunk, sentence: str, common: frozenset[str], rng: random.Random) -> list[Fact]:
    found = spans(sentence)
    kinds = Counter(span.kind for span in found)
    title = chunk.title.lower()
    text = chunk.text.lower()
    kept = []
    for span in found:
        lower = span.text.lower()
        if lower in common or lower in title or sentence.lower().count(lower) > 1:
            continue
        if _listed(span) or _part_of_name(span) or (span.kind == "name:1" and _plain_word(lower, chunk.text)):
            continue
        words = int(span.kind[-2]) if span.kind.startswith("phrase") else 2
        score = _WEIGHTS[span.kind.split(":")[0]]
        score += 0.5 * (span.start / len(sentence))
        score -= 0.25 * (kinds[span.kind] - 1)
        score -= 0.15 * max(0, min(text.count(lower), 4) - 1)
        score -= 0.6 * (words == 1) + 0.4 * (span.kind == "code:expression")
        score += rng.uniform(0, 0.5)
        kept.append(Fact(chunk, span, score))
    return kept


def _part_of_name(span: Span) -> bool:
    """Whether a capitalised neighbour shows that the span is a piece of a longer name."""
    if not span.text[:1].isupper():
        return False
    before, after = span.sentence[: span.start], span.sentence[span.end :]
    return bool(re.search(r"\b[A-Z]\w*\s$", before) or re.match(r"\s[A-Z]\w*", after))


def _plain_word(lower: str, text: str) -> bool:
    """Whether a capitalised word is an ordinary word of the passage, too."""
    return bool(re.search(rf"\b{re.escape(lower)}\b", text))


def _listed(span: Span) -> bool:
    """Whether the span is one of several in a list, any of which would answer."""
    before, after = span.sentence[: span.start], span.sentence[span.end :]
    ends = re.match(r"[\"'`*)]*\s*(?:,|and\b|or\b|\))", after)
    return bool(ends and _LISTED.search(before)) or bool(re.search(r"\b(?:e\.g\.,?|such as|like)\s[\"'`*(]*$", before))
