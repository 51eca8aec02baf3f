"""Writers that do not do what they are asked: every draft has its reason, and nothing comes of it."""

from __future__ import annotations

import pytest

from exam_gen import WritingSettings, write_screened
from exam_gen.drafting import facts
from examcore import Chunk, Prompt, ReplyStore
from tests.exam_gen.test_json_questions import PASSAGE, TEXT
from tests.scripted_model import ScriptedModel


def repeats(prompt: Prompt) -> str:
    return f" {prompt.user.rsplit('Sentence: ', 1)[-1].rsplit('Statement: ', 1)[-1]}"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (repeats, "stem is not a question"),
        (" I'm sorry, but I cannot help with that.", "stem is not a question"),
        ("", "stem is not a question"),
        (" Wer bezahlt die Lotsen von Oslo jeden Tag?\nAnswer: 41 crowns", "stem is in German, wanted English"),
    ],
)
def test_every_reply_of_no_use_has_its_reason(reply: object, reason: str) -> None:
    with ReplyStore(":memory:") as store:
        model = ScriptedModel(reply)  # type: ignore[arg-type]
        written = write_screened([PASSAGE], model, WritingSettings(questions=1), seed=1, replies=store)
    assert not written.questions
    assert written.dropped
    assert {one.reason for one in written.dropped} == {reason}
    assert "of the corpus were used" in written.stopped


def test_a_sentence_of_several_documents_is_nobodys_fact() -> None:
    def asked(*texts: str) -> set[str]:
        chunks = [Chunk(f"d{n}#0", f"d{n}", text, 0, len(text), "Port of Oslo") for n, text in enumerate(texts)]
        return {one.span.sentence for one in facts(chunks, per_chunk=3, seed=0)}

    alone = asked(TEXT)
    assert alone
    assert not asked(TEXT, TEXT)
    assert len(asked(TEXT, TEXT.replace("41", "43"))) == 2 * len({one for one in alone if "41" in one})
