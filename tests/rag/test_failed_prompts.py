"""What got no answer, in one line: who, which questions, why, and how many of each."""

from __future__ import annotations

import pytest

from examcore import counted
from rag.sitting._sitting import FailedPrompts, question_list


def test_one_is_told_as_one() -> None:
    losses = FailedPrompts()
    losses.add("box (http://h/ask)", "q3", "status 500: no index, 1 attempt")
    said = "1 prompt got no answer: box (http://h/ask), question q3: status 500: no index, 1 attempt"
    assert losses.summary() == said


def test_those_lost_in_the_same_way_stand_together_and_none_goes_uncounted() -> None:
    losses = FailedPrompts()
    lost = {"status 500": range(5), "no answer within 1 s": (7, 7), "broken JSON": (8,), "HTML": (9,), "cut": (10,)}
    for reason, numbers in lost.items():
        for number in numbers:
            losses.add("box", f"q{number}", reason)
    assert len(losses) == 10
    assert losses.summary() == (
        "10 prompts got no answer: box, questions q0, q1, q2 and 2 more: status 500; box, question q7: no answer "
        "within 1 s; box, question q8: broken JSON; 2 for other reasons"
    )


@pytest.mark.parametrize(
    ("ids", "said"),
    [("a", "question a"), ("aa", "question a"), ("abc", "questions a, b, c"), ("abcd", "questions a, b, c and 1 more")],
)
def test_each_question_is_named_once(ids: str, said: str) -> None:
    assert question_list(list(ids)) == said


def test_one_thing_is_no_things() -> None:
    assert [counted(count, "attempt") for count in (0, 1, 2)] == ["0 attempts", "1 attempt", "2 attempts"]


def test_reasons_that_differ_in_numbers_alone_are_one() -> None:
    losses = FailedPrompts()
    for place in range(3):
        losses.add("far", f"q{place}", f"0 of the prompt's {place + 8} tokens")
    assert losses.summary() == "3 prompts got no answer: far, questions q0, q1, q2: 0 of the prompt's 8 tokens"
