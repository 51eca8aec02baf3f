"""Sitting: every pipeline answers every question it has not answered yet."""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from examcore import Chunk, Exam, FailedError, Question
from rag.answering import _prompts as prompts
from rag.answering._examinees import Engine, Examinee, ExamineeFactory, TaskAnswer, TaskFailure, in_process
from rag.answering._prompts import Shot, draw_shots
from rag.answering._scoring import NORMALIZATIONS
from rag.answering._tasks import PassageLimits, PassageLookup, Task, limits_of, tasks_of
from rag.grid._pipeline import Pipeline
from rag.retrieval._protocol import Retriever
from rag.sitting._answer_store import Answer, AnswerStore
from rag.sitting._failed_prompts import FailedPrompts

Progress = Callable[[int, int], None]
"""Called with answers stored and answers wanted."""


@dataclass(frozen=True)
class SittingSettings:
    """How the exam is sat: passages a pipeline reads, normalisation, shots with their passages or without, seed.

    `budget`: passages are read in their order as long as their titles and texts have no more characters than this; the
    first is always read, and none is cut. Pipelines that have `passages` or `budget` of their own keep to those.
    """

    k: int = 1
    normalization: str = "character"
    shot_passages: bool = False
    seed: int = 0
    budget: int | None = None

    @property
    def reading(self) -> PassageLimits:
        """How much pipelines read that do not say it themselves."""
        return PassageLimits(self.k, self.budget)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"sitting: k {self.k}; wanted at least 1 passage")
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"sitting: budget {self.budget}; wanted at least 1 character")
        if self.normalization not in NORMALIZATIONS:
            wanted = ", ".join(NORMALIZATIONS)
            raise ValueError(f"sitting: normalization {self.normalization!r}: unknown; wanted one of {wanted}")


def sit(
    exam: Exam,
    pipelines: Sequence[Pipeline],
    chunks: Sequence[Chunk],
    store: AnswerStore,
    models: Mapping[str, ExamineeFactory],
    retrievers: Mapping[str, Retriever],
    pool: Sequence[Question] = (),
    settings: SittingSettings | None = None,
    progress: Progress | None = None,
    identities: Mapping[str, object] | None = None,
    engine: Engine = in_process,
) -> int:
    """Answer what is pending and return how many answers were added.

    `models` and `retrievers` go by the names in the pipelines; a model is built only when it has something to answer,
    one at a time: a language model, whose log-likelihoods choose, or any other `Examinee`. `engine` says where.
    `chunks` are what the retrievers search; `pool` holds the questions shots are drawn from. `identities` says more of
    what stands behind a name (a model's path, a retriever's encoder) and is stored as part of the settings. Every
    answer is stored as it comes: stop at any moment and call again, the result is the same. Raises ValueError before
    the first answer for a store, a pool or a prompt that does not fit, `FailedError` when somebody gives no answers: at
    once where nothing would come of going on, else at the end.
    """
    chosen = settings or SittingSettings()
    _check_names(pipelines, models, retrievers)
    shots = draw_shots(
        pool,
        exam,
        max((one.shots for one in pipelines), default=0),
        seed=chosen.seed,
        with_passages=chosen.shot_passages,
    )
    common = {**asdict(chosen), "prompt": prompts.EXAM_PROMPT_VERSION, "chunks": chunks_digest(chunks)}
    store.begin(exam, {one: _settings(one, chosen, common, shots, identities or {}) for one in pipelines})
    pending = store.pending(exam, pipelines)
    total = len(exam) * len(pipelines)
    desk = _AnswerRecorder(store, chosen, progress, total - len(pending), total)
    passages = PassageLookup(retrievers, chosen.reading)
    for llm in dict.fromkeys(pipeline.llm for pipeline, _ in pending):
        mine = [(pipeline, question) for pipeline, question in pending if pipeline.llm == llm]
        tasks = tasks_of(exam, mine, passages, shots)
        with engine(models[llm], chosen.normalization) as examinee:
            store.settle({one: {"model": dict(examinee.settings)} for one, _ in mine})
            examinee.check(tasks)
            desk.answer(examinee, tasks, _who(llm, identities or {}))
        del examinee
        gc.collect()
    if desk.losses:
        raise FailedError(desk.losses.in_words())
    return len(pending)


def _who(name: str, identities: Mapping[str, object]) -> str:
    """A name of the grid, and the model or address behind it where that is known."""
    behind = identities.get(name)
    place = (behind.get("system") or behind.get("model")) if isinstance(behind, Mapping) else None
    return f"{name} ({place})" if place else name


class _AnswerRecorder:
    """Takes what examinees say to the store, and tells how far they are."""

    def __init__(
        self, store: AnswerStore, settings: SittingSettings, progress: Progress | None, done: int, total: int
    ) -> None:
        self._store, self._settings, self._progress = store, settings, progress
        self._done, self._total = done, total
        self.losses = FailedPrompts()

    def answer(self, examinee: Examinee, tasks: Sequence[Task], who: str) -> None:
        self._tell()
        try:
            for said in examinee.answer(tasks):
                self._take(tasks[said.place], said, who)
        except FailedError as error:
            if not self.losses:
                raise
            raise FailedError(f"{error}; {self.losses.in_words()}") from error

    def _take(self, task: Task, said: TaskAnswer | TaskFailure, who: str) -> None:
        if isinstance(said, TaskFailure):
            self.losses.add(who, task.question.id, said.reason)
            return
        self._store.add(*self._answers(task, said))
        self._done += len(task.pipelines)
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)

    def _answers(self, task: Task, said: TaskAnswer) -> Iterable[Answer]:
        for pipeline in task.pipelines:
            yield Answer(
                pipeline=pipeline.id,
                question=task.question.id,
                chosen=said.chosen,
                correct=said.chosen == task.question.key,
                normalization=self._settings.normalization if said.likelihoods.sums else "",
                log_likelihoods=said.likelihoods.sums,
                choice_tokens=said.likelihoods.tokens,
                unconditional=said.unconditional,
                passages=task.passages[: said.read],
                prompt_tokens=said.likelihoods.prompt_tokens,
                seconds=said.seconds / len(task.pipelines),
                reply=said.reply,
                cut=said.cut,
            )


def _check_names(pipelines: Sequence[Pipeline], models: Mapping[str, object], retrievers: Mapping[str, object]) -> None:
    for pipeline in pipelines:
        if pipeline.llm not in models:
            raise ValueError(f"pipeline {pipeline.id}: no model {pipeline.llm!r}; wanted one of {', '.join(models)}")
        if pipeline.retriever not in retrievers:
            known = ", ".join(retrievers)
            raise ValueError(f"pipeline {pipeline.id}: no retriever {pipeline.retriever!r}; wanted one of {known}")


def _settings(
    pipeline: Pipeline,
    chosen: SittingSettings,
    common: Mapping[str, object],
    shots: Sequence[Shot],
    identities: Mapping[str, object],
) -> dict[str, object]:
    behind = {name: identities[name] for name in (pipeline.llm, pipeline.retriever) if name in identities}
    reading = limits_of(pipeline, chosen.reading)
    return {
        **common,
        "k": reading.k,
        "budget": reading.budget,
        "shots": shots_digest(shots[: pipeline.shots]),
        # Of its own, so that answers from before it was kept go on.
        **({"shot_choices": _digest([one.choices for one in shots[: pipeline.shots]])} if pipeline.shots else {}),
        "behind": behind,
    }


def chunks_digest(chunks: Sequence[Chunk]) -> str:
    """What is stored with answers of the passages that retrievers searched."""
    return _digest([[one.id, one.text] for one in chunks])


def shots_digest(shots: Sequence[Shot]) -> str:
    """What is stored with answers of the solved questions that were shown."""
    return _digest([{"stem": one.stem, "answer": one.answer, "passage": one.passage} for one in shots])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:16]
