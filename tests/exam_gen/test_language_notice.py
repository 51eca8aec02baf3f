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
    assert "grammar-cue read English alone" in notice
    assert "know no words" not in notice
    assert "2 of them have no labels" in notice
    assert exam_statistics(questions).as_dict()["languages"] == {"de": 2, "ja": 1, "en": 1}


def test_a_language_without_a_module_is_told_of_with_the_rules_that_know_none_of_its_words() -> None:
    notice = language_notice([asked("it"), asked("de", form=("what",))])
    assert "marked-choice, catch-all, self-contained and odd-one-out know no words of Italian, whose prompts" in notice


LEANING = {
    "self-contained": (
        asked("en", "What does this text say?"),
        asked("ja", "この文章は何と言っていますか？"),
        asked("it", "Che cosa dice questo testo?"),
    ),
    "catch-all": (
        asked("en", choices=("a", "All of the above")),
        asked("ja", choices=("甲", "上記のすべて")),
        asked("it", choices=("a", "Tutte le precedenti")),
    ),
}


@pytest.mark.parametrize("name", LEANING)
def test_a_rule_that_knows_words_drops_a_question_in_a_language_with_a_module_and_misses_it_in_another(
    name: str,
) -> None:
    (rule,) = rules_of(only=[name])
    english, japanese, italian = rule.reasons(LEANING[name], RuleTools())
    assert english is not None
    assert japanese is not None
    assert italian is None
    assert RULE_KINDS[name].reads == "known languages"


def test_question_words_are_those_of_english_questions() -> None:
    found = exam_statistics([asked("de", "Was gilt hier?"), asked("en", "What holds here?")])
    assert found.question_words == {"what": 1.0, "other": 0.0}
