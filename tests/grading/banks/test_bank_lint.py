"""Each rule of the bank's lint finds its fault, and leaves a sound bank alone."""

from __future__ import annotations

import math

import pytest

from grading._records import BankQuestion, Combine, Grade, KeyAnswer
from grading.banks._bank_lint import RULES, Limits, lint


def question(name: str, text: str, *answers: str | tuple[str, str], combine: Combine = "or") -> BankQuestion:
    keys = [KeyAnswer(one) if isinstance(one, str) else KeyAnswer(one[0], frozenset(one[1:])) for one in answers]
    return BankQuestion(name, "skin", text, tuple(keys), combine)


SOUND = (
    question("s1", "Which layer of the skin is the outermost?", "epidermis"),
    question("s2", "What do glands release to cool the body?", "sweat"),
    question("s3", "Which pigment darkens human skin in the sun?", "melanin"),
    question("s4", "When do the first wrinkles usually appear in a face?", "from the age of thirty"),
    question("s5", "How thick is the skin of an eyelid in millimetres?", "half a millimetre"),
)


def found(*questions: BankQuestion, grades: tuple[Grade, ...] = ()) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.rule, one.ids) for one in lint([*SOUND, *questions], grades)]


def test_a_sound_bank_has_no_finding() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("one", "rule"),
    [
        (question("x", " ", "sand"), "empty-question"),
        (question("x", "The skin and its layers", "sand"), "not-a-question"),
        (question("x", "Skin?", "sand"), "too-broad"),
        (question("x", "Which animals shed their skin?", *(f"animal {n}" for n in range(11))), "too-broad"),
        (question("x", "Which layers has the deep skin?", combine="and"), "unsatisfiable-and"),
        (question("x", "Is hair dead tissue in humans?", "true", "false", combine="and"), "unsatisfiable-and"),
        (question("x", "Is hair dead tissue in humans?", "yes", "no"), "contradiction"),
        (question("x", "How many layers does human skin have?", "3", "7", combine="and"), "unsatisfiable-and"),
        (question("x", "What do hair follicles hold?", "the root", "roots"), "duplicate-answer"),
        (question("x", "Which organ is the skin, an organ of defence?", "organ of defence"), "answer-in-question"),
        (question("x", "What do hair follicles hold?"), "no-answer"),
    ],
)
def test_a_fault_of_one_question_is_found_by_its_rule_alone(one: BankQuestion, rule: str) -> None:
    assert found(one) == [(rule, ("x",))]


@pytest.mark.parametrize(
    ("one", "rule"),
    [
        (question("x", "which layer of the skin is the outermost", "epidermis"), "duplicate"),
        (question("x", "Which layer of the human skin is the outermost?", "epidermis"), "near-duplicate"),
    ],
)
def test_questions_that_ask_the_same_are_found(one: BankQuestion, rule: str) -> None:
    assert found(one) == [(rule, ("s1", "x"))]


def test_the_same_question_with_another_key_contradicts() -> None:
    assert found(question("x", "Which layer of the skin is the outermost?", "dermis")) == [
        ("duplicate", ("s1", "x")),
        ("contradiction", ("s1", "x")),
    ]


@pytest.mark.parametrize(
    ("second", "key", "contradicts"),
    [
        ("Is the dermis below the outer epidermis of skin now?", "false", True),
        ("Is the dermis below the outer epidermis of skin now?", "true", False),
        ("Is the dermis not below the outer epidermis of skin?", "false", False),
    ],
)
def test_opposite_keys_of_nearly_the_same_question_contradict_unless_one_is_negated(
    second: str, key: str, contradicts: bool
) -> None:
    first = question("x", "Is the dermis below the outer epidermis of skin?", "true")
    rules = [rule for rule, _ in found(first, question("y", second, key))]
    assert rules == ["near-duplicate", *(["contradiction"] if contradicts else [])]


def test_other_keys_of_nearly_the_same_question_need_not_contradict() -> None:
    pair = [
        question(name, f"When did the study of the skin {name} in Europe?", key)
        for name, key in (("begin", "1801"), ("end", "1944"))
    ]
    assert [rule for rule, _ in found(*pair)] == ["near-duplicate"]


def test_the_same_question_of_two_queries_is_no_duplicate() -> None:
    other = [BankQuestion(one.id, "hide", one.question, one.answers) for one in SOUND]
    assert lint([*SOUND, *other]) == ()


def test_a_needed_answer_bound_to_no_document_cannot_be_cited() -> None:
    bound = question(
        "x", "Which two proteins give skin its strength?", ("collagen", "d1"), ("elastin", "d2"), combine="and"
    )
    loose = question("y", "Which cells defend the human skin?", ("mast cells", "d1"), "T cells", combine="and")
    assert found(bound) == []
    assert found(bound, loose) == [("unsatisfiable-and", ("y",))]
    # Without any documents in the bank nothing is said of them.
    assert found(question("y", "Which cells defend the human skin?", "mast cells", "T cells", combine="and")) == []


def test_a_query_of_few_questions_is_named() -> None:
    (one,) = lint(SOUND[:2])
    assert (one.rule, one.query) == ("few-questions", "skin")
    assert "has 2 questions" in one.sentence
    assert lint(SOUND[:2], limits=Limits(fewest=2)) == ()


@pytest.mark.parametrize(
    ("reached", "of", "broad"), [(5, 5, True), (4, 4, False), (4, 5, False), (9, 10, True), (8, 10, False)]
)
def test_a_question_that_nearly_every_passage_answers_is_too_broad(reached: int, of: int, broad: bool) -> None:
    grades = tuple(Grade("skin", f"p{n}", "s2", float(n < reached)) for n in range(of))
    unparsed = tuple(Grade("skin", f"u{n}", "s2", math.nan) for n in range(20))
    assert found(grades=(*grades, *unparsed)) == ([("too-broad", ("s2",))] if broad else [])


def test_a_bank_of_statements_is_told_of_once() -> None:
    nuggets = [question(f"n{n}", f"Fact {number} about the skin layer {n}") for n, number in enumerate(range(100, 130))]
    (one,) = [one for one in lint(nuggets, limits=Limits(near=1.0)) if one.rule == "not-a-question"]
    assert len(one.ids) == 30
    assert "30 of 30 ask nothing" in one.sentence


def test_every_rule_is_declared_in_the_order_of_the_findings() -> None:
    bank = [question("x", " "), question("y", "Skin?", "a", "a"), question("y2", "skin", "b")]
    rules = [one.rule for one in lint(bank, limits=Limits(fewest=5))]
    assert rules == sorted(rules, key=RULES.index)
    assert {"empty-question", "duplicate", "contradiction", "too-broad", "few-questions"} <= set(rules)
