"""What scripted writers reply to requests for a question from a gap and for a question in other words."""

from __future__ import annotations

import re

from examcore import Prompt

MARK = "say, "
"""What a scripted wording begins with; the rest is the question, so that whoever answers that answers this."""


def reworded(prompt: Prompt) -> str | None:
    """The reply to a request for a wording, None for any other."""
    if prompt.reply != "In plain words:":
        return None
    stem = prompt.user.rsplit("Exam question: ", 1)[1].strip()
    return f" {MARK}{stem}"


def gap_of(prompt: Prompt) -> tuple[str, str] | None:
    """The statement and the words of its gap in a request for the question that these answer, None for any other."""
    found = re.findall(r"^Statement: (.*)\nThe gap: (.*)$", prompt.user, re.MULTILINE)
    return found[-1] if prompt.reply == "Question:" and found else None
