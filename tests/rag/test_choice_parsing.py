"""Which choice a written answer names: by letter, by text, or none."""

from __future__ import annotations

import pytest

from rag import NO_CHOICE
from rag.answering._choice_parsing import MAX_READ_CHARACTERS, read_choice

CHOICES = ("the Moravian hills", "at noon", "yeast", "noon on Sundays")
CODE = ("`len(x)`", "x.size", "*args", "__init__")


@pytest.mark.parametrize(
    "written",
    [
        *("B", "b", "(B)", "(b)", "B.", "B)", "b)", "**B**", "`B`", '"B"', "[B]", " B\n", "B:", "B,"),
        *(
            "Answer: B",
            "Answer: B.",
            "answer: (b)",
            "The answer is B.",
            "The correct answer is (B)",
            "Option B",
            "Choice b",
        ),
        *(
            "B) at noon",
            "B. at noon",
            "B: At noon.",
            "B at noon",
            "(B) at noon",
            "Answer: B) at noon",
            "**B) at noon**",
        ),
        *(
            "B because the text says so",
            "B is right",
            "B, because the train is late",
            "I think (B).",
            "I think B) fits",
        ),
        *("at noon", "At noon.", "Answer: at noon", "It arrives at noon.", "The train arrives AT  NOON, I believe"),
        *("The best choice would be B", "I would say the answer is B.", "B\n\nQuestion: What lifts bread?\nA) salt"),
        *(
            "<think>Is it A? No, C? No.</think>\nB",
            "Well, let me see.\nThe answer is B",
            "Sure! The correct option is: (B)",
        ),
        *("B\nExplanation: (C) is wrong", "Antwort: B)", "It's B)", "B - at noon", "B – at noon"),
    ],
)
def test_one_choice_is_named(written: str) -> None:
    assert read_choice(written, CHOICES) == 1


@pytest.mark.parametrize(
    "written",
    [
        *(
            "",
            " \n",
            "none",
            "I do not know.",
            "E",
            "(E)",
            "Answer: Z",
            "5",
            "2",
            "Question",
            "because",
            "<think>B or C?",
        ),
        *("A, C", "A and C", "A or B", "B/C", "A & B", "(A) and (C)", "Both A) and B)", "A; B", "A B", "A. B."),
        *(
            "yeast or at noon",
            "B) yeast",
            "(C) at noon",
            "A bucket",
            "A good question!",
            "I am not sure",
            "As far as I know",
        ),
        *("The answer is A. No, the answer is B.", "noo", "yeasty", "the"),
    ],
)
def test_none_or_several_are_no_choice(written: str) -> None:
    assert read_choice(written, CHOICES) == NO_CHOICE


def test_the_longer_of_two_choices_is_meant_where_one_holds_the_other() -> None:
    assert read_choice("It is noon on Sundays.", ("noon", "noon on Sundays")) == 1
    assert read_choice("It is noon.", ("noon", "noon on Sundays")) == 0
    assert read_choice("noon on Sundays, or just noon", ("noon", "noon on Sundays")) == NO_CHOICE


def test_the_beginning_of_one_choice_stands_for_it() -> None:
    assert read_choice("the Moravian", CHOICES) == 0
    assert read_choice("at noon", ("at noon of the first", "at noon of the second")) == NO_CHOICE


def test_an_article_is_a_label_only_with_its_choice() -> None:
    choices = ("bucket of sand", "a bucket", "an hour")
    assert read_choice("A bucket", choices) == 1
    assert read_choice("A bucket of sand", choices) == 0
    assert read_choice("A", choices) == 0
    assert read_choice("A, I think", choices) == 0
    assert read_choice("A is right", choices) == 0


def test_choices_that_are_letters_or_code_are_read() -> None:
    assert read_choice("B", ("C", "A", "B")) == 1, "a letter alone is a label"
    assert read_choice("A) C", ("C", "A", "B")) == 0
    assert [read_choice(one, CODE) for one in CODE] == [0, 1, 2, 3]
    assert read_choice("D) __init__", CODE) == 3


def test_letters_mean_nothing_to_one_who_was_not_shown_any() -> None:
    assert read_choice("B", CHOICES, letters=False) == NO_CHOICE
    assert read_choice("at noon", CHOICES, letters=False) == 1
    assert read_choice("Vitamin B) is made by yeast", CHOICES, letters=False) == 2


def test_more_choices_have_more_letters() -> None:
    many = tuple(f"number {n}" for n in range(12))
    assert read_choice("L", many) == 11
    assert read_choice("The answer is I.", many) == 8
    assert read_choice("I think number 3", many) == 3


def test_only_the_beginning_of_a_runaway_text_is_read() -> None:
    assert read_choice(" " * MAX_READ_CHARACTERS + "B", CHOICES) == NO_CHOICE
    assert read_choice("B " + "and so on " * MAX_READ_CHARACTERS, CHOICES) in (1, NO_CHOICE)
