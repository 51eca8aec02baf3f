"""Which facts of a corpus to ask for: a sentence and the span of it that will be the key, in a seeded order."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exam_gen.corpora._inventory import is_unsafe
from exam_gen.corpora._selection import in_turn
from exam_gen.drafting._subjects import main_stems
from exam_gen.language._exam_language import GAP
from exam_gen.language._spans import KeySpan, sentences, spans
from exam_gen.language._standalone_sentences import stands_alone
from exam_gen.language._stems import one_of_list
from exam_gen.language._tagging import is_nominal
from examcore import Chunk, content_stems

_WEIGHTS = {"code": 1.0, "number": 0.8, "name": 0.9, "phrase": 0.6}
_COMMON = 0.12
"""A span in a larger share of the chunks than this says nothing about one of them."""

_LEAST_WORDS = 7
"""Words that a statement with a gap needs to say enough of what is asked for."""


@dataclass(frozen=True)
class Fact:
    """A sentence of a chunk and the span in it that is asked for."""

    chunk: Chunk
    span: KeySpan
    score: float

    @property
    def completes(self) -> bool:
        """Whether the span can be asked for by a gap: it names a thing, and enough is said of it.

        No single plain word, no words that an abbreviation in brackets spells out, seven words at least around it.
        """
        text, kind, sentence = self.span.text, self.span.kind, self.span.sentence
        if kind.startswith(("phrase:1", "code:word")) or (kind.startswith("clause") and not is_nominal(sentence, text)):
            return False
        spelt_out = re.match(r"[\"'`*]*\s*\([A-Z]", sentence[self.span.end :])
        return not spelt_out and len(self.gapped.split()) > _LEAST_WORDS

    @property
    def gapped(self) -> str:
        """The sentence with the key left out."""
        sentence = self.span.sentence
        return sentence[: self.span.start] + GAP + sentence[self.span.end :]


def facts(chunks: Sequence[Chunk], *, per_chunk: int, seed: int) -> list[Fact]:
    """At most `per_chunk` facts of each chunk, from different sentences, the best first, chunk by chunk.

    First come the facts that are said of what their document is about, as people ask for those: dense retrievers find
    fewer of the others. The order of chunks is drawn from `seed`, one of each document before the second of any, so
    that long documents have no more than their share of a short exam. A sentence that stands in several chunks is used
    once; one that stands in several documents is not, for none of them is its source.
    """
    order = in_turn(random.Random(seed).sample(list(chunks), len(chunks)))
    prose = {chunk.id: sentences(chunk.text) for chunk in chunks}
    common = _common_spans(list(prose.values()))
    used = _repeated(chunks, prose)
    main = main_stems(chunks)
    chosen: list[Fact] = []
    others: list[Fact] = []
    for chunk in order:
        jitter = random.Random(f"{seed}:{chunk.id}")
        best = []
        for sentence in prose[chunk.id]:
            if sentence in used or is_unsafe(sentence) or not stands_alone(sentence, chunk.title):
                continue
            found = _of_sentence(chunk, sentence, common, jitter)
            if found:
                best.append(max(found, key=lambda fact: fact.score))
        named = {one for one in best if content_stems(one.gapped, chunk.language) & main[chunk.document_id]}
        best = sorted(best, key=lambda fact: (fact not in named, -fact.score))[:per_chunk]
        chosen += [one for one in best if one in named]
        others += [one for one in best if one not in named]
        used.update(fact.span.sentence for fact in best)
    return [*chosen, *others]


def _repeated(chunks: Sequence[Chunk], prose: Mapping[str, Sequence[str]]) -> set[str]:
    """The sentences of more than one document."""
    found: dict[str, str] = {}
    texts = {(sentence, chunk.document_id) for chunk in chunks for sentence in prose[chunk.id]}
    return {sentence for sentence, document in texts if found.setdefault(sentence, document) != document}


def _common_spans(prose: Sequence[Sequence[str]]) -> frozenset[str]:
    counts: Counter[str] = Counter()
    for found in prose:
        counts.update({span.text.lower() for sentence in found for span in spans(sentence, phrases=False)})
    limit = max(3.0, _COMMON * len(prose))
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
        # A capitalised word may be an ordinary word of the passage, too.
        plain = span.kind == "name:1" and re.search(rf"\b{re.escape(lower)}\b", chunk.text)
        if plain or one_of_list(sentence, span.text) or _part_of_name(span):
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


def _part_of_name(span: KeySpan) -> bool:
    """Whether a capitalised neighbour shows that the span is a piece of a longer name."""
    if not span.text[:1].isupper():
        return False
    before, after = span.sentence[: span.start], span.sentence[span.end :]
    return bool(re.search(r"\b[A-Z]\w*\s$", before) or re.match(r"\s[A-Z]\w*", after))
