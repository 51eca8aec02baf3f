"""Claims of texts: what they are, what they cite, what rules settle, and how a judge is asked about the rest."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from examcore import CachedLanguageModel, Prompt, ReplyStore
from grading.reports import (
    ClaimAsk,
    cited_claims,
    claim_judge_name,
    claims_of,
    decide_claims,
    replying_judge,
    word_for_word,
)
from grading.reports._judges import EntailmentJudge
from tests.scripted_model import ScriptedModel

ASKS = [
    ClaimAsk("q1", "When? At noon.", "The train arrives at noon."),
    ClaimAsk("q1", "When? By night.", "The train arrives at noon."),
    ClaimAsk("q2", "When? At noon.", "Nobody knows."),
]


def test_claims_are_sentences_without_headings_and_marks() -> None:
    listed = "- Dr. Lee drives.\n1. It stops.\n\n```\nrun train\n```\n\n| a | b |\n| --- | --- |\n\n***\n"
    assert claims_of(f"# Trains\n\nIt arrives at noon. It is red.\n\n{listed}") == [
        "It arrives at noon.",
        "It is red.",
        "Dr. Lee drives.",
        "It stops.",
    ]
    assert claims_of(" \n ") == claims_of("…") == []


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("At noon [1]. It is red [2, 1].", [("At noon.", (0,)), ("It is red.", (1, 0))]),
        ("At noon. [2] It is red.", [("At noon.", (1,)), ("It is red.", ())]),
        ("At noon [c:7]. Red [3].", [("At noon.", (0,)), ("Red.", (-1,))]),
        ("At noon [see above]. Use `rows[1]`.", [("At noon [see above].", ()), ("Use `rows[1]`.", ())]),
        ("[1]", []),
    ],
)
def test_marks_cite_passages_by_number_or_id(reply: str, found: Sequence[tuple[str, tuple[int, ...]]]) -> None:
    assert [tuple(one) for one in cited_claims(reply, ("c:7", "c9"))] == list(found)


@pytest.mark.parametrize(
    ("language", "reply", "found"),
    [
        # The full stop of an ordinal number ends a German sentence no more than an English abbreviation does.
        ("de", "Am 3. Oktober kam es an. Es ist rot.", ["Am 3. Oktober kam es an.", "Es ist rot."]),
        ("zh", "火车中午到达。[1]它是红色的。", ["火车中午到达。", "它是红色的。"]),
        ("ar", "يصل القطار ظهرا. هل هو أحمر؟ نعم.", ["يصل القطار ظهرا.", "هل هو أحمر؟", "نعم."]),
    ],
)
def test_claims_are_sentences_of_their_language(language: str, reply: str, found: Sequence[str]) -> None:
    assert [one.text for one in cited_claims(reply, ("c1",), language)] == list(found)
    assert word_for_word(found[0], reply.replace("[1]", ""), language)


def test_without_passages_nothing_is_cited() -> None:
    assert [tuple(one) for one in cited_claims("At noon [1].", ())] == [("At noon [1].", ())]


def test_only_whole_sentences_stand_word_for_word() -> None:
    text = "It does not arrive\nat noon. It is red."
    assert word_for_word("it is  red.", text)
    assert word_for_word("It does not arrive at noon.", text)
    assert not word_for_word("arrive at noon.", text)


def test_a_language_model_that_replies_is_asked_each_thing_once() -> None:
    def says(prompt: Prompt) -> bool:
        return "at noon" in prompt.user.split("Sentence:")[0] and "At noon" in prompt.user.split("Sentence:")[1]

    model = ScriptedModel(lambda prompt: "Yes" if says(prompt) else "No")
    judge = replying_judge(CachedLanguageModel(model, ReplyStore(":memory:")))
    for _ in range(2):
        found = list(decide_claims(ASKS, judge))
        assert [one for one, _ in found] == ASKS
        assert [one.verdict for _, one in found] == [True, False, False]
    assert len(model.asked) == 3


def test_a_model_of_entailment_judges_claims_too() -> None:
    def entails(pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [float("At noon" in claim and "at noon" in text) for text, claim in pairs]

    found = list(decide_claims(ASKS, lambda material: EntailmentJudge(entails, material)))
    assert [one.verdict for _, one in found] == [True, False, False]
    assert found[0][1].why == "entailed with probability 1.00"


def test_judges_that_differ_have_names_that_differ() -> None:
    names = {
        claim_judge_name("m", by_reply=True),
        claim_judge_name("m", by_reply=False),
        claim_judge_name("entailment:m", by_reply=False),
    }
    assert len(names) == 3
