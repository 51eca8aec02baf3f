"""Wrong answers: spans of the same kind from elsewhere in the corpus, and the choice among them that gives no clue."""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exam_gen.drafting._facts import Fact
from exam_gen.language._known_languages import exam_language
from exam_gen.language._similarity import Embed
from exam_gen.language._spans import sentences, spans
from exam_gen.language._standalone_sentences import stands_alone
from exam_gen.language._stems import echoes
from examcore import ENGLISH, Chunk, function_words
from examcore import words as words_of

_TOO_CLOSE = 0.8
"""Cosine from which two spans may mean the same."""
_MAX_CANDIDATES_SEEN = 400
"""The nearest spans that are considered: ones further off are hardly believable."""


@dataclass(frozen=True)
class DistractorPool:
    """All spans of a corpus by kind and language, with the ids of the documents they stand in and their embeddings."""

    by_kind: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, frozenset[str]]
    vectors: Mapping[str, NDArray[np.floating]]


def pool(chunks: Sequence[Chunk], embed: Embed | None) -> DistractorPool:
    """Collect the spans of the chunks, in the order of the chunks; `embed` gives unit vectors `[n, d]`."""
    by_kind: dict[str, dict[str, None]] = defaultdict(dict)
    sources: dict[str, set[str]] = defaultdict(set)
    for chunk in chunks:
        code = chunk.language
        for sentence in sentences(chunk.text, code):
            for span in spans(sentence, code, phrases=stands_alone(sentence, chunk.title, code)):
                by_kind[kind_in(span.kind, code)][span.text] = None
                sources[span.text].add(chunk.document_id)
    texts = list(sources)
    vectors: dict[str, NDArray[np.floating]] = {}
    if embed is not None and texts:
        matrix = np.asarray(embed(texts), dtype=np.float64)
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        vectors = dict(zip(texts, matrix / np.where(norms == 0, 1, norms), strict=True))
    return DistractorPool(
        {kind: tuple(found) for kind, found in by_kind.items()},
        {text: frozenset(found) for text, found in sources.items()},
        vectors,
    )


_SHARED = re.compile(r"code:.*|number:(?:year|integer|decimal)")
"""Kinds of spans that belong to no language."""


def kind_in(kind: str, code: str) -> str:
    """A kind of span in a language: words of two languages never stand beside each other, code and plain numbers do."""
    return kind if code == ENGLISH or _SHARED.fullmatch(kind) else f"{code}-{kind}"


def candidates(fact: Fact, stem: str, pooled: DistractorPool, *, count: int, seed: int) -> list[str]:
    """Up to `count` spans that could stand where the key stands, nearest in meaning first within three lengths.

    Spans of the key's own sentence, of the stem, near copies of the key, and what does not repeat the words of the stem
    that the key repeats, are left out. A third comes from the same
    document where it has them: those are wrong answers that the passage itself mentions.
    """
    key = fact.span.text
    rng = random.Random(f"{seed}:{fact.chunk.id}:{key}")
    options = _same_kind(fact, pooled, count)
    code = fact.language
    hint = echoes(stem, key, code)
    options = [t for t in options if hint <= echoes(stem, t, code) and apart(t, key, fact.span.sentence, stem, code)]
    rng.shuffle(options)
    near = _nearness(key, options, pooled)
    options = [text for text in options if near[text] < _TOO_CLOSE]
    options.sort(key=lambda text: -near[text])
    home = [text for text in options if fact.chunk.document_id in pooled.sources[text]]
    at_home = set(home)
    away = [text for text in options if text not in at_home]
    chosen = _by_length(home, key, count // 3)
    return chosen + _by_length(away, key, count - len(chosen))


def _same_kind(fact: Fact, pooled: DistractorPool, count: int) -> list[str]:
    """Spans of the key's kind; when they are few, those of its wider class of the same case and about as many words."""
    kind, key = kind_in(fact.span.kind, fact.chunk.language), fact.span.text
    found = list(pooled.by_kind.get(kind, ()))
    if len(found) <= count:
        wider = kind.split(":")[0]
        found += [
            text
            for other, texts in pooled.by_kind.items()
            if other != kind and other.split(":")[0] == wider
            for text in texts
            if text[:1].isupper() == key[:1].isupper() and abs(len(text.split()) - len(key.split())) <= 1
        ]
    return list(dict.fromkeys(found))


def apart(text: str, key: str, sentence: str, stem: str, code: str = ENGLISH) -> bool:
    """Whether a text is another answer than the key, of like length, and stands in neither sentence nor stem."""
    lower, lower_key = text.lower(), key.lower()
    if lower in sentence.lower() or lower in stem.lower() or lower in lower_key or lower_key in lower:
        return False
    if not len(key) / 2.2 - 1 <= len(text) <= 2.2 * len(key) + 1:
        return False
    if _bare(lower) == _bare(lower_key):
        return False
    words, key_words = _words(lower, code), _words(lower_key, code)
    if not words or not key_words:
        return True
    # What says a part of the key, or the key and more, may be right beside it.
    asked = _words(stem.lower(), code) | _no_content(code)
    own, keys_own = words - asked, key_words - asked
    if not own or not keys_own:
        return len(words & key_words) / len(words | key_words) < 0.6
    part = own <= keys_own or keys_own <= own
    return not part and len(own & keys_own) / len(own | keys_own) < 0.6


def _bare(text: str) -> str:
    """A code token without its arguments and marks: `id(x)` and `id()` ask for the same function."""
    return re.sub(r"\(.*|\W", "", text) or text


@cache
def _no_content(code: str) -> frozenset[str]:
    return frozenset(word[:6].rstrip("s") for word in function_words(code))


def _words(text: str, code: str = ENGLISH) -> set[str]:
    """The words by their first six letters, so that inflected and derived forms count as one."""
    found = re.findall(r"[a-z0-9]+", text) if code == ENGLISH else words_of(text, code)
    return {word[:6].rstrip("s") for word in found}


def _nearness(key: str, options: Sequence[str], pooled: DistractorPool) -> dict[str, float]:
    """Cosine of each option to the key; without embeddings, the Jaccard similarity of character trigrams."""
    if key in pooled.vectors:
        vector = pooled.vectors[key]
        return {text: float(pooled.vectors[text] @ vector) for text in options}
    own = _trigrams(key)
    return {text: len(own & _trigrams(text)) / len(own | _trigrams(text)) for text in options}


def _trigrams(text: str) -> set[str]:
    padded = f"  {text.lower()} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def _by_length(options: Sequence[str], key: str, count: int) -> list[str]:
    """The first ones of the shorter, the equally long and the longer in turn, so that any rank is possible."""
    groups: dict[int, list[str]] = {-1: [], 1: [], 0: []}
    for text in options[:_MAX_CANDIDATES_SEEN]:
        groups[(len(text) > len(key)) - (len(text) < len(key))].append(text)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*groups.values()))
    return [text for text in turns if text is not None][:count]


@dataclass(frozen=True)
class DistractorOption:
    """A wrong answer that passed verification, with the writer's closed-book log-likelihood of it.

    `tempting`: whether one who sees the choices and not the passage may take it for the key.
    """

    text: str
    closed: float
    tempting: bool = True


@dataclass(frozen=True)
class KeyWithDistractors:
    """A key with its admissible wrong answers (at least three)."""

    key: str
    closed: float
    options: tuple[DistractorOption, ...]
    language: str = ENGLISH


def choose(items: Sequence[KeyWithDistractors], *, seed: int) -> list[tuple[str, str, str]]:
    """Three wrong answers for each item, so that neither length nor likelihood gives the key away.

    Over the exam the rank of the key among its four choices is spread evenly, by length in characters and by
    closed-book likelihood: a rule such as "the longest" or "the most likely" then finds a quarter of the keys.
    Threes that mark the key by a word or a form, or of which none is tempting, are not taken where there are others.
    Items with the fewest possibilities are served first; each takes the triple whose two ranks are so far the rarest.
    """
    rng = random.Random(seed)
    lengths, likelihoods = [0.0] * 4, [0.0] * 4
    triples = [_triples(item) for item in items]
    tiebreak = [rng.random() for _ in items]
    order = sorted(range(len(items)), key=lambda i: (len({t.length for t in triples[i]}), tiebreak[i]))
    chosen: dict[int, tuple[str, str, str]] = {}
    for index in order:
        best = min(
            triples[index],
            key=lambda t: (_dot(t.length, lengths) + 0.5 * _dot(t.likelihood, likelihoods), t.preference),
        )
        lengths = [total + share for total, share in zip(lengths, best.length, strict=True)]
        likelihoods = [total + share for total, share in zip(likelihoods, best.likelihood, strict=True)]
        chosen[index] = best.texts
    return [chosen[index] for index in range(len(items))]


class _Triple(NamedTuple):
    """Three options and where they put the key: shares `[4]` of the ranks from below (ties share)."""

    texts: tuple[str, str, str]
    length: tuple[float, ...]
    likelihood: tuple[float, ...]
    preference: int


def hides(key: str, options: Sequence[str], code: str = ENGLISH) -> bool:
    """Whether some three of the options leave the key unmarked (see `marks`)."""
    return any(not marks(key, three, code) for three in itertools.combinations(options, 3))


def marks(key: str, wrong: Sequence[str], code: str = ENGLISH) -> bool:
    """Whether the wrong answers have in common what the key lacks, or lack together what it has, so that it shows.

    That is a word ("only …" three times, an indoor three beside the outdoor one), words of denial or decrease being
    one, or a decimal point: the exact number among round ones.
    """
    common = set.intersection(*(_telling(text, code) for text in wrong))
    exact = {bool(_DECIMAL.search(text)) for text in wrong}
    return bool(common - _telling(key, code)) or exact == {not _DECIMAL.search(key)}


_DECIMAL = re.compile(r"\d\.\d")
_DENIAL = "(denial)"


def _telling(text: str, code: str) -> set[str]:
    """The words of a text by their first six letters, all words of denial as one."""
    lower = text.lower()
    return _words(lower, code) | ({_DENIAL} if exam_language(code).denial.search(lower) else set())


def _triples(item: KeyWithDistractors) -> list[_Triple]:
    """All threes that leave the key unmarked; where there is none, all. Of these one at least tempts, if any does."""
    every = list(itertools.combinations(enumerate(item.options), 3))
    found = [three for three in every if any(option.tempting for _, option in three)] or every
    unmarked = [three for three in found if not marks(item.key, [option.text for _, option in three], item.language)]
    return [
        _Triple(
            (a.text, b.text, c.text),
            _rank(len(item.key), (len(a.text), len(b.text), len(c.text))),
            _rank(item.closed, (a.closed, b.closed, c.closed)),
            i + j + k,
        )
        for (i, a), (j, b), (k, c) in unmarked or found
        if len({a.text.lower(), b.text.lower(), c.text.lower()}) == 3
    ]


def _rank(own: float, others: Sequence[float]) -> tuple[float, ...]:
    below = sum(other < own for other in others)
    tied = sum(other == own for other in others)
    return tuple(1 / (tied + 1) if below <= place <= below + tied else 0.0 for place in range(4))


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
