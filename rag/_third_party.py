"""Third-party code: objects named `python:package.module:name`, addresses of services, calls with a time limit."""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, redirect_stdout
from queue import SimpleQueue
from typing import Any, TypeVar
from urllib.parse import urlsplit

from examcore import FailedError, first_error_line

PYTHON_PREFIX = "python:"
FAULTS = (Exception, SystemExit)
"""What third-party code may raise, of which the user reads one line; Ctrl-C is not among it."""
HTTP_PREFIXES = ("http://", "https://")


def import_object(place: str) -> Any:
    """The object that `python:package.module:name` names; raises what the import does."""
    module, _, name = place.removeprefix(PYTHON_PREFIX).partition(":")
    return getattr(importlib.import_module(module), name)


@contextmanager
def third_party(where: str = "", wanted: str = "", kind: type[Exception] = ValueError) -> Iterator[None]:
    """What runs within prints to standard error, for standard output is ours, and fails in one line.

    An error of this `kind` says where, what was raised, and what was wanted.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (FailedError, CallTimeoutError):
        raise
    except FAULTS as error:
        told = first_error_line(error)
        told = told if isinstance(error, ImportError) else f"{type(error).__name__}: {told}"
        raise kind(f"{f'{where}: ' if where else ''}{told}{f'; wanted {wanted}' if wanted else ''}") from error


def has_module_and_name(place: str) -> bool:
    """Whether `python:package.module:name` has both its module and its name."""
    module, _, name = place.removeprefix(PYTHON_PREFIX).partition(":")
    return bool(module and name)


def default_name(place: str) -> str:
    """The default name of an object or service: the imported name, or the host."""
    return place.rpartition(":")[2] if place.startswith(PYTHON_PREFIX) else urlsplit(place).netloc


def positional_parameters(thing: Callable[..., Any]) -> int:
    """The number of positional arguments it takes; two if it takes any number or Python cannot tell."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return 2
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return 2
    return sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)


Result = TypeVar("Result")


_Calls = SimpleQueue["tuple[Callable[[], Any], Future[Any]] | None"]


class CallTimeoutError(Exception):
    """A call did not end in time. It may run for ever; later calls on its thread wait behind it."""


class ThirdPartyThread:
    """One thread for all calls, one after the other, because some objects may only be used on one thread.

    A hanging call blocks neither Ctrl-C nor the end of the process.
    """

    def __init__(self) -> None:
        self._calls: _Calls = SimpleQueue()
        threading.Thread(target=_serve, args=(self._calls,), name="third-party calls", daemon=True).start()
        weakref.finalize(self, self._calls.put, None)

    def call(self, work: Callable[[], Result], seconds: float | None = None) -> Result:
        """What the work returns or raises; `CallTimeoutError` after `seconds` (None: wait for ever)."""
        made: Future[Result] = Future()
        self._calls.put((work, made))
        wait([made], seconds)
        if not made.done():
            raise CallTimeoutError
        return made.result()


def _serve(calls: _Calls) -> None:
    while (call := calls.get()) is not None:
        try:
            call[1].set_result(call[0]())
        except BaseException as error:  # the caller gets it, whatever it is
            call[1].set_exception(error)
        del call  # else its objects would stay alive until the next call
