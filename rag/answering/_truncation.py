"""Prompts too long for a model: passages go, the last first; then the one that is left is cut at its end.

Question, choices and shots are never touched. What is left out depends on the task and the model alone, so that it is
the same whenever and beside whatever the task is asked.
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
"""How a prompt is written from a question, passages and shots."""
SPECIAL_TOKENS = 2
"""Tokens that may stand before and after the text of a prompt."""
CONTINUATION_LEAD = "Answer:"
"""What continuations are weighed behind."""
CHARACTERS_COUNTED_FIRST = 16
"""Of a text with more characters for each token that fits, the beginning is counted first."""
MAX_WORD_CHARACTERS = 40
"""A cut moves back to the last space among so many characters; a script without spaces is cut anywhere."""


class FittedPrompt(NamedTuple):
    """The prompt a model reads, how many of its passages are in it, and how many of their characters are not."""

    prompt: Prompt
    read: int
    cut: int


class PromptFitter:
    """Fits tasks to what one model reads; what was checked last is not fitted again.

    `behind` tells the continuations of a question's prompt, `room` the tokens to write.
    """

    def __init__(
        self, model: LanguageModel, write: WritePrompt, behind: Callable[[Question], Sequence[str]], room: int = 0
    ) -> None:
        self._model, self._write, self._behind, self._room = model, write, behind, room
        self._checked: dict[Hashable, FittedPrompt] = {}

    def check(self, tasks: Sequence[Task]) -> None:
        """Fit all; raises as `fit_passages` does."""
        self._checked = {}
        self._checked = {_key(task): self(task) for task in tasks}

    def __call__(self, task: Task) -> FittedPrompt:
        """The prompt of a task as the model reads it."""
        known = self._checked.get(_key(task))
        return known or fit_passages(task, self._model, self._write, self._behind(task.question), self._room)


def _key(task: Task) -> Hashable:
    """What a prompt is made of, as far as two tasks differ in it."""
    return task.prompt, task.question.choices, task.passages


def fit_passages(
    task: Task, model: LanguageModel, write: WritePrompt, continuations: Sequence[str], room: int = 0
) -> FittedPrompt:
    """The task's prompt, shortened by the rule above as far as the model's context demands.

    The longest of `continuations`, or `room` tokens to write, must fit behind it. Raises ValueError naming the question
    when even the prompt without passages is too long.
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
    """The longest prompt with a passage that fits, of those that are not whole."""

    def prompt(*passages: Chunk) -> Prompt:
        return write(task.question, passages, task.shots)

    lengths = [len(chunk.text) for chunk in task.chunks]
    count = _most(len(task.chunks) - 1, lambda count: fits(prompt(*task.chunks[:count])))
    if count:
        return FittedPrompt(prompt(*task.chunks[:count]), count, sum(lengths[count:]))
    first = task.chunks[0]
    for end in _ends(first.text, lambda end: fits(prompt(_up_to(first, end)))):
        if fits(found := prompt(_up_to(first, end))):
            return FittedPrompt(found, 1, sum(lengths) - end)
    return None


def _most(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits, where all below it do; 0 without any."""
    return bisect_left(range(1, most + 1), True, key=lambda count: not fits(count))


def _ends(text: str, fits: Callable[[int], bool]) -> list[int]:
    """Where to cut a text: at the end of the last word that fits, else after the last character that does."""
    end = _most(len(text), fits)
    if not end:
        return []
    spaces = list(re.finditer(r"\s", text[max(0, end - MAX_WORD_CHARACTERS) : end + 1]))
    word = max(0, end - MAX_WORD_CHARACTERS) + spaces[-1].start() if spaces else 0
    return [one for one in (len(text[:word].rstrip()), end) if one]


def _up_to(chunk: Chunk, end: int) -> Chunk:
    return replace(chunk, text=chunk.text[:end])


class _PromptMeasure:
    """Weighs prompts for a model, with the longest continuation behind each, or with `room` tokens to write."""

    def __init__(self, model: LanguageModel, continuations: Sequence[str], room: int) -> None:
        self._model, self._room, self._most = model, room + SPECIAL_TOKENS, model.context_tokens
        self._continuations = continuations or ("",)
        self._beginning = ("", False)

    def fits(self, prompt: Prompt) -> bool:
        # No tokenizer of ours makes more tokens of a text than it has bytes: most prompts need not be counted.
        text = _rendered(self._model, prompt)
        longest = max(len(one.encode()) for one in self._continuations)
        if len(text.encode()) + longest + self._room <= self._most:
            return True
        return not self._begins_too_long(text) and self._counted(text) <= self._most

    def tokens(self, prompt: Prompt) -> int:
        return self._counted(_rendered(self._model, prompt))

    @cached_property
    def _behind(self) -> str:
        """The continuation of most tokens."""
        return max(self._continuations, key=lambda one: self._model.count_tokens(f"{CONTINUATION_LEAD}{one}"))

    def _counted(self, text: str) -> int:
        return self._model.count_tokens(f"{text}{self._behind}") + self._room

    def _begins_too_long(self, text: str) -> bool:
        """Whether the beginning of a long text is so much too long that the rest need not be counted.

        All cuts of a long passage begin alike: that is counted once.
        """
        beginning = text[: CHARACTERS_COUNTED_FIRST * self._most]
        if len(beginning) == len(text):
            return False
        if beginning != self._beginning[0]:
            self._beginning = (beginning, self._model.count_tokens(beginning) > 2 * self._most)
        return self._beginning[1]


def _rendered(model: LanguageModel, prompt: Prompt) -> str:
    """The text the model reads, as far as it tells."""
    render = getattr(model, "render", None)
    return str(render(prompt)) if render else f"{prompt.system}{prompt.user}{prompt.reply}"
