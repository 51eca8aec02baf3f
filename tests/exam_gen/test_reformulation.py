"""The ten guidelines of rewriting, one case each: the question leans, its rewriting passes and is closest to gold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exam_gen.drafting._reformulation import (
    GUIDELINES,
    Earlier,
    Guideline,
    Leaning,
    objection,
    read_reformulation,
    reformulate,
    reformulation_prompt,
)
from exam_gen.language._outside_references import outside_reference
from exam_gen.rules import RuleTools, apply_rules, rules_of
from exam_gen.rules._standalone import standing_alone
from examcore import CachedLanguageModel, Question, ReplyStore
from grading._similarity import similarity
from tests.scripted_model import ScriptedModel

NAMES = [one.name for one in GUIDELINES]


def asked(reply: str, question: Leaning) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(reply)
    (found,) = reformulate([question], CachedLanguageModel(model, ReplyStore(":memory:")))
    return found, model


def test_there_are_ten_guidelines_and_each_has_a_name() -> None:
    assert len(set(NAMES)) == len(GUIDELINES) == 10


@pytest.mark.parametrize("rule", GUIDELINES, ids=NAMES)
def test_the_question_leans_and_its_rewriting_passes(rule: Guideline) -> None:
    assert outside_reference(rule.before.stem) is not None
    for form in rule.after:
        found, model = asked(f" {form}\n", rule.before)
        assert found == (form, "")
        assert rule.says in model.asked[0].user
        assert model.asked[0].user.endswith(f"Question: {rule.before.stem}")
        assert f"Target: {rule.before.target}" in model.asked[0].user


@pytest.mark.parametrize(
    ("name", "wrong", "reason"),
    [
        (
            "readable",
            "How many people did it kill in the 1953 North Sea flood?",
            "still leans on 'How many people did it'",
        ),
        ("findable", "When did Curie first win a Nobel Prize?", "does not name 'Marie Curie'"),
        ("whole target", "When was the WHO built?", "has 'built', a word of its own"),
        ("not rephrased", "Does the Rhine rise?", None),
        ("earlier answers", "Where was Pierre Curie born?", "has 'pierre', a word of its own"),
        ("brackets", "When was the Great Railway opened?", "does not name 'Great Western Railway (GWR)'"),
        ("own words", "How tall is Big Ben?", "has 'tall', a word of its own"),
        ("it", "How far was the 1883 eruption of Krakatoa heard away?", None),
        ("he and she", "When was Turing born?", "does not name 'Alan Turing'"),
        ("his, her, their", "Who was Ada Lovelace?", "does not keep the question's words in their order"),
    ],
)
def test_what_goes_against_a_guideline_is_not_taken(name: str, wrong: str, reason: str | None) -> None:
    """One wrong form of each; what a change of small words alone does is not seen."""
    rule = next(one for one in GUIDELINES if one.name == name)
    assert objection(rule.before, wrong) == reason
    assert all(objection(rule.before, one) is None for one in rule.after)
    found, _ = asked(wrong, rule.before)
    assert (found.stem, found.reason) == ((wrong, "") if reason is None else (None, reason))


def test_words_that_point_to_a_text_may_go_and_no_others() -> None:
    question = Leaning("According to the passage, which tool described in the article sorts long lists?", "Timsort (1)")
    assert objection(question, "Which tool of Timsort sorts long lists?") is None
    assert objection(question, "Which tool of Timsort sorts lists?") == (
        "does not keep the question's words in their order"
    )
    assert objection(question, "Which long lists of Timsort sorts tool?") == (
        "does not keep the question's words in their order"
    )


def test_the_rule_rewrites_what_leans_and_leaves_the_rest_alone() -> None:
    """Of four questions one stands alone, one has no title, one is mended, and one comes back as bad as it was."""
    stems = ("What is Big Ben?", "How old is it?", "How high is it?", "When was it cast?")
    titles = ("Big Ben", "", "Big Ben", "Big Ben")
    questions = [
        Question(f"q{n}", stem, ("a", "b"), 0, metadata={"title": title})
        for n, (stem, title) in enumerate(zip(stems, titles, strict=True))
    ]
    model = ScriptedModel("How high is Big Ben?")
    told: list[tuple[int, int]] = []
    tools = RuleTools(model=model, progress=lambda *done: told.append(done))  # type: ignore[arg-type]
    found = apply_rules(questions, rules_of({}, only=["reformulated"]), tools)
    assert [one.stem for one in found.kept] == ["What is Big Ben?", "How old is it?", "How high is Big Ben?", stems[3]]
    assert found.kept[2].metadata["rewritten"] == [
        {"rule": "reformulated", "question": "How high is it?", "choices": ["a", "b"], "answer": 0}
    ]
    assert (len(model.asked), told) == (2, [(2, 2)])
    with pytest.raises(ValueError, match="rules: no language model is given; wanted one for the rule that rewrites"):
        apply_rules(questions, rules_of({}, only=["reformulated"]))


def test_what_a_model_cannot_mend_the_next_rule_drops() -> None:
    question = Question("q", "How high is it?", ("a", "b"), 0, metadata={"title": "Big Ben"})
    rules = rules_of({}, only=["reformulated", "self-contained"])
    assert apply_rules([question], rules, RuleTools(model=ScriptedModel("It is high."))).dropped
    assert apply_rules([question], rules, RuleTools(model=ScriptedModel("How high is Big Ben?"))).kept


@pytest.mark.parametrize("rule", GUIDELINES, ids=NAMES)
def test_a_rewriting_that_still_leans_is_not_taken(rule: Guideline) -> None:
    found, _ = asked(rule.before.stem, rule.before)
    assert found.stem is None
    assert found.reason.startswith("still leans on ")


@pytest.mark.parametrize("rule", GUIDELINES, ids=NAMES)
def test_the_gold_forms_are_closest_and_the_question_is_not(rule: Guideline) -> None:
    assert [similarity(one, rule.after).score for one in rule.after] == [1.0] * len(rule.after)
    assert similarity(rule.before.stem, rule.after).score < 0.8


def test_a_target_that_is_appended_is_closer_on_average_than_no_target() -> None:
    without = np.array([similarity(one.before.stem, one.after).score for one in GUIDELINES])
    appended = np.array([similarity(f"{one.before.stem} {one.before.target}", one.after).score for one in GUIDELINES])
    assert appended.mean() > without.mean() + 0.05


# Without a model the answers of earlier questions are unknown, so that the target is put where they belong.
@pytest.mark.parametrize("rule", [one for one in GUIDELINES if not one.before.earlier], ids=lambda one: one.name)
def test_the_rewriting_without_a_model_stands_alone_where_it_acts(rule: Guideline) -> None:
    question = Question("q", rule.before.stem, ("a", "b"), 0, metadata={"title": rule.before.target})
    found = standing_alone(question)
    if found is not None:
        assert outside_reference(found.stem) is None
        assert similarity(found.stem, rule.after).score > similarity(rule.before.stem, rule.after).score


def test_earlier_questions_stand_in_the_prompt_with_and_without_their_answers() -> None:
    earlier = (Earlier("Who found it?", "Marie Curie"), Earlier("Where?"))
    user = reformulation_prompt(Leaning("When did she die?", "Polonium", earlier)).user
    assert user.endswith(
        "Target: Polonium\nEarlier question: Who found it? Marie Curie\nEarlier question: Where?\n"
        "Question: When did she die?"
    )


@pytest.mark.parametrize(
    ("reply", "stem", "reason"),
    [
        ("Rewritten: When was Big Ben built? (1859)", "When was Big Ben built?", ""),
        ('"How high is Big Ben?"', "How high is Big Ben?", ""),
        ("I cannot do that.", None, "reply is no question"),
        ("", None, "reply is no question"),
    ],
)
def test_a_reply_is_read_up_to_its_question_mark(reply: str, stem: str | None, reason: str) -> None:
    assert read_reformulation(reply) == (stem, reason)
