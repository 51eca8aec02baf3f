"""The prompts that write and check questions; each has a version, which is stored with every question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from examcore import Prompt, Schema

QUESTION_VERSION = "question-1"
COMPLETION_VERSION = "completion-1"
ANSWER_VERSION = "answer-3"
LETTERS_VERSION = "letters-1"
PAPER_VERSION = "paper-1"
JSON_VERSION = "json-1"

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
    layout = "Use this layout:\nQuestion: ...\nA) ...\nB) ...\nC) ...\nD) ...\nCorrect Answer: the letter"
    return _whole_question(title, passage, "four candidates marked A), B), C) and D)", layout)


QUESTION_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "choices": {"type": "array", "items": {"type": "string"}, "minItems": 4, "maxItems": 4},
        "answer": {"type": "string", "enum": ["A", "B", "C", "D"]},
    },
    "required": ["question", "choices", "answer"],
    "additionalProperties": False,
}
"""The shape of a question written as JSON."""


def json_prompt(title: str, passage: str) -> Prompt:
    """One request for a question as a JSON object."""
    layout = (
        'Reply with a JSON object alone. Its members are "question", "choices" (a list of the four candidates) and '
        '"answer" (the letter of the right one, from A for the first to D for the last).'
    )
    return _whole_question(title, passage, "four short candidates", layout)


def _whole_question(title: str, passage: str, candidates: str, layout: str) -> Prompt:
    return Prompt(
        f"Here is some documentation on {title}:\n\n{passage}\n\n"
        "Write one difficult multiple-choice exam question about it. The question must make sense without the "
        f"documentation, have {candidates}, and exactly one right answer.\n{layout}"
    )


def _listed(stem: str, candidates: Sequence[str]) -> str:
    lines = [f"{chr(ord('A') + place)}) {text}" for place, text in enumerate(candidates)]
    return "\n".join([f"Question: {stem}", "Candidates:", *lines])
