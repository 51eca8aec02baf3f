import io
import re
import time

import pytest

from examcore import Progress, _progress, duration
from examcore._progress import remaining_seconds


def test_the_remaining_time_follows_the_pace() -> None:
    assert remaining_seconds(10, 30, 20.0) == 60
    assert remaining_seconds(0, 30, 20.0) is None
    assert remaining_seconds(10, 0, 20.0) is None


@pytest.mark.parametrize(("seconds", "words"), [(3.21, "3.2 s"), (40, "40 s"), (200, "3 min"), (9000, "2.5 h")])
def test_durations_read_well(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_without_a_terminal_progress_is_plain_lines() -> None:
    stream = io.StringIO()
    with Progress(stream).step("sitting") as report:
        report(0, 4)
        report(1, 4)
        report(4, 4)
    assert stream.getvalue().splitlines() == ["sitting ...", "sitting 4/4"]


def test_what_came_first_paid_for_loading_and_is_not_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with Progress(stream).step("sitting") as report:
        for done, at in ((0, 0.0), (10, 300.0), (20, 360.0), (30, 420.0)):
            now[0] = at
            report(done, 100)
    assert stream.getvalue().splitlines() == [
        "sitting ...", "sitting 10/100", "sitting 20/100, about 8 min left", "sitting 30/100, about 7 min left",
    ]  # fmt: skip


def test_what_was_foreseen_stands_and_runs_down_while_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with Progress(stream).step("exam") as report:
        for done, at in ((0, 0.0), (4, 100.0), (8, 200.0), (8, 260.0), (8, 900.0), (10, 910.0)):
            now[0] = at
            report(done, 10)
    assert stream.getvalue().splitlines() == [
        "exam ...", "exam 4/10", "exam 8/10, about 50 s left", "exam 8/10, about 10 s left",
        "exam 8/10, about 10 s left", "exam 10/10",
    ]  # fmt: skip


def test_quiet_progress_says_nothing() -> None:
    stream = io.StringIO()
    progress = Progress(stream, quiet=True)
    with progress.step("sitting") as report:
        report(1, 1)
    progress.say("hello")
    assert stream.getvalue() == ""


def test_a_step_that_has_nothing_to_tell_stays_unsaid() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    with progress.step_if_told("passages"):
        pass
    assert stream.getvalue() == ""
    with progress.step_if_told("passages") as report:
        report(0, 4)
        report(4, 4)
    assert stream.getvalue().splitlines() == ["passages ...", "passages 4/4"]


def test_a_step_gives_signs_of_life_while_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "PLAIN_SECONDS", 0.05)
    stream = io.StringIO()
    progress = Progress(stream)
    with progress.step("exam") as report:
        report(0, 4)
        progress.doing("asking about 40 facts")
        time.sleep(0.3)
        report(1, 4)
    signs = re.findall(r"^exam 0/4: asking about 40 facts, 0\.\d s so far$", stream.getvalue(), re.MULTILINE)
    assert len(signs) >= 3
    assert progress.longest_silence < 0.25
    with progress.step("fit"):
        time.sleep(0.12)
    assert re.fullmatch(r"fit, 0\.\d s so far", stream.getvalue().splitlines()[-1])


class Terminal(io.StringIO):
    """A stream that says that it is one."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_lines_stand_above_the_bar_which_says_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    progress = Progress(stream)
    with progress.step("exam") as report:
        report(1, 4)
        progress.doing("weighing [2] answers")
        progress.say("newest question: What is [x]? y")
    progress.say("done")
    text = stream.getvalue()
    assert "newest question: What is [x]? y\n" in text
    assert "weighing [2] answers" in text
    assert text.endswith("done\n")
