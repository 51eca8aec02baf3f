import errno
import json

import pytest

from examcore import FailedError, error_line, exit_status_of
from tests.corpus_reading import read_corpus


def caught(work: object, *arguments: object) -> BaseException:
    with pytest.raises(Exception) as found:
        work(*arguments)  # type: ignore[operator]
    return found.value


def test_our_own_value_error_is_bad_input() -> None:
    assert exit_status_of(caught(lambda: read_corpus("python-docs", sample=0))) == 2


def test_a_value_error_inside_a_library_is_a_fault_of_ours() -> None:
    assert exit_status_of(caught(json.loads, "{")) is None
    assert exit_status_of(caught(int, "x")) is None
    assert exit_status_of(KeyError("x")) is None


def test_a_file_that_cannot_be_read_is_bad_input() -> None:
    error = caught(open, "/none/such")
    assert exit_status_of(error) == 2
    assert error_line(error) == "/none/such: No such file or directory"


def test_a_full_disk_says_what_to_do() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "answers.sqlite")
    assert error_line(full).startswith(
        "answers.sqlite: No space left on device; free some space: what was done is kept"
    )
    assert exit_status_of(full) == 1


def test_what_may_go_better_next_time_is_a_failure_and_says_so() -> None:
    error = FailedError("server h: no usable reply\nto 20 prompts")
    assert exit_status_of(error) == 1
    assert error_line(error) == (
        "server h: no usable reply to 20 prompts; what was done is kept, the same command goes on"
    )


def test_a_message_of_many_lines_becomes_one() -> None:
    assert error_line(ValueError("a\n  b\nc")) == "a b c"
