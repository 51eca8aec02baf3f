"""Each rule that looks at one question, with cases it must drop and cases it must keep."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from exam_gen.rules import RuleTools, apply_rules, rules_of
from exam_gen.rules._checks import catch_all, luhn, without_catch_all
from examcore import Question

GOOD = Question(
    "q1",
    "Which storage class keeps an object in a single availability zone?",
    ("Standard", "One Zone-IA", "Glacier Deep Archive", "Intelligent-Tiering"),
    1,
    chunk_id="d#0",
    metadata={"raw": "the model's words"},
)


def with_stem(stem: str, **other: object) -> Question:
    return replace(GOOD, stem=stem, **other)  # type: ignore[arg-type]


def with_choices(*choices: str, key: int = 0, stem: str = GOOD.stem) -> Question:
    return replace(GOOD, stem=stem, choices=choices, key=key)


def reason(rule: str, question: Question, setting: object = True) -> str | None:
    """What the rule alone says of a question."""
    found = apply_rules([question], rules_of({rule: setting}, only=[rule]), RuleTools())
    return found.dropped[0].reason if found.dropped else None


def test_a_good_question_passes_every_usual_rule() -> None:
    found = apply_rules([GOOD], rules_of())
    assert (found.kept, found.dropped) == ((GOOD,), ())


@pytest.mark.parametrize(
    ("rule", "stem", "expected"),
    [
        ("stem-short", "Why?", "stem-short: 4, wanted at least 20"),
        ("stem-short", "x" * 20, None),
        ("stem-long", "x" * 1001, "stem-long: 1001, wanted at most 1000"),
        ("stem-long", "x" * 1000, None),
        ("no-question", "Name the storage class.", "no-question: the stem does not end in a question mark"),
        ("no-question", "Which class is meant by “one zone?”", None),
        ("no-question", "哪一个存储类别只在一个可用区内保存对象？", None),
    ],
)
def test_the_form_of_stems(rule: str, stem: str, expected: str | None) -> None:
    assert reason(rule, with_stem(stem)) == expected


@pytest.mark.parametrize(
    ("rule", "choices", "expected"),
    [
        ("empty-choice", ("a", "b", "", "d"), "empty-choice: choice 2"),
        ("empty-choice", ("+", "-", "*", "/"), None),
        ("duplicate-choices", ("a", "b", "A.", "d"), "duplicate-choices: 1 of 4"),
        ("duplicate-choices", ("a b", "a  B", "A b!", "d"), "duplicate-choices: 2 of 4"),
        ("duplicate-choices", ("==", "!=", "<", ">"), None),
        ("few-choices", ("a",), "few-choices: 1, wanted at least 2"),
        ("few-choices", ("a", "b"), None),
        ("choice-long", ("a", "x" * 501), "choice-long: 501, wanted at most 500"),
        ("choice-long", ("a", "x" * 500), None),
    ],
)
def test_the_form_of_choices(rule: str, choices: tuple[str, ...], expected: str | None) -> None:
    assert reason(rule, with_choices(*choices)) == expected


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
    expected = f"marked-choice: choice 1 is {choice!r}" if marked else None
    assert reason("marked-choice", with_choices("x", choice)) == expected


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
    expected = f"catch-all: choice 1 is {choice!r}" if caught else None
    assert reason("catch-all", with_choices("x", choice)) == expected


def test_a_wrong_catch_all_is_taken_out_while_enough_choices_remain() -> None:
    four = with_choices("None of the above", "x", "y", "z", key=2)
    cut = without_catch_all(four)
    assert cut is not None
    assert (cut.choices, cut.answer) == (("x", "y", "z"), "y")
    assert without_catch_all(with_choices("None of the above", "x", "y", "z", key=0)) is None
    assert without_catch_all(with_choices("None of the above", "x", "y", key=1)) is None
    assert without_catch_all(GOOD) is None
    found = apply_rules([four], rules_of({}, only=["without-catch-all", "catch-all"]))
    assert [one.choices for one in found.kept] == [("x", "y", "z")]
    assert found.steps[0].rewritten == (four,)


def leak(stem: str, key: str, *others: str) -> str | None:
    return reason("answer-leak", with_choices(key, *others, stem=stem))


def test_a_key_in_the_stem_is_a_leak() -> None:
    assert leak("Which class is the One Zone-IA class?", "One Zone-IA", "Glacier") == (
        "answer-leak: all 3 words of the key are in the stem"
    )
    assert leak("What does the versioning state of a bucket protect?", "the versioning state of a bucket now", "x") == (
        "answer-leak: 6 of 7 words of the key are in the stem"
    )
    assert leak("Is it the left or the right?", "left", "right") is None
    assert leak("Which zone is it?", "one zone", "two zones") is None
    assert leak("What is a cat?", "at", "on") is None
    assert leak("What holds x in the set of y?", "a set", "a list") is None


PASSAGE = "Objects of the One Zone class are kept in a single availability zone and may be lost with it."


@pytest.mark.parametrize(
    ("stem", "key", "value"),
    [
        ('What do "kept in a single availability zone" objects use?', "A single zone", 1.0),
        ("What does “are kept in a single ____ zone” lack?", "single copies", 0.5),
        ("What does “of the One Zone class are kept in a(n) ____” have?", "a class", 1.0),
        ("What do objects that are kept in a single zone use?", "A single zone", 0.0),
        ('What do "kept in some other place of the world" objects use?', "some place", 0.0),
        ('What do "kept in a single availability zone" objects use?', "Many copies", 0.0),
    ],
)
def test_a_key_that_stands_in_a_quoted_phrase_of_the_passage_is_a_leak(stem: str, key: str, value: float) -> None:
    question = with_choices(key, "Two regions", "No disk", stem=stem)
    found = reason("quoted-leak", replace(question, context=PASSAGE), 0.4)
    assert found == (f"quoted-leak: {value:g}, wanted at most 0.4" if value > 0.4 else None)


def test_a_quoted_phrase_that_holds_a_distractor_as_well_gives_nothing_away() -> None:
    stem = 'What do "kept in a single availability zone and may be lost" objects use?'
    question = replace(with_choices("single zone", "availability", "x", stem=stem), context=PASSAGE)
    assert reason("quoted-leak", question) is None


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
    "Which of the former is faster for lookups?",
    "How much did the company earn in that same year?",
    "Who answered the previous question about zones?",
]  # fmt: skip
LEANING = [
    "What does it return when the key is missing?",
    "What is this used for in Python?",
    "Why are these faster than lists?",
    "How do they differ from tuples?",
    "Is it faster than a list to look up?",
    "Which is the main advantage of this approach?",
    "What happens to them?",
    "What is his most famous theorem called?",
    "What are their main advantages over lists?",
    "When was her first book published?",
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
    "Which room is it that nobody may enter at night?",
    "What is the former name of the country Myanmar?",
    "Which two threads of CPython run at the same time?",
]


@pytest.mark.parametrize("stem", POINTING + LEANING)
def test_questions_that_lean_on_a_text_are_dropped(stem: str) -> None:
    found = reason("self-contained", with_stem(stem))
    assert found is not None
    assert found.endswith("points outside the question")


@pytest.mark.parametrize("stem", FINE)
def test_questions_that_stand_alone_are_kept(stem: str) -> None:
    assert reason("self-contained", with_stem(stem)) is None


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("Which article of the constitution names the president?", "names-a-text: 'article'"),
        ("What is described in “Deep Nets” first?", "names-a-text: 'in “Deep Nets”'"),
        ("Which studying habit helps most?", None),
    ],
)
def test_the_papers_rule_drops_any_word_for_a_text(stem: str, expected: str | None) -> None:
    assert reason("names-a-text", with_stem(stem)) == expected


PEOPLE = [
    ("Whom does ann.lee@firm.co.uk write to first?", "an e-mail address"),
    ("Who answers at +49 30 901820-22 after five?", "a telephone number"),
    ("Who answers at +49 30 90182022 after five?", "a telephone number"),
    ("Who answers at (212) 736-5000 after five?", "a telephone number"),
    ("Which card is 4111 1111 1111 1111 of the kind?", "a payment card's number"),
    ("Which card is 4111 1111 1111 1112 of the kind?", None),
    ("Which address like user@example.com is reserved?", None),
    ("Which decorator such as @app.command marks it?", None),
    ("What is 2 ** 64, that is 18446744073709551616?", None),
    ("Which version follows 3.11.2 of 2023-02-08?", None),
    ("What does 192.168.100.200 stand for?", None),
]


@pytest.mark.parametrize(("stem", "kind"), PEOPLE)
def test_personal_data_is_named_by_kind_and_never_repeated(stem: str, kind: str | None) -> None:
    assert reason("personal-data", with_stem(stem)) == (None if kind is None else f"personal-data: {kind}")
    in_choice = reason("personal-data", with_choices("x", stem))
    assert in_choice == (None if kind is None else f"personal-data: {kind}")


def test_luhn_finds_every_single_wrong_digit_and_published_numbers() -> None:
    for number in ("4111 1111 1111 1111", "5500-0000-0000-0004", "79927398713", "378282246310005"):
        assert luhn(number)
        digits = re.sub(r"\D", "", number)
        for place, digit in enumerate(digits):
            for other in set("0123456789") - {digit}:
                assert not luhn(digits[:place] + other + digits[place + 1 :])
    assert not luhn("0000")
    assert not luhn("")


def test_blocked_words_are_whole_words_in_any_case() -> None:
    assert reason("blocked-words", with_stem("Who is a Darned fool?"), ["darn", "darned"]) == "blocked-words: 'Darned'"
    assert reason("blocked-words", with_choices("x", "c++ code"), ["C++"]) == "blocked-words: 'c++'"
    assert reason("blocked-words", with_stem("Who darned the sock?"), ["darn"]) is None
    assert reason("blocked-words", GOOD, []) is None


@pytest.mark.parametrize(
    ("code", "dropped", "kept"),
    [
        (
            "de",
            ("Alle oben genannten", "Keine der Antworten", "A und C", "weder A noch B"),
            ("Alle Pakete", "keine Rechte"),
        ),
        ("fr", ("Toutes les réponses", "Aucune de ces réponses", "A et C"), ("Tous les paquets", "aucune dépendance")),
        ("es", ("Todas las anteriores", "Ninguna de las opciones", "A y C"), ("Todos los paquetes", "ningún archivo")),
        ("ja", (), ("All of the above",)),
    ],
)
def test_catch_alls_are_told_in_the_language_of_the_question(
    code: str, dropped: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    for text in (*dropped, *kept):
        asked = Question("q", "?", ("apt", text), 0, metadata={"language": code})
        assert (catch_all(asked) is not None) == (text in dropped), text
