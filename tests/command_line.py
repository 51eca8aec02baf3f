"""Command lines as a reader types them, run in this process where they are ours: imports are paid for once."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from runpy import run_module

import pytest

ROOT = Path(__file__).parent.parent
MODELS = (str(ROOT / "tests" / "ragexam"), str(ROOT / "tests" / "grading" / "commands"))
"""Where `python:examinees:…` and `python:assessors:…` are found."""
_OURS = re.compile(r"(?:\S*/)?(?:ragexam|python -m (ragexam|irt))(?= )")


def done_in(folder: Path, words: str) -> str:
    """What a command line prints on standard output, run in a folder; fails the test on another exit status than 0."""
    ours = _OURS.match(words)
    if ours and not re.search(r"[|<>;&$*]", words):
        module, arguments = ours.group(1) or "ragexam", shlex.split(words[ours.end() :], comments=True)
        status, out, err = run_here(folder, module, arguments)
    else:
        status, out, err = _run_in_a_shell(folder, words)
    assert status == 0, f"{words}\n{err}"
    return out


def block_here(folder: Path, block: str) -> str:
    """What the lines of a shell block print, run in a folder in their order."""
    return "".join(done_in(folder, words) for words in _logical_lines(block))


def ragexam_here(*words: object, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """The outcome of `ragexam words`, run in this process and a folder."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        return subprocess.CompletedProcess(words, *run_here(folder, "ragexam", list(map(str, words))))


def run_here(folder: Path, module: str, arguments: list[str]) -> tuple[int, str, str]:
    """Run `python -m module arguments` in this process and a folder: exit status, standard output, standard error."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    with _placed(folder, [module, *arguments]), redirect_stdout(out), redirect_stderr(err):
        try:
            run_module(module, run_name="__main__", alter_sys=False)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return status, out.getvalue(), err.getvalue()


def snippet_here(folder: Path, code: str) -> str:
    """What a Python snippet prints, run in this process and a folder as a script of its own."""
    out = io.StringIO()
    with _placed(folder, ["snippet"]), redirect_stdout(out):
        exec(compile(code, "snippet", "exec"), {"__name__": "__main__"})
    return out.getvalue()


@contextmanager
def _placed(folder: Path, argv: list[str]) -> Iterator[None]:
    """Another working folder, home, argument list and import path, as the process of a command has them."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("default")
        patch.chdir(folder)
        patch.setattr(sys, "argv", argv)
        # Programs are named after it, too: pytest's own, where it was started as a module.
        patch.setattr(sys.modules["__main__"], "__package__", None)
        patch.setattr(sys, "path", [*MODELS, *sys.path])
        if (folder / "home").is_dir():
            patch.setenv("HOME", str(folder / "home"))
        yield


def _logical_lines(block: str) -> Iterator[str]:
    """The lines of a block; a text until EOF belongs to its command, a line that ends with a backslash to the next."""
    found = re.findall(r"(?:[^\n]*<<'?EOF'?\n.*?^EOF$|(?:[^\n]*\\\n)*[^\n]+)", block, re.MULTILINE | re.DOTALL)
    yield from (one.replace("\\\n", " ") if "<<" not in one else one for one in found)


def _run_in_a_shell(folder: Path, words: str) -> tuple[int, str, str]:
    words = re.sub(r"\bpython (?=-m)", f"{sys.executable} ", words)
    words = re.sub(r"(?:\S*/)?(?<!-m )\bragexam (?=[a-z])", f"{sys.executable} -m ragexam ", words)
    home = {"HOME": str(folder / "home")} if (folder / "home").is_dir() else {}
    done = subprocess.run(
        ["bash", "-ec", words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **home, "PYTHONPATH": ":".join((str(ROOT), *MODELS))},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
