"""Sitting an exam: every pipeline answers every question that it has not answered yet; prompts without an answer."""

from __future__ import annotations

import gc
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from examcore import Chunk, Exam, FailedError, Question, ReportProgress, counted
from rag.answering import _prompts as prompts
from rag.answering._examinees import (
    NORMALIZATIONS,
    Engine,
    Examinee,
    ExamineeFactory,
    TaskAnswer,
    TaskFailure,
    in_process,
)
from rag.answering._prompts import Shot, draw_shots
from rag.answering._tasks import PassageLimits, PassageLookup, Task, limits_of, tasks_of
from rag.grid._pipeline import Pipeline
from rag.retrieval._protocol import Retriever
from rag.sitting._answer_store import Answer, AnswerStore

QUERIES = "question"
"""What retrievers search for where nothing else is said: the question in a person's words."""


@dataclass(frozen=True)
class SittingSettings:
    """How an exam is sat.

    `k`: passages that a pipeline reads. `budget`: at most this many characters of titles and texts together; the first
    passage is always read, and none is cut. A pipeline's own `passages` and `budget` come first. `normalization`: how
    log-likelihoods become scores. `shot_passages`: show the passages of the examples. `seed` draws the examples.
    `queries`: the kind of query that retrievers search for (the stem of a question that has none of it).
    """

    k: int = 1
    normalization: str = "character"
    shot_passages: bool = False
    seed: int = 0
    budget: int | None = None
    queries: str = QUERIES

    @property
    def limits(self) -> PassageLimits:
        """How much a pipeline reads that has no limits of its own."""
        return PassageLimits(self.k, self.budget, self.queries)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"sitting: k {self.k}; wanted at least 1 passage")
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"sitting: budget {self.budget}; wanted at least 1 character")
        if self.normalization not in NORMALIZATIONS:
            wanted = ", ".join(NORMALIZATIONS)
            raise ValueError(f"sitting: normalization {self.normalization!r}: unknown; wanted one of {wanted}")


@dataclass(frozen=True)
class Sitting:
    """An exam, who sits it, and what they need.

    `models` go by the `examinee` of the pipelines, `retrievers` by their names in them. A model is built only when it
    has something to answer, one at a time: a language model, whose log-likelihoods choose, or any other `Examinee`. The
    retrievers search `chunks`; examples are drawn from the questions of `pool`. `identities` describes what a name
    stands for (a model's path, a retriever's encoder) and is stored with the settings.
    """

    exam: Exam
    pipelines: Sequence[Pipeline]
    chunks: Sequence[Chunk]
    models: Mapping[str, ExamineeFactory]
    retrievers: Mapping[str, Retriever]
    pool: Sequence[Question] = ()
    settings: SittingSettings = field(default_factory=SittingSettings)
    identities: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for pipeline in self.pipelines:
            if pipeline.examinee not in self.models:
                known = ", ".join(self.models)
                raise ValueError(f"pipeline {pipeline.id}: no model {pipeline.examinee!r}; wanted one of {known}")
            if pipeline.retriever not in self.retrievers:
                known = ", ".join(self.retrievers)
                raise ValueError(f"pipeline {pipeline.id}: no retriever {pipeline.retriever!r}; wanted one of {known}")

    def shots(self) -> tuple[Shot, ...]:
        """The examples, as many as any pipeline shows; ValueError for a pool that does not fit."""
        most = max((one.shots for one in self.pipelines), default=0)
        chosen = self.settings
        return draw_shots(self.pool, self.exam, most, seed=chosen.seed, with_passages=chosen.shot_passages)

    def stored_settings(self, shots: Sequence[Shot]) -> dict[Pipeline, dict[str, object]]:
        """For each pipeline the settings that its answers depend on."""
        common = {**asdict(self.settings), "prompt": prompts.EXAM_PROMPT_VERSION, "chunks": chunks_digest(self.chunks)}
        return {one: {**common, **self._own_settings(one, shots[: one.shots])} for one in self.pipelines}

    def description(self, name: str) -> str:
        """A model's name, with the model or address that it stands for where that is known."""
        identity = self.identities.get(name)
        target = (identity.get("system") or identity.get("model")) if isinstance(identity, Mapping) else None
        return f"{name} ({target})" if target else name

    def _own_settings(self, pipeline: Pipeline, shots: Sequence[Shot]) -> dict[str, object]:
        limits = limits_of(pipeline, self.settings.limits)
        names = (pipeline.llm, pipeline.retriever)
        return {
            "k": limits.k,
            "budget": limits.budget,
            "queries": limits.queries,
            "shots": shots_digest(shots),
            # A key of its own, so that stores written before it was kept can be continued.
            **({"shot_choices": _digest([one.choices for one in shots])} if shots else {}),
            "behind": {name: self.identities[name] for name in names if name in self.identities},
        }


def sit(
    sitting: Sitting, store: AnswerStore, *, progress: ReportProgress | None = None, engine: Engine = in_process
) -> int:
    """Answer what is pending and return the number of answers added; `progress` counts answers.

    Every answer is stored as it comes: stop at any moment and call again, the result is the same. Raises ValueError
    before the first answer for a store, a pool or a prompt that does not fit; `FailedError` when an examinee gives no
    answers: at once if going on is pointless, else at the end.
    """
    report = progress or (lambda _done, _total: None)
    shots = sitting.shots()
    store.begin(sitting.exam, sitting.stored_settings(shots))
    pending = store.pending(sitting.exam, sitting.pipelines)
    total = len(sitting.exam) * len(sitting.pipelines)
    done, failed = total - len(pending), FailedPrompts()
    passages = PassageLookup(sitting.retrievers, sitting.settings.limits)
    for name in dict.fromkeys(pipeline.examinee for pipeline, _ in pending):
        mine = [(pipeline, question) for pipeline, question in pending if pipeline.examinee == name]
        tasks = tasks_of(sitting.exam, mine, passages, shots)
        with engine(sitting.models[name], sitting.settings.normalization) as examinee:
            store.settle({one: {"model": dict(examinee.settings)} for one, _ in mine})
            examinee.check(tasks)
            report(done, total)
            for task, result in _results(examinee, tasks, sitting.description(name), failed):
                store.add(*_answers(task, result, sitting.settings.normalization))
                done += len(task.pipelines)
                report(done, total)
        del examinee
        gc.collect()  # one model at a time has to fit in memory
    if failed:
        raise FailedError(failed.summary())
    return len(pending)


def _results(
    examinee: Examinee, tasks: Sequence[Task], name: str, failed: FailedPrompts
) -> Iterator[tuple[Task, TaskAnswer]]:
    """The answered tasks as they come; `failed` gets the others. `name` stands for the examinee in messages."""
    try:
        for result in examinee.answer(tasks):
            task = tasks[result.place]
            if isinstance(result, TaskFailure):
                failed.add(name, task.question.id, result.reason)
            else:
                yield task, result
    except FailedError as error:
        if not failed:
            raise
        raise FailedError(f"{error}; {failed.summary()}") from error


def _answers(task: Task, result: TaskAnswer, normalization: str) -> Iterator[Answer]:
    """The answer of each pipeline that shares a task."""
    for pipeline in task.pipelines:
        yield Answer(
            pipeline=pipeline.id,
            question=task.question.id,
            chosen=result.chosen,
            correct=result.chosen == task.question.key,
            normalization=normalization if result.likelihoods.sums else "",
            log_likelihoods=result.likelihoods.sums,
            choice_tokens=result.likelihoods.tokens,
            unconditional=result.unconditional,
            passages=result.passages or task.passages[: result.read],
            prompt_tokens=result.likelihoods.prompt_tokens,
            seconds=result.seconds / len(task.pipelines),
            reply=result.reply,
            cut=result.cut,
        )


def chunks_digest(chunks: Sequence[Chunk]) -> str:
    """The digest of the searched passages that is stored with answers."""
    return _digest([[one.id, one.text] for one in chunks])


def shots_digest(shots: Sequence[Shot]) -> str:
    """The digest of the examples shown that is stored with answers."""
    return _digest([{"stem": one.stem, "answer": one.answer, "passage": one.passage} for one in shots])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:16]


MAX_REASONS = 3
"""A summary names at most this many reasons and counts the rest."""
MAX_QUESTIONS = 3
"""A summary names at most this many questions for each reason."""


class FailedPrompts:
    """Prompts that got no answer, by examinee and reason."""

    def __init__(self) -> None:
        self._questions: dict[tuple[str, str], list[str]] = {}
        self._reasons: dict[tuple[str, str], str] = {}

    def __len__(self) -> int:
        return sum(map(len, self._questions.values()))

    def add(self, examinee: str, question: str, reason: str) -> None:
        """Count a prompt about a question, by its id, that `examinee` did not answer."""
        # Reasons that differ only in numbers count as one; the first of them is shown.
        kind = self._reasons.setdefault((examinee, re.sub(r"\d+", "0", reason)), reason)
        self._questions.setdefault((examinee, kind), []).append(question)

    def summary(self) -> str:
        """All of them in one line: `2 prompts got no answer: box (http://...), questions q3, q7: status 500`."""
        ranked = sorted(self._questions.items(), key=lambda one: -len(one[1]))
        shown = [f"{one}, {question_list(questions)}: {reason}" for (one, reason), questions in ranked[:MAX_REASONS]]
        rest = sum(len(questions) for _, questions in ranked[MAX_REASONS:])
        more = [f"{rest} for other reasons"] if rest else []
        return f"{counted(len(self), 'prompt')} got no answer: {'; '.join([*shown, *more])}"


def question_list(questions: Sequence[str]) -> str:
    """`question q1`, `questions q1, q2`, `questions q1, q2, q3 and 9 more`: each id once."""
    ids = list(dict.fromkeys(questions))
    more = f" and {len(ids) - MAX_QUESTIONS} more" if len(ids) > MAX_QUESTIONS else ""
    return f"question{'s' if len(ids) > 1 else ''} {', '.join(ids[:MAX_QUESTIONS])}{more}"
