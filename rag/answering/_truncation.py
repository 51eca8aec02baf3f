"""Shortening prompts that are too long for a model: drop passages from the last, then cut the end of the first.

Question, choices and shots are never touched. What is left out depends only on the task and the model, not on when or
with which other tasks it is asked.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from examcore import Chunk, LanguageModel, Prompt, Question
from rag.answering._prompts import Shot
from rag.answering._tasks import Task

WritePrompt = Callable[[Question, Sequence[Chunk], Sequence[Shot]], Prompt]
"""Writes a prompt from a question, passages and shots."""
SPECIAL_TOKENS = 2
"""Special tokens that may stand before and after the text of a prompt."""
CONTINUATION_LEAD = "Answer:"
"""Continuations are counted in tokens after this text, as they follow it in the prompt."""
CHARACTERS_COUNTED_FIRST = 16
"""If a text has more characters than this per token that fits, its beginning is counted first."""
MAX_WORD_CHARACTERS = 40
"""A cut moves back to a space at most this far away; a script without spaces is cut anywhere."""


class FittedPrompt(NamedTuple):
    """The prompt that a model reads, the number of passages in it, and the number of characters left out."""

    prompt: Prompt
    read: int
    cut: int


class PromptFitter:
    """Shortens tasks to the context of one model; remembers the tasks that were checked last.

    `continuations_of`: the texts that may follow a question's prompt. `room`: tokens to leave for the reply.
    """

    def __init__(
        self,
        model: LanguageModel,
        write: WritePrompt,
        continuations_of: Callable[[Question], Sequence[str]],
        room: int = 0,
    ) -> None:
        self._model, self._write, self._continuations_of, self._room = model, write, continuations_of, room
        self._checked: dict[Hashable, FittedPrompt] = {}

    def check(self, tasks: Sequence[Task]) -> None:
        """Shorten and remember all; raises as `fit_passages` does."""
        self._checked = {}
        self._checked = {_key(task): self(task) for task in tasks}

    def __call__(self, task: Task) -> FittedPrompt:
        """The prompt of a task as the model reads it."""
        known = self._checked.get(_key(task))
        return known or fit_passages(task, self._model, self._write, self._continuations_of(task.question), self._room)


def _key(task: Task) -> Hashable:
    """What distinguishes the prompts of two tasks."""
    return task.prompt, task.question.choices, task.passages


def fit_passages(
    task: Task, model: LanguageModel, write: WritePrompt, continuations: Sequence[str], room: int = 0
) -> FittedPrompt:
    """The task's prompt, shortened as far as the model's context requires.

    The longest of `continuations`, or a reply of `room` tokens, must fit after it. Raises ValueError naming the
    question when even the prompt without passages is too long.
    """
    whole = write(task.question, task.chunks, task.shots)
    scale = _PromptMeasure(model, continuations, room)
    if scale.fits(whole):
        return FittedPrompt(whole, len(task.chunks), 0)
    bare = write(task.question, (), task.shots)
    if not scale.fits(bare):
        raise ValueError(
            f"question {task.question.id!r}: its prompt of {scale.tokens(bare)} tokens exceeds what {model.name} "
            f"reads, even without passages; wanted at most {model.context_tokens} (fewer or shorter shots)"
        )
    return _shortened(task, write, scale.fits) or FittedPrompt(bare, 0, sum(len(chunk.text) for chunk in task.chunks))


def _shortened(task: Task, write: WritePrompt, fits: Callable[[Prompt], bool]) -> FittedPrompt | None:
    """The longest shortened prompt with at least one passage that fits; None if there is none."""

    def prompt(*passages: Chunk) -> Prompt:
        return write(task.question, passages, task.shots)

    lengths = [len(chunk.text) for chunk in task.chunks]
    count = _most(len(task.chunks) - 1, lambda count: fits(prompt(*task.chunks[:count])))
    if count:
        return FittedPrompt(prompt(*task.chunks[:count]), count, sum(lengths[count:]))
    first = task.chunks[0]

    def cut(end: int) -> Prompt:
        return prompt(replace(first, text=first.text[:end]))

    fitting = (end for end in _ends(first.text, lambda end: fits(cut(end))) if fits(cut(end)))
    end = next(fitting, None)
    return None if end is None else FittedPrompt(cut(end), 1, sum(lengths) - end)


def _most(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits, if all smaller ones do; 0 if none fits."""
    return bisect_left(range(1, most + 1), True, key=lambda count: not fits(count))


def _ends(text: str, fits: Callable[[int], bool]) -> list[int]:
    """Where to cut a text: after the last word that fits, else after the last character that fits."""
    end = _most(len(text), fits)
    if not end:
        return []
    spaces = list(re.finditer(r"\s", text[max(0, end - MAX_WORD_CHARACTERS) : end + 1]))
    word = max(0, end - MAX_WORD_CHARACTERS) + spaces[-1].start() if spaces else 0
    return [one for one in (len(text[:word].rstrip()), end) if one]


class _PromptMeasure:
    def __init__(self, model: LanguageModel, continuations: Sequence[str], room: int) -> None:
        self._model, self._room, self._most = model, room + SPECIAL_TOKENS, model.context_tokens
        self._continuations = continuations or ("",)
        self._beginning = ("", False)

    def fits(self, prompt: Prompt) -> bool:
        # No tokenizer makes more tokens of a text than it has bytes, so that most prompts need not be tokenised.
        text = _rendered(self._model, prompt)
        longest = max(len(one.encode()) for one in self._continuations)
        if len(text.encode()) + longest + self._room <= self._most:
            return True
        return not self._begins_too_long(text) and self._counted(text) <= self._most

    def tokens(self, prompt: Prompt) -> int:
        return self._counted(_rendered(self._model, prompt))

    @cached_property
    def _behind(self) -> str:
        return max(self._continuations, key=lambda one: self._model.count_tokens(f"{CONTINUATION_LEAD}{one}"))

    def _counted(self, text: str) -> int:
        return self._model.count_tokens(f"{text}{self._behind}") + self._room

    def _begins_too_long(self, text: str) -> bool:
        """Whether the beginning of a long text is already too long; cuts of a long passage share it."""
        beginning = text[: CHARACTERS_COUNTED_FIRST * self._most]
        if len(beginning) == len(text):
            return False
        if beginning != self._beginning[0]:
            self._beginning = (beginning, self._model.count_tokens(beginning) > 2 * self._most)
        return self._beginning[1]


def _rendered(model: LanguageModel, prompt: Prompt) -> str:
    """The text that the model reads, or its parts for a model that does not tell."""
    render = getattr(model, "render", None)
    return str(render(prompt)) if render else f"{prompt.system}{prompt.user}{prompt.reply}"
