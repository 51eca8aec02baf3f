"""The form of a question: the question word it asks with."""

from __future__ import annotations

import re

from taxonomy._languages import WORDINGS
from taxonomy._question_wording import QuestionWording
from taxonomy._taxonomy import ENGLISH, NOTHING, Level, RuleLabels, Taxonomy

FORMS = ("what", "which", "how", "why", "when", "where", "who", "yes/no", "other")
"""The forms, question words first."""


def form(question: str, language: str = ENGLISH) -> str:
    """One of `FORMS`: the word the question itself asks with, matched as a whole word ("show" holds no "how").

    The last sentence is looked at. What stands before a colon and a question word is its heading ("Is x healthy: which
    statement …"); a leading clause ("When x happens, what …") does not count if a later part asks. `other` in a
    language without rules.
    """
    wording = WORDINGS.get(language)
    if wording is None:
        return "other"
    sentence = wording.heading.sub("", _last_sentence(question, wording), count=1)
    sentence = sentence.lstrip(" \"'“‘(" + wording.opening + wording.quotes)
    start = wording.asking.match(sentence)
    if start:
        first = _named(start)
        rest = sentence[start.end() :]
        # "When x fails, what …?" asks what; "When was it built, and by whom?" asks when.
        condition = first == "when" and not wording.auxiliary.match(rest.lstrip())
        return (condition and _after_comma(rest, wording)) or first
    if wording.auxiliary.match(sentence):
        return "yes/no"
    word = wording.asking.search(sentence)
    return _after_comma(sentence, wording) or (_named(word) if word else "other")


def _read_form(question: str, language: str = ENGLISH) -> RuleLabels:
    if language not in WORDINGS:
        return NOTHING
    found = form(question, language)
    return RuleLabels((found,), "otherwise" if found == "other" else "wording")


def _read_words(question: str, language: str = ENGLISH) -> RuleLabels:
    """All question words in a text as whole words, each once, in the order of `FORMS`."""
    if language not in WORDINGS:
        return NOTHING
    found = {_named(match) for match in WORDINGS[language].asking.finditer(question)}
    return RuleLabels(tuple(word for word in FORMS if word in found), "words" if found else "nothing")


QUESTION_FORM = Taxonomy(
    name="form",
    asks="which word it asks with",
    levels=tuple(Level(name, "") for name in FORMS),
    several=False,
    otherwise="other",
    rules=_read_form,
)
"""The word that a question asks with."""

QUESTION_WORDS = Taxonomy(
    name="words",
    asks="which question words stand in it",
    levels=tuple(Level(name, "") for name in FORMS if name in WORDINGS[ENGLISH].question_words),
    rules=_read_words,
)
"""All question words in a question."""


def _named(match: re.Match[str]) -> str:
    """The form of a matched question word."""
    return str(match.lastgroup)


def _last_sentence(question: str, wording: QuestionWording) -> str:
    parts = [part for part in wording.sentence_end.split(question.strip()) if part.strip()]
    asked = [part for part in parts if part.rstrip(" \"'”)" + wording.closing).endswith("?")]
    return (asked or parts or [""])[-1]


def _after_comma(sentence: str, wording: QuestionWording) -> str:
    """The question word right after a comma (perhaps behind a preposition), the last one of them."""
    found = [_named(match) for match in wording.after_comma.finditer(sentence)]
    return found[-1] if found else ""
