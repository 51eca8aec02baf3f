"""Wordings: what is none, what a reader must find again, and how the exam's overlaps follow a target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from exam_gen.drafting._subjects import common_stems, is_about
from exam_gen.drafting._verification import VerificationCase
from exam_gen.drafting._wordings import (
    TRIES,
    QueryWriter,
    Wording,
    Wordings,
    fault,
    keywords,
    mistyped,
    read_wording,
    spread_over,
)
from examcore import CachedLanguageModel, Chunk, NoReply, Prompt, ReplyStore
from tests.exam_gen.test_verification_letters import Silent
from tests.scripted_model import ScriptedModel

PASSAGE = "The pilot boat leaves the outer harbour of Oslo two hours before high water. A crew of nine is on board."
CASE = VerificationCase(
    "Port of Oslo", PASSAGE, "When does the pilot boat leave the harbour of Oslo?", "two hours before high water", ()
)
CHUNKS = [Chunk("a", "a", PASSAGE, 0, len(PASSAGE), "Port of Oslo")] + [
    Chunk(f"b{n}", "b", "The crew of a ship rests at night.", 0, 34, "Ships") for n in range(9)
]
COMMON = common_stems(CHUNKS)


def test_common_words_are_those_of_many_passages() -> None:
    assert "crew" in COMMON
    assert "oslo" not in COMMON
    assert common_stems(CHUNKS[:3]) == frozenset(), "of three passages no word is common"


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("When does the pilot boat leave?", True),
        ("Who owns the port of Oslo?", True),
        ("What do harbours cost?", True),
        ("How many hours are left?", False),
        ("How large is a crew?", False),
    ],
)
def test_a_text_is_about_a_passage_whose_title_or_repeated_words_it_has(text: str, about: bool) -> None:
    told = f"{PASSAGE} The crew of the harbour stays on board."
    chunk = Chunk("a", "a", told, 0, len(told), "The pilot boats of the port")
    assert is_about(text, chunk, COMMON) == about


def test_typing_errors_are_few_and_leave_short_words_alone() -> None:
    asked = "when does the pilot boat of the outer harbour leave for the sea?"
    seen = {mistyped(asked, seed) for seed in range(60)}
    assert len(seen) > 30
    for text in seen:
        pairs = [pair for pair in zip(asked.split(), text.split(), strict=True) if pair[0] != pair[1]]
        assert len(pairs) == 2
        assert all(len(right) >= 4 and abs(len(right) - len(wrong)) <= 1 for right, wrong in pairs)
        assert all(right[0] == wrong[0] for right, wrong in pairs)
    assert mistyped("is it so?", 1) == "is it so?"
    assert mistyped(asked, 3) == mistyped(asked, 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("what time do pilots sail out of Oslo?", None),
        ("when does the PILOT boat leave the harbour of oslo ?", "is the stem"),
        ("does the Oslo boat sail two hours before high water?", "contains the key"),
        ("how many of the crew are there at night?", "does not name its subject"),
        ("what does the passage say of the pilots of Oslo?", "speaks of a text"),
        ("Oslo?", "too long or too short"),
        (f"when does the Oslo boat leave {'very ' * 30}late?", "too long or too short"),
    ],
)
def test_a_text_is_a_wording_or_says_why_not(text: str, reason: str | None) -> None:
    assert fault(text, CASE, COMMON) == reason


def test_a_reply_is_read_up_to_its_question_mark() -> None:
    assert read_wording('  "when do pilots sail?" because they asked.\nmore') == "when do pilots sail?"
    assert read_wording("pilots of Oslo when") == "pilots of Oslo when"


def test_keywords_are_the_content_words_in_order() -> None:
    assert keywords("when does the pilot boat leave the harbour of Oslo?") == "pilot boat leave harbour Oslo"


class Rewriter(ScriptedModel):
    """Rewords in two ways, one of which a reader finds answered; asks about the passage, and rewords that, too."""

    def reply_to(self, prompt: Prompt) -> str:
        if prompt.reply == "Question:":
            return " how does the port of Oslo work? I wonder."
        if prompt.user.endswith("Exam question: how does the port of Oslo work?"):
            return " what do people do at Oslo's docks?"
        if prompt.reply == "In plain words:":
            return [" when do pilots of Oslo sail?", " who is with the pilots of Oslo?"][len(self.batches) % 2]
        return " No" if "who is with" in prompt.user else " Yes"


def steps(
    writer: CachedLanguageModel, reader: CachedLanguageModel, given: Sequence[Sequence[str]] = ()
) -> list[Wordings | NoReply]:
    """The first, the answered and the further wordings of the case, up to a step that has none."""
    queries = QueryWriter(writer, reader, COMMON, 0)
    found = queries.first([CASE], given)
    for step in (queries.answered, queries.further):
        if isinstance(found[-1], Wordings) and found[-1].fact:
            found += step([(CASE, found[-1])])
    return found


OF_PASSAGE = (Wording("how does the port of Oslo work?", 2 / 3), Wording("what do people do at Oslo's docks?", 1 / 4))
HELD, STRAY = Wording("when do pilots of Oslo sail?", 2 / 3), Wording("who is with the pilots of Oslo?", 1.0)


def test_a_wording_holds_where_a_reader_says_that_the_passage_answers_it() -> None:
    class Rewording(Rewriter):
        def reply_to(self, prompt: Prompt) -> str:
            fresh = prompt.user.endswith(f"Exam question: {CASE.stem}")
            return f" {HELD.text}" if fresh and len(self.batches) == 1 else super().reply_to(prompt)

    with ReplyStore(":memory:") as store:
        model = CachedLanguageModel(Rewording(), store)
        first, answered, further = steps(model, model)
    assert first == answered == Wordings((HELD,), (), 1)
    assert further == Wordings((HELD,), OF_PASSAGE, TRIES)


def test_others_are_asked_for_where_the_first_wording_is_not_answered() -> None:
    with ReplyStore(":memory:") as store:
        model = CachedLanguageModel(Rewriter(), store)
        first, answered, further = steps(model, model)
    assert first == Wordings((STRAY,), (), 1)
    assert answered == further == Wordings((HELD,), OF_PASSAGE, TRIES)


def test_others_are_asked_for_where_the_first_wording_has_a_fault() -> None:
    class Faulty(Rewriter):
        def reply_to(self, prompt: Prompt) -> str:
            return " does it sail?" if len(self.batches) == 1 else f" {HELD.text}"

    with ReplyStore(":memory:") as store:
        model = CachedLanguageModel(Faulty(), store)
        assert QueryWriter(model, model, COMMON, 0).first([CASE]) == [Wordings((HELD,), (), 2)]


def test_no_passage_is_read_for_a_first_wording() -> None:
    with ReplyStore(":memory:") as store:
        model = Rewriter()
        kept = CachedLanguageModel(model, store)
        QueryWriter(kept, kept, COMMON, 0).first([CASE])
    assert [PASSAGE in prompt.user for batch in model.batches for prompt in batch] == [False]


def test_a_question_that_has_wordings_is_not_asked_for_others() -> None:
    with ReplyStore(":memory:") as store:
        model = CachedLanguageModel(Rewriter(), store)
        given = ["when do the pilots of Oslo go?", "when does the Oslo boat of the passage leave?"]
        found = steps(model, model, [given])
    assert found == [Wordings((Wording("when do the pilots of Oslo go?", 1.0),), (), TRIES)] * 3


def test_no_reply_is_told_from_no_wording() -> None:
    with ReplyStore(":memory:") as store:
        silent, dull = CachedLanguageModel(Silent([], []), store), CachedLanguageModel(ScriptedModel("what?"), store)
        assert steps(silent, dull) == [NoReply("status 500, 3 attempts")]
        assert steps(dull, dull) == [Wordings(tried=TRIES - 1)]
        assert QueryWriter(dull, dull, COMMON, 0).first([]) == []


def test_first_wordings_have_the_overlaps_of_the_target_as_nearly_as_can_be() -> None:
    rng = np.random.default_rng(1)
    found = [[Wording(f"{n} {k}", float(rng.uniform(0.2, 1))) for k in range(4)] for n in range(60)]
    for target in ((0.3, 0.6, 1.0), (0.9,), tuple(np.linspace(0.4, 0.8, 20))):
        firsts = np.sort([each[0].overlap for each in spread_over(found, target)])
        plain = np.sort([each[0].overlap for each in found])
        wanted = np.quantile(target, (np.arange(60) + 0.5) / 60)
        assert np.abs(firsts - wanted).mean() < min(0.12, np.abs(plain - wanted).mean())
    alone = [[Wording("one", 0.4)], [], [Wording("two", 0.9), Wording("three", 0.1), Wording("four", 0.5)]]
    assert spread_over(alone, (0.5,)) == [(alone[0][0],), (), (alone[2][2],)]
    assert spread_over([[], []], (0.5,)) == [(), ()]
