"""What scripted writers reply to requests for a question from a gap and for a question in other words."""

from __future__ import annotations

import re

from examcore import Prompt

MARK = "say, "
"""What a scripted wording begins with; the rest is the question, so that whoever answers that answers this."""


ANSWERABLE = "Does the text answer this question?"
"""What stands in a request to say whether a wording holds."""


SEARCHED = "A person searched for something"
"""What stands in a request for a question about a whole passage."""


def of_passage(asked: str) -> str:
    """A question about a whole passage: its title's."""
    return f" what do people ask of {asked.split(chr(10))[0]}?"


def reworded(prompt: Prompt) -> str | None:
    """The reply to a request for a wording, or to say whether one holds; None for any other."""
    if ANSWERABLE in prompt.user:
        return " Yes"
    if SEARCHED in prompt.user:
        return of_passage(prompt.user)
    if prompt.reply != "In plain words:":
        return None
    stem = prompt.user.rsplit("Exam question: ", 1)[1].strip()
    return f" {MARK}{stem}"


def gap_of(prompt: Prompt) -> tuple[str, str] | None:
    """The statement and the words of its gap in a request for the question that these answer, None for any other."""
    found = re.findall(r"^Statement: (.*)\nThe gap: (.*)$", prompt.user, re.MULTILINE)
    return found[-1] if prompt.reply == "Question:" and found else None
