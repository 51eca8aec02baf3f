"""Answers against keys: the rule of a fifth, truth values, several answers."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading._records import BankQuestion, Combine, KeyAnswer
from grading.graders._verification import TOLERANCE, is_correct, is_match, normalised, polarity


def question(combine: Combine, *answers: str) -> BankQuestion:
    return BankQuestion("a", "q", "Which?", tuple(map(KeyAnswer, answers)), combine)


def edits(first: str, second: str) -> int:
    """Levenshtein's distance by its definition."""

    @cache
    def rest(i: int, j: int) -> int:
        if i == len(first) or j == len(second):
            return len(first) - i + len(second) - j
        if first[i] == second[j]:
            return rest(i + 1, j + 1)
        return 1 + min(rest(i + 1, j), rest(i, j + 1), rest(i + 1, j + 1))

    return rest(0, 0)


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("The Epidermis.", "epidermis"),
        ("an outer layers", "outer layer"),
        ("rises", "rise"),
        ("the Earth's crust", "Earth crust"),
        ("T cells", "B cells"),  # the rule says so: one of six characters
        ("photosyntesis", "photosynthesis"),
    ],
)
def test_case_stop_words_endings_and_small_slips_do_not_count(answer: str, key: str) -> None:
    assert is_match(answer, key)


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("abcdefghij", "abcdefghxy"),  # a distance of exactly a fifth is no match; a similarity ratio of 80 would be
        ("the dermis", "epidermis"),
        ("above", "below"),
        ("less than water", "more than water"),
        ("not heated", "heated"),
        ("", "epidermis"),
        ("...", "..."),
        ("1990", "1991"),
    ],
)
def test_other_answers_do_not_match(answer: str, key: str) -> None:
    assert not is_match(answer, key)


def test_the_limit_is_the_papers_fifth_of_the_longer_string_and_no_similarity_ratio() -> None:
    """Published code asks for a fuzzy ratio above 80, which these two pass; the rule they do not."""
    from rapidfuzz import fuzz

    first, second = "bcdfghjklm", "bcdfghjklmnpq"
    assert fuzz.ratio(first, second) > 80
    assert edits(first, second) / len(second) > TOLERANCE
    assert not is_match(first, second)
    assert is_match("bcdfghjklmnp", "bcdfghjklmnpq")


@given(st.text(alphabet="bcd fg", max_size=12), st.text(alphabet="bcd fg", max_size=12))
def test_the_rule_is_its_definition(first: str, second: str) -> None:
    left, right = normalised(first), normalised(second)
    longer = max(len(left), len(right))
    wanted = bool(left and right) and edits(left, right) < TOLERANCE * longer
    assert is_match(first, second) == wanted == is_match(second, first)


@pytest.mark.parametrize(
    ("answer", "key", "right"),
    [
        ("true", "true", True),
        ("True.", "true", True),
        ("Yes, it is", "true", True),
        ("The statement is false", "false", True),
        ("It is not true", "false", True),
        ("not true", "true", False),
        ("false", "true", False),
        ("no", "yes", False),
        ("the epidermis", "true", False),
        ("true and false", "true", False),
        ("It may be true or false", "true", False),
    ],
)
def test_truth_values_are_keys_like_any_other(answer: str, key: str, right: bool) -> None:
    """Published code crashes over them."""
    assert is_correct(answer, question("or", key)) is right


def test_right_and_left_are_sides_and_no_truth_values() -> None:
    assert polarity("right", alone=True) is None
    assert not is_match("yes", "right")


def test_or_takes_any_and_and_all() -> None:
    assert is_correct("the dermis", question("or", "epidermis", "dermis"))
    assert not is_correct("the dermis", question("and", "epidermis", "dermis"))
    assert is_correct("the dermis and the epidermis", question("and", "epidermis", "dermis"))
    assert is_correct("- epidermis\n- dermis", question("and", "epidermis", "dermis"))
    assert is_correct("salt and pepper", question("and", "salt and pepper"))


def test_a_question_without_key_cannot_be_verified() -> None:
    with pytest.raises(ValueError, match=r"question 'a': no answers; wanted a key to verify with"):
        is_correct("x", question("or"))
