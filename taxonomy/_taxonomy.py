"""A taxonomy: levels with their definitions, and rules that read a question's levels off its words."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

ENGLISH = "en"
"""The language of a text that says none; languages are named by their code of ISO 639-1."""

LONGEST = 50
"""No English word is longer; what is longer is kept as it stands."""

WORD_PATTERN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
"""A whole word: letters, perhaps with an apostrophe inside."""


@functools.lru_cache(maxsize=50_000)
def lemma(word: str, language: str = ENGLISH) -> str:
    """The English dictionary form of a word, in lower case; in another language its Snowball stem."""
    import simplemma

    if len(word) > LONGEST:
        return word.lower()
    if language != ENGLISH:
        return str(_stemmer(language).stemWord(word.lower()))
    return str(simplemma.lemmatize(word.lower(), lang="en")).lower()


@functools.cache
def _stemmer(language: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(language)


Basis = Literal["words", "wording", "otherwise", "nothing"]
"""What a label rests on: listed words, a wording, neither (the level given then), or nothing: there is no label."""


class RuleLabels(NamedTuple):
    """The levels that rules give a text, in the taxonomy's order, and what they rest on."""

    levels: tuple[str, ...]
    basis: Basis


@dataclass(frozen=True)
class Level:
    """One level: its definition for a reader or a model, its words and wordings for the rules.

    A word stands for all its forms; several words count where they follow one another.
    """

    name: str
    definition: str
    words: tuple[str, ...] = ()
    wordings: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True)
class Taxonomy:
    """Levels that questions are sorted into: one each, or `several`.

    `asks` is what a level says of a question, as put to a model. Rules look for the words and wordings of each level;
    where only one is allowed, the first in order that is found. A text in which none is found gets the level
    `otherwise`, or none. `rules` replaces all that: a function of the text and the code of its language.
    """

    name: str
    asks: str
    levels: tuple[Level, ...]
    several: bool = True
    otherwise: str | None = None
    rules: Callable[[str, str], RuleLabels] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the levels, in order."""
        return tuple(level.name for level in self.levels)

    @property
    def has_rules(self) -> bool:
        """Whether anything but a model can label by it."""
        return self.rules is not None or any(level.words or level.wordings for level in self.levels)

    @property
    def has_definitions(self) -> bool:
        """Whether every level says what it means, so that a model can label by it."""
        return all(level.definition for level in self.levels)

    def read(self, question: str, language: str = ENGLISH) -> RuleLabels:
        """The levels of a question by the rules; a text without a word has none.

        Words and wordings of one's own count in any language; `rules` say nothing of one that they do not know.
        """
        if self.rules is not None:
            return self.rules(question, language)
        words = [(match.group().lower(), lemma(match.group())) for match in WORD_PATTERN.finditer(question)]
        by_words = [name for name, phrases in self._phrases.items() if any(_stands(one, words) for one in phrases)]
        by_wording = [level.name for level in self.levels if any(one.search(question) for one in level.wordings)]
        found = tuple(name for name in self.names if name in {*by_words, *by_wording})
        if found:
            return RuleLabels(found if self.several else found[:1], "words" if found[0] in by_words else "wording")
        return RuleLabels((self.otherwise,), "otherwise") if self.otherwise and words else NOTHING

    def ordered(self, levels: set[str]) -> tuple[str, ...]:
        """Some of the levels in the taxonomy's order."""
        return tuple(name for name in self.names if name in levels)

    @cached_property
    def _phrases(self) -> dict[str, list[_Phrase]]:
        return {
            level.name: [[{word, lemma(word)} for word in WORD_PATTERN.findall(entry.lower())] for entry in level.words]
            for level in self.levels
        }


NOTHING = RuleLabels((), "nothing")
"""The reading of a text that says nothing of its level."""

_Phrase = list[set[str]]
"""For each word of an entry, the forms it goes by."""


def _stands(phrase: _Phrase, words: list[tuple[str, str]]) -> bool:
    starts = range(len(words) - len(phrase) + 1) if phrase else ()
    return any(all(not forms.isdisjoint(words[start + i]) for i, forms in enumerate(phrase)) for start in starts)
