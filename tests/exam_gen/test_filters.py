import time
from dataclasses import replace

import numpy as np
import pytest

from exam_gen import Question
from exam_gen.filters import (
    above,
    answer_leak,
    catch_all,
    choice_form,
    length_cue,
    marked_choice,
    names_no_text,
    near_duplicate,
    rule_of,
    self_contained,
    sift,
    similarity_filter,
    standard_filters,
    stem_form,
)

GOOD = Question(
    "q1",
    "Which storage class keeps an object in a single availability zone?",
    ("Standard", "One Zone-IA", "Glacier Deep Archive", "Intelligent-Tiering"),
    1,
    chunk_id="d#0",
    metadata={"raw": "the model's words"},
)


def with_stem(stem: str, name: str = "q") -> Question:
    return replace(GOOD, id=name, stem=stem)


def with_choices(*choices: str, key: int = 0) -> Question:
    return replace(GOOD, choices=choices, key=key)


def test_a_good_question_passes_every_rule() -> None:
    found = sift([GOOD], standard_filters())
    assert (found.kept, found.dropped) == ((GOOD,), ())


def test_the_first_reason_drops_and_is_recorded_with_the_raw_text() -> None:
    bad = replace(GOOD, id="q2", stem="Short.")
    found = sift([GOOD, bad], [stem_form(), lambda question: "never reached"])
    assert [one.id for one in found.kept] == []
    assert [one.reason for one in found.dropped] == ["never reached", "stem too short: 6 characters, wanted 20"]
    assert (found.dropped[0].raw, found.dropped[0].chunk_id, found.dropped[1].question) == (
        "the model's words",
        "d#0",
        bad,
    )
    assert rule_of(found.dropped[1].reason) == "stem too short"


@pytest.mark.parametrize(
    ("stem", "rule"),
    [
        ("Why?", "stem too short: 4 characters, wanted 20"),
        ("Which one is it " + "x" * 1000 + "?", "stem too long: 1017 characters, wanted at most 1000"),
        ("Name the storage class of one zone.", "no question mark: the stem does not end in one"),
        ("Which class is meant by “one zone?”", None),
        ("哪一个存储类别只在一个可用区内保存对象而不在其他可用区？", None),
    ],
)
def test_stem_form(stem: str, rule: str | None) -> None:
    assert stem_form()(with_stem(stem)) == rule


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        (("a", "b", "", "d"), "empty choice: 2"),
        (("a", "b", "A.", "d"), "duplicate choices: 1 of 4"),
        (("a b", "a  B", "A b!", "d"), "duplicate choices: 2 of 4"),
        (("a",), "too few choices: 1"),
        (("a", "x" * 501), "choice too long: 501 characters, wanted at most 500"),
        (("+", "-", "*", "/"), None),
        (("==", "!=", "<", ">"), None),
    ],
)
def test_choice_form(choices: tuple[str, ...], reason: str | None) -> None:
    assert choice_form()(with_choices(*choices)) == reason


@pytest.mark.parametrize(
    ("choice", "marked"),
    [
        ("four Correct Answer: B", True),
        ("two (correct)", True),
        ("B) two", True),
        ("two ✓", True),
        ("two. Explanation: since", True),
        ("A bucket", False),
        ("the correct index", False),
        ("d.keys()", False),
    ],
)
def test_marked_choices(choice: str, marked: bool) -> None:
    assert marked_choice(with_choices("x", choice)) == ("marked choice: 1" if marked else None)


@pytest.mark.parametrize(
    ("choice", "caught"),
    [
        ("All of the above", True),
        ("none of these", True),
        ("Both A and C", True),
        ("A and B", True),
        ("Neither of them", True),
        ("Cannot be determined", True),
        ("Not mentioned", True),
        ("any of the other options", True),
        ("All objects", False),
        ("None", False),
        ("Both keys and values", False),
        ("Not a number", False),
        ("all()", False),
    ],
)
def test_catch_all_choices(choice: str, caught: bool) -> None:
    assert catch_all(with_choices("x", choice)) == ("catch-all choice: 1" if caught else None)


def leak(stem: str, key: str, *others: str) -> str | None:
    return answer_leak(replace(GOOD, stem=stem, choices=(key, *others), key=0))


def test_a_key_in_the_stem_is_a_leak() -> None:
    assert leak("Which class is the One Zone-IA class?", "One Zone-IA", "Glacier") == (
        "answer leak: all 3 words of the key are in the stem"
    )
    assert leak("What does the versioning state of a bucket protect?", "the versioning state of a bucket now", "x") == (
        "answer leak: 6 of 7 words of the key are in the stem"
    )
    assert leak("Is it the left or the right?", "left", "right") is None
    assert leak("Which zone is it?", "one zone", "two zones") is None
    assert leak("What is a cat?", "at", "on") is None
    assert leak("What holds x in the set of y?", "a set", "a list") is None


POINTING = [
    "According to the passage, which class is it?",
    "What does the documentation say about zones?",
    "Which method does the proposed paper use?",
    "What is the main goal of this study?",
    "Based on the text, how many zones are there?",
    "Which value is returned in the example above?",
    "In the given context, what is a zone?",
    "What is shown in Figure 3 about zones?",
    "What is described in \"Attention Is All You Need\"?",
    "Which method was introduced in the paper titled \"Deep Nets\"?",
    "What is mentioned above as the reason?",
    "What does the author recommend?",
    "What does the code snippet print?",
    "What is the purpose of the above function?",
    "Which rule is stated in this section?",
    "What does the provided text describe?",
    "What is the output in this example?",
    "Which statement is described in the document?",
    "According to the top answer, which is true?",
]  # fmt: skip
LEANING = [
    "What does it return when the key is missing?",
    "What is this used for in Python?",
    "Why are these faster than lists?",
    "How do they differ from tuples?",
    "Is it faster than a list to look up?",
    "Which is the main advantage of this approach?",
    "What happens to them?",
]
FINE = [
    "Which of the following statements about lists is true?",
    "Which of the following best describes a closure?",
    "What does the text editor open by default?",
    "Which clause of the table definition sets the key?",
    "What does it mean when Python raises KeyError?",
    "Is it possible to assign to a tuple element?",
    "Is it illegal in Germany to sell raw milk?",
    "Why is it a bad habit to compare types by name?",
    "Which keyword ends a loop when it is used in the body?",
    "How many documents does the index hold after they are merged?",
    "A class defines __len__. What does it return for an empty object?",
    "When an object is deleted, what happens to it?",
    "What does the `in` operator test for lists?",
    "Which section of a 10-K filing lists risk factors?",
    "What is the type of the elements that a set holds?",
    "Which article of the constitution names the president?",
    "Which function returns the documentation string?",
    "What should be used for text in Python 3?",
]


@pytest.mark.parametrize("stem", POINTING + LEANING)
def test_questions_that_lean_on_a_text_are_dropped(stem: str) -> None:
    reason = self_contained(with_stem(stem))
    assert reason is not None
    assert rule_of(reason) == "not self-contained"


@pytest.mark.parametrize("stem", FINE)
def test_questions_that_stand_alone_are_kept(stem: str) -> None:
    assert self_contained(with_stem(stem)) is None


@pytest.mark.parametrize(
    ("stem", "reason"),
    [
        ("Which article of the constitution names the president?", "names a text: 'article'"),
        ("What is described in “Deep Nets” first?", "names a text: 'in “Deep Nets”'"),
        ("Which studying habit helps most?", None),
    ],
)
def test_the_papers_rule_drops_any_word_for_a_text(stem: str, reason: str | None) -> None:
    assert names_no_text(with_stem(stem)) == reason


def test_a_key_of_striking_length_is_a_cue() -> None:
    rule = length_cue()
    assert rule(with_choices("x" * 40, "y" * 20, "z" * 10)) == (
        "length cue: the key has 40 characters, the longest distractor 20"
    )
    assert rule(with_choices("x" * 5, "y" * 20, "z" * 30)) == (
        "length cue: the key has 5 characters, the shortest distractor 20"
    )
    assert rule(with_choices("x" * 9, "y" * 3, "z" * 4)) is None
    assert rule(with_choices("x" * 30, "y" * 20, "z" * 10)) is None


def test_near_duplicate_stems_are_dropped_but_names_tell_questions_apart() -> None:
    stems = [
        "What does str.lower() return for an empty string?",
        "what does str.lower() return, for an empty string?!",
        "What does str.upper() return for an empty string?",
        "Which zone holds it?",
    ]
    found = sift([with_stem(stem, f"q{n}") for n, stem in enumerate(stems)], [near_duplicate(0.9)])
    assert [one.id for one in found.kept] == ["q0", "q2", "q3"]
    assert [one.reason for one in found.dropped] == ["near-duplicate stem: 1.00 with q0"]


def test_each_near_duplicate_filter_starts_afresh() -> None:
    assert near_duplicate()(GOOD) is None
    assert near_duplicate()(GOOD) is None
    rule = near_duplicate()
    assert rule(GOOD) is None
    assert rule(GOOD) == "near-duplicate stem: 1.00 with q1"


def test_five_thousand_stems_are_compared_in_seconds() -> None:
    rng = np.random.default_rng(0)
    words = [f"word{n}" for n in range(3000)]
    questions = [with_stem("what is the " + " ".join(rng.choice(words, 9)), f"q{n}") for n in range(5_000)]
    start = time.process_time()
    assert len(sift(questions, [near_duplicate()]).kept) == 5_000
    assert time.process_time() - start < 20


def test_similarity_filters_take_a_value_or_a_share() -> None:
    questions = [replace(GOOD, id=f"q{n}") for n in range(10)]
    values = np.arange(10) / 10
    by_value = sift(questions, [similarity_filter("extra words", questions, values, threshold=0.65)])
    assert [one.question.id for one in by_value.dropped if one.question] == ["q7", "q8", "q9"]
    assert by_value.dropped[0].reason == "extra words: 0.700, wanted at most 0.650"
    by_share = sift(questions, [similarity_filter("extra words", questions, values, share=0.3)])
    assert [one.id for one in by_share.kept] == [f"q{n}" for n in range(7)]
    for bad in ({}, {"threshold": 0.1, "share": 0.1}):
        with pytest.raises(ValueError, match=r"extra words: found threshold .* wanted exactly one of them"):
            similarity_filter("extra words", questions, values, **bad)
    assert above("rule", {"q0": 1.0}, 1.0)(questions[0]) is None
