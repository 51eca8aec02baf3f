"""The prompts that write and check questions; each has a version, which is stored with every question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exam_gen.model import Prompt, Schema

STEM_VERSION = "stem-4"
COMPLETION_VERSION = "completion-1"
ANSWER_VERSION = "answer-1"
LETTERS_VERSION = "letters-1"
PAPER_VERSION = "paper-1"
JSON_VERSION = "json-1"

GAP = "____"

_STEM_SYSTEM = (
    "You turn a sentence with a gap into an exam question that asks for what is missing. "
    "Keep the facts of the sentence, name its topic, and do not point to the sentence."
)
# The key is not shown: a small model that sees it asks about it. The examples are about things that corpora seldom
# treat and hold no personal names, because a small model copies from them.
_STEM_EXAMPLES = (
    (
        "Induction motors",
        f"An induction motor draws {GAP} times its rated current while it starts.",
        "a number",
        "How many times its rated current does an induction motor draw while it starts?",
    ),
    (
        "Bee colonies in winter",
        f"The colony survives the cold because the workers form a {GAP} around the queen.",
        "some words",
        "What do the workers of a bee colony form around the queen to survive the cold?",
    ),
)
_MISSING = {
    "number:percent": "a percentage",
    "number:%": "a percentage",
    "number:year": "a year",
    "number:integer": "a number",
    "number:decimal": "a number",
    "name:acronym": "an abbreviation",
    "code:exception": "an exception",
    "code:call": "a function",
    "code:special": "a special method",
    "code:dunder": "a special attribute",
    "code:option": "an option",
    "code:constant": "a constant",
    "code:dotted": "an attribute",
    "code:camel": "a class",
    "code:word": "a keyword or name",
}
_MISSING_CLASS = {
    "number": "a quantity",
    "name": "a proper name",
    "code": "a name or expression",
    "phrase": "some words",
}
_OPENING = {"code": "which", "phrase": "what"}
"""The question word, for the classes where the model otherwise often writes a statement."""
_CLAUSE = re.compile(
    r"^(?:If|When|While|After|Before|In|For|With|Without|Because|Since|Unlike|Although|Though|Despite|Within|By|To|As|Once"
    r"|During|Until|Unless|Under|At|On|From|Using|Given)\b[^,;:]{8,100},(?= )"
)


def stem_prompt(title: str, gapped: str, kind: str) -> Prompt:
    """Ask for the question that the gap in a sentence answers; `kind` is that of the missing span."""
    asked = [*_STEM_EXAMPLES, (title, gapped, _MISSING.get(kind) or _MISSING_CLASS[kind.split(":")[0]], "")]
    shown = [f"Topic: {t}\nSentence: {s}\nMissing: {m}\nQuestion: {q}" for t, s, m, q in asked]
    user = "\n\n".join(shown).removesuffix("\nQuestion: ")
    return Prompt(user, system=_STEM_SYSTEM, reply="Question:" + stem_opening(gapped, kind))


def stem_opening(gapped: str, kind: str) -> str:
    """What the prompt has already written of the question.

    A clause that opens the sentence is kept as it stands: the model then keeps its condition, too.
    """
    word = _OPENING.get(kind.split(":")[0], "")
    clause = _CLAUSE.match(gapped)
    if clause and GAP not in clause.group():
        return f" {clause.group()} {word or 'what'}"
    return f" {word.capitalize()}" if word else ""


def completion_stem(title: str, gapped: str) -> str:
    """A stem made without a model: the sentence itself, to be completed."""
    return f'{title.rstrip("?.: ")}: which answer completes the statement "{gapped.strip()}"?'


def open_prompt(title: str, passage: str, stem: str) -> Prompt:
    """Ask for the answer with the passage at hand; the likelihood of each choice follows it."""
    user = f'{title}\n"""\n{passage}\n"""\n\nQuestion: {stem}\nAnswer in a few words copied from the text.'
    return Prompt(user, reply="Answer:")


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
    user = (
        f"Here is some documentation on {title}:\n\n{passage}\n\n"
        "Write one difficult multiple-choice exam question about it. The question must make sense without the "
        "documentation, have four candidates marked A), B), C) and D), and exactly one right answer.\n"
        "Use this layout:\nQuestion: ...\nA) ...\nB) ...\nC) ...\nD) ...\nCorrect Answer: the letter"
    )
    return Prompt(user)


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
    user = (
        f"Here is some documentation on {title}:\n\n{passage}\n\n"
        "Write one difficult multiple-choice exam question about it. The question must make sense without the "
        "documentation, have four short candidates, and exactly one right answer.\n"
        'Reply with a JSON object alone. Its members are "question", "choices" (a list of the four candidates) and '
        '"answer" (the letter of the right one, from A for the first to D for the last).'
    )
    return Prompt(user)


def _listed(stem: str, candidates: Sequence[str]) -> str:
    lines = [f"{chr(ord('A') + place)}) {text}" for place, text in enumerate(candidates)]
    return "\n".join([f"Question: {stem}", "Candidates:", *lines])
