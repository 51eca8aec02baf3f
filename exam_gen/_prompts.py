"""The prompts that write and check questions; each has a version, which is stored with every question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from examcore import Prompt, Schema

QUESTION_VERSION = "question-1"
GAP_VERSION = "gap-1"
COMPLETION_VERSION = "completion-1"
WORDING_VERSION = "wording-2"
ANSWER_VERSION = "answer-3"
LETTERS_VERSION = "letters-1"
PAPER_VERSION = "paper-1"
JSON_VERSION = "json-2"
PEOPLE_VERSION = "people-1"

GAP = "____"

_QUESTION_SYSTEM = (
    "You write exam questions from single facts. A question names its subject in full, keeps the conditions of the "
    "sentence, makes sense without it and does not contain the answer. The answer is a few words copied from the "
    "sentence."
)
# The examples are about things that corpora seldom treat and hold no personal names, because a small model copies from
# them. The question comes first: a small model that has named the answer first puts it into the question.
_QUESTION_EXAMPLES = (
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
)
_ASKS = re.compile(
    r"^(?:(?:do|does|did|is|are|was|were|can|could|will|would|should|has|have|had)\s+(?:there\s+(?:any\s+|an?\s+)?)?"
    r"|(?:how|why|what|when|where|which|who)\s+(?:do|does|did|is|are|was|were|can|could|will|would|should)\s+)",
    re.IGNORECASE,
)


def subject_of(title: str) -> str:
    """What a title speaks of: a title that is a question loses its form, so that it is not asked again."""
    topic = title.strip()
    return _ASKS.sub("", topic.rstrip("? ")) if topic.endswith("?") else topic.rstrip(".: ")


def question_prompt(title: str, sentence: str) -> Prompt:
    """Ask for a question about the fact that a sentence states, and the answer as it stands there."""
    shown = [f"Topic: {t}\nSentence: {s}\nQuestion: {q}\nAnswer: {a}" for t, s, q, a in _QUESTION_EXAMPLES]
    shown.append(f"Topic: {subject_of(title)}\nSentence: {sentence}")
    return Prompt("\n\n".join(shown), system=_QUESTION_SYSTEM, reply="Question:")


_GAP_SYSTEM = (
    "You turn statements with a gap into questions. The question asks for what fills the gap, does not contain it, "
    "names its subject in full and makes sense without the statement."
)
_GAP_EXAMPLES = (
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
)


def gap_question_prompt(title: str, gapped: str, key: str) -> Prompt:
    """Ask for the question that a key answers, from the statement in which it is a gap."""
    shown = [f"Topic: {t}\nStatement: {s}\nThe gap: {k}\nQuestion: {q}" for t, s, k, q in _GAP_EXAMPLES]
    topic = f"Topic: {subject_of(title)}\n" if title.strip() else ""
    shown.append(f"{topic}Statement: {gapped.strip()}\nThe gap: {key}")
    return Prompt("\n\n".join(shown), system=_GAP_SYSTEM, reply="Question:")


_WORDING_SYSTEM = (
    "You say exam questions in plain everyday words, as a person would ask who needs the same answer. The thing that "
    "is asked about keeps its name; all other words change."
)
# Close in meaning, far in words: looser examples make a small model ask for something else.
_WORDING_EXAMPLES = (
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
    ("What did the randomised trial find about aspirin and colorectal adenomas?", "does aspirin help against polyps?"),
    ("Who recorded the decline of sparrows in London?", "who noticed that London has fewer sparrows?"),
    ("Why are elderly patients given lower doses of digoxin?", "why should old people take less digoxin?"),
)


def wording_prompt(stem: str) -> Prompt:
    """Ask for a question in the words of a person who has never seen the passage."""
    shown = [f"Exam question: {a}\nIn plain words: {b}" for a, b in _WORDING_EXAMPLES]
    return Prompt("\n\n".join([*shown, f"Exam question: {stem}"]), system=_WORDING_SYSTEM, reply="In plain words:")


def search_prompt(title: str, passage: str) -> Prompt:
    """Ask what a person wanted to know who was sent to the passage, as questions are made for documents to search."""
    user = (
        f'{title}\n"""\n{passage}\n"""\n\nA person searched for something and was sent to this text, which helped. In '
        "everyday words of their own, and not those of the text, what was their question? Reply with one short "
        "question."
    )
    return Prompt(user, reply="Question:")


_WRONG_SYSTEM = (
    "You write wrong answers for exam questions. Each is false, believable to someone who does not know the fact, "
    "and has the form and length of the right answer."
)
_WRONG_EXAMPLES = (
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
)


def wrong_answers_prompt(stem: str, key: str) -> Prompt:
    """Ask for four wrong answers like the right one, on one line."""
    shown = [f"Question: {q}\nRight answer: {a}\nWrong answers: {w}" for q, a, w in _WRONG_EXAMPLES]
    shown.append(f"Question: {stem}\nRight answer: {key}")
    return Prompt("\n\n".join(shown), system=_WRONG_SYSTEM, reply="Wrong answers:")


def completion_stem(title: str, gapped: str) -> str:
    """A stem made without a model: the sentence itself, to be completed."""
    return f'{title.rstrip("?.: ")}: which answer completes the statement "{gapped.strip()}"?'


def open_prompt(title: str, passage: str, stem: str) -> Prompt:
    """Ask for the answer with the passage at hand; the likelihood of each choice follows it."""
    user = f'{title}\n"""\n{passage}\n"""\n\nQuestion: {stem}\nAnswer in a few words copied from the text.'
    return Prompt(user, reply="Answer:")


def answerable_prompt(title: str, passage: str, question: str) -> Prompt:
    """Ask whether the passage answers a question."""
    user = f'{title}\n"""\n{passage}\n"""\n\nQuestion: {question}\nDoes the text answer this question? Reply Yes or No.'
    return Prompt(user, reply="Reply:")


def judgment_prompt(title: str, passage: str, stem: str, key: str) -> Prompt:
    """Ask whether the passage makes the key the right and whole answer; the likelihoods of Yes and No follow it."""
    user = (
        f'{title}\n"""\n{passage}\n"""\n\nQuestion: {stem}\nProposed answer: {key}\n'
        "Is this answer correct and complete according to the text? Reply Yes or No."
    )
    return Prompt(user, reply="Reply:")


def statement_prompt(title: str) -> Prompt:
    """Ask for a sentence on a subject; the likelihood of a completed statement follows it."""
    return Prompt(f"Write one sentence about {subject_of(title)}.")


def closed_prompt(stem: str) -> Prompt:
    """Ask for the answer without a passage."""
    return Prompt(f"Question: {stem}\nAnswer in a few words.", reply="Answer:")


def open_letters_prompt(title: str, passage: str, stem: str, candidates: Sequence[str]) -> Prompt:
    """Ask which of the candidates the passage makes right."""
    return Prompt(
        f'{title}\n"""\n{passage}\n"""\n\n{_listed(stem, candidates)}\n'
        "Which candidates answer the question rightly according to the text? "
        "Reply with their letters alone, separated by commas, or with none."
    )


def closed_letters_prompt(stem: str, candidates: Sequence[str]) -> Prompt:
    """Ask for the right one of the candidates without a passage."""
    return Prompt(
        f"{_listed(stem, candidates)}\n"
        "Which candidate answers the question rightly? Reply with its letter alone; guess if you must."
    )


def paper_prompt(title: str, passage: str) -> Prompt:
    """One free-text request for a question with four candidates, in the spirit of the source paper."""
    return Prompt(
        f"Here is some documentation on {title}:\n\n{passage}\n\n"
        "Write one difficult multiple-choice exam question about it. The question must make sense without the "
        "documentation, have four candidates marked A), B), C) and D), and exactly one right answer.\n"
        "Use this layout:\nQuestion: ...\nA) ...\nB) ...\nC) ...\nD) ...\nCorrect Answer: the letter"
    )


def questions_schema(count: int) -> Schema:
    """The shape of a reply with so many questions about one passage."""
    text: Schema = {"type": "string"}
    texts: Schema = {"type": "array", "items": text, "minItems": 3, "maxItems": 3}
    members = {
        "evidence": text,
        "question": text,
        "answer": text,
        "wrong_answers": texts,
        "queries": texts,
        "critique": text,
    }
    question: Schema = {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }
    listed = {"questions": {"type": "array", "items": question, "minItems": count, "maxItems": count}}
    return {"type": "object", "properties": listed, "required": ["questions"], "additionalProperties": False}


def questions_prompt(title: str, passage: str, count: int) -> Prompt:
    """Ask for so many questions about different facts of a passage, each with all that belongs to it, as JSON."""
    many = f"{count} exam questions, each about another fact" if count > 1 else "one exam question about a fact"
    return Prompt(
        f'{title}\n"""\n{passage}\n"""\n\n'
        f"Write {many} of this text that a person with a real problem would want to know. Reply with a JSON object "
        'alone: {"questions": [...]}. Each question has these members:\n'
        '"evidence": the sentence of the text that states the fact, copied word for word\n'
        '"question": asks for the fact; names its subject, makes sense without the text, has one right answer and does '
        "not contain it\n"
        '"answer": the right answer, a few words copied from the evidence\n'
        '"wrong_answers": three answers that are false, of the form and length of the right one, and believed by those '
        "who do not know the fact\n"
        '"queries": three ways in which people who need the answer and have never seen the text would ask for it, in '
        "everyday words of their own: a question, a short search, a colloquial form; none contains the answer\n"
        '"critique": what an examiner would object to (a second right answer, a hint, a missing subject), or "none"'
    )


def _listed(stem: str, candidates: Sequence[str]) -> str:
    lines = [f"{chr(ord('A') + place)}) {text}" for place, text in enumerate(candidates)]
    return "\n".join([f"Question: {stem}", "Candidates:", *lines])
