"""What every command prints, and how it tells of its progress."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from irt._printing import Printable
from irt.fitting._estimation_outcome import Progress

OpenStep = Callable[[str], AbstractContextManager[Progress]]
"""Announces a step by its name; what it yields is told how much is done."""


@dataclass(frozen=True)
class Output:
    """How a command prints."""

    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")] = False

    def show(
        self, result: Printable, warnings: Sequence[str] = (), notes: Sequence[str] = (), out: Path | None = None
    ) -> None:
        """Print a result, its warnings and notes on standard error; `out` received its tables, if anything did."""
        for kind, sentences in (("warning", warnings), ("note", notes)):
            for sentence in sentences:
                print(f"{kind}: {sentence}", file=sys.stderr)
        text = (
            json.dumps(result.record(), indent=2, ensure_ascii=False) if self.as_json else "\n".join(result.lines(out))
        )
        try:
            print(text, flush=True)
        except BrokenPipeError:  # a reader such as `head` may leave before the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    @contextmanager
    def progress(self, step: OpenStep, name: str) -> Iterator[Progress]:
        """A step that is announced when its work begins: bad input is refused before that."""
        with ExitStack() as stack:
            opened: list[Progress] = []

            def report(done: int, total: int) -> None:
                if self.quiet:
                    return
                if not opened:
                    opened.append(stack.enter_context(step(name)))
                if done:
                    opened[0](done, total)

            yield report


@contextmanager
def terminal_step(name: str) -> Iterator[Progress]:
    """A counter that stays on one line of a terminal; elsewhere only the step's name."""
    moving = sys.stderr.isatty()
    print(f"{name} ...", end="" if moving else "\n", file=sys.stderr, flush=True)

    def report(done: int, total: int) -> None:
        if moving:
            print(f"\r{name} {done}/{total} ", end="", file=sys.stderr, flush=True)

    try:
        yield report
    finally:
        if moving:
            print(file=sys.stderr)
