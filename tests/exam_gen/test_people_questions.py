"""Questions that people asked, with known answers, become questions of the exam."""

from __future__ import annotations

from exam_gen import AnsweredQuestion, WritingSettings, write_screened
from exam_gen._prompts import PEOPLE_VERSION
from exam_gen.drafting._drafts import NOT_THERE, people_drafts
from examcore import Chunk, ReplyStore
from tests.exam_gen.test_json_questions import PASSAGE, TEXT, Verifier
from tests.plain_words import reworded


def test_the_key_is_the_answer_as_it_stands_in_the_passage() -> None:
    other = Chunk("bergen#0", "bergen", "Ships of Bergen carry dried fish to the south in the long winter.", 0, 60)
    asked = AnsweredQuestion("who pays the pilots?", "harbour board", [other, PASSAGE])
    (draft,), dropped = people_drafts([asked])
    assert not dropped
    assert (draft.stem, draft.version, draft.fact.chunk) == (asked.text, PEOPLE_VERSION, PASSAGE)
    assert draft.fact.span.text == "Harbour Board"


def test_a_question_that_cannot_be_asked_says_why() -> None:
    asked = [
        AnsweredQuestion("who pays the pilots?", "the mayor", [PASSAGE]),
        AnsweredQuestion("who pays the pilots?", "the mayor", []),
        AnsweredQuestion("does the Harbour Board pay?", "the Harbour Board", [PASSAGE]),
        AnsweredQuestion("what is known of pilots?", TEXT[:150], [PASSAGE]),
    ]
    drafts, dropped = people_drafts(asked)
    assert not drafts
    assert [one.reason for one in dropped] == [NOT_THERE, NOT_THERE, "stem contains the key", "answer is too long"]
    assert [one.raw for one in dropped] == [one.text for one in asked]


def test_they_join_the_exam_verified_and_word_for_word() -> None:
    def author(prompt):  # type: ignore[no-untyped-def]
        if prompt.reply == "Wrong answers:":
            return " Merchant Guild; Customs House; Royal Navy; Church of Olav; Night Watch"
        return reworded(prompt) or " Harbour Board"

    asked = [AnsweredQuestion("who pays the pilots in oslo", "Harbour Board", [PASSAGE])]
    with ReplyStore(":memory:") as store:
        settings, off = WritingSettings(questions=1), {"near-duplicate": False}
        written = write_screened(
            [PASSAGE], Verifier(author), settings, seed=1, replies=store, filters=off, people=asked
        )
    (question,) = written.questions
    assert (question.stem, question.answer) == ("who pays the pilots in oslo?", "Harbour Board")
    assert question.query("question") == asked[0].text
    assert question.metadata["prompt"] == PEOPLE_VERSION
