"""Process levels of Bloom's revised taxonomy, read off a question's verbs.

Source: Anderson and Krathwohl (2001), six levels; keyword lists of the auto-rag-eval paper, table 6. A verb that the
table lists under several levels (to test, to compare, to design…) counts for each of them.
"""

from __future__ import annotations

import functools
import re

LEVELS = ("remember", "understand", "apply", "analyze", "evaluate", "create")
"""The levels from the simplest to the most demanding."""

VERBS: dict[str, frozenset[str]] = {
    level: frozenset(words.split())
    for level, words in {
        "remember": "list identify name define state mention recall label repeat recognize",
        "understand": """explain describe summarize predict interpret paraphrase translate illustrate rephrase clarify
            check find experience suspect review notice assume interact observe understand""",
        "apply": """demonstrate apply use write illustrate solve show execute implement operate practice set configure
            try follow take run serve task read work enable exist""",
        "analyze": """analyze distinguish compare differentiate examine test question inspect debate investigate manage
            optimize troubleshoot resolve""",
        "evaluate": """evaluate rate justify critique decide rank measure validate test assess choose verify monitor
            recommend""",
        "create": """design construct produce invent devise formulate originate assemble generate create develop compose
            implement build customize""",
    }.items()
}
"""Verbs of each level in their dictionary form."""

_SPELLINGS = {"analyse": "analyze", "summarise": "summarize", "optimise": "optimize", "recognise": "recognize"}
_SPELLINGS |= {"customise": "customize"}
_ALL = frozenset().union(*VERBS.values())
_NOUNS = re.compile(r"(?:the|a|an|this|that|these|those|which|what|of|in|for|its|their|your|each|any|no)\s+$", re.I)
_OFTEN_NOUNS = (
    "state name list label measure question test task work use practice set check review experience design produce "
    "rate rank run read debate show find"
)
_AMBIGUOUS = frozenset(_OFTEN_NOUNS.split())
_CLAUSES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?:why|reasons?|causes?|because)\b", re.I), "understand"),
    (re.compile(r"\b(?:how (?:do|does|did|is|are|was|were|would|will))\b", re.I), "understand"),
    (re.compile(r"\b(?:best|most|least|better|worst|appropriate|suitable|should)\b", re.I), "evaluate"),
    (re.compile(r"\b(?:differences?|differs?|relationship|in contrast|whereas|versus|vs)\b", re.I), "analyze"),
    (re.compile(r"\b(?:how (?:can|should|to|could))\b", re.I), "apply"),
)
"""Wordings that name a level where no listed verb does."""


def bloom(question: str) -> tuple[str, ...]:
    """The process levels of a question, simplest first; at least one.

    Verbs are looked up in their dictionary form. A word that is as often a noun (a set, the name) is not counted right
    after an article or the like. Without any listed verb the wording decides (why: understand; most appropriate:
    evaluate…), and a plain question for a fact is `remember`.
    """
    lemmas = {lemma for lemma in _verbs(question) if lemma in _ALL}
    found = {level for level in LEVELS if VERBS[level] & lemmas}
    found = found or {level for pattern, level in _CLAUSES if pattern.search(question)}
    return tuple(level for level in LEVELS if level in found) or ("remember",)


def _verbs(question: str) -> list[str]:
    found = []
    for match in re.finditer(r"[A-Za-z]+(?:'[a-z]+)?", question):
        lemma = _lemma(match.group().lower())
        noun_like = lemma in _AMBIGUOUS and _NOUNS.search(question[: match.start()])
        # Quoted words are names of things, not what the examinee is asked to do.
        quoted = question[match.start() - 1 : match.start()] in {'"', "`", "“", "_", ".", "-"} and match.start() > 0
        # "Which of the following" is how choices are announced, not a task.
        if not noun_like and not quoted and match.group().lower() != "following":
            found.append(lemma)
    return found


@functools.lru_cache(maxsize=50_000)
def _lemma(word: str) -> str:
    """The dictionary form; a form that the lemmatiser keeps loses its ending if that gives a listed verb."""
    import simplemma

    lemma = str(simplemma.lemmatize(word, lang="en")).lower()
    lemma = _SPELLINGS.get(lemma, lemma)
    if lemma in _ALL:
        return lemma
    stems = (re.sub(pattern, ending, word) for pattern, ending in (("(?:s|ed|ing)$", ""), ("(?:es|ed|ing)$", "e")))
    return next((_SPELLINGS.get(stem, stem) for stem in stems if _SPELLINGS.get(stem, stem) in _ALL), lemma)
