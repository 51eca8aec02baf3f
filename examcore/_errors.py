"""Tell bad input and temporary failures from bugs, and describe the first two in one line."""

from __future__ import annotations

import errno
import traceback
from types import TracebackType

ROOMS = frozenset({"examcore", "exam_gen", "rag", "irt", "taxonomy", "grading", "ragexam"})


FAILED, BAD_INPUT = 1, 2
EXTRAS = {
    **dict.fromkeys(
        ("torch", "transformers", "safetensors", "gguf", "accelerate", "datasets", "sentence_transformers", "faiss"),
        "local",
    ),
    **dict.fromkeys(("onnxruntime", "tokenizers"), "onnx"),
    "ray": "ray",
    "bitsandbytes": "quantized",
}
"""Which extra of this package (`pip install 'ragexam[EXTRA]'`) installs a module that it can do without."""
KEPT = "what was done is kept, the same command goes on"


def exit_status_of(error: BaseException) -> int | None:
    """The exit status of an error that is printed in one line; None for a bug of ours, which keeps its trace.

    1 (failed): the same command may succeed later, as after a `FailedError` or when there is room on the disk again.
    2 (bad input): the same error until the user changes something; our own `ValueError`, any other `OSError`. A
    `ValueError` raised inside a library is a bug of ours: we passed it a wrong value.
    """
    if is_temporary(error):
        return FAILED
    if lacking_extra(error):
        return BAD_INPUT
    bad = isinstance(error, OSError) or (isinstance(error, ValueError) and raised_in(error.__traceback__) in ROOMS)
    return BAD_INPUT if bad else None


def is_temporary(error: BaseException) -> bool:
    """Whether an error is temporary rather than due to the input."""
    from examcore._language_model import FailedError  # loads more than the command line needs to answer `--help`

    return isinstance(error, FailedError) or (isinstance(error, OSError) and error.errno == errno.ENOSPC)


def lacking_extra(error: BaseException) -> str:
    """The extra that would have installed the module that an error misses, empty for other errors."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return EXTRAS.get(name, "")


def raised_in(trace: TracebackType | None) -> str:
    """The top-level package whose code raised, empty without a traceback."""
    if trace is None:
        return ""
    *_, (frame, _) = traceback.walk_tb(trace)
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def first_error_line(error: BaseException) -> str:
    """The first line of an error's message, or its type when it has none."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def error_line(error: BaseException) -> str:
    """The message of an error on one line, with the file it is about, and whether to try again."""
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        hint = f"; free some space: {KEPT}" if error.errno == errno.ENOSPC else ""
        return f"{name}{error.strerror}{hint}"
    if (extra := lacking_extra(error)) and isinstance(error, ImportError):
        return f"{error.name} is not installed; wanted pip install 'ragexam[{extra}]'"
    said = " ".join(str(error).split()) or type(error).__name__
    return f"{said}; {KEPT}" if is_temporary(error) else said
