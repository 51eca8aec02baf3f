"""Another's code on a thread of its own, so that whoever waits for it can stop waiting."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")


class _PendingCall(NamedTuple):
    work: Callable[[], Any]
    made: Future[Any]


class CallTimeoutError(Exception):
    """A call that has not ended in time; it may go on for ever, and nothing after it is called."""


class ThirdPartyThread:
    """One thread that calls what it is given, one after the other: what lives on one thread stays there.

    It hinders nobody from ending: not Ctrl-C while something hangs, and not the process.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[_PendingCall | None] = SimpleQueue()
        threading.Thread(target=_serve, args=(self._calls,), name="aside", daemon=True).start()
        weakref.finalize(self, self._calls.put, None)

    def call(self, work: Callable[[], Result], seconds: float | None = None) -> Result:
        """What the work returns or raises; `CallTimeoutError` when that takes longer than so many seconds."""
        made: Future[Result] = Future()
        self._calls.put(_PendingCall(work, made))
        wait([made], seconds)
        if not made.done():
            raise CallTimeoutError
        return made.result()


def _serve(calls: SimpleQueue[_PendingCall | None]) -> None:
    while (call := calls.get()) is not None:
        try:
            call.made.set_result(call.work())
        except BaseException as error:  # whatever it is, it belongs to whoever waits
            call.made.set_exception(error)
        del call  # what it holds is not held until the next
