"""Which facts of a corpus to ask for: a sentence and the span of it that will be the key, in a seeded order."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from exam_gen.corpora._inventory import is_unsafe
from exam_gen.corpora._selection import in_turn
from exam_gen.drafting._subjects import main_stems
from exam_gen.language._exam_language import GAP
from exam_gen.language._known_languages import exam_language
from exam_gen.language._reply_language import other_language
from exam_gen.language._spans import KeySpan, sentences, spans
from exam_gen.language._standalone_sentences import stands_alone
from exam_gen.language._stems import one_of_list
from examcore import ENGLISH, Chunk, content_stems, language_named, text_width

_WEIGHTS = {"code": 1.0, "number": 0.8, "name": 0.9, "phrase": 0.6}
_COMMON = 0.12
"""A span in a larger share of the chunks than this says nothing about one of them."""

_LEAST_WORDS = 7
"""Words that a statement with a gap needs to say enough of what is asked for."""
_LEAST_WIDTH = 35
"""The width of such a statement in a language without spaces between words."""


@dataclass(frozen=True)
class Fact:
    """A sentence of a chunk and the span in it that is asked for, in the language of the chunk or in `asked_in`."""

    chunk: Chunk
    span: KeySpan
    score: float
    asked_in: str | None = None

    @property
    def language(self) -> str:
        """The code of the language of question and choices."""
        return self.asked_in or self.chunk.language

    @property
    def completes(self) -> bool:
        """Whether the span can be asked for by a gap: it names a thing, in every language or that of the question, and
        enough is said of it.

        No single plain word, no words that an abbreviation in brackets spells out, seven words at least around it.
        """
        text, kind, sentence = self.span.text, self.span.kind, self.span.sentence
        names_thing = exam_language(self.chunk.language).names_thing
        if self.language != self.chunk.language and not kind.startswith(("code", "number")):
            return False
        if kind.startswith(("phrase:1", "code:word")) or not text or text not in sentence:
            return False
        if kind.startswith("clause") and not names_thing(sentence, text):
            return False
        spelt_out = re.match(r"[\"'`*]*\s*\([A-Z]", sentence[self.span.end :])
        if not language_named(self.chunk.language).spaced:
            return not spelt_out and text_width(self.gapped) > _LEAST_WIDTH
        return not spelt_out and len(self.gapped.split()) > _LEAST_WORDS

    @property
    def gapped(self) -> str:
        """The sentence with the key left out."""
        sentence = self.span.sentence
        return sentence[: self.span.start] + GAP + sentence[self.span.end :]


def facts(chunks: Sequence[Chunk], *, per_chunk: int, seed: int, asked_in: str | None = None) -> list[Fact]:
    """At most `per_chunk` facts of each chunk, from different sentences, the best first, chunk by chunk.

    First come the facts that are said of what their document is about, as people ask for those: dense retrievers find
    fewer of the others. The order of chunks is drawn from `seed`, one of each document before the second of any, so
    that long documents have no more than their share of a short exam. A sentence that stands in several chunks is used
    once; one that stands in several documents is not, for none of them is its source. In another language than English
    a sentence in which no rule finds a span is a fact, too, after the others: the writer may find one.
    """
    order = in_turn(random.Random(seed).sample(list(chunks), len(chunks)))
    prose = {chunk.id: _prose(chunk) for chunk in chunks}
    common = _common_spans(chunks, prose)
    used = _repeated(chunks, prose)
    main = main_stems(chunks)
    chosen: list[Fact] = []
    others: list[Fact] = []
    for chunk in order:
        jitter = random.Random(f"{seed}:{chunk.id}")
        best = []
        for sentence in prose[chunk.id]:
            if sentence in used or is_unsafe(sentence) or not stands_alone(sentence, chunk.title, chunk.language):
                continue
            found = _of_sentence(chunk, sentence, common, jitter)
            if found:
                best.append(max(found, key=lambda fact: fact.score))
        named = {one for one in best if content_stems(one.gapped, chunk.language) & main[chunk.document_id]}
        best = sorted(best, key=lambda fact: (fact not in named, -fact.score))[:per_chunk]
        chosen += [one for one in best if one in named]
        others += [one for one in best if one not in named]
        used.update(fact.span.sentence for fact in best)
    return [replace(fact, asked_in=asked_in) for fact in (*chosen, *others)]


def _repeated(chunks: Sequence[Chunk], prose: Mapping[str, Sequence[str]]) -> set[str]:
    """The sentences of more than one document."""
    found: dict[str, str] = {}
    texts = {(sentence, chunk.document_id) for chunk in chunks for sentence in prose[chunk.id]}
    return {sentence for sentence, document in texts if found.setdefault(sentence, document) != document}


def _prose(chunk: Chunk) -> list[str]:
    """The sentences of a chunk, but those in another language than its own."""
    found = sentences(chunk.text, chunk.language)
    return found if chunk.language == ENGLISH else [one for one in found if not other_language(one, chunk.language)]


def _common_spans(chunks: Sequence[Chunk], prose: Mapping[str, Sequence[str]]) -> frozenset[str]:
    counts: Counter[str] = Counter()
    for chunk in chunks:
        found = (spans(sentence, chunk.language, phrases=False) for sentence in prose[chunk.id])
        counts.update({span.text.lower() for each in found for span in each})
    limit = max(3.0, _COMMON * len(prose))
    return frozenset(text for text, count in counts.items() if count > limit)


def _of_sentence(chunk: Chunk, sentence: str, common: frozenset[str], rng: random.Random) -> list[Fact]:
    found = spans(sentence, chunk.language)
    kinds = Counter(span.kind for span in found)
    title = chunk.title.lower()
    text = chunk.text.lower()
    kept = []
    for span in found:
        lower = span.text.lower()
        if lower in common or lower in title or sentence.lower().count(lower) > 1:
            continue
        # A capitalised word may be an ordinary word of the passage, too.
        plain = span.kind == "name:1" and re.search(rf"\b{re.escape(lower)}\b", chunk.text)
        if plain or one_of_list(sentence, span.text, chunk.language) or _part_of_name(span, chunk.language):
            continue
        words = int(span.kind[-2]) if span.kind.startswith("phrase") else 2
        score = _WEIGHTS[span.kind.split(":")[0]]
        score += 0.5 * (span.start / len(sentence))
        score -= 0.25 * (kinds[span.kind] - 1)
        score -= 0.15 * max(0, min(text.count(lower), 4) - 1)
        score -= 0.6 * (words == 1) + 0.4 * (span.kind == "code:expression")
        score += rng.uniform(0, 0.5)
        kept.append(Fact(chunk, span, score))
    if not kept and chunk.language != ENGLISH:
        kept.append(Fact(chunk, KeySpan("", "none", sentence, 0), -1.0))
    return kept


def _part_of_name(span: KeySpan, code: str) -> bool:
    """Whether a capitalised neighbour shows that the span is a piece of a longer name."""
    if not span.text[:1].isupper() or exam_language(code).nouns_are_capitalised:
        return False
    before, after = span.sentence[: span.start], span.sentence[span.end :]
    return bool(re.search(r"\b[A-Z]\w*\s$", before) or re.match(r"\s[A-Z]\w*", after))
