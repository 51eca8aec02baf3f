"""Prompts without an answer: which examinee, which questions, and why, in one line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from examcore import counted

MAX_REASONS = 3
"""A summary names at most this many reasons and counts the rest."""
MAX_QUESTIONS = 3
"""A summary names at most this many questions for each reason."""


class FailedPrompts:
    """Prompts that got no answer, by examinee and reason."""

    def __init__(self) -> None:
        self._questions: dict[tuple[str, str], list[str]] = {}
        self._reasons: dict[tuple[str, str], str] = {}

    def __len__(self) -> int:
        return sum(map(len, self._questions.values()))

    def add(self, examinee: str, question: str, reason: str) -> None:
        """Count a prompt about a question, by its id, that `examinee` did not answer."""
        # Reasons that differ only in numbers count as one; the first of them is shown.
        kind = self._reasons.setdefault((examinee, re.sub(r"\d+", "0", reason)), reason)
        self._questions.setdefault((examinee, kind), []).append(question)

    def summary(self) -> str:
        """All of them in one line: `2 prompts got no answer: box (http://...), questions q3, q7: status 500`."""
        ranked = sorted(self._questions.items(), key=lambda one: -len(one[1]))
        shown = [f"{one}, {question_list(questions)}: {reason}" for (one, reason), questions in ranked[:MAX_REASONS]]
        rest = sum(len(questions) for _, questions in ranked[MAX_REASONS:])
        more = [f"{rest} for other reasons"] if rest else []
        return f"{counted(len(self), 'prompt')} got no answer: {'; '.join([*shown, *more])}"


def question_list(questions: Sequence[str]) -> str:
    """`question q1`, `questions q1, q2`, `questions q1, q2, q3 and 9 more`: each id once."""
    ids = list(dict.fromkeys(questions))
    more = f" and {len(ids) - MAX_QUESTIONS} more" if len(ids) > MAX_QUESTIONS else ""
    return f"question{'s' if len(ids) > 1 else ''} {', '.join(ids[:MAX_QUESTIONS])}{more}"
