"""Prompts too long for a model: passages go, the last first; then the one that is left is cut at its end.

Question, choices and shots are never touched. What is left out depends on the task and the model alone, so that it is
the same whenever and beside whatever the task is asked.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from exam_gen.model import LanguageModel, Prompt
from exam_gen.records import Chunk, Question
from rag.prompts import Shot
from rag.tasks import Task

Write = Callable[[Question, Sequence[Chunk], Sequence[Shot]], Prompt]
"""How a prompt is written from a question, passages and shots."""
OPENING = 2
"""Tokens that may stand before and after the text of a prompt."""
LONGEST_WORD = 40
"""A cut moves back to the last space among so many characters; a script without spaces is cut anywhere."""


class Fitted(NamedTuple):
    """The prompt a model reads, how many of its passages are in it, and how many of their characters are not."""

    prompt: Prompt
    read: int
    cut: int


def fit(task: Task, model: LanguageModel, write: Write, continuations: Sequence[str], room: int = 0) -> Fitted:
    """The task's prompt, shortened by the rule above as far as the model's context demands.

    The longest of `continuations`, or `room` tokens to write, must fit behind it. Raises ValueError naming the question
    when even the prompt without passages is too long.
    """
    if found := _shortened(task, write, lambda prompt: _fits(model, prompt, continuations, room)):
        return found
    tokens = _tokens(model, write(task.question, (), task.shots), continuations, room)
    raise ValueError(
        f"question {task.question.id!r}: its prompt of {tokens} tokens exceeds what {model.name} reads, even without "
        f"passages; wanted at most {model.context_tokens} (fewer or shorter shots)"
    )


def _shortened(task: Task, write: Write, fits: Callable[[Prompt], bool]) -> Fitted | None:
    lengths = [len(chunk.text) for chunk in task.chunks]
    for count in range(len(task.chunks), 0, -1):
        prompt = write(task.question, task.chunks[:count], task.shots)
        if fits(prompt):
            return Fitted(prompt, count, sum(lengths[count:]))
    if task.chunks:
        first = task.chunks[0]
        for end in _ends(first.text, lambda end: fits(write(task.question, [_up_to(first, end)], task.shots))):
            prompt = write(task.question, [_up_to(first, end)], task.shots)
            if fits(prompt):
                return Fitted(prompt, 1, sum(lengths) - end)
    prompt = write(task.question, (), task.shots)
    return Fitted(prompt, 0, sum(lengths)) if fits(prompt) else None


def _ends(text: str, fits: Callable[[int], bool]) -> list[int]:
    """Where to cut a text: at the end of the last word that fits, else after the last character that does."""
    end = bisect_left(range(1, len(text) + 1), True, key=lambda count: not fits(count))
    if not end:
        return []
    spaces = list(re.finditer(r"\s", text[max(0, end - LONGEST_WORD) : end + 1]))
    word = max(0, end - LONGEST_WORD) + spaces[-1].start() if spaces else 0
    return [one for one in (len(text[:word].rstrip()), end) if one]


def _up_to(chunk: Chunk, end: int) -> Chunk:
    return replace(chunk, text=chunk.text[:end])


def _fits(model: LanguageModel, prompt: Prompt, continuations: Sequence[str], room: int) -> bool:
    # No tokenizer of ours makes more tokens of a text than it has bytes: most prompts need not be counted.
    longest = max((len(one.encode()) for one in continuations), default=0)
    if len(_rendered(model, prompt).encode()) + longest + room + OPENING <= model.context_tokens:
        return True
    return _tokens(model, prompt, continuations, room) <= model.context_tokens


def _tokens(model: LanguageModel, prompt: Prompt, continuations: Sequence[str], room: int) -> int:
    text = _rendered(model, prompt)
    return max(model.count_tokens(f"{text}{one}") for one in continuations or ("",)) + room + OPENING


def _rendered(model: LanguageModel, prompt: Prompt) -> str:
    """The text the model reads, as far as it tells."""
    render = getattr(model, "render", None)
    return str(render(prompt)) if render else f"{prompt.system}{prompt.user}{prompt.reply}"
