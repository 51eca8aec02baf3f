"""English: prompts, and the words by which rules read English texts."""

from __future__ import annotations

import re

from exam_gen.language._english_references import REFERENCES, UNNAMED
from exam_gen.language._english_sentences import leans
from exam_gen.language._exam_language import GAP, ExamLanguage, WriterPrompts
from exam_gen.language._tagging import dangling, is_nominal, phrases

# In the examples the question comes first: a small model that has named the answer first puts it into the question.
# Wordings are close in meaning, far in words: looser examples make a small model ask for something else.
_PROMPTS = WriterPrompts(
    version="1",
    topic="Topic:",
    sentence="Sentence:",
    question="Question:",
    answer="Answer:",
    statement="Statement:",
    gap="The gap:",
    exam_question="Exam question:",
    plain_words="In plain words:",
    right_answer="Right answer:",
    wrong_answers="Wrong answers:",
    proposed_answer="Proposed answer:",
    reply="Reply:",
    yes="Yes",
    no="No",
    question_system=(
        "You write exam questions from single facts. A question names its subject in full, keeps the conditions of the "
        "sentence, makes sense without it and does not contain the answer. The answer is a few words copied from the "
        "sentence."
    ),
    crossing="The sentence is in another language; question and answer are in English.",
    gap_system=(
        "You turn statements with a gap into questions. The question asks for what fills the gap, does not contain it, "
        "names its subject in full and makes sense without the statement."
    ),
    wording_system=(
        "You say exam questions in plain everyday words, as a person would ask who needs the same answer. The thing "
        "that is asked about keeps its name; all other words change."
    ),
    wrong_system=(
        "You write wrong answers for exam questions. Each is false, believable to someone who does not know the fact, "
        "and has the form and length of the right answer."
    ),
    search_request="A person searched for something and was sent to this text, which helped. In everyday words of "
    "their own, and not those of the text, what was their question? Reply with one short question.",
    open_request="Answer in a few words copied from the text.",
    answerable_request="Does the text answer this question? Reply Yes or No.",
    judgment_request="Is this answer correct and complete according to the text? Reply Yes or No.",
    about="Write one sentence about {title}.",
    closed_request="Answer in a few words.",
    completion='{title}: which answer completes the statement "{statement}"?',
    question_examples=(
        (
            "Induction motors",
            "An induction motor draws six times its rated current while it starts.",
            "How much current does an induction motor draw while it starts?",
            "six times its rated current",
        ),
        (
            "tar",
            "If the option is omitted, tar writes the archive to standard output.",
            "Where does tar write the archive if the option is omitted?",
            "to standard output",
        ),
        (
            "bees survive the winter",
            "The colony survives the cold because the workers form a cluster around the queen.",
            "What do the workers of a bee colony form to survive the cold?",
            "a cluster around the queen",
        ),
    ),
    gap_examples=(
        (
            "Induction motors",
            f"An induction motor draws {GAP} while it starts.",
            "six times its rated current",
            "How much current does an induction motor draw while it starts?",
        ),
        (
            "tar",
            f"If the option -f is omitted, tar writes the archive to {GAP}.",
            "standard output",
            "Where does tar write the archive if the option -f is omitted?",
        ),
        (
            "Wintering of bees",
            f"The colony survives the cold because {GAP} form a cluster around the queen.",
            "the workers",
            "Which bees form a cluster around the queen when it is cold?",
        ),
        (
            "Scurvy",
            f"In 1747 a trial on board a ship showed that {GAP} cures scurvy.",
            "citrus fruit",
            "Which food was shown to cure scurvy in the trial of 1747?",
        ),
        (
            "Tenancies in Ontario",
            f"A tenant who leaves without notice owes {GAP} of rent.",
            "two months",
            "How much rent does a tenant in Ontario owe who leaves without notice?",
        ),
    ),
    wording_examples=(
        (
            "How much current does an induction motor draw while it starts?",
            "how many amps does an AC motor pull when switched on?",
        ),
        (
            "Where does tar write the archive if the option -f is omitted?",
            "tar without a file name, where does the output go?",
        ),
        ("What do the workers of a bee colony form to survive the cold?", "how do honeybees stay warm in winter?"),
        ("Which vitamin deficiency causes scurvy?", "what is missing in the diet of someone who gets scurvy?"),
        (
            "What is the minimum notice period for terminating a residential lease in Ontario?",
            "how early must a tenant in Ontario say that he moves out?",
        ),
        (
            "What did the randomised trial find about aspirin and colorectal adenomas?",
            "does aspirin help against polyps?",
        ),
        ("Who recorded the decline of sparrows in London?", "who noticed that London has fewer sparrows?"),
        ("Why are elderly patients given lower doses of digoxin?", "why should old people take less digoxin?"),
    ),
    wrong_examples=(
        (
            "How much current does an induction motor draw while it starts?",
            "six times its rated current",
            "half its rated current; ten times its idle current; twice its braking current; exactly its rated current",
        ),
        (
            "What do the workers of a bee colony form to survive the cold?",
            "a cluster around the queen",
            "a wall at the entrance; a chain between the combs; a ring below the honey; a layer over the brood",
        ),
    ),
)

ENGLISH_MODULE = ExamLanguage(
    code="en",
    prompts=_PROMPTS,
    question_word=re.compile(r"\b(?:what|which|who|whom|whose|where|when|why|how)\b", re.IGNORECASE),
    yes_no=re.compile(
        r"^(?:is|are|was|were|do|does|did|can|could|will|would|should|must|may|might|has|have|had)\b", re.IGNORECASE
    ),
    first_person=re.compile(r"\b(?:I|we|our|us|my|you|your)\b"),
    mentions_text=re.compile(
        r"\b(?:the|this|that|given|above|following) (?:sentence|text|passage|paragraph|document|documentation|article"
        r"|paper|study|abstract|context(?! of)|section|topic|fact|excerpt|quote)\b|\b(?:these|those)\b|\bmentioned\b"
        r"|____",
        re.IGNORECASE,
    ),
    open_ended=re.compile(
        r"\b(?:give|name) an? |\bwhat (?:is|are|was|were) (?:an? (?:example|important|common|key|main|major|popular)"
        r"|some|one of|the main (?:focus|topic|goal|purpose|idea)|the (?:significance|importance|nature))\b",
        re.IGNORECASE,
    ),
    asks=re.compile(
        r"^(?:(?:do|does|did|is|are|was|were|can|could|will|would|should|has|have|had)\s+(?:there\s+(?:any\s+"
        r"|an?\s+)?)?|(?:how|why|what|when|where|which|who)\s+(?:do|does|did|is|are|was|were|can|could|will|would"
        r"|should)\s+)",
        re.IGNORECASE,
    ),
    references=REFERENCES,
    unnamed=UNNAMED,
    dangling=dangling,
    leans=leans,
    articles=frozenset(["a", "an", "the"]),
    open_end=re.compile(r"\b(?:and|or|the|a|an|of|to|in|for|with|by|that|which|is|are)$"),
    joins="and|or",
    negation=re.compile(r"\b(?:no|not|never|none|neither|nor|cannot|without)\b|n['’]t\b", re.IGNORECASE),
    condition=re.compile(r"(?<!as )(?<!even )\bif\b(?! (?:any|possible|necessary)\b)|\bunless\b", re.IGNORECASE),
    conditional=re.compile(
        r"\b(?:if|unless|when|whenever|while|where|until|once|after|before|during|without|otherwise|in case"
        r"|(?:for|on|upon|with|by|in)(?!\s*\?))\b",
        re.IGNORECASE,
    ),
    denial=re.compile(
        r"\b(?:no|not|none|never|without|only|limited|minimal|little|few(?:er)?|less|lower|lack(?:ing)?"
        r"|decreas(?:e[ds]?|ing)|reduc(?:e[ds]?|ing))\b"
    ),
    catch_all=re.compile(
        r"\b(?:all|none|any|both|neither|each|either|some)\s+(?:of\s+)?(?:the\s+)?(?:above|these|those|them|other"
        r"|others|options|choices|answers|listed|mentioned|given|following)\b|^(?:both|neither"
        r"|either)\s+\(?[A-D]\)?\s+(?:and|n?or)\b|^\(?[A-D]\)?\s+(?:and|&)\s+\(?[A-D]\)?\.?$|^(?:all|both|neither)\.?$"
        r"|\b(?:cannot|can't|not)\s+be\s+determined\b|^(?:not\s+(?:mentioned|specified|given|stated)"
        r"|i\s+don'?t\s+know)\b",
        re.I,
    ),
    marked=re.compile(
        r"\b(?:correct|right|wrong|incorrect)\s+(?:answer|choice|option)\b|\((?:correct|incorrect|wrong)\)|[✓✔✅❌]"
        r"|^\s*[(\[]?[A-Da-d][).\]]\s|\bexplanation\s*:|\banswer\s*:",
        re.I,
    ),
    evades=re.compile(
        r"\b(?:wrong|incorrect|irrelevant|unrelated|not (?:related|relevant|a|an|the|in)|context|completion|statement"
        r"|answer|question|sentence|option|none|unknown)\b",
        re.IGNORECASE,
    ),
    units=(
        "percent|million|billion|thousand|bytes?|bits?|KB|MB|GB|TB|kg|g|mg|km|cm|mm|m|seconds?|minutes?|hours?"
        "|days?|weeks?"
        "|months?|years?|characters?|points?|times|people|degrees?|dollars?"
    ),
    months="January|February|March|April|May|June|July|August|September|October|November|December",
    phrases=phrases,
    names_thing=is_nominal,
)
"""What is known of English, of which the tagger tells the parts of speech."""
