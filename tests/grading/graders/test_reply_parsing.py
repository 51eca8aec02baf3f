"""Replies to grades: every rule, the faults of published parsers, and what holds for any text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.graders._reply_parsing import (
    UNANSWERABLE,
    is_ill_formed,
    parse_answer,
    parse_final_score,
    parse_level,
    parse_rating,
    parse_yes_no,
)


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("4", 4),
        (" 4.", 4),
        ("4/5", 4),
        ("4 out of 5", 4),
        ("Rating: **4**", 4),
        ("5: it answers it fully", 5),
        ("0", 0),
        ("I would give this a 3, since much is missing.", 3),
        ("On a scale from 0 to 5: 2", 2),
        ("No, but 3 of the parts are there", 3),
    ],
)
def test_the_first_number_of_the_scale_that_stands_alone_is_the_rating(reply: str, grade: float) -> None:
    assert parse_rating(reply) == (grade, "number")


@pytest.mark.parametrize(
    "reply", [*UNANSWERABLE, *(one.capitalize() + "." for one in UNANSWERABLE), "The question is unanswerable."]
)
def test_unanswerable_is_0_and_never_1(reply: str) -> None:
    """Published code has it the other way round: "unanswerable" 1, "the epidermis" 0."""
    assert parse_rating(reply) == (0, "unanswerable")
    assert parse_answer(reply) == (0, "unanswerable")


@pytest.mark.parametrize(
    "reply", ["the epidermis", "It began in 1990.", "3,000 people", "Yes, fully", "vitamin B12", "7 layers"]
)
def test_an_answer_without_a_rating_is_1_and_never_0(reply: str) -> None:
    assert parse_rating(reply) == (1, "answer")


@pytest.mark.parametrize("reply", ["a.", "(iii)", "b)", "[C]", "ii", "(a)"])
def test_an_ill_formed_answer_is_0(reply: str) -> None:
    assert is_ill_formed(reply)
    assert parse_rating(reply) == parse_answer(reply) == (0, "ill-formed")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "  ",
        "...",
        "10",
        "Rating: 10",
        "4.5",
        "-1",
        "6/5",
        "4/10",
        "1.5/10\n\nThe answer is: 1",
        "3 out of 10",
        "\n**\n",
        "Score = 10/5",
    ],
)
def test_what_fits_no_rule_is_unparsed_and_not_0(reply: str) -> None:
    found = parse_rating(reply)
    assert math.isnan(found.grade)
    assert found.rule == "unparsed"


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("Yes.", 1),
        ("yes", 1),
        ("YES!", 1),
        ("**Yes**", 1),
        ("Yes, because no other fits", 1),
        ("The answer is yes", 1),
        ("No.", 0),
        ("no, it is not", 0),
        ("The answer is no.", 0),
    ],
)
def test_a_verifier_may_write_a_full_stop(reply: str, grade: float) -> None:
    """Published code compares with "yes" and takes "Yes." for a no."""
    assert parse_yes_no(reply).grade == grade


@pytest.mark.parametrize("reply", ["", "maybe", "yes or no", "It could be no, it could be yes", "1"])
def test_neither_yes_nor_no_is_unparsed(reply: str) -> None:
    assert math.isnan(parse_yes_no(reply).grade)


@pytest.mark.parametrize(("reply", "grade"), [("2", 2), ("Judgement: 1.", 1), ("0 - no help", 0)])
def test_a_level_is_the_first_number(reply: str, grade: float) -> None:
    assert parse_level(reply) == (grade, "number")


@pytest.mark.parametrize("reply", ["3", "relevant", "", "1.5", "10, 2", "2/5"])
def test_a_level_outside_the_scale_is_unparsed(reply: str) -> None:
    assert math.isnan(parse_level(reply).grade)


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("##final score: 3", 3),
        ("##Final Score: 0", 0),
        ("**Final score (O):** 2", 2),
        ("M: 3\nT: 1\nO: 2", 2),
        ("##final score (M): 3\n##final score (T): 3\n##final score (O): 1", 1),
        ('{"M": 0, "T": 3, "O": 0}', 0),
        ("The overall score is 2.", 2),
        ("final score: 2/3", 2),
        ("1", 1),
        ("Answer: 3.", 3),
    ],
)
def test_the_final_score_counts_among_several(reply: str, grade: float) -> None:
    assert parse_final_score(reply).grade == grade


@pytest.mark.parametrize(
    "reply", ["", "3, 2, 1", "final score: 4", "final score: -1", "O: 2.5", "final score: 8/10", "4", "from 0 to 3"]
)
def test_a_reply_without_a_final_score_of_the_scale_is_unparsed(reply: str) -> None:
    assert math.isnan(parse_final_score(reply).grade)


@given(st.text())
def test_any_text_gets_one_grade_of_the_scale_or_none(reply: str) -> None:
    for parse, known in (
        (parse_rating, {0, 1, 2, 3, 4, 5}),
        (parse_answer, {0, 1}),
        (parse_yes_no, {0, 1}),
        (parse_level, {0, 1, 2}),
        (parse_final_score, {0, 1, 2, 3}),
    ):
        grade, rule = parse(reply)
        assert (grade in known) is not math.isnan(grade)
        assert math.isnan(grade) == (rule == "unparsed")


@given(st.integers(0, 5), st.sampled_from(["{}", "{}.", "Rating: {}", "**{}**", "{}/5", "{}: partly", "I say {}"]))
def test_a_rating_is_read_in_any_dress(rating: int, dress: str) -> None:
    assert parse_rating(dress.format(rating)).grade == rating


@given(st.sampled_from(UNANSWERABLE), st.sampled_from(["{}", " {} ", "{}.", '"{}"', "*{}*", "{}!\n"]), st.booleans())
def test_an_expression_of_no_answer_is_0_in_any_dress(text: str, dress: str, upper: bool) -> None:
    assert parse_rating(dress.format(text.upper() if upper else text)).grade == 0


@given(st.lists(st.from_regex(r"[a-z]{6,12}", fullmatch=True), min_size=2, max_size=8))
def test_plain_words_are_an_answer(words: list[str]) -> None:
    text = " ".join(words)
    if not any(one in text for one in UNANSWERABLE if len(one) > 2):
        assert parse_answer(text) == (1, "answer")
