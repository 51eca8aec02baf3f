"""Several questions about a passage in one reply: read, verified, and the parts that a writer left wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from exam_gen import WritingSettings, write_screened
from exam_gen._prompts import JSON_VERSION, questions_prompt, questions_schema
from exam_gen.corpora import ChunkBounds, chunk
from exam_gen.drafting._json_questions import evidence, read_drafts
from examcore import Chunk, Document, Prompt, ReplyStore
from tests.plain_words import ANSWERABLE
from tests.scripted_model import ScriptedModel

TEXT = (
    "Pilots of the port sail out at dawn when the wind is from the west. The Harbour Board of Oslo has paid the "
    "pilots 41 crowns a day since 1905. A pilot who comes too late has to wait for the next tide in the outer roads."
)
PASSAGE = Chunk("oslo#0", "oslo", TEXT, 0, len(TEXT), "Port of Oslo")
WHOLE: dict[str, Any] = {
    "evidence": "The Harbour Board of Oslo has paid the pilots 41 crowns a day since 1905.",
    "question": "Who has paid pilots in Oslo since 1905?",
    "answer": "the Harbour Board",
    "wrong_answers": ["the Merchant Guild", "the Customs House", "the Royal Navy"],
    "queries": ["who pays pilots in Oslo?", "oslo pilots wages", "where do Oslo's pilots get their money from"],
    "critique": "none",
}


def reply(*questions: object) -> str:
    return json.dumps({"questions": list(questions)})


def test_a_question_is_read_with_all_that_belongs_to_it() -> None:
    (draft,), dropped = read_drafts(reply(WHOLE), PASSAGE)
    assert not dropped
    assert (draft.stem, draft.version) == (WHOLE["question"], JSON_VERSION)
    assert draft.fact.span.text == "Harbour Board"
    assert draft.fact.span.sentence == WHOLE["evidence"]
    assert len(draft.wrong) == 3
    assert list(draft.queries) == WHOLE["queries"]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", "unparsable: empty reply"),
        ("I cannot do that.", "unparsable: malformed JSON"),
        (reply("a text"), "unparsable: no question"),
        (reply({**WHOLE, "question": ""}), "unparsable: no question"),
        (reply({**WHOLE, "wrong_answers": ["the mayor"]}), "unparsable: too few choices"),
        (reply({**WHOLE, "critique": "Two answers are right."}), "the writer's own critique: Two answers are right."),
        (reply({**WHOLE, "critique": "No subject is named."}), "the writer's own critique: No subject is named."),
        (reply({**WHOLE, "evidence": "The mayor pays them."}), "evidence is not in the passage"),
        (reply({**WHOLE, "answer": "the mayor"}), "answer is not in the sentence"),
        (reply({**WHOLE, "question": "Does the Board pay pilots in Oslo?"}), "stem asks yes or no"),
    ],
)
def test_what_is_no_question_has_its_reason(raw: str, reason: str) -> None:
    drafts, dropped = read_drafts(raw, PASSAGE)
    assert not drafts
    assert [one.reason for one in dropped] == [reason]


@pytest.mark.parametrize("said", ["none", "None.", "", "No objections", "no", "n/a", "nothing to object to"])
def test_a_critique_without_objection_drops_nothing(said: str) -> None:
    assert len(read_drafts(reply({**WHOLE, "critique": said}), PASSAGE)[0]) == 1


def test_one_bad_question_takes_no_other_with_it() -> None:
    drafts, dropped = read_drafts(reply({**WHOLE, "answer": "a mayor"}, WHOLE), PASSAGE)
    assert (len(drafts), len(dropped)) == (1, 1)


def test_evidence_is_the_sentence_that_a_quotation_is_part_of() -> None:
    assert evidence("paid the pilots 41 crowns a day", PASSAGE) == WHOLE["evidence"]
    assert evidence("pilots 41 crowns", PASSAGE) == WHOLE["evidence"]
    assert evidence("the mayor pays", PASSAGE) == ""
    assert evidence(" ", PASSAGE) == ""


def test_the_request_names_every_member_of_the_reply() -> None:
    asked = questions_prompt("Port of Oslo", TEXT, 2).user
    members = questions_schema(2)["properties"]["questions"]["items"]["properties"]  # type: ignore[index,call-overload]
    assert all(f'"{name}"' in asked for name in members)
    assert set(members) == set(WHOLE)


def answers(prompt: Prompt) -> str:
    """A strong writer, who also reads: a question about pilots and one with a fault."""
    if "Reply with a JSON object" in prompt.user:
        return reply(WHOLE, {**WHOLE, "critique": "It has two right answers."})
    return " Yes" if ANSWERABLE in prompt.user else " the Harbour Board"


class Verifier(ScriptedModel):
    """Finds what the passage says likely."""

    def score_of(self, prompt: Prompt, continuation: str) -> float:
        if continuation in (" Yes", " No"):
            right = "Proposed answer: Harbour Board" in prompt.user
            return -0.1 if right == (continuation == " Yes") else -5.0
        seen = '"""' in prompt.user and "Harbour Board" in continuation
        return -0.5 if seen else -9.0


def test_a_strong_writers_questions_are_verified_and_its_wordings_too() -> None:
    others = "Weavers of the valley sell their cloth in spring, and the dyers come down to meet them at the old mill. "
    documents = [Document("oslo", "Port of Oslo", TEXT), *(Document(f"d{n}", "Cloth", others * 2) for n in range(12))]
    chunks = chunk(documents, ChunkBounds(min_characters=100, max_characters=600))
    model = Verifier(answers)
    settings = WritingSettings(questions=1, mode="json")
    with ReplyStore(":memory:") as store:
        written = write_screened(chunks, model, settings, seed=1, replies=store)
    (question,) = written.questions
    assert question.answer == "Harbour Board"
    assert question.metadata["prompt"] == JSON_VERSION
    assert {one.kind for one in question.queries} == {"question", "keywords", "typos"}
    assert question.query("question") in WHOLE["queries"]
    reasons = {one.reason for one in written.dropped if one.chunk_id == question.chunk_id}
    assert reasons == {"the writer's own critique: It has two right answers."}
