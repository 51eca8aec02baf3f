"""The prompt of an exam question: shots, then passages, then the question. Choices are scored as texts, not as letters.

The prompt does not list the choices. Small models complete `Answer:` far better than they pick letters from a list, and
every choice is scored after the same words. Prompts that share shots and passages begin alike and share their encoding.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from examcore import Chunk, Exam, Prompt, Question

EXAM_PROMPT_VERSION = "exam-1"
"""Stored with every answer; change it whenever a prompt changes by a character."""

ANSWER_PREFIX = "Answer:"
NEUTRAL = Prompt(user="Give an answer in a few words.", reply=ANSWER_PREFIX)
"""A prompt without a question: after it, a choice is as likely as its words are on their own."""


@dataclass(frozen=True)
class Shot:
    """A solved question, shown before the exam question; `passage` may be empty.

    `choices` are shown only to examinees that answer by letters.
    """

    stem: str
    answer: str
    passage: str = ""
    choices: tuple[str, ...] = ()


def exam_prompt(question: Question, passages: Sequence[Chunk], shots: Sequence[Shot] = ()) -> Prompt:
    """The prompt of one exam question."""
    return open_question_prompt("in a few words.", question, passages, shots)


def open_question_prompt(how: str, question: Question, passages: Sequence[Chunk], shots: Sequence[Shot]) -> Prompt:
    """The prompt of a question whose choices are not shown; `how` says how to answer it."""
    parts = [f"{passage_and_stem(shot)}\n{ANSWER_PREFIX} {shot.answer}" for shot in shots]
    parts.append(passages_and_stem(question, passages))
    lead = "Read the text and answer" if passages else "Answer"
    return Prompt(user="\n\n".join([f"{lead} the question {how}", *parts]), reply=ANSWER_PREFIX)


def passage_and_stem(shot: Shot) -> str:
    """A solved question without its answer."""
    return _shown(shot.passage and f"Text:\n{shot.passage}", shot.stem)


def passages_and_stem(question: Question, passages: Sequence[Chunk]) -> str:
    """The last part of a prompt: the passages, if any, and the question."""
    parts = (f"Text: {one.title}\n{one.text}" if one.title else f"Text:\n{one.text}" for one in passages)
    return _shown("\n\n".join(parts), question.stem)


def continuation(choice: str) -> str:
    """A choice as the text that follows the prompt."""
    return f" {choice.strip()}"


def draw_shots(
    pool: Sequence[Question], exam: Exam, count: int, *, seed: int = 0, with_passages: bool = False
) -> tuple[Shot, ...]:
    """Draw the shots of a run from a pool that shares no question with the exam.

    A pipeline with fewer shots uses the first ones. Raises ValueError when the pool holds an exam question (same id or
    same stem) or too few questions.
    """
    ids, stems = set(exam.ids), {_plain(question.stem) for question in exam.questions}
    for question in pool:
        if question.id in ids or _plain(question.stem) in stems:
            raise ValueError(f"shots: question {question.id!r} of the pool stands in the exam; wanted a separate pool")
    if count > len(pool):
        raise ValueError(f"shots: the pool holds {len(pool)} questions; wanted at least {count}")
    drawn = random.Random(seed).sample(sorted(pool, key=lambda question: question.id), count)
    return tuple(Shot(one.stem, one.answer, one.context if with_passages else "", one.choices) for one in drawn)


def _shown(above: str, stem: str) -> str:
    return f"{above}\n\nQuestion: {stem}" if above else f"Question: {stem}"


def _plain(stem: str) -> str:
    return " ".join(stem.lower().split())
