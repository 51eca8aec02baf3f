"""Claims of free-text answers: known claims and passages have known verdicts, and nothing is asked in vain."""

from __future__ import annotations

from examcore import CachedLanguageModel, Prompt, Question, ReplyStore
from grading.reports import JudgedClaims, ReadAnswer, ReadPassage, judge_claims
from tests.scripted_model import ScriptedModel

QUESTION = Question("q", "When does it open?", ("at noon", "at one"), 0, chunk_id="source", context="It opens at noon.")
SOURCE = ReadPassage("source", "It opens at noon.", True)
OTHER = ReadPassage("other", "It shuts on Monday.", False)
COPY = ReadPassage("copy", "Doors open at noon.", False)


def states(prompt: Prompt, continuation: str) -> float:
    """Yes where the source has the sentence's words, or the sentence those of the acceptable answer."""
    text = prompt.user
    sentence = text.split("Sentence: ")[1].split("\n")[0]
    if "Source:" in text:
        yes = sentence.split(" [")[0].rstrip(".") in text.split('"""')[1]
    else:
        yes = text.split("Acceptable answer: ")[1].split("\n")[0] in sentence
    return 0.0 if continuation.strip() == ("Yes" if yes else "No") else -5.0


def judged(*answers: ReadAnswer, store: ReplyStore | None = None) -> tuple[list[JudgedClaims], ScriptedModel]:
    model = ScriptedModel(score=states)
    cached = CachedLanguageModel(model, ReplyStore(":memory:") if store is None else store)
    return judge_claims(cached, answers, lambda _done, _total: None), model


def test_claims_are_sentences_and_each_has_its_verdict() -> None:
    answer = ReadAnswer("p", QUESTION, "It opens at noon. It is free.", (SOURCE, OTHER, COPY))
    ((one,), model) = judged(answer)
    assert [(claim.text, claim.stated, claim.cited) for claim in one.claims] == [
        ("It opens at noon.", True, None),
        ("It is free.", False, None),
    ]
    assert one.holds == (True, False, True)
    assert len(model.asked) == 2 + 2  # the passage that the question was written from is not asked about


def test_citations_are_numbers_of_passages_and_judged_by_those() -> None:
    reply = "It opens at noon [2]. It opens at noon [1]. It shuts on Monday [1, 2]. It opens at noon [7]."
    (((one),), _) = judged(ReadAnswer("p", QUESTION, reply, (SOURCE, OTHER)))
    assert [(claim.stated, claim.cited) for claim in one.claims] == [
        (True, False),
        (True, True),
        (True, True),
        (True, False),
    ]


def test_without_passages_or_texts_nothing_is_asked_or_told() -> None:
    unknown = ReadPassage("elsewhere-7", "", False)
    found, model = judged(
        ReadAnswer("closed", QUESTION, "It opens at noon.", ()),
        ReadAnswer("unknown", QUESTION, "It opens at noon.", (unknown,)),
        ReadAnswer("silent", QUESTION, "", (SOURCE,)),
    )
    assert [claim.stated for claim in found[0].claims + found[1].claims] == [None, None]
    assert [one.holds for one in found] == [(), (None,), (True,)]
    assert found[2].claims == ()
    assert model.asked == []


def test_what_pipelines_have_in_common_is_asked_once_and_replies_are_kept() -> None:
    store = ReplyStore(":memory:")
    answers = [ReadAnswer(name, QUESTION, "It is free.", (OTHER, COPY)) for name in ("a", "b")]
    first, model = judged(*answers, store=store)
    # Two passages once for both; the claims are the same prompt, which is kept.
    assert len({prompt.user for prompt in model.asked}) == 3
    again, silent = judged(*answers, store=store)
    assert again == first
    assert silent.asked == []
