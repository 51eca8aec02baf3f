"""The two dimensions of Bloom's revised taxonomy: process levels by a question's verbs, knowledge by its wording.

Source: Anderson and Krathwohl (2001), six levels; keyword lists of the auto-rag-eval paper, table 6. A verb that the
table lists under several levels (to test, to implement, to illustrate) counts for each of them. The kinds of knowledge
are those of Krathwohl (2002), table 2; their wordings are ours.
"""

from __future__ import annotations

import functools
import re

from taxonomy._taxonomy import LONGEST, NOTHING, WORD_PATTERN, Level, RuleLabels, Taxonomy, lemma

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

_DEFINITIONS = {
    "remember": "to recall or recognise something as it was stated: a fact, a name, a number, a term",
    "understand": "to grasp what is meant: to explain, interpret, summarise, classify, infer or compare",
    "apply": "to carry out or use a procedure in a given situation",
    "analyze": "to take something apart and find how its parts relate to one another and to the whole",
    "evaluate": "to judge by criteria or standards: to check, or to choose what is best",
    "create": "to put elements together into something new: to plan, design or produce it",
}

_SPELLINGS = {f"{stem}se": f"{stem}ze" for stem in ("analy", "summari", "optimi", "recogni", "customi")}
_ALL = frozenset().union(*VERBS.values())
_BEFORE_NOUNS = frozenset(
    "the a an this that these those which what of in for its their your each any no data".split()  # noqa: SIM905
)
_OFTEN_NOUNS = frozenset(
    """state name list label measure question test task work use practice set check review experience design produce
    rate rank run read debate show find""".split()  # noqa: SIM905
)
_CLAUSES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?:why|reasons?|causes?|because)\b", re.I), "understand"),
    (re.compile(r"\b(?:how (?:do|does|did|is|are|was|were|would|will))\b", re.I), "understand"),
    (re.compile(r"\b(?:best|most|least|better|worst|appropriate|suitable|should)\b", re.I), "evaluate"),
    (re.compile(r"\b(?:differences?|differs?|relationship|in contrast|whereas|versus|vs)\b", re.I), "analyze"),
    (re.compile(r"\b(?:how (?:can|should|to|could))\b", re.I), "apply"),
)
"""Wordings that name a level where no listed verb does."""


def bloom(question: str) -> tuple[str, ...]:
    """The process levels of a question, simplest first; none for a text without a word.

    Verbs are looked up in their dictionary form. A word that is as often a noun (a set, the name) is not counted right
    after an article or the like. Without any listed verb the wording decides (why: understand; most appropriate:
    evaluate…), and a plain question for a fact is `remember`.
    """
    return read_bloom(question).levels


def read_bloom(question: str) -> RuleLabels:
    """The process levels of a question, and whether a verb, the wording or neither gave them."""
    if WORD_PATTERN.search(question) is None:
        return NOTHING
    verbs = _listed_verbs(question)
    if verbs:
        return RuleLabels(tuple(level for level in LEVELS if VERBS[level] & verbs), "words")
    worded = {level for pattern, level in _CLAUSES if pattern.search(question)}
    if worded:
        return RuleLabels(tuple(level for level in LEVELS if level in worded), "wording")
    return RuleLabels(("remember",), "otherwise")


PROCESS_DIMENSION = Taxonomy(
    name="bloom",
    asks="what an examinee has to do with what is known in order to answer",
    levels=tuple(Level(name, _DEFINITIONS[name], tuple(sorted(VERBS[name]))) for name in LEVELS),
    otherwise="remember",
    rules=read_bloom,
)
"""The cognitive process dimension of the revised taxonomy."""


def _listed_verbs(question: str) -> set[str]:
    found = set()
    before, end = "", 0
    for match in WORD_PATTERN.finditer(question):
        word = _form(match.group().lower()) if len(match.group()) <= LONGEST else ""
        follows = question[end : match.start()].isspace()
        noun_like = word in _OFTEN_NOUNS and follows and before in _BEFORE_NOUNS
        # Quoted words are names of things, not what the examinee is asked to do.
        quoted = match.start() > 0 and question[match.start() - 1] in '"`“_.-'
        # "Which of the following" is how choices are announced, not a task.
        if word in _ALL and not noun_like and not quoted and match.group().lower() != "following":
            found.add(word)
        before, end = match.group().lower(), match.end()
    return found


@functools.lru_cache(maxsize=50_000)
def _form(word: str) -> str:
    """The dictionary form; a form that the lemmatiser keeps loses its ending if that gives a listed verb."""
    stems = [re.sub(pattern, ending, word) for pattern, ending in (("(?:s|ed|ing)$", ""), ("(?:es|ed|ing)$", "e"))]
    forms = [_SPELLINGS.get(form, form) for form in (lemma(word), *stems)]
    return next((form for form in forms if form in _ALL), forms[0])


KNOWLEDGE = ("factual", "conceptual", "procedural", "metacognitive")
"""The kinds of knowledge from the concrete to the abstract."""

_DEFINITIONS = {
    "factual": "single elements: terms, names, symbols, numbers, dates, details",
    "conceptual": "how elements belong together: kinds and categories, principles, causes, models, structures",
    "procedural": "how to do something: steps, methods, commands, and the criteria for when to use which",
    "metacognitive": "one's own thinking: strategies for learning and solving, and what one knows or does not know",
}

_RULES: tuple[tuple[str, str], ...] = (
    (
        "metacognitive",
        r"\byour own (?:understanding|knowledge|thinking|learning|reasoning|memory|strengths|weaknesses)\b",
    ),
    ("metacognitive", r"\bhow (?:sure|confident|certain) are you\b"),
    ("metacognitive", r"\b(?:learning|study|memory|reading) strateg(?:y|ies)\b"),
    ("factual", r"\bhow (?:many|much|long|often|old|far|fast|large|big|high|deep|wide|frequently)\b"),
    ("factual", r"\b(?:maximum|minimum|default) (?:number|size|length|value|amount|duration)\b"),
    ("factual", r"\b(?:what|which) (?:year|date|day|month|number|percentage|name|term|word|version|value)\b"),
    ("factual", r"^\W*(?:when (?:is|was|were|did)|who|whom|whose|where)\b"),
    ("procedural", r"\bhow (?:can|could|should|to|would you|do (?:you|i|we|one|users?))\b"),
    ("procedural", r"\b(?:steps?|procedures?|algorithms?|techniques?|methods?|instructions)\b"),
    ("procedural", r"\b(?:what|which) (?:command|function|option|setting|tool|operation|action|api)s?\b"),
    ("procedural", r"\b(?:should|must) (?:you|be (?:done|set|used|called|run)|one|users?|administrators?)\b"),
    ("procedural", r"\byou (?:want|need|have|wish|would like|are trying) to\b"),
    ("procedural", r"\bin order to\b|(?:^|[\"“.:])\s*to [a-z]+\b[^,.?:]{0,80},"),
    (
        "conceptual",
        r"\b(?:why|because|causes?|caused by|reasons?|results? (?:in|of|from)|leads? to|effects? of|impact)\b",
    ),
    ("conceptual", r"\b(?:purpose|role|function|benefits?|advantages?|disadvantages?|principles?|concepts?) of\b"),
    (
        "conceptual",
        r"\b(?:differences?|differs?|similar(?:ity|ities)?|in contrast|whereas|compared|relat(?:ionship|ed))\b",
    ),
    ("conceptual", r"\b(?:types?|kinds?|categor(?:y|ies)|class(?:es)?|structures?|models?|theor(?:y|ies)) of\b"),
    ("conceptual", r"\bhow (?:do|does|did|is|are|was|were)\b"),
    ("conceptual", r"\b(?:best )?(?:describes?|explains?|characteri[sz]es?|means?|used for|depends?|based on)\b"),
    ("conceptual", r"\b(?:is|are) (?:an?|the) (?:\w+ ){0,3}(?:grouping|collection|set|kind|type|form|part) of\b"),
)
"""What is tried in turn; the first wording found decides, and a question with none asks for a fact."""

_WORDINGS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _RULES)


def read_knowledge(question: str) -> RuleLabels:
    """The kind of knowledge a question asks for, one of `KNOWLEDGE`, and whether a wording gave it.

    A text without a word has none.
    """
    if WORD_PATTERN.search(question) is None:
        return NOTHING
    found = next((kind for kind, pattern in _WORDINGS if pattern.search(question)), None)
    return RuleLabels((found,), "wording") if found else RuleLabels(("factual",), "otherwise")


KNOWLEDGE_DIMENSION = Taxonomy(
    name="knowledge",
    asks="what kind of knowledge the answer takes",
    levels=tuple(Level(name, _DEFINITIONS[name]) for name in KNOWLEDGE),
    several=False,
    otherwise="factual",
    rules=read_knowledge,
)
"""The knowledge dimension of the revised taxonomy."""
