"""Third-party code on a thread of its own, so that the caller can stop waiting for it."""

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
    """A call did not end in time. It may run for ever; later calls on its thread wait behind it."""


class ThirdPartyThread:
    """One thread for all calls, one after the other, because some objects may only be used on one thread.

    A hanging call blocks neither Ctrl-C nor the end of the process.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[_PendingCall | None] = SimpleQueue()
        threading.Thread(target=_serve, args=(self._calls,), name="third-party calls", daemon=True).start()
        weakref.finalize(self, self._calls.put, None)

    def call(self, work: Callable[[], Result], seconds: float | None = None) -> Result:
        """What the work returns or raises; `CallTimeoutError` after `seconds` (None: wait for ever)."""
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
        except BaseException as error:  # the caller gets it, whatever it is
            call.made.set_exception(error)
        del call  # else its objects would stay alive until the next call
