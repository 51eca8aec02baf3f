"""The prompts of graders: answer from a passage, rate it, verify an answer; each has a version, stored with the grades.

The wording is our own; the tasks are those of EXAM++ (Farzi and Dietz 2024, Table 2).
"""

from __future__ import annotations

from typing import Literal

from examcore import Prompt
from grading._records import BankQuestion

QA_VERSION = "qa-1"
RATING_VERSION = "rating-1"
NUGGET_VERSION = "nugget-rating-1"
VERIFY_VERSION = "verify-1"

Verify = Literal["words", "model"]
"""How an answer is compared with the key: by the word rule, or also by the model if the word rule rejects it."""


_RATING = """Rate how well the text below, taken by itself, answers the question.
5: it answers it fully and correctly
4: it answers nearly all of it, with small gaps
3: it answers part of it, with clear gaps
2: it touches the question, and most of the answer is missing
1: hardly anything in it helps to answer
0: nothing in it helps to answer
Use only what the text says. Reply with one number from 0 to 5."""

_NUGGET = """Rate how well the text below, taken by itself, states the fact.
5: it states the fact clearly and in full
4: it states nearly all of it; a detail is missing
3: it states a part of it, or states it loosely
2: it touches on it, and much is missing or different
1: it hardly hints at it
0: it says nothing of it
Use only what the text says. Reply with one number from 0 to 5."""

_QA = (
    "Answer the question with what the text below says, and nothing else. Give the shortest complete answer, in the "
    "words of the text where possible. If the text does not hold the answer, reply: unanswerable"
)


def rating_prompt(question: str, passage: str) -> Prompt:
    """Ask how well a passage answers a question, from 0 to 5."""
    return Prompt(user=f"{_RATING}\n\n{_text(passage)}\n\nQuestion: {question}", reply="Rating:")


def nugget_prompt(nugget: str, passage: str) -> Prompt:
    """Ask how fully a passage states a nugget, from 0 to 5 (the scale of RUBRIC's nuggets, Farzi and Dietz 2024)."""
    return Prompt(user=f"{_NUGGET}\n\n{_text(passage)}\n\nFact: {nugget}", reply="Rating:")


def qa_prompt(question: str, passage: str) -> Prompt:
    """Ask for the answer to a question from a passage alone, or "unanswerable"."""
    return Prompt(user=f"{_QA}\n\n{_text(passage)}\n\nQuestion: {question}", reply="Answer:")


def verify_prompt(question: BankQuestion, answer: str) -> Prompt:
    """Ask whether an answer says the same as the key."""
    joint = " and " if question.combine == "and" else " or "
    key = joint.join(f'"{one.text}"' for one in question.answers)
    return Prompt(
        user=f"Question: {question.question}\nRight answer: {key}\nGiven answer: {answer!r}\n\n"
        "Does the given answer say the same as the right answer to this question? Reply with Yes or No.",
        reply="Reply:",
    )


def quoted_answer(answer: str) -> str:
    """An answer without the mark that ends it in a prompt."""
    return answer.replace("</answer>", "").strip()


def _text(passage: str) -> str:
    return f"Text:\n{passage}"
