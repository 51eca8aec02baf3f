"""Examinees answer tasks, here by a language model's log-likelihoods; `rag.answering` has other ways to answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from examcore import LanguageModel, Likelihoods, NoReply, Question, likelihoods_of
from rag.answering._prompts import NEUTRAL, continuation, exam_prompt
from rag.answering._tasks import Task
from rag.answering._truncation import PromptFitter

Item = TypeVar("Item")

NO_CHOICE = -1
"""The examinee answered without choosing one of the choices, which counts as wrong."""
ABSTAINED = -2
"""The examinee said that it cannot answer, which is not right either."""


class TaskAnswer(NamedTuple):
    """An examinee's answer to one task.

    `place`: the task's index among those it was given. `chosen`: the index of a choice, `NO_CHOICE` or `ABSTAINED`.
    `likelihoods` and `unconditional` are empty for examinees that give none. `reply`: the text written, if any. `read`:
    how many of the task's passages were in the prompt (None: all). `cut`: how many of their characters were left out.
    `passages`: what a system of one's own says that it read.
    """

    place: int
    chosen: int
    likelihoods: Likelihoods
    unconditional: tuple[float, ...]
    seconds: float
    reply: str = ""
    read: int | None = None
    cut: int = 0
    passages: tuple[str, ...] = ()


class TaskFailure(NamedTuple):
    """A task without an answer, and why; it stays pending."""

    place: int
    reason: str


@runtime_checkable
class Examinee(Protocol):
    """Answers tasks independently: an answer does not depend on the other tasks."""

    @property
    def settings(self) -> Mapping[str, object]:
        """Everything its answers depend on; stored with them."""

    def check(self, tasks: Sequence[Task]) -> None:
        """Raise ValueError in one line for a task that it cannot answer, before time is spent on the others."""

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        """The answers in any order, each as soon as it is known."""


ExamineeFactory = Callable[[], "LanguageModel | Examinee"]
"""Makes the examinee of one name in the grid; called only when that name has something to answer."""
Engine = Callable[[ExamineeFactory, str], AbstractContextManager[Examinee]]
"""Runs the examinee that a factory makes, here or on several machines, until its context ends.

Its second argument names the normalisation of log-likelihoods.
"""


@contextmanager
def in_process(build: ExamineeFactory, normalization: str) -> Iterator[Examinee]:
    """The engine that builds and answers in this process."""
    built = build()
    yield built if isinstance(built, Examinee) else LikelihoodExaminee(built, normalization)


def timed(items: Iterable[Item]) -> Iterator[tuple[Item, float]]:
    """Each item with the seconds it took to come; what is done with an item before the next one does not count."""
    before = time.perf_counter()
    for one in items:
        yield one, time.perf_counter() - before
        before = time.perf_counter()


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
        """Each task's choice, as soon as the likelihoods with and without its question are known."""
        choices = [_continuations(task.question) for task in tasks]
        wanted = self._wanted(tasks, choices)
        fitted = [self._fit(task) for task in tasks]
        asked = [(fitted[place].prompt if whole else NEUTRAL, choices[place]) for place, whole in wanted]
        waiting: dict[tuple[str, ...], list[tuple[int, Likelihoods, float]]] = {}
        for arrival, spent in timed(likelihoods_of(self._model, asked)):
            place, whole = wanted[arrival.place]
            mine, found = choices[place], arrival.value
            if not whole:
                self._alone[mine] = found if isinstance(found, NoReply) else found.sums
            elif isinstance(found, NoReply):
                yield TaskFailure(place, found.reason)
            else:
                waiting.setdefault(mine, []).append((place, found, spent))
            for place, likelihoods, seconds in waiting.pop(mine, ()) if mine in self._alone else ():
                alone = self._alone[mine]
                if isinstance(alone, NoReply):
                    yield TaskFailure(place, alone.reason)
                else:
                    chosen = self._chosen(tasks[place].question, likelihoods, alone)
                    read, cut = fitted[place].read, fitted[place].cut
                    yield TaskAnswer(place, chosen, likelihoods, alone, seconds, read=read, cut=cut)

    def _wanted(self, tasks: Sequence[Task], choices: Sequence[tuple[str, ...]]) -> list[tuple[int, bool]]:
        """The places of tasks, each with whether its whole prompt or the neutral one is meant.

        The neutral prompt comes once, before the first task with the same choices.
        """
        wanted, known = [], {mine for mine, sums in self._alone.items() if not isinstance(sums, NoReply)}
        for place in range(len(tasks)):
            if choices[place] not in known:
                self._alone.pop(choices[place], None)
                known.add(choices[place])
                wanted.append((place, False))
            wanted.append((place, True))
        return wanted

    def _chosen(self, question: Question, found: Likelihoods, alone: tuple[float, ...]) -> int:
        try:
            return choose_answer(ChoiceEvidence(question.choices, found.sums, found.tokens, alone), self._normalization)
        except ValueError as error:
            raise ValueError(f"question {question.id!r}, model {self._model.name}: {error}") from error


def _continuations(question: Question) -> tuple[str, ...]:
    return tuple(map(continuation, question.choices))


@dataclass(frozen=True)
class ChoiceEvidence:
    """Log-likelihoods of the choices `texts`: their sums, lengths in tokens, and the sums after a prompt without a
    question (empty when not computed).
    """

    texts: tuple[str, ...]
    sums: tuple[float, ...]
    tokens: tuple[int, ...]
    unconditional: tuple[float, ...] = ()


def _per(evidence: ChoiceEvidence, lengths: Sequence[int]) -> list[float]:
    return [total / length for total, length in zip(evidence.sums, lengths, strict=True)]


def _pmi(evidence: ChoiceEvidence) -> list[float]:
    """Pointwise mutual information with the question, the domain-conditional form of Holtzman et al. (2021)."""
    if not evidence.unconditional:
        raise ValueError("normalization pmi: no unconditional log-likelihoods; wanted one per choice")
    return [total - alone for total, alone in zip(evidence.sums, evidence.unconditional, strict=True)]


NORMALIZATIONS: Mapping[str, Callable[[ChoiceEvidence], list[float]]] = {
    "sum": lambda evidence: list(evidence.sums),
    "token": lambda evidence: _per(evidence, evidence.tokens),
    "character": lambda evidence: _per(evidence, [max(len(text), 1) for text in evidence.texts]),
    "byte": lambda evidence: _per(evidence, [max(len(text.encode()), 1) for text in evidence.texts]),
    "pmi": _pmi,
}


def normalized_scores(evidence: ChoiceEvidence, normalization: str) -> list[float]:
    """The score of each choice, larger is better, under `sum`, `token`, `character`, `byte` or `pmi`.

    Raises ValueError for an unknown normalization, no choices, or a log-likelihood that is NaN.
    """
    if normalization not in NORMALIZATIONS:
        raise ValueError(f"normalization {normalization!r}: unknown; wanted one of {', '.join(NORMALIZATIONS)}")
    if not evidence.sums:
        raise ValueError("scoring: no choices; wanted at least one")
    if not len(evidence.sums) == len(evidence.tokens) == len(evidence.texts):
        counts = f"{len(evidence.sums)} log-likelihoods and {len(evidence.tokens)} lengths"
        raise ValueError(f"scoring: {counts} of {len(evidence.texts)} choices; wanted one of each per choice")
    if any(math.isnan(value) for value in (*evidence.sums, *evidence.unconditional)):
        raise ValueError("scoring: a log-likelihood is NaN; wanted numbers")
    return NORMALIZATIONS[normalization](evidence)


def choose_answer(evidence: ChoiceEvidence, normalization: str) -> int:
    """The index of the best choice.

    Of choices with exactly the same score the one with the higher sum wins, then the first: choices stand in shuffled
    order, so that the first is no likelier to be right than another.
    """
    ranked: Sequence[float] = normalized_scores(evidence, normalization)
    return max(range(len(ranked)), key=lambda index: (ranked[index], evidence.sums[index], -index))
