"""Parts of speech of English sentences, as the Hanover Tagger finds them (Wartena 2019), and what they show.

Tags are those of the British National Corpus (CLAWS C5): `NN1` is a singular noun, `VVZ` a verb's third person, `AT0`
an article.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from HanTa import HanoverTagger

from exam_gen.language._exam_language import MOST_WORDS, FoundSpan
from exam_gen.language._words import GENERIC, KNOWN_TO_ALL, PREPOSITIONS, RANKS

_TOKEN = re.compile(r"[^\W_](?:[\w'’./-]*[^\W_])?(?:\(\))?|[^\w\s]|_+\w*")
_NOUN = frozenset({"NN0", "NN1", "NN2", "NP0", "UNC", "CRD", "ZZ0"})
_BEFORE_NOUN = _NOUN | {"AJ0", "AJC", "AJS", "ORD", "VVN", "VVG"}
_DETERMINER = frozenset({"AT0", "DPS", "DT0"})
_FINITE = re.compile(r"VV[BZD]|V[BDH][BZD]|VM0")
_RELATIVE = frozenset(["that", "which", "who", "whose", "where"])


class Token(NamedTuple):
    """A word or mark of a sentence, its tag and where it starts."""

    text: str
    tag: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends in its sentence."""
        return self.start + len(self.text)


@cache
def _tagger(model: str) -> Any:
    return HanoverTagger.HanoverTagger(model)


@lru_cache(maxsize=1 << 12)
def tokens(sentence: str, model: str = "morphmodel_en.pgz") -> tuple[Token, ...]:
    """The words and marks of a sentence in order, each with its tag, by a model that HanTa brings."""
    found = list(_TOKEN.finditer(sentence))
    if not found:
        return ()
    tagged = _tagger(model).tag_sent([match.group() for match in found])
    return tuple(
        Token(match.group(), str(tag), match.start()) for match, (_, _, tag) in zip(found, tagged, strict=True)
    )


def noun_phrases(sentence: str) -> list[tuple[Token, ...]]:
    """The runs of adjectives and nouns that end in a noun, without their articles."""
    runs: list[tuple[Token, ...]] = []
    for fits, found in groupby(tokens(sentence), key=lambda one: one.tag in _BEFORE_NOUN and one.text[:1].isalnum()):
        run = list(found) if fits else []
        while run and run[-1].tag not in _NOUN:
            run.pop()
        if run:
            runs.append(tuple(run))
    return runs


def phrases(sentence: str) -> list[FoundSpan]:
    """Noun phrases of up to four plain words, without their articles; a single word must be a telling one."""
    found = []
    for run in noun_phrases(sentence):
        words = [token.text.lower() for token in run]
        text = sentence[run[0].start : run[-1].end]
        if len(words) > MOST_WORDS or not re.fullmatch(r"[A-Za-z][A-Za-z -]*", text):
            continue
        if len(words) == 1 and (len(words[0]) < 5 or words[0] in GENERIC):
            continue
        if len(words) == 2 and (words[0] in GENERIC or words[1] in GENERIC):
            continue
        kind = f"phrase:{len(words)}{'p' if run[-1].tag == 'NN2' else 's'}"
        found.append(FoundSpan(text, kind, run[0].start))
    return found


def is_nominal(sentence: str, text: str) -> bool:
    """Whether a piece of a sentence names a thing, an amount or a kind: nouns with what stands before them.

    A phrase may go on after "of" or another preposition; a verb, a pronoun or an open end makes it something else.
    """
    start = sentence.find(text)
    inside = [one for one in tokens(sentence) if start <= one.start and one.end <= start + len(text)]
    words = [one for one in inside if one.text[:1].isalnum()]
    if not words:
        return False
    if words[0].tag in _DETERMINER:
        words = words[1:]
    if not words or words[-1].tag not in _NOUN or words[0].tag not in _BEFORE_NOUN:
        return False
    return all(one.tag in _BEFORE_NOUN or one.tag in {"PRF", "PRP", "AT0", "DPS", "POS"} for one in words)


def commands(sentence: str) -> bool:
    """Whether the sentence begins with a verb that tells the reader what to do."""
    words = [one for one in tokens(sentence) if one.text[:1].isalnum()]
    return bool(words) and words[0].tag in {"VVB", "VVI", "VDB", "VHB", "VBI"}


def has_finite_verb(sentence: str) -> bool:
    """Whether the sentence states anything: a verb that is not the first one after "that" or "which"."""
    words = [one for one in tokens(sentence) if one.text[:1].isalnum() and not one.tag.startswith("AV0")]
    relative = False
    for word in words:
        if word.text.lower() in _RELATIVE:
            relative = True
        elif _FINITE.fullmatch(word.tag):
            if not relative:
                return True
            relative = False
    return False


_NAMES = re.compile(r"\w[_.]\w|\d")
_QUOTES = frozenset("`\"'“‘*")
_GOES_ON = frozenset({"PRF", "CJT", "PNQ", "VVN", "VVG", "TO0", "DTQ", "ORD", "CRD", "ZZ0"})


def dangling(sentence: str, title: str) -> str | None:
    """A thing that "the" points to though neither title nor sentence introduced it; None where there is none.

    A thing is introduced by its title, by an earlier mention in the sentence, by a name or code, or by what follows:
    "the owner of the bucket", "the time that a request takes".
    """
    found = tokens(sentence)
    known = title.lower()
    for place, token in enumerate(found):
        if token.text.lower() != "the":
            continue
        if place + 1 < len(found) and found[place + 1].text in _QUOTES:
            continue
        run = list(takewhile(lambda one: one.tag in _BEFORE_NOUN, found[place + 1 :]))
        if not run:
            return token.text
        after = found[place + 1 + len(run)] if place + 1 + len(run) < len(found) else Token(".", "PUN", 0)
        before = f"{known} {sentence[: token.start].lower()}"
        ranked = run[0].text.lower() in RANKS
        goes_on = after.tag in _GOES_ON or after.text.lower() in PREPOSITIONS
        if goes_on and not (ranked and after.tag != "PRF"):
            continue
        named = after.text in {*_QUOTES, "("} or any(one.text[:1].isupper() or _NAMES.search(one.text) for one in run)
        known_head = any(head[: max(4, len(head) - 2)] in before or head in KNOWN_TO_ALL for head in _heads(run))
        introduced = run[0].tag == "AJS" or known_head
        if ranked or not (named or introduced):
            return " ".join(one.text for one in run)
    return None


def _heads(run: Sequence[Token]) -> list[str]:
    """What a run may be about: its last word, and the one before where the last may be a verb after all."""
    heads = [run[-1].text.lower()]
    return [*heads, run[-2].text.lower()] if len(run) > 1 and run[-1].tag == "NN2" else heads
