"""Telling bad input from a fault of our own, and saying either in one line."""

from __future__ import annotations

import errno
import traceback
from types import TracebackType

ROOMS = frozenset({"exam_gen", "rag", "irt", "taxonomy", "grading", "ragexam"})


def is_bad_input(error: BaseException) -> bool:
    """True for what the user can mend: our own `ValueError`, a file that cannot be read or written, a full disk.

    A `ValueError` raised inside a library is a fault of ours: we let it through with a wrong value.
    """
    if isinstance(error, OSError):
        return True
    if not isinstance(error, ValueError):
        return False
    return raised_in(error.__traceback__) in ROOMS


def raised_in(trace: TracebackType | None) -> str:
    """The top-level package whose code raised, empty without a traceback."""
    if trace is None:
        return ""
    *_, (frame, _) = traceback.walk_tb(trace)
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def one_line(error: BaseException) -> str:
    """The message of an error on a single line, with the file it is about."""
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        hint = "; free some space and run the same command again" if error.errno == errno.ENOSPC else ""
        return f"{name}{error.strerror}{hint}"
    return " ".join(str(error).split()) or type(error).__name__
