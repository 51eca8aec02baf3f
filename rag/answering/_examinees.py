"""Examinees: what answers tasks. A language model's log-likelihoods choose; other ways of answering stand beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple, Protocol, runtime_checkable

from examcore import LanguageModel, Likelihoods, NoReply, Question, likelihoods_of
from rag.answering._prompts import NEUTRAL, continuation, exam_prompt
from rag.answering._scoring import ChoiceEvidence, choose_answer
from rag.answering._tasks import Task
from rag.answering._truncation import FittedPrompt, PromptFitter

NO_CHOICE = -1
"""Chosen by an examinee that was asked and chose none of the choices: a wrong answer."""


class TaskAnswer(NamedTuple):
    """What an examinee made of one task.

    `place` is the task's place among those it was given; `chosen` the index of a choice, or `NO_CHOICE`; likelihoods
    and `unconditional` are empty for examinees that give none; `reply` is what was written, where something was. `read`
    says how many of the task's passages were read (None: all), `cut` how many of their characters were left out.
    """

    place: int
    chosen: int
    likelihoods: Likelihoods
    unconditional: tuple[float, ...]
    seconds: float
    reply: str = ""
    read: int | None = None
    cut: int = 0


class TaskFailure(NamedTuple):
    """A task that got no answer this time, and why; it stays to be answered."""

    place: int
    reason: str


@runtime_checkable
class Examinee(Protocol):
    """Answers tasks, each for itself: what it says of one does not depend on the others."""

    @property
    def settings(self) -> Mapping[str, object]:
        """What decides its answers; stored with them."""
        ...

    def check(self, tasks: Sequence[Task]) -> None:
        """Raise ValueError, in one line, for a task it cannot answer, before the first answer costs time."""
        ...

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        """What it makes of each task, in any order, each as soon as it is known."""
        ...


ExamineeFactory = Callable[[], "LanguageModel | Examinee"]
"""Makes what answers under one name of the grid; called only when something is to be answered."""
Engine = Callable[[ExamineeFactory, str], AbstractContextManager[Examinee]]
"""Turns a way to build into an examinee at work, here or on several machines; the name of a normalisation besides.

It is at work until its context ends.
"""


@contextmanager
def in_process(build: ExamineeFactory, normalization: str) -> Iterator[Examinee]:
    """The engine of one process: builds and answers here."""
    built = build()
    yield built if isinstance(built, Examinee) else LikelihoodExaminee(built, normalization)


class LikelihoodExaminee:
    """Chooses by the log-likelihood of each choice after the prompt; see `normalized_scores` for `normalization`."""

    def __init__(self, model: LanguageModel, normalization: str) -> None:
        self._model, self._normalization = model, normalization
        self._fit = PromptFitter(model, exam_prompt, _continuations)
        self._alone: dict[tuple[str, ...], tuple[float, ...] | NoReply] = {}
        self.settings: Mapping[str, object] = {**getattr(model, "settings", {}), **getattr(model, "streaming", {})}

    def check(self, tasks: Sequence[Task]) -> None:
        """Refuse a prompt that cannot fit."""
        self._fit.check(tasks)

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        """Each task's choice, as soon as its likelihoods and those without its question are there."""
        choices = [_continuations(task.question) for task in tasks]
        wanted = self._wanted(tasks, choices)
        fitted = [self._fit(task) for task in tasks]
        asked = [(fitted[one.place].prompt if one.whole else NEUTRAL, choices[one.place]) for one in wanted]
        waiting: dict[tuple[str, ...], list[tuple[int, Likelihoods, float]]] = {}
        before = time.perf_counter()
        for arrival in likelihoods_of(self._model, asked):
            place, whole = wanted[arrival.place]
            mine, found, now = choices[place], arrival.value, time.perf_counter()
            if not whole:
                self._alone[mine] = found if isinstance(found, NoReply) else found.sums
            elif isinstance(found, NoReply):
                yield TaskFailure(place, found.reason)
            else:
                waiting.setdefault(mine, []).append((place, found, now - before))
            if mine in self._alone:
                for one in waiting.pop(mine, ()):
                    yield self._said(tasks[one[0]], fitted[one[0]], *one, self._alone[mine])
            before = time.perf_counter()

    def _wanted(self, tasks: Sequence[Task], choices: Sequence[tuple[str, ...]]) -> list[_LikelihoodRequest]:
        """What is asked: each task's own prompt, and once before the first of the same choices the neutral one."""
        wanted, known = [], {mine for mine, sums in self._alone.items() if not isinstance(sums, NoReply)}
        for place in range(len(tasks)):
            if choices[place] not in known:
                self._alone.pop(choices[place], None)
                known.add(choices[place])
                wanted.append(_LikelihoodRequest(place, whole=False))
            wanted.append(_LikelihoodRequest(place, whole=True))
        return wanted

    def _said(
        self,
        task: Task,
        fitted: FittedPrompt,
        place: int,
        found: Likelihoods,
        seconds: float,
        alone: tuple[float, ...] | NoReply,
    ) -> TaskAnswer | TaskFailure:
        if isinstance(alone, NoReply):
            return TaskFailure(place, alone.reason)
        evidence = ChoiceEvidence(task.question.choices, found.sums, found.tokens, alone)
        try:
            chosen = choose_answer(evidence, self._normalization)
        except ValueError as error:
            raise ValueError(f"question {task.question.id!r}, model {self._model.name}: {error}") from error
        return TaskAnswer(place, chosen, found, alone, seconds, read=fitted.read, cut=fitted.cut)


def _continuations(question: Question) -> tuple[str, ...]:
    return tuple(map(continuation, question.choices))


class _LikelihoodRequest(NamedTuple):
    """A request for likelihoods: of a task's choices, after its whole prompt or after one that asks nothing."""

    place: int
    whole: bool
