"""Sitting: every pipeline answers every question it has not answered yet."""

from __future__ import annotations

import gc
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate

from exam_gen.model import LanguageModel, Likelihoods, Prompt
from exam_gen.records import Chunk, Exam, Question
from rag import prompts
from rag.answers import Answer, AnswerStore
from rag.pipelines import Pipeline
from rag.prompts import NEUTRAL, Shot, continuation, draw_shots, exam_prompt
from rag.retrievers import Retriever, searched
from rag.scoring import NORMALIZATIONS, Evidence, choose

Progress = Callable[[int, int], None]
"""Called with answers stored and answers wanted."""


@dataclass(frozen=True)
class Settings:
    """How the exam is sat: passages a pipeline reads, normalisation, shots with their passages or without, seed.

    `budget`: passages are read in their order as long as their titles and texts have no more characters than this; the
    first is always read, and none is cut. Pipelines that have `passages` or `budget` of their own keep to those.
    """

    k: int = 1
    normalization: str = "character"
    shot_passages: bool = False
    seed: int = 0
    budget: int | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"sitting: k {self.k}; wanted at least 1 passage")
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"sitting: budget {self.budget}; wanted at least 1 character")
        if self.normalization not in NORMALIZATIONS:
            wanted = ", ".join(NORMALIZATIONS)
            raise ValueError(f"sitting: normalization {self.normalization!r}: unknown; wanted one of {wanted}")


@dataclass(frozen=True)
class Task:
    """One distinct prompt: the question, its passages, and the pipelines that all ask exactly this."""

    question: Question
    prompt: Prompt
    passages: tuple[str, ...]
    pipelines: tuple[Pipeline, ...]


def sit(
    exam: Exam,
    pipelines: Sequence[Pipeline],
    chunks: Sequence[Chunk],
    store: AnswerStore,
    models: Mapping[str, Callable[[], LanguageModel]],
    retrievers: Mapping[str, Retriever],
    pool: Sequence[Question] = (),
    settings: Settings | None = None,
    progress: Progress | None = None,
    identities: Mapping[str, object] | None = None,
) -> int:
    """Answer what is pending and return how many answers were added.

    `models` and `retrievers` go by the names in the pipelines; a model is loaded only when it has something to answer,
    one at a time. `chunks` are what the retrievers search; `pool` holds the questions shots are drawn from.
    `identities` says more of what stands behind a name (a model's path, a retriever's encoder) and is stored as part
    of the settings. Every answer is stored as it comes: stop at any moment and call again, the result is the same.
    Raises ValueError before the first answer for a store, a pool or a prompt that does not fit.
    """
    chosen = settings or Settings()
    _check_names(pipelines, models, retrievers)
    shots = draw_shots(
        pool,
        exam,
        max((one.shots for one in pipelines), default=0),
        seed=chosen.seed,
        with_passages=chosen.shot_passages,
    )
    common = {**asdict(chosen), "prompt": prompts.VERSION, "chunks": chunks_digest(chunks)}
    store.begin(exam, {one: _settings(one, chosen, common, shots, identities or {}) for one in pipelines})
    pending = store.pending(exam, pipelines)
    total = len(exam) * len(pipelines)
    desk = _Desk(store, chosen, progress, total - len(pending), total)
    passages = _Passages(retrievers, chosen)
    for llm in dict.fromkeys(pipeline.llm for pipeline, _ in pending):
        mine = [(pipeline, question) for pipeline, question in pending if pipeline.llm == llm]
        tasks = _tasks(exam, mine, passages, shots)
        model = models[llm]()
        store.settle({one: {"model": dict(getattr(model, "settings", {}))} for one, _ in mine})
        _check_lengths(model, tasks)
        desk.answer(model, tasks)
        del model
        gc.collect()
    return len(pending)


class _Passages:
    """What each retriever finds for each question, looked up once."""

    def __init__(self, retrievers: Mapping[str, Retriever], settings: Settings) -> None:
        self._retrievers, self._settings = retrievers, settings
        self._found: dict[tuple[str, str], tuple[Chunk, ...]] = {}

    def of(self, pipeline: Pipeline, question: Question) -> tuple[Chunk, ...]:
        key = (pipeline.reading, question.id)
        if key not in self._found:
            k, budget = _reading(pipeline, self._settings)
            found = self._retrievers[pipeline.retriever].retrieve(question, k)
            self._found[key] = within(found, budget)
        return self._found[key]


def within(passages: Sequence[Chunk], budget: int | None) -> tuple[Chunk, ...]:
    """The first passages whose texts have at most `budget` characters together; always the first, never part of one."""
    if budget is None:
        return tuple(passages)
    lengths = accumulate(len(searched(one)) for one in passages)
    return tuple(
        one for place, (one, length) in enumerate(zip(passages, lengths, strict=True)) if length <= budget or not place
    )


def _reading(pipeline: Pipeline, settings: Settings) -> tuple[int, int | None]:
    """How many passages a pipeline reads, and their characters at most."""
    return (
        settings.k if pipeline.passages is None else pipeline.passages,
        settings.budget if pipeline.budget is None else pipeline.budget,
    )


class _Desk:
    """Takes tasks to a model and answers to the store."""

    def __init__(
        self, store: AnswerStore, settings: Settings, progress: Progress | None, done: int, total: int
    ) -> None:
        self._store, self._settings, self._progress = store, settings, progress
        self._done, self._total = done, total

    def answer(self, model: LanguageModel, tasks: Iterable[Task]) -> None:
        alone: dict[str, tuple[float, ...]] = {}
        for task in tasks:
            if self._progress is not None:
                self._progress(self._done, self._total)
            choices = [continuation(choice) for choice in task.question.choices]
            if task.question.id not in alone:
                alone[task.question.id] = model.log_likelihoods(NEUTRAL, choices).sums
            began = time.perf_counter()
            likelihoods = model.log_likelihoods(task.prompt, choices)
            seconds = (time.perf_counter() - began) / len(task.pipelines)
            self._store.add(*self._answers(task, likelihoods, alone[task.question.id], seconds))
            self._done += len(task.pipelines)
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _answers(
        self, task: Task, likelihoods: Likelihoods, alone: tuple[float, ...], seconds: float
    ) -> Iterable[Answer]:
        evidence = Evidence(task.question.choices, likelihoods.sums, likelihoods.tokens, alone)
        normalization = self._settings.normalization
        try:
            chosen = choose(evidence, normalization)
        except ValueError as error:
            raise ValueError(f"question {task.question.id!r}: {error}") from error
        for pipeline in task.pipelines:
            yield Answer(
                pipeline=pipeline.id,
                question=task.question.id,
                chosen=chosen,
                correct=chosen == task.question.key,
                normalization=normalization,
                log_likelihoods=likelihoods.sums,
                choice_tokens=likelihoods.tokens,
                unconditional=alone,
                passages=task.passages,
                prompt_tokens=likelihoods.prompt_tokens,
                seconds=seconds,
            )


def _tasks(
    exam: Exam, pending: Sequence[tuple[Pipeline, str]], passages: _Passages, shots: Sequence[Shot]
) -> list[Task]:
    """The distinct prompts behind the pending answers.

    Ordered by number of shots, then by question: neighbours begin with the same shots, and a question's retrievers
    follow each other.
    """
    questions = {question.id: question for question in exam.questions}
    places = {one: place for place, one in enumerate(exam.ids)}
    asked: dict[tuple[str, Prompt, tuple[str, ...]], list[Pipeline]] = {}
    for pipeline, name in sorted(pending, key=lambda pair: (pair[0].shots, places[pair[1]])):
        found = passages.of(pipeline, questions[name])
        prompt = exam_prompt(questions[name], found, shots[: pipeline.shots])
        asked.setdefault((name, prompt, tuple(chunk.id for chunk in found)), []).append(pipeline)
    return [Task(questions[name], prompt, ids, tuple(who)) for (name, prompt, ids), who in asked.items()]


def _check_names(pipelines: Sequence[Pipeline], models: Mapping[str, object], retrievers: Mapping[str, object]) -> None:
    for pipeline in pipelines:
        if pipeline.llm not in models:
            raise ValueError(f"pipeline {pipeline.id}: no model {pipeline.llm!r}; wanted one of {', '.join(models)}")
        if pipeline.retriever not in retrievers:
            known = ", ".join(retrievers)
            raise ValueError(f"pipeline {pipeline.id}: no retriever {pipeline.retriever!r}; wanted one of {known}")


def _check_lengths(model: LanguageModel, tasks: Iterable[Task]) -> None:
    """Refuse a prompt that cannot fit before the first answer costs time; the model itself checks to the token."""
    for task in tasks:
        prompt = task.prompt
        tokens = model.count_tokens(f"{prompt.system}{prompt.user}{prompt.reply}")
        tokens += max(model.count_tokens(continuation(choice)) for choice in task.question.choices)
        if tokens > model.context_tokens:
            raise ValueError(
                f"question {task.question.id!r}: its prompt of {tokens} tokens exceeds what {model.name} reads; "
                f"wanted at most {model.context_tokens} (fewer passages, fewer shots or shorter chunks)"
            )


def _settings(
    pipeline: Pipeline,
    chosen: Settings,
    common: Mapping[str, object],
    shots: Sequence[Shot],
    identities: Mapping[str, object],
) -> dict[str, object]:
    behind = {name: identities[name] for name in (pipeline.llm, pipeline.retriever) if name in identities}
    k, budget = _reading(pipeline, chosen)
    return {**common, "k": k, "budget": budget, "shots": shots_digest(shots[: pipeline.shots]), "behind": behind}


def chunks_digest(chunks: Sequence[Chunk]) -> str:
    """What is stored with answers of the passages that retrievers searched."""
    return _digest([[one.id, one.text] for one in chunks])


def shots_digest(shots: Sequence[Shot]) -> str:
    """What is stored with answers of the solved questions that were shown."""
    return _digest([asdict(shot) for shot in shots])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:16]
