"""What the rules know of English.

The verbs are the keyword lists of the auto-rag-eval paper, table 6. A verb that the table lists under several levels
(to test, to implement, to illustrate) counts for each of them. The wordings are ours.
"""

from __future__ import annotations

from taxonomy._question_wording import QuestionWording
from taxonomy._taxonomy import ENGLISH

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

ENGLISH_WORDING = QuestionWording(
    code=ENGLISH,
    verbs=VERBS,
    spellings={f"{stem}se": f"{stem}ze" for stem in ("analy", "summari", "optimi", "recogni", "customi")},
    endings=(("(?:s|ed|ing)$", ""), ("(?:es|ed|ing)$", "e")),
    before_nouns=frozenset(
        "the a an this that these those which what of in for its their your each any no data".split()  # noqa: SIM905
    ),
    often_nouns=frozenset(
        """state name list label measure question test task work use practice set check review experience design produce
        rate rank run read debate show find""".split()  # noqa: SIM905
    ),
    clauses=(
        ("understand", r"\b(?:why|reasons?|causes?|because)\b"),
        ("understand", r"\b(?:how (?:do|does|did|is|are|was|were|would|will))\b"),
        ("evaluate", r"\b(?:best|most|least|better|worst|appropriate|suitable|should)\b"),
        ("analyze", r"\b(?:differences?|differs?|relationship|in contrast|whereas|versus|vs)\b"),
        ("apply", r"\b(?:how (?:can|should|to|could))\b"),
    ),
    knowledge=(
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
    ),
    question_words={word: word for word in ("what", "which", "how", "why", "when", "where")}
    | {"who": "who|whom|whose"},
    contraction="(?:'s|'re|’s)?",
    auxiliaries=r"(?:is|are|was|were|do|does|did|can|could|will|would|should|may|might|must|has|have|had|am)"
    r"(?:n't|n’t)?\b",
    prepositions="in|on|at|by|for|to|of|with|from",
    joining="and|then|under|through",
    capitals="A-Z",
)
