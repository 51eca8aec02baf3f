"""Asking a language model about passages, here or on an engine's workers; every answer is kept as it comes.

A prompt is known by its words, the model's name and settings: what was asked once is not asked again, however the
command was stopped. A passage too long for the model is cut at its end, and how much is told.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from examcore import (
    Chunk,
    FailedError,
    LanguageModel,
    Likelihoods,
    ModelUsage,
    NoReply,
    Prompt,
    Question,
    RemoteLanguageModel,
    ReplyStore,
)
from examcore import StoredReply as Kept
from rag import NO_CHOICE, Examinee, LikelihoodExaminee, Task, TaskAnswer, TaskFailure, exam_prompt, fit_passages

TOGETHER = 256
"""Prompts that are handed over together; answers are told of in their order."""
ALONE = 8
"""The same where one model answers one after the other: what is done is told sooner."""


class PassagePrompt(NamedTuple):
    """A prompt with a passage in it, empty for one without; `about` names it in errors."""

    about: str
    prompt: Prompt
    passage: str
    max_tokens: int


class AssessorReply(NamedTuple):
    """A reply, or why there is none; `cut` characters of the passage were not read."""

    text: str | NoReply
    cut: int = 0


class ChoiceLikelihoods(NamedTuple):
    """The log-likelihoods of a question's choices, or why there are none; `cut` as in `AssessorReply`."""

    likelihoods: Likelihoods | NoReply
    cut: int = 0


class Assessor:
    """An `Examinee` that writes replies to prompts, and reads the log-likelihoods of choices as pipelines do.

    `batch` prompts are written together; with 1 no reply depends on those beside it, wherever it is written.
    """

    def __init__(self, model: LanguageModel, normalization: str = "character", batch: int = 1) -> None:
        self._model, self._batch = model, batch
        self._scorer = LikelihoodExaminee(model, normalization)
        self.settings: Mapping[str, object] = {
            **self._scorer.settings,
            "name": model.name,
            **({"batch": batch} if batch > 1 else {}),
        }

    def check(self, tasks: Sequence[Task]) -> None:
        """Refuse a prompt that cannot fit, and a server that cannot do what is asked."""
        if tasks and tasks[0].question.choices:
            self._scorer.check(tasks)

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        """The reply to each task without choices; the choice by likelihood of each with them."""
        if tasks and tasks[0].question.choices:
            yield from self._scorer.answer(tasks)
            return
        size = TOGETHER if isinstance(self._model, RemoteLanguageModel) else self._batch
        for start in range(0, len(tasks), size):
            yield from self._written(start, tasks[start : start + size])

    def _written(self, start: int, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        fitted = [fit_passages(one, self._model, _shortened(one), (), _room(one)) for one in tasks]
        prompts, room = [one.prompt for one in fitted], max(map(_room, tasks))
        if isinstance(self._model, RemoteLanguageModel):
            for arrival in self._model.replies(prompts, max_tokens=room):
                if isinstance(arrival.value, NoReply):
                    yield TaskFailure(start + arrival.place, arrival.value.reason)
                    continue
                tokens = Likelihoods((), (arrival.written_tokens,), arrival.prompt_tokens)
                yield TaskAnswer(
                    start + arrival.place, NO_CHOICE, tokens, (), 0.0, arrival.value, cut=fitted[arrival.place].cut
                )
            return
        texts = self._model.generate(prompts, max_tokens=room)
        for place, text in enumerate(texts):
            read = self._model.count_tokens(prompts[place].user)
            tokens = Likelihoods((), (self._model.count_tokens(text),), read)
            yield TaskAnswer(start + place, NO_CHOICE, tokens, (), 0.0, text, cut=fitted[place].cut)


@dataclass
class CachedAssessor:
    """An assessor whose answers are kept in a store; `usage` counts what they cost.

    With a `batch` above 1 a batch that is not wholly in the store is written as a whole, because its replies may depend
    on each other. `together` prompts are handed over before any of them is told of.
    """

    assessor: Examinee
    store: ReplyStore
    batch: int = 1
    together: int = TOGETHER
    usage: ModelUsage = field(default_factory=ModelUsage)

    def replies(self, asked: Iterable[PassagePrompt]) -> Iterator[AssessorReply]:
        """The reply to each prompt, in order; prompts are taken up a group at a time, as they may be many."""
        prompts = iter(asked)
        while group := list(islice(prompts, max(self.together - self.together % self.batch, self.batch))):
            keys = [self._key("graded text", one.prompt, one.max_tokens) for one in group]
            lost = self._ask([_task(one) for one in group], keys, _text)
            for key in keys:
                yield AssessorReply(lost[key]) if key in lost else AssessorReply(*json.loads(self._kept(key)))

    def scored(self, tasks: Sequence[Task]) -> Iterator[ChoiceLikelihoods]:
        """The log-likelihoods of each task's choices, in order."""
        keys = [self._key("graded choices", one.prompt, list(one.question.choices)) for one in tasks]
        lost = self._ask(tasks, keys, _sums)
        for key in keys:
            if key in lost:
                yield ChoiceLikelihoods(lost[key])
            else:
                sums, tokens, prompt_tokens, cut = json.loads(self._kept(key))
                yield ChoiceLikelihoods(Likelihoods(tuple(sums), tuple(tokens), prompt_tokens), cut)

    def _ask(
        self, tasks: Sequence[Task], keys: Sequence[str], value: Callable[[TaskAnswer], object]
    ) -> dict[str, NoReply]:
        """Ask what is not in the store, each once, and keep it; returns why there is no answer, by key."""
        missing = self._missing(keys)
        self.usage += ModelUsage(calls=len(keys), cached=len(keys) - len(missing))
        lost: dict[str, NoReply] = {}
        wanted = [tasks[place] for place in missing]
        if not wanted:
            return lost
        self.assessor.check(wanted)
        for said in self.assessor.answer(wanted):
            key = keys[missing[said.place]]
            if isinstance(said, TaskFailure):
                lost[key] = NoReply(said.reason)
                continue
            read, written = said.likelihoods.prompt_tokens, sum(said.likelihoods.tokens)
            self.store.add([Kept(key, json.dumps(value(said)), read, written, said.seconds)])
            self.usage += ModelUsage(prompt_tokens=read, written_tokens=written, seconds=said.seconds)
        return lost

    def _missing(self, keys: Sequence[str]) -> list[int]:
        """The places to ask: each key once, or whole batches."""
        absent = [self.store.get(key) is None for key in keys]
        if self.batch == 1:
            first = {key: place for place, key in reversed(list(enumerate(keys)))}
            return sorted(place for place in first.values() if absent[place])
        starts = [one for one in range(0, len(keys), self.batch) if any(absent[one : one + self.batch])]
        return [place for one in starts for place in range(one, min(one + self.batch, len(keys)))]

    def _kept(self, key: str) -> str:
        kept = self.store.get(key)
        if kept is None:
            raise FailedError("model: gave no answer to a prompt and no reason; wanted either")
        return kept.value

    def _key(self, kind: str, prompt: Prompt, options: object) -> str:
        parts = [kind, dict(self.assessor.settings), prompt.system, prompt.user, prompt.reply, options]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str).encode()).hexdigest()


def choice_task(question: Question, passage: str) -> Task:
    """The task of choosing with a passage, or without any where it is empty."""
    chunks = (Chunk("", "", passage, 0, len(passage)),) if passage else ()
    return Task(question, exam_prompt(question, chunks), (), (), chunks, ())


def _task(asked: PassagePrompt) -> Task:
    question = Question(asked.about, "", (), 0, metadata={"max_tokens": asked.max_tokens})
    chunks = (Chunk("", "", asked.passage, 0, len(asked.passage)),) if asked.passage else ()
    return Task(question, asked.prompt, (), (), chunks, ())


def _room(task: Task) -> int:
    room = task.question.metadata["max_tokens"]
    assert isinstance(room, int)
    return room


def _shortened(task: Task) -> Callable[[Question, Sequence[Chunk], object], Prompt]:
    """How the task's prompt is written with a part of its passage."""
    if not task.chunks:
        return lambda _, __, ___: task.prompt
    before, _, after = task.prompt.user.rpartition(task.chunks[0].text)

    def write(_: Question, chunks: Sequence[Chunk], __: object) -> Prompt:
        return replace(task.prompt, user=f"{before}{chunks[0].text if chunks else ''}{after}")

    return write


def _text(said: TaskAnswer) -> object:
    return [said.reply, said.cut]


def _sums(said: TaskAnswer) -> object:
    found = said.likelihoods
    return [list(found.sums), list(found.tokens), found.prompt_tokens, said.cut]
