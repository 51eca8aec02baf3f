"""The ten guidelines of rewriting, one case each: the question leans, its rewriting passes and is closest to gold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from exam_gen import Question
from exam_gen.drafting.reformulation import (
    GUIDELINES,
    Earlier,
    Guideline,
    Leaning,
    read_reformulation,
    reformulate,
    reformulation_prompt,
)
from exam_gen.language.selfcontained import outside_reference
from exam_gen.model import Prompt
from exam_gen.replies import CachedModel, ReplyStore
from exam_gen.rules.standalone import standing_alone
from grading.similarity import similarity

NAMES = [one.name for one in GUIDELINES]


class Fixed:
    """A model with one reply; keeps what it was asked."""

    name, context_tokens = "fixed", 4000

    def __init__(self, reply: str) -> None:
        self.reply, self.asked = reply, list[Prompt]()

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt], **_: Any) -> list[str]:
        self.asked.extend(prompts)
        return [self.reply] * len(prompts)


def asked(reply: str, question: Leaning) -> tuple[Any, Fixed]:
    model = Fixed(reply)
    (found,) = reformulate([question], CachedModel(model, ReplyStore(":memory:")))  # type: ignore[arg-type]
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
