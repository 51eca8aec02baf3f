"""The knowledge dimension of Bloom's revised taxonomy, read off a question's wording.

Source: Krathwohl (2002), table 2: factual knowledge is of terms and single details; conceptual of how they hang
together (classes, principles, models); procedural of how to do something, and when; metacognitive of one's own
thinking. The wordings are ours.
"""

from __future__ import annotations

import re

from taxonomy._lemmas import WORD_PATTERN
from taxonomy._taxonomy import NOTHING, Level, RuleLabels, Taxonomy

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


def knowledge(question: str) -> tuple[str, ...]:
    """The kind of knowledge a question asks for, one of `KNOWLEDGE`; none for a text without a word."""
    return read_knowledge(question).levels


def read_knowledge(question: str) -> RuleLabels:
    """The kind of knowledge a question asks for, and whether a wording gave it."""
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
