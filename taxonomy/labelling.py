"""All labels of a question."""

from __future__ import annotations

from taxonomy.bloom import bloom
from taxonomy.forms import form, question_words


def labels(question: str) -> dict[str, tuple[str, ...]]:
    """The labels of a question's text: `bloom` (process levels), `form` (one), `words` (all question words)."""
    return {"bloom": bloom(question), "form": (form(question),), "words": question_words(question)}
