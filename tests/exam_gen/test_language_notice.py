"""What is said of an exam that is not all in English."""

from __future__ import annotations

import pytest

from exam_gen import exam_statistics, language_notice
from exam_gen.rules import RULE_KINDS, RuleTools, rules_of
from examcore import Question


def asked(language: str, stem: str = "?", choices: tuple[str, ...] = ("a", "b"), **labels: tuple[str, ...]) -> Question:
    return Question(stem, stem, choices, 0, labels=labels, metadata={"language": language})


def test_nothing_is_said_of_english() -> None:
    questions = [asked("en"), Question("q", "What?", ("a", "b"), 0)]
    assert language_notice(questions) == ""
    assert "languages" not in exam_statistics(questions).as_dict()


def test_questions_are_counted_by_language_with_the_rules_that_do_not_read_them() -> None:
    questions = [asked("de"), asked("ja"), asked("de", form=("what",)), asked("en")]
    notice = language_notice(questions)
    assert notice.startswith("3 of 4 questions are not in English (2 in German and 1 in Japanese): ")
    assert "self-contained" in notice
    assert "catch-all knows no wordings of Japanese" in notice
    assert "which Japanese text does not have" in notice
    assert "2 of them have no labels" in notice
    assert exam_statistics(questions).as_dict()["languages"] == {"de": 2, "ja": 1, "en": 1}


def test_german_alone_is_not_told_of_scripts_without_spaces_or_unknown_catch_alls() -> None:
    notice = language_notice([asked("de", form=("what",))])
    assert "catch-all" not in notice
    assert "spaces" not in notice
    assert "no labels" not in notice


LEANING = {
    "self-contained": (
        "What does this text say?",
        "この文章は何と言っていますか？",
        ("a", "b", "c"),
    ),
    "answer-leak": (
        "Where does the master write the names, in the big book or elsewhere?",
        "港長は船の名前をどこに書きますか、大きい帳簿ですか？",
        ("the big book", "a gate", "a box"),
    ),
}


@pytest.mark.parametrize("name", LEANING)
def test_a_rule_that_is_named_drops_a_question_in_english_and_misses_it_in_japanese(name: str) -> None:
    english, japanese, choices = LEANING[name]
    own = tuple({"the big book": "大きい帳簿", "a gate": "門", "a box": "箱"}.get(one, one) for one in choices)
    (rule,) = rules_of(only=[name])
    found = rule.reasons([asked("en", english, choices), asked("ja", japanese, own)], RuleTools())
    assert found[0] is not None
    assert found[1] is None
    assert RULE_KINDS[name].reads != "any language"


def test_question_words_are_those_of_english_questions() -> None:
    found = exam_statistics([asked("de", "Was gilt hier?"), asked("en", "What holds here?")])
    assert found.question_words == {"what": 1.0, "other": 0.0}
