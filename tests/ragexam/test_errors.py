import errno
import json

import pytest

from exam_gen.corpora.corpus import read_corpus
from ragexam.errors import is_bad_input, one_line


def caught(work: object, *arguments: object) -> BaseException:
    with pytest.raises(Exception) as found:
        work(*arguments)  # type: ignore[operator]
    return found.value


def test_our_own_value_error_is_bad_input() -> None:
    assert is_bad_input(caught(lambda: read_corpus("python-docs", sample=0)))


def test_a_value_error_inside_a_library_is_a_fault_of_ours() -> None:
    assert not is_bad_input(caught(json.loads, "{"))
    assert not is_bad_input(caught(int, "x"))


def test_a_file_that_cannot_be_read_is_bad_input() -> None:
    error = caught(open, "/none/such")
    assert is_bad_input(error)
    assert one_line(error) == "/none/such: No such file or directory"


def test_a_full_disk_says_what_to_do() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "answers.sqlite")
    assert one_line(full).startswith("answers.sqlite: No space left on device; free some space")


def test_a_message_of_many_lines_becomes_one() -> None:
    assert one_line(ValueError("a\n  b\nc")) == "a b c"
