"""Functions compiled by numba and stored for the next process, where a folder can be written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numba  # type: ignore[import-untyped]

Function = Any
"""What numba makes of a function."""


def compiled(function: Callable[..., Any], fastmath: frozenset[str] = frozenset()) -> Function:
    """The function compiled by numba; it holds no lock, so that chains run side by side.

    `fastmath` names what LLVM may do to its floating-point numbers.
    """
    options = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath)}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to cache in can be written
        return numba.njit(**options)(function)


summing = partial(compiled, fastmath=frozenset({"contract", "reassoc", "nsz"}))
"""The same, with sums and products in any order, so that loops become vector instructions."""
