"""Answers by letters: the prompt lists the choices, and the model writes the letter of one.

For models that give no log-probabilities of a given text. It does not measure the same as likelihoods: the model sees
the choices side by side, its confidence is unknown, and a reply may name no choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from examcore import (
    LONE_SURROGATE,
    Arrival,
    Chunk,
    LanguageModel,
    Likelihoods,
    NoReply,
    Prompt,
    Question,
    RemoteLanguageModel,
    has_lone_surrogate,
)
from rag.answering import _choice_parsing as reading
from rag.answering._choice_parsing import read_choice
from rag.answering._examinees import TaskAnswer, TaskFailure, timed
from rag.answering._prompts import ANSWER_PREFIX, Shot, passage_and_stem, passages_and_stem
from rag.answering._tasks import Task
from rag.answering._truncation import PromptFitter

LETTERS_PROMPT_VERSION = "letters-exam-1"
"""Stored with every answer; changes whenever a prompt changes by a character."""
MAX_TOKENS = 32
"""Enough for a letter, the choice and a polite phrase."""
MAX_CHOICES = 26
"""Letters of the alphabet."""


def letters_prompt(question: Question, passages: Sequence[Chunk], shots: Sequence[Shot] = ()) -> Prompt:
    """The prompt of one exam question that is answered with a letter; choices stand in the exam's order."""
    parts = [
        f"{passage_and_stem(shot)}\n{_listed(shot.choices)}\n{ANSWER_PREFIX} {_letter(shot.choices.index(shot.answer))}"
        for shot in shots
    ]
    parts.append(f"{passages_and_stem(question, passages)}\n{_listed(question.choices)}")
    lead = "Read the text and answer" if passages else "Answer"
    instruction = f"{lead} the question with the letter of the right choice alone; guess if you must."
    return Prompt(user="\n\n".join([instruction, *parts]), reply=ANSWER_PREFIX)


class LetterExaminee:
    """A language model that answers by letters: greedy replies, one prompt at a time."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._fit = PromptFitter(model, letters_prompt, lambda _: (), MAX_TOKENS)
        self.settings: Mapping[str, object] = {
            **dict(getattr(model, "settings", {})),
            "answers": "letters",
            "prompt": LETTERS_PROMPT_VERSION,
            "reading": reading.CHOICE_PARSING_VERSION,
            "max_tokens": MAX_TOKENS,
        }

    def check(self, tasks: Sequence[Task]) -> None:
        """Refuse a question with more choices than letters and a prompt that cannot fit."""
        require_letters(tasks)
        self._fit.check(tasks)

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        """The choices that the replies name, as they come."""
        fitted = [self._fit(task) for task in tasks]
        for arrival, seconds in timed(self._replies([one.prompt for one in fitted])):
            place, found = arrival.place, arrival.value
            if isinstance(found, NoReply):
                yield TaskFailure(place, found.reason)
            elif has_lone_surrogate(found):
                yield TaskFailure(place, LONE_SURROGATE)
            else:
                chosen = read_choice(found, tasks[place].question.choices)
                read = Likelihoods((), (), arrival.prompt_tokens)
                yield TaskAnswer(place, chosen, read, (), seconds, found, fitted[place].read, fitted[place].cut)

    def _replies(self, prompts: Sequence[Prompt]) -> Iterator[Arrival[str]]:
        if isinstance(self._model, RemoteLanguageModel):
            yield from self._model.replies(prompts, max_tokens=MAX_TOKENS)
            return
        # One at a time: in low precision a reply may depend on the other prompts of its batch.
        for place, prompt in enumerate(prompts):
            (text,) = self._model.generate([prompt], max_tokens=MAX_TOKENS)
            tokens = self._model.count_tokens(f"{prompt.user}{prompt.reply}")
            yield Arrival(place, text, tokens, self._model.count_tokens(text))


def require_letters(tasks: Sequence[Task]) -> None:
    """Raise ValueError naming the first question with more choices than letters."""
    for task in tasks:
        if len(task.question.choices) > MAX_CHOICES:
            raise ValueError(
                f"question {task.question.id!r}: {len(task.question.choices)} choices; wanted at most {MAX_CHOICES} "
                "where letters name them"
            )


def _listed(choices: Sequence[str]) -> str:
    return "\n".join(f"{_letter(place)}) {choice.strip()}" for place, choice in enumerate(choices))


def _letter(place: int) -> str:
    return chr(ord("A") + place)
