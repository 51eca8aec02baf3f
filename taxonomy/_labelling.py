"""All labels of a question."""

from __future__ import annotations

from taxonomy._bloom import PROCESS_DIMENSION
from taxonomy._forms import QUESTION_FORM, QUESTION_WORDS
from taxonomy._knowledge import KNOWLEDGE_DIMENSION

TAXONOMIES = (PROCESS_DIMENSION, KNOWLEDGE_DIMENSION, QUESTION_FORM, QUESTION_WORDS)
"""What every question is labelled by."""


def labels(question: str) -> dict[str, tuple[str, ...]]:
    """The labels of a question's text by the rules.

    `bloom` (process levels), `knowledge` (one kind), `form` (one), `words` (all question words).
    """
    return {taxonomy.name: taxonomy.read(question).levels for taxonomy in TAXONOMIES}
