"""Black boxes as examinees: send the question, receive a choice or a text.

Over HTTP, `{"question": ..., "choices": [...]}` is answered with `{"choice": index or letter}` or `{"answer": text}`.
Either may come with `"passages"` (or `"citations"`), the passages that were read, as ids, texts or objects with an id.
In Python, a function of question and choices (or of the question alone) returns the same, or the index or text itself.
Indexes count from 0. A text names a choice by the rules of `_choice_parsing`, or of `_free_text` where the choices were
not shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from examcore import (
    LONE_SURROGATE,
    FailedError,
    Likelihoods,
    NoReply,
    Question,
    has_lone_surrogate,
)
from rag._third_party import (
    PYTHON_PREFIX,
    CallTimeoutError,
    ThirdPartyThread,
    import_object,
    positional_parameters,
    third_party,
)
from rag.answering import _choice_parsing as reading
from rag.answering._choice_parsing import MAX_READ_CHARACTERS, read_choice
from rag.answering._examinees import NO_CHOICE, Examinee, TaskAnswer, TaskFailure, timed
from rag.answering._free_text import FREE_TEXT_READING_VERSION, read_free_text
from rag.answering._letters import require_letters
from rag.answering._tasks import Task
from rag.grid._specs import BlackBoxSpec
from rag.servers._options import Traffic
from rag.servers._transport import (
    MAX_FAILURES_IN_A_ROW,
    RefusedError,
    ServerRequest,
    UnusableError,
    connect_service,
    excerpt,
    refusal_error,
)

MOST_PASSAGES = 100
"""Passages that are kept of those a reply names."""


class ReadReply(NamedTuple):
    """The choice a reply names (`NO_CHOICE` for none, `ABSTAINED`), what was written, and the passages it names."""

    chosen: int
    written: str
    passages: tuple[str, ...] = ()


def build_black_box(spec: BlackBoxSpec) -> Examinee:
    """The system of a grid as an examinee: a Python function or an address."""
    return PythonBlackBox(spec) if spec.system.startswith(PYTHON_PREFIX) else HttpBlackBox(spec)


class HttpBlackBox:
    """A system at an address; gets many questions at once, and again when a request fails (see `ServerOptions`)."""

    def __init__(self, spec: BlackBoxSpec) -> None:
        self._spec = spec
        self._transport, self._path = connect_service(spec.name, spec.system, spec.server)
        self.settings: Mapping[str, object] = _settings(shown=spec.choices)

    @property
    def traffic(self) -> Traffic:
        """Counts of what was sent and failed."""
        return self._transport.traffic

    def check(self, tasks: Sequence[Task]) -> None:
        """Refuse a question with more choices than letters."""
        require_letters(tasks)

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        """The answers as they come; ValueError for a final refusal, `FailedError` when nothing answers."""
        replies = self._transport.stream([self._request(task.question) for task in tasks])
        try:
            for (place, found), seconds in timed(replies):
                if isinstance(found, NoReply):
                    yield TaskFailure(place, found.reason)
                else:
                    yield _task_answer(place, found, seconds)
        except RefusedError as error:
            raise refusal_error(self._spec.description, tasks[error.place].question.id, error) from None

    def _request(self, question: Question) -> ServerRequest[ReadReply]:
        body = {"question": question.stem, **({"choices": list(question.choices)} if self._spec.choices else {})}

        def read(reply: Mapping[str, Any]) -> ReadReply:
            try:
                return read_reply(reply, question.choices, letters=self._spec.choices)
            except ValueError as error:
                raise UnusableError(str(error)) from None

        return ServerRequest(self._path, lambda: body, read)


class PythonBlackBox:
    """A Python function, called with one question at a time on a thread of its own."""

    def __init__(self, spec: BlackBoxSpec) -> None:
        self._spec, self._thread = spec, ThirdPartyThread()
        self._function, takes_choices = self._thread.call(lambda: load_system(spec.system))
        self._shown = spec.choices and takes_choices
        self._failed_in_a_row = 0
        self.settings: Mapping[str, object] = _settings(shown=self._shown)

    def check(self, tasks: Sequence[Task]) -> None:
        """Refuse a question with more choices than letters."""
        require_letters(tasks)

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        """The answers in turn; `FailedError` naming system and question when the function hangs, or always fails."""
        for place, task in enumerate(tasks):
            question, began = task.question, time.perf_counter()
            try:
                parsed = read_reply(self._call(question), question.choices, letters=self._shown)
            except ValueError as error:
                self._failed_in_a_row += 1
                if self._failed_in_a_row >= MAX_FAILURES_IN_A_ROW:
                    reason = f"{error}, after {MAX_FAILURES_IN_A_ROW - 1} failures before it in a row"
                    raise self._failed(question, reason) from None
                yield TaskFailure(place, str(error))
            else:
                self._failed_in_a_row = 0
                yield _task_answer(place, parsed, time.perf_counter() - began)

    def _call(self, question: Question) -> object:
        given = (question.stem, question.choices) if self._shown else (question.stem,)
        try:
            with third_party():
                return self._thread.call(lambda: self._function(*given), self._spec.seconds)
        except CallTimeoutError:
            # Later calls would wait behind it.
            reason = f"no answer within {self._spec.seconds:g} s; wanted one, or a longer timeout"
            raise self._failed(question, reason) from None

    def _failed(self, question: Question, reason: str) -> FailedError:
        return FailedError(f"{self._spec.description}: question {question.id!r}: {reason}")


def read_reply(reply: object, choices: Sequence[str], *, letters: bool = True) -> ReadReply:
    """The choice that a reply names: `{"choice": ...}`, `{"answer": ...}`, or either of them by itself.

    A number is an index from 0; null names no choice. `letters`: whether the choices were shown. Raises ValueError for
    any other reply and for an index outside the choices.
    """
    if isinstance(reply, Mapping):
        named, text, passages = reply.get("choice"), reply.get("answer"), _passages(reply)
        if "choice" not in reply and not isinstance(text, str):
            raise ValueError("a reply with neither 'choice' nor 'answer'")
        if "choice" in reply and (named is not None or not isinstance(text, str)):
            found = read_reply(named, choices)
            return ReadReply(found.chosen, _written(text) if isinstance(text, str) else found.written, passages)
        return read_reply(text, choices, letters=letters)._replace(passages=passages)
    if reply is None:
        return ReadReply(NO_CHOICE, "")
    if isinstance(reply, Integral) and not isinstance(reply, bool):
        index = int(reply)
        if not 0 <= index < len(choices):
            raise ValueError(f"a reply of choice {excerpt(str(index))}; wanted an index from 0 to {len(choices) - 1}")
        return ReadReply(index, str(index))
    if isinstance(reply, str):
        return ReadReply(read_choice(reply, choices) if letters else read_free_text(reply, choices), _written(reply))
    raise ValueError(f"a reply of {type(reply).__name__} {excerpt(repr(reply))}; wanted an index, a letter or a text")


def _passages(reply: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids (else texts) of the passages that a reply names; ValueError for another form."""
    given = reply.get("passages") or reply.get("citations") or ()
    listed = given if isinstance(given, list | tuple) else [given]
    found = [one.get("id", one.get("text")) if isinstance(one, Mapping) else one for one in listed]
    if not all(isinstance(one, str | int) and not isinstance(one, bool) for one in found):
        raise ValueError(f"passages of {excerpt(repr(given))}; wanted a list of ids, texts or objects with an id")
    return tuple(_written(str(one)) for one in found[:MOST_PASSAGES])


def _written(text: str) -> str:
    """What is kept of a text; ValueError for one that no file can hold."""
    kept = text[:MAX_READ_CHARACTERS]
    if has_lone_surrogate(kept):
        raise ValueError(LONE_SURROGATE)
    return kept


def load_system(place: str) -> tuple[Callable[..., Any], bool]:
    """The function that `python:package.module:name` names, and whether it takes the choices after the question.

    A class, or a function without arguments, is called first and returns the function. Raises ValueError in one line.
    """
    wanted = "a function of question and choices"
    with third_party(f"black box {place}", wanted):
        thing = import_object(place)
        if isinstance(thing, type) or (callable(thing) and not positional_parameters(thing)):
            thing = thing()
    if not callable(thing):
        raise ValueError(f"black box {place}: {type(thing).__name__}; wanted {wanted}")
    return thing, positional_parameters(thing) >= 2


def check_black_box(spec: BlackBoxSpec) -> None:
    """Raise ValueError for a function that cannot be imported, `FailedError` for an address where nothing answers."""
    if spec.system.startswith(PYTHON_PREFIX):
        load_system(spec.system)
        return
    import httpx

    transport, _ = connect_service(spec.name, spec.system, spec.server)
    try:
        httpx.head(spec.system, timeout=10, trust_env=not transport.place.is_local)
    except httpx.TimeoutException:
        return  # something listens there; the options say how long an answer may take
    except httpx.TransportError as error:
        raise FailedError(f"{spec.description}: cannot be reached ({error}); wanted a service at its address") from None


def _settings(*, shown: bool) -> dict[str, object]:
    version = reading.CHOICE_PARSING_VERSION if shown else FREE_TEXT_READING_VERSION
    return {"answers": "endpoint", "choices": shown, "reading": version}


def _task_answer(place: int, found: ReadReply, seconds: float) -> TaskAnswer:
    return TaskAnswer(place, found.chosen, Likelihoods((), (), 0), (), seconds, found.written, passages=found.passages)
