"""Progress with remaining time on standard error: a moving bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

PLAIN_SECONDS = 10.0
"""Without a terminal, print one line in this time (s), whether something was done or not."""
FIRST_SHARE = 0.03
"""Estimate the remaining time only after this share of the units."""


ReportProgress = Callable[[int, int], None]
"""Receives the units of a step that are done, and all of them."""


def unreported(_done: int, _total: int) -> None:
    """Report to nobody."""


class Progress:
    """Reports the steps of a command as they begin and end."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self.stream = stream or sys.stderr
        self.quiet = quiet
        self.longest_silence = 0.0
        self._spoke = time.monotonic()
        self._doing = ""
        self._bars: Bars | None = None

    def say(self, line: str) -> None:
        """Print a line, above the bar if one moves."""
        if self._bars is not None:
            self._bars.console.print(line, markup=False, highlight=False)
        elif not self.quiet:
            print(line, file=self.stream, flush=True)
            now = time.monotonic()
            self.longest_silence, self._spoke = max(self.longest_silence, now - self._spoke), now

    def doing(self, what: str) -> None:
        """Say from now on what is being done within the step."""
        self._doing = what
        if self._bars is not None:
            self._bars.update(self._bars.task_ids[0], doing=what)

    @contextmanager
    def step(self, name: str) -> Iterator[ReportProgress]:
        """Run a step; the callback it yields draws the bar."""
        if self.quiet:
            yield unreported
        elif self.stream.isatty():
            with _moving_bars(self.stream) as bars:
                self._bars, task = bars, bars.add_task(name, total=None, doing="")
                yield lambda done, total: bars.update(task, completed=done, total=total)
            self._bars = None
            self._spoke = time.monotonic()
        else:
            self.say(f"{name} ...")
            with self._lines(name) as report:
                yield report
        self._doing = ""

    @contextmanager
    def _lines(self, name: str) -> Iterator[ReportProgress]:
        """Plain lines as units are done, and others while none is."""
        lines, ended = _Lines(name, self.say), threading.Event()

        def tick() -> None:
            while not ended.wait(PLAIN_SECONDS):
                lines.tick(self._doing)

        ticking = threading.Thread(target=tick, daemon=True)
        ticking.start()
        try:
            yield lines
        finally:
            ended.set()
            ticking.join()

    @contextmanager
    def step_if_told(self, name: str) -> Iterator[ReportProgress]:
        """A step that begins with the first call of its callback; without a call, nothing is printed."""
        with ExitStack() as opened:
            begun: list[ReportProgress] = []

            def report(done: int, total: int) -> None:
                if not begun:
                    begun.append(opened.enter_context(self.step(name)))
                begun[0](done, total)

            yield report


def _moving_bars(stream: TextIO) -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    columns = [
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[doing]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
    ]
    return Bars(*columns, console=Console(file=stream), expand=True)


class _Lines:
    """Plain progress lines, at most one in `PLAIN_SECONDS` while units are done."""

    def __init__(self, name: str, say: Callable[[str], None]) -> None:
        self.name, self.say = name, say
        self.began = self.started = self.last = time.monotonic()
        self.first: int | None = None
        self.paced = False
        self.done = 0
        self.end: float | None = None
        self.line = name

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self.first is None:
            self.first = done
        elif not self.paced and self.first < done < total:  # the first units pay for loading: the pace is that after
            self.first, self.started, self.paced = done, now, True
        if done != self.done:  # while nothing is done, the pace seems to fall: what was foreseen stands
            left = remaining_seconds(done - self.first, total - done, now - self.started)
            self.done, self.end = done, None if left is None else now + left
        self.line = f"{self.name} {done}/{total}"
        if now - self.last < PLAIN_SECONDS and done < total:
            return
        self.last = now
        self.say(f"{self.line}{self._rest(now)}")

    def tick(self, doing: str) -> None:
        """Say that work goes on, where no unit has been done for a while."""
        now = time.monotonic()
        if now - self.last < PLAIN_SECONDS:
            return
        self.last = now
        so_far = f"{duration(now - self.began)} so far"
        line = f"{self.line}{self._rest(now)}"
        self.say(f"{line}: {doing}, {so_far}" if doing else f"{line}, {so_far}")

    def _rest(self, now: float) -> str:
        return "" if self.end is None else f", about {duration(max(self.end - now, PLAIN_SECONDS))} left"


def remaining_seconds(done: int, left: int, seconds: float) -> float | None:
    """What is left by the pace so far; None at the beginning and after the last unit."""
    if left <= 0 or done < FIRST_SHARE * (done + left):
        return None
    return seconds / done * left


def duration(seconds: float) -> str:
    """A duration for a reader: `3.2 s`, `40 s`, `3 min`, `2.5 h`."""
    if seconds < 90:
        return f"{seconds:.{1 if seconds < 10 else 0}f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
