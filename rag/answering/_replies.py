"""Language models that write their answers: a letter, or the answer in their own words.

For letters the prompt lists the choices, and the reply names one. In their own words models are sent the question
alone, with its passages, and may say that they do not know. Neither measures the same as likelihoods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from examcore import (
    LanguageModel,
    Likelihoods,
    NoReply,
    ReplyOptions,
    replies_of,
)
from rag.answering._choice_parsing import CHOICE_PARSING_VERSION, read_choice
from rag.answering._examinees import TaskAnswer, TaskFailure, timed
from rag.answering._free_text import (
    FREE_TEXT_PROMPT_VERSION,
    FREE_TEXT_READING_VERSION,
    free_text_prompt,
    read_free_text,
)
from rag.answering._letters import LETTERS_PROMPT_VERSION, letters_prompt, require_letters
from rag.answering._tasks import Task
from rag.answering._truncation import PromptFitter, WritePrompt


class ReplyForm(NamedTuple):
    """How answers are asked for and read: the prompt, the longest reply in tokens, the choice that it names, and what
    ends a reply early.
    """

    name: str
    prompt: WritePrompt
    prompt_version: str
    max_tokens: int
    read: Callable[[str, Sequence[str]], int]
    reading_version: str
    stop: tuple[str, ...] = ()


LETTERS = ReplyForm("letters", letters_prompt, LETTERS_PROMPT_VERSION, 32, read_choice, CHOICE_PARSING_VERSION)
"""Enough tokens for a letter, the choice and a polite phrase."""
FREE_TEXT = ReplyForm(
    "text",
    free_text_prompt,
    FREE_TEXT_PROMPT_VERSION,
    64,
    read_free_text,
    FREE_TEXT_READING_VERSION,
    ("\nQuestion:", "\nText:"),
)
"""Enough tokens for two sentences; models that only continue texts would ask themselves the next question."""
FORMS = {form.name: form for form in (LETTERS, FREE_TEXT)}
"""By the mode that asks for them."""


class ReplyExaminee:
    """A language model that answers in a form: greedy replies, one prompt at a time."""

    def __init__(self, model: LanguageModel, form: ReplyForm) -> None:
        self._model, self._form = model, form
        self._fit = PromptFitter(model, form.prompt, lambda _: (), form.max_tokens)
        self.settings: Mapping[str, object] = {
            **dict(getattr(model, "settings", {})),
            "answers": form.name,
            "prompt": form.prompt_version,
            "reading": form.reading_version,
            "max_tokens": form.max_tokens,
            **({"stop": list(form.stop)} if form.stop else {}),
        }

    def check(self, tasks: Sequence[Task]) -> None:
        """Refuse a prompt that cannot fit and, where letters name the choices, a question with more of them."""
        if self._form is LETTERS:
            require_letters(tasks)
        self._fit.check(tasks)

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        """The choices that the replies name, as they come."""
        fitted = [self._fit(task) for task in tasks]
        options: ReplyOptions = {"max_tokens": self._form.max_tokens}
        if self._form.stop:
            options["stop"] = self._form.stop
        for arrival, seconds in timed(replies_of(self._model, [one.prompt for one in fitted], **options)):
            place, found = arrival.place, arrival.value
            if isinstance(found, NoReply):
                yield TaskFailure(place, found.reason)
            else:
                chosen = self._form.read(found, tasks[place].question.choices)
                read = Likelihoods((), (), arrival.prompt_tokens)
                yield TaskAnswer(place, chosen, read, (), seconds, found, fitted[place].read, fitted[place].cut)
