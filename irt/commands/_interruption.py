"""Ctrl-C that is not lost: what comes while Python cannot raise is raised a moment later."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any

MOMENT = 0.05
"""Seconds until an interruption is tried again: unnoticed by a person, many to a second of loading a library."""
LOADING = "<frozen importlib._bootstrap>"
"""The file of the frames of an import."""


def keep_interruptions() -> None:
    """Let Ctrl-C raise KeyboardInterrupt where it can arrive; a process that ignores it still does.

    Raised while a library of compiled code is loaded, it may crash the process; raised in a function that compiled code
    calls (jax has one for each collection of garbage, llvmlite one for each function compiled), it is printed and
    lost.
    """
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler and hasattr(signal, "pthread_kill")
    if not heeded or threading.current_thread() is not threading.main_thread():
        return
    report = sys.unraisablehook

    def lost(found: Any) -> None:
        if isinstance(found.exc_value, KeyboardInterrupt):
            _again()
        else:
            report(found)

    signal.signal(signal.SIGINT, _arrived)
    sys.unraisablehook = lost


def _arrived(_signal: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename == LOADING:
            return _again()
        frame = frame.f_back
    raise KeyboardInterrupt


def _again() -> None:
    timer = threading.Timer(MOMENT, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.daemon = True
    timer.start()
