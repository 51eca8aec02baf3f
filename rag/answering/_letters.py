"""Answers by letters: the prompt lists the choices, and the model writes the letter of one.

For models that give no log-probabilities of a given text. It does not measure the same as likelihoods: the model sees
the choices side by side, its confidence is unknown, and a reply may name no choice.
"""

from __future__ import annotations

from collections.abc import Sequence

from examcore import Chunk, Prompt, Question
from rag.answering._prompts import ANSWER_PREFIX, Shot, passage_and_stem, passages_and_stem
from rag.answering._tasks import Task

LETTERS_PROMPT_VERSION = "letters-exam-1"
"""Stored with every answer; changes whenever a prompt changes by a character."""
MAX_CHOICES = 26
"""Letters of the alphabet."""


def letters_prompt(question: Question, passages: Sequence[Chunk], shots: Sequence[Shot] = ()) -> Prompt:
    """The prompt of one exam question that is answered with a letter; choices stand in the exam's order."""
    parts = [
        f"{passage_and_stem(shot)}\n{listed_choices(shot.choices)}\n"
        f"{ANSWER_PREFIX} {_letter(shot.choices.index(shot.answer))}"
        for shot in shots
    ]
    parts.append(f"{passages_and_stem(question, passages)}\n{listed_choices(question.choices)}")
    lead = "Read the text and answer" if passages else "Answer"
    instruction = f"{lead} the question with the letter of the right choice alone; guess if you must."
    return Prompt(user="\n\n".join([instruction, *parts]), reply=ANSWER_PREFIX)


def require_letters(tasks: Sequence[Task]) -> None:
    """Raise ValueError naming the first question with more choices than letters."""
    for task in tasks:
        if len(task.question.choices) > MAX_CHOICES:
            raise ValueError(
                f"question {task.question.id!r}: {len(task.question.choices)} choices; wanted at most {MAX_CHOICES} "
                "where letters name them"
            )


def listed_choices(choices: Sequence[str], first: int = 0) -> str:
    """The choices with their letters, one to a line, from the letter of the alphabet that is `first`."""
    return "\n".join(f"{_letter(first + place)}) {choice.strip()}" for place, choice in enumerate(choices))


def _letter(place: int) -> str:
    return chr(ord("A") + place)
