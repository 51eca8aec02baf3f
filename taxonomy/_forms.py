"""The form of a question: the question word it asks with."""

from __future__ import annotations

import re

from taxonomy._taxonomy import Level, RuleLabels, Taxonomy

FORMS = ("what", "which", "how", "why", "when", "where", "who", "yes/no", "other")
"""The forms, question words first."""

_WORDS = {word: word for word in FORMS[:7]} | {"whom": "who", "whose": "who"}
_ASKED = "|".join(_WORDS)
_ASKING = re.compile(rf"(?<![\w'\"`“‘])({_ASKED})(?:'s|'re|’s)?(?![\w\"`”])", re.I)
_HEADING = re.compile(
    r"\A(?:[^\"“”]|\"[^\"]*\"|“[^”]*”)*?:\s+"
    rf"(?=(?:(?:in|on|at|by|for|to|of|with|from)\s+)?(?:{_ASKED})\b)",
    re.I,
)
_AUXILIARY = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|may|might|must|has|have|had|am)(?:n't|n’t)?\b", re.I
)


def form(question: str) -> str:
    """One of `FORMS`: the word the question itself asks with, matched as a whole word ("show" holds no "how").

    The last sentence is looked at. What stands before a colon and a question word is its heading ("Is x healthy: which
    statement …"); a leading clause ("When x happens, what …") does not count if a later part asks.
    """
    sentence = _HEADING.sub("", _last_sentence(question), count=1).lstrip(" \"'“‘(")
    start = _ASKING.match(sentence)
    if start:
        first = _WORDS[start.group(1).lower()]
        rest = sentence[start.end() :]
        # "When x fails, what …?" asks what; "When was it built, and by whom?" asks when.
        condition = first == "when" and not _AUXILIARY.match(rest.lstrip())
        return (condition and _after_comma(rest)) or first
    if _AUXILIARY.match(sentence):
        return "yes/no"
    word = _ASKING.search(sentence)
    return _after_comma(sentence) or (_WORDS[word.group(1).lower()] if word else "other")


def _read_form(question: str) -> RuleLabels:
    found = form(question)
    return RuleLabels((found,), "otherwise" if found == "other" else "wording")


def _read_words(question: str) -> RuleLabels:
    """All question words in a text as whole words, each once, in the order of `FORMS`."""
    found = {_WORDS[match.group(1).lower()] for match in _ASKING.finditer(question)}
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
    levels=tuple(Level(name, "") for name in FORMS if name in _WORDS),
    rules=_read_words,
)
"""All question words in a question."""


def _last_sentence(question: str) -> str:
    parts = [part for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\"“(])", question.strip()) if part.strip()]
    asked = [part for part in parts if part.rstrip(" \"'”)").endswith("?")]
    return (asked or parts or [""])[-1]


def _after_comma(sentence: str) -> str:
    """The question word right after a comma (perhaps behind a preposition), the last one of them."""
    between = r"(?:(?:and|then|in|on|at|by|for|to|of|with|from|under|through)\s+)?"
    found = re.findall(rf",\s+{between}({_ASKED})\b", sentence, re.I)
    return _WORDS[found[-1].lower()] if found else ""
