"""The shape of what the rules know of a language: its verbs, wordings and question words."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from taxonomy._taxonomy import ENGLISH, WORD_PATTERN, lemma


@dataclass(frozen=True, eq=False)
class QuestionWording:
    """The words of a language that the rules read; patterns are matched in any case.

    `verbs` of each level are in their dictionary form, `spellings` gives forms that are not reduced to theirs, and
    `endings` are taken off a word that is in no list. A word of `often_nouns` does not count after one of
    `before_nouns`; where `nouns_are_capitalised`, no capitalised word inside a sentence does, nor
    does any with one of the `noun_endings`. `clauses` name a level
    where no verb does, `knowledge` the kind of knowledge, tried in turn. `question_words` is a pattern for each form,
    `contraction` what may hang on to it; `auxiliaries` begin a question that is answered by yes or no.
    `prepositions` may stand before a question word after a heading, with `joining` also after a comma. `capitals`
    begin a sentence, `opening` marks and `quotes` may stand before it, `closing` after it, beside those of English.
    """

    code: str
    verbs: Mapping[str, frozenset[str]]
    clauses: tuple[tuple[str, str], ...]
    knowledge: tuple[tuple[str, str], ...]
    question_words: Mapping[str, str]
    auxiliaries: str
    prepositions: str
    joining: str
    spellings: Mapping[str, str]
    before_nouns: frozenset[str] = frozenset()
    often_nouns: frozenset[str] = frozenset()
    endings: tuple[tuple[str, str], ...] = ()
    noun_endings: str = ""
    contraction: str = ""
    capitals: str = "A-ZÀ-ÖØ-ÞŒ"
    opening: str = ""
    quotes: str = ""
    closing: str = ""
    nouns_are_capitalised: bool = False
    word_pattern: re.Pattern[str] = WORD_PATTERN

    @functools.cached_property
    def reduced_verbs(self) -> dict[str, frozenset[str]]:
        """The verbs of each level as `reduce` gives them."""
        return {level: frozenset(lemma(verb, self.code) for verb in verbs) for level, verbs in self.verbs.items()}

    @functools.cached_property
    def known(self) -> frozenset[str]:
        """The reduced verbs of all levels."""
        return frozenset[str]().union(*self.reduced_verbs.values())

    @functools.cached_property
    def reduced_nouns(self) -> frozenset[str]:
        """The words of `often_nouns` as `reduce` gives them."""
        return frozenset(self.reduce(word) for word in self.often_nouns)

    def reduce(self, word: str) -> str:
        """The common form of a lower-case word; a form without a listed verb loses its ending if that gives one."""
        return _reduced(self, word)

    @functools.cached_property
    def level_patterns(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        """`clauses`, compiled."""
        return tuple((level, re.compile(pattern, re.I)) for level, pattern in self.clauses)

    @functools.cached_property
    def knowledge_patterns(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        """`knowledge`, compiled."""
        return tuple((kind, re.compile(pattern, re.I)) for kind, pattern in self.knowledge)

    @functools.cached_property
    def asked(self) -> str:
        """A pattern of all question words, each in a group named after its form."""
        return "|".join(f"(?P<{name}>{pattern})" for name, pattern in self.question_words.items())

    @functools.cached_property
    def asking(self) -> re.Pattern[str]:
        """A question word as a whole word that is not quoted."""
        before = rf"(?<![\w'\"`“‘{self.quotes}])"
        return re.compile(rf"{before}(?:{self.asked}){self.contraction}(?![\w\"`”])", re.I)

    @functools.cached_property
    def heading(self) -> re.Pattern[str]:
        """What stands before a colon and a question word."""
        quoted = r"[^\"“”]|\"[^\"]*\"|“[^”]*”"
        return re.compile(rf"\A(?:{quoted})*?:\s+(?=(?:(?:{self.prepositions})\s+)?(?:{self.asked})\b)", re.I)

    @functools.cached_property
    def auxiliary(self) -> re.Pattern[str]:
        """What begins a question that is answered by yes or no."""
        return re.compile(self.auxiliaries, re.I)

    @functools.cached_property
    def after_comma(self) -> re.Pattern[str]:
        """A question word right after a comma, perhaps behind a preposition."""
        between = rf"(?:(?:{self.joining}|{self.prepositions})\s+)?"
        return re.compile(rf",\s+[{self.opening or ' '}]?{between}(?:{self.asked})\b", re.I)

    @functools.cached_property
    def sentence_end(self) -> re.Pattern[str]:
        """The space between two sentences."""
        return re.compile(rf"(?<=[.!?])\s+(?=[{self.capitals}\"“({self.opening}{self.quotes}])")


@functools.lru_cache(maxsize=50_000)
def _reduced(wording: QuestionWording, word: str) -> str:
    stripped = [re.sub(pattern, ending, word) for pattern, ending in wording.endings]
    # Listed English verbs are dictionary forms, which a stripped word is or is not; stems are stems of both.
    stems = stripped if wording.code == ENGLISH else [lemma(one, wording.code) for one in stripped]
    forms = [wording.spellings.get(form, form) for form in (lemma(word, wording.code), *stems)]
    if wording.code != ENGLISH and word in wording.spellings:
        return lemma(wording.spellings[word], wording.code)
    if wording.noun_endings and re.search(rf"(?:{wording.noun_endings})$", word):
        return word
    return next((form for form in forms if form in wording.known), forms[0])
