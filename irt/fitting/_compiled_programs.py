"""Compiled programs kept on disk, so that a second process does not compile them again.

A program is found by the hash of its own text, the versions of jax, the compiler's flags and the processor. Files
appear whole or not at all; where the folder cannot be written, or a file cannot be read, the program is compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from irt._files import replacing

KEPT = 200
"""Most programs kept; the oldest make room."""


def compiled(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """`function` compiled for arguments of these shapes and types, from disk where it was compiled before."""
    import jax
    from jax.experimental.serialize_executable import deserialize_and_load, serialize

    lowered = jax.jit(function).lower(*arguments)
    key = hashlib.sha256("\n".join((lowered.as_text(), *_machine())).encode()).hexdigest()[:32]
    path = folder() / f"{key}.xla"
    # Whatever is wrong with a kept file, compiling mends it.
    with contextlib.suppress(Exception):
        program: Callable[..., Any] = deserialize_and_load(path.read_bytes(), lowered.in_tree, lowered.out_tree)
        return program
    fresh = lowered.compile()
    with contextlib.suppress(OSError, ValueError, pickle.PicklingError):
        _keep(path, serialize(fresh)[0])
    called: Callable[..., Any] = fresh
    return called


def folder() -> Path:
    """`$RAGEXAM_CACHE/programs`, else `ragexam/programs` in `$XDG_CACHE_HOME` or `~/.cache`."""
    if own := os.environ.get("RAGEXAM_CACHE"):
        return Path(own) / "programs"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ragexam" / "programs"


def _keep(path: Path, content: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    for old in sorted(path.parent.glob("*.xla"), key=lambda each: each.stat().st_mtime)[:-KEPT]:
        old.unlink(missing_ok=True)


@cache
def _machine() -> tuple[str, ...]:
    """What a program of one machine and version may not share with another."""
    import jax
    from jaxlib import version

    features = ""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    versions = jax.__version__, version.__version__, platform.platform(), platform.processor()
    return *versions, features, os.environ.get("XLA_FLAGS", ""), str(os.cpu_count())
