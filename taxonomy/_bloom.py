"""The two dimensions of Bloom's revised taxonomy: process levels by a question's verbs, knowledge by its wording.

Source: Anderson and Krathwohl (2001), six levels; Krathwohl (2002), table 2, the kinds of knowledge. Verbs and wordings
are those of the question's language.
"""

from __future__ import annotations

from taxonomy._english import VERBS
from taxonomy._languages import WORDINGS
from taxonomy._question_wording import QuestionWording
from taxonomy._taxonomy import ENGLISH, LONGEST, NOTHING, WORD_PATTERN, Level, RuleLabels, Taxonomy

LEVELS = ("remember", "understand", "apply", "analyze", "evaluate", "create")
"""The levels from the simplest to the most demanding."""

_PROCESSES = {
    "remember": "to recall or recognise something as it was stated: a fact, a name, a number, a term",
    "understand": "to grasp what is meant: to explain, interpret, summarise, classify, infer or compare",
    "apply": "to carry out or use a procedure in a given situation",
    "analyze": "to take something apart and find how its parts relate to one another and to the whole",
    "evaluate": "to judge by criteria or standards: to check, or to choose what is best",
    "create": "to put elements together into something new: to plan, design or produce it",
}


def bloom(question: str, language: str = ENGLISH) -> tuple[str, ...]:
    """The process levels of a question, simplest first; none for a text without a word, or in a language without rules.

    Verbs are looked up in their dictionary form. A word that is as often a noun (a set, the name) is not counted right
    after an article or the like. Without any listed verb the wording decides (why: understand; most appropriate:
    evaluate…), and a plain question for a fact is `remember`.
    """
    return read_bloom(question, language).levels


def read_bloom(question: str, language: str = ENGLISH) -> RuleLabels:
    """The process levels of a question, and whether a verb, the wording or neither gave them."""
    wording = WORDINGS.get(language)
    if wording is None or WORD_PATTERN.search(question) is None:
        return NOTHING
    verbs = _listed_verbs(question, wording)
    if verbs:
        return RuleLabels(tuple(level for level in LEVELS if wording.reduced_verbs[level] & verbs), "words")
    worded = {level for level, pattern in wording.level_patterns if pattern.search(question)}
    if worded:
        return RuleLabels(tuple(level for level in LEVELS if level in worded), "wording")
    return RuleLabels(("remember",), "otherwise")


PROCESS_DIMENSION = Taxonomy(
    name="bloom",
    asks="what an examinee has to do with what is known in order to answer",
    levels=tuple(Level(name, _PROCESSES[name], tuple(sorted(VERBS[name]))) for name in LEVELS),
    otherwise="remember",
    rules=read_bloom,
)
"""The cognitive process dimension of the revised taxonomy."""


def _listed_verbs(question: str, wording: QuestionWording) -> set[str]:
    found = set()
    before, end = "", 0
    for match in wording.word_pattern.finditer(question):
        word = wording.reduce(match.group().lower()) if len(match.group()) <= LONGEST else ""
        gap = question[end : match.start()]
        follows = gap.isspace() or before.endswith("'")
        noun_like = word in wording.reduced_nouns and follows and before in wording.before_nouns
        inside = bool(before) and not set(gap) & set(".!?:")
        noun = wording.nouns_are_capitalised and inside and match.group()[0].isupper()
        # Quoted words are names of things, not what the examinee is asked to do.
        quoted = gap.endswith(tuple('"`“_.-')) or gap.rstrip().endswith(tuple(wording.quotes))
        # "Which of the following" is how choices are announced, not a task.
        announced = match.group().lower() == "following"
        if word in wording.known and not (noun_like or noun or quoted or announced):
            found.add(word)
        before, end = match.group().lower().replace("’", "'"), match.end()
    return found


KNOWLEDGE = ("factual", "conceptual", "procedural", "metacognitive")
"""The kinds of knowledge from the concrete to the abstract."""

_KINDS = {
    "factual": "single elements: terms, names, symbols, numbers, dates, details",
    "conceptual": "how elements belong together: kinds and categories, principles, causes, models, structures",
    "procedural": "how to do something: steps, methods, commands, and the criteria for when to use which",
    "metacognitive": "one's own thinking: strategies for learning and solving, and what one knows or does not know",
}


def read_knowledge(question: str, language: str = ENGLISH) -> RuleLabels:
    """The kind of knowledge a question asks for, one of `KNOWLEDGE`, and whether a wording gave it.

    A text without a word has none, nor has one in a language without rules. The first wording found decides, and a
    question with none asks for a fact.
    """
    wording = WORDINGS.get(language)
    if wording is None or WORD_PATTERN.search(question) is None:
        return NOTHING
    found = next((kind for kind, pattern in wording.knowledge_patterns if pattern.search(question)), None)
    return RuleLabels((found,), "wording") if found else RuleLabels(("factual",), "otherwise")


KNOWLEDGE_DIMENSION = Taxonomy(
    name="knowledge",
    asks="what kind of knowledge the answer takes",
    levels=tuple(Level(name, _KINDS[name]) for name in KNOWLEDGE),
    several=False,
    otherwise="factual",
    rules=read_knowledge,
)
"""The knowledge dimension of the revised taxonomy."""
