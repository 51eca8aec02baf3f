"""Asking a language model about passages, in this process or on an engine's workers; every answer is stored at once.

Answers are stored by the prompt and the model's name and settings, so that no prompt is asked twice, even if the
command is stopped. A passage too long for the model is cut at its end, and the result says by how much.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Annotated, Generic, NamedTuple, TypeVar

import typer

from examcore import (
    Arrival,
    Chunk,
    FailedError,
    LanguageModel,
    Likelihoods,
    ModelUsage,
    NoReply,
    Progress,
    Prompt,
    Question,
    RemoteLanguageModel,
    ReplyStore,
    StoredReply,
    file_hash,
    storable,
    write_text,
)
from examcore.console import jsonable
from rag import (
    NO_CHOICE,
    Examinee,
    LikelihoodExaminee,
    ModelSettings,
    Task,
    TaskAnswer,
    TaskFailure,
    exam_prompt,
    fit_passages,
    load_language_model,
    prepare_models,
)
from rag.engines import EngineOptions, open_engine
from rag.servers import is_server

TOGETHER = 256
"""Prompts that are submitted together."""
ALONE = 8
"""The same for a single model in this process, so that progress is reported sooner."""
NORMALIZATION = "character"
"""Choices are scored by log-likelihood per character, as pipelines score them by default."""


@dataclass(frozen=True)
class ModelOptions:
    """A language model, and how its numbers are held and where."""

    model: Annotated[
        str, typer.Option(help="The model, as for pipelines: embedded:NAME, a folder, a hub name, openai:…")
    ]
    dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16, float16, int8, nf4.")] = "auto"
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, mps.")] = "auto"


ONE_PROCESS = EngineOptions()
Value = TypeVar("Value")


class PassagePrompt(NamedTuple):
    """A prompt and the passage in it, empty if there is none; `about` names the prompt in errors."""

    about: str
    prompt: Prompt
    passage: str
    max_tokens: int


class AssessorReply(NamedTuple, Generic[Value]):
    """A text or the likelihoods of choices, or why there are none; `cut`: characters of the passage left unread."""

    value: Value | NoReply
    cut: int = 0


class Assessor:
    """An `Examinee` that replies to prompts, and scores choices by their log-likelihoods as pipelines do.

    `batch` prompts are generated together; with 1 no reply depends on other prompts.
    """

    def __init__(self, model: LanguageModel, batch: int = 1) -> None:
        self._model, self._batch = model, batch
        self._scorer = LikelihoodExaminee(model, NORMALIZATION)
        self.settings: Mapping[str, object] = {
            **self._scorer.settings,
            "name": model.name,
            **({"batch": batch} if batch > 1 else {}),
        }

    def check(self, tasks: Sequence[Task]) -> None:
        """Refuse choices whose prompt does not fit."""
        if tasks and tasks[0].question.choices:
            self._scorer.check(tasks)

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        """The reply to each task, or the choice by likelihood if the tasks have choices."""
        if tasks and tasks[0].question.choices:
            yield from self._scorer.answer(tasks)
            return
        size = TOGETHER if isinstance(self._model, RemoteLanguageModel) else self._batch
        for start in range(0, len(tasks), size):
            yield from self._written(start, tasks[start : start + size])

    def _written(self, start: int, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        fitted = [fit_passages(one, self._model, _shortened(one), (), _room(one)) for one in tasks]
        prompts, room = [one.prompt for one in fitted], max(map(_room, tasks))
        for arrival in storable(self._replies(prompts, room)):
            place = start + arrival.place
            if isinstance(arrival.value, NoReply):
                yield TaskFailure(place, arrival.value.reason)
            else:
                tokens = Likelihoods((), (arrival.written_tokens,), arrival.prompt_tokens)
                cut = fitted[arrival.place].cut
                yield TaskAnswer(place, NO_CHOICE, tokens, (), 0.0, arrival.value, cut=cut)

    def _replies(self, prompts: Sequence[Prompt], room: int) -> Iterator[Arrival[str]]:
        if isinstance(self._model, RemoteLanguageModel):
            yield from self._model.replies(prompts, max_tokens=room)
            return
        count = self._model.count_tokens
        for place, text in enumerate(self._model.generate(prompts, max_tokens=room)):
            yield Arrival(place, text, count(prompts[place].user), count(text))


@dataclass
class CachedAssessor:
    """An assessor whose answers are kept in a store; `usage` counts what they cost.

    With a `batch` above 1, a batch that is not completely in the store is generated as a whole, because its replies may
    depend on each other. `together` prompts are submitted before the first reply is returned.
    """

    assessor: Examinee
    store: ReplyStore
    batch: int = 1
    together: int = TOGETHER
    usage: ModelUsage = field(default_factory=ModelUsage)

    def replies(self, asked: Iterable[PassagePrompt]) -> Iterator[AssessorReply[str]]:
        """The reply to each prompt, in order; prompts are consumed a group at a time."""
        prompts = iter(asked)
        while group := list(islice(prompts, max(self.together - self.together % self.batch, self.batch))):
            keys = [self._key("graded text", one.prompt, one.max_tokens) for one in group]
            lost = self._ask([_task(one) for one in group], keys, lambda answer: [answer.reply, answer.cut])
            for key in keys:
                yield AssessorReply(lost[key]) if key in lost else AssessorReply(*json.loads(self._kept(key)))

    def scored(self, tasks: Sequence[Task]) -> Iterator[AssessorReply[Likelihoods]]:
        """The log-likelihoods of each task's choices, in order."""
        keys = [self._key("graded choices", one.prompt, list(one.question.choices)) for one in tasks]
        lost = self._ask(tasks, keys, _sums)
        for key in keys:
            if key in lost:
                yield AssessorReply(lost[key])
            else:
                sums, tokens, prompt_tokens, cut = json.loads(self._kept(key))
                yield AssessorReply(Likelihoods(tuple(sums), tuple(tokens), prompt_tokens), cut)

    def _ask(
        self, tasks: Sequence[Task], keys: Sequence[str], value: Callable[[TaskAnswer], object]
    ) -> dict[str, NoReply]:
        """Ask once for each answer that is not in the store, and store it; returns why answers are missing, by key."""
        missing = self._missing(keys)
        self.usage += ModelUsage(calls=len(keys), cached=len(keys) - len(missing))
        lost: dict[str, NoReply] = {}
        wanted = [tasks[place] for place in missing]
        if not wanted:
            return lost
        self.assessor.check(wanted)
        for answer in self.assessor.answer(wanted):
            key = keys[missing[answer.place]]
            if isinstance(answer, TaskFailure):
                lost[key] = NoReply(answer.reason)
                continue
            read, written = answer.likelihoods.prompt_tokens, sum(answer.likelihoods.tokens)
            self.store.add([StoredReply(key, json.dumps(value(answer)), read, written, answer.seconds)])
            self.usage += ModelUsage(prompt_tokens=read, written_tokens=written, seconds=answer.seconds)
        return lost

    def _missing(self, keys: Sequence[str]) -> list[int]:
        """The indices to ask for: each key once, or whole batches."""
        absent = [self.store.get(key) is None for key in keys]
        if self.batch == 1:
            first = {key: place for place, key in reversed(list(enumerate(keys)))}
            return sorted(place for place in first.values() if absent[place])
        starts = [one for one in range(0, len(keys), self.batch) if any(absent[one : one + self.batch])]
        return [place for one in starts for place in range(one, min(one + self.batch, len(keys)))]

    def _kept(self, key: str) -> str:
        kept = self.store.get(key)
        if kept is None:
            raise FailedError("model: returned neither an answer to a prompt nor a reason; wanted either")
        return kept.value

    def _key(self, kind: str, prompt: Prompt, options: object) -> str:
        parts = [kind, dict(self.assessor.settings), prompt.system, prompt.user, prompt.reply, options]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str).encode()).hexdigest()


@contextmanager
def asking_of(
    model: ModelOptions, store: ReplyStore, progress: Progress, options: EngineOptions = ONE_PROCESS, batch: int = 1
) -> Iterator[CachedAssessor]:
    """A model at work on an engine; its answers are kept in the store."""
    settings = ModelSettings(**vars(model))
    prepare_models([settings.model], [settings], progress)
    with (
        open_engine(options, progress.say) as engine,
        engine(partial(_assessor, settings, batch), NORMALIZATION) as at_work,
    ):
        alone = options == ONE_PROCESS and not is_server(settings.model)
        yield CachedAssessor(at_work, store, batch, max(ALONE, batch) if alone else TOGETHER)


def write_record(
    path: Path, files: Mapping[str, Path | None], how: Mapping[str, object], told: Mapping[str, object]
) -> None:
    """Write what was made, from which files, and how."""
    given = {name: one for name, one in files.items() if one is not None}
    record = {
        "format": 1,
        "made_from": {name: file_hash(one) for name, one in given.items() if one.is_file()},
        "sources": given,
        **how,
        "ragexam": version("ragexam"),
        **told,
    }
    write_text(path, [json.dumps(jsonable(record), indent=2, ensure_ascii=False) + "\n"])


def choice_task(question: Question, passage: str) -> Task:
    """The task of choosing an answer with a passage, or without one if it is empty."""
    chunks = _chunks(passage)
    return Task(question, exam_prompt(question, chunks), (), (), chunks, ())


def _task(asked: PassagePrompt) -> Task:
    question = Question(asked.about, "", (), 0, metadata={"max_tokens": asked.max_tokens})
    return Task(question, asked.prompt, (), (), _chunks(asked.passage), ())


def _chunks(passage: str) -> tuple[Chunk, ...]:
    return (Chunk("", "", passage, 0, len(passage)),) if passage else ()


def _room(task: Task) -> int:
    room = task.question.metadata["max_tokens"]
    assert isinstance(room, int)
    return room


def _shortened(task: Task) -> Callable[[Question, Sequence[Chunk], object], Prompt]:
    """A function that writes the task's prompt with a part of its passage."""
    if not task.chunks:
        return lambda _, __, ___: task.prompt
    before, _, after = task.prompt.user.rpartition(task.chunks[0].text)

    def write(_: Question, chunks: Sequence[Chunk], __: object) -> Prompt:
        return replace(task.prompt, user=f"{before}{chunks[0].text if chunks else ''}{after}")

    return write


def _sums(answer: TaskAnswer) -> object:
    found = answer.likelihoods
    return [list(found.sums), list(found.tokens), found.prompt_tokens, answer.cut]


def _assessor(settings: ModelSettings, batch: int) -> Assessor:
    """The assessor of a model's settings; built where it works."""
    return Assessor(load_language_model(settings), batch=batch)
