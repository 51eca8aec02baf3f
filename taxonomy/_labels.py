"""All labels of a question by the rules, and labels from a language model, whose reply is read strictly."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from taxonomy._bloom import KNOWLEDGE_DIMENSION, PROCESS_DIMENSION
from taxonomy._forms import QUESTION_FORM, QUESTION_WORDS
from taxonomy._languages import WORDINGS
from taxonomy._taxonomy import ENGLISH, Taxonomy

TAXONOMIES = (PROCESS_DIMENSION, KNOWLEDGE_DIMENSION, QUESTION_FORM, QUESTION_WORDS)
"""What every question is labelled by."""


def labels(question: str, language: str = ENGLISH) -> dict[str, tuple[str, ...]]:
    """The labels of a question's text by the rules.

    `bloom` (process levels), `knowledge` (one kind), `form` (one), `words` (all question words); nothing in a language
    without rules.
    """
    if language not in WORDINGS:
        return {}
    return {taxonomy.name: taxonomy.read(question, language).levels for taxonomy in TAXONOMIES}


LABEL_PROMPT_VERSION = "taxonomy-1"
"""The version of the prompt."""
LABEL_PROMPT_CHARACTERS = 4000
"""Characters of a question that are shown to the model."""
LABEL_REPLY_TOKENS = 24
"""Room for the names of all levels."""

Ask = Callable[[Sequence[str]], Sequence[str | None]]
"""Prompts to replies, one each; None where the model gave none."""


class ModelLabels(NamedTuple):
    """What a model said of questions: the levels of each, or None.

    `unparsed` replies were no list of levels, `unanswered` prompts got no reply, `clipped` questions were not shown
    whole. `samples` are the first replies that were not understood.
    """

    levels: tuple[tuple[str, ...] | None, ...]
    unparsed: int
    unanswered: int
    clipped: int
    samples: tuple[str, ...]


def label_by_model(taxonomy: Taxonomy, questions: Sequence[str], ask: Ask) -> ModelLabels:
    """Ask a model for the levels of each question (its stem, or stem and choices)."""
    replies = ask([prompt(taxonomy, question) for question in questions])
    levels = tuple(None if reply is None else parse(taxonomy, reply) for reply in replies)
    strange = [reply for reply, found in zip(replies, levels, strict=True) if reply is not None and found is None]
    return ModelLabels(
        levels=levels,
        unparsed=len(strange),
        unanswered=sum(reply is None for reply in replies),
        clipped=sum(len(question) > LABEL_PROMPT_CHARACTERS for question in questions),
        samples=tuple(strange[:3]),
    )


def prompt(taxonomy: Taxonomy, question: str) -> str:
    """The prompt for one question; the definitions come first, so that a server reads them once."""
    wanted = "all levels that apply, separated by commas" if taxonomy.several else "one level"
    return "\n".join(
        [
            f"Classify a question of an exam by {taxonomy.asks}. The levels are:",
            "",
            *(f"- {level.name}: {level.definition}" for level in taxonomy.levels),
            "",
            f'The question:\n"""\n{question[:LABEL_PROMPT_CHARACTERS]}\n"""',
            "",
            f"Do not answer the question: classify it. Name {wanted}, and nothing else: {', '.join(taxonomy.names)}.",
        ]
    )


def parse(taxonomy: Taxonomy, reply: str) -> tuple[str, ...] | None:
    """The levels of a reply, in the taxonomy's order, or None.

    The first line that is not blank must be names of levels and nothing else, in any case, separated by commas or
    `and`; quotes, emphasis, a bullet and a full stop around them are passed over. More than one name is refused where
    a question has one level.
    """
    line = next((one for one in reply.splitlines() if one.strip()), "").casefold()
    line = re.sub(r"^\s*levels?\s*:", "", line)
    known = {name.casefold(): name for name in taxonomy.names}
    whole = _bare(line)
    parts = [whole] if whole in known else [_bare(one) for one in re.split(r"[,;]|\band\b", line)]
    found = {known[one] for one in parts if one in known}
    if not found or any(one not in known for one in parts if one) or (len(found) > 1 and not taxonomy.several):
        return None
    return taxonomy.ordered(found)


def _bare(part: str) -> str:
    return part.strip(" \t.*`'\"“”-_")
