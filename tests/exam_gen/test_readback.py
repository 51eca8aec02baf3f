import pytest

from exam_gen.drafting._model_distractors import AskedKey, usable_wrong_answers, wants_writing, written_answers
from exam_gen.drafting._round_trip import agreement, round_trip
from exam_gen.drafting._verification import VerificationCase
from examcore import CachedLanguageModel, NoReply, ReplyStore
from tests.scripted_model import ScriptedModel


@pytest.mark.parametrize(
    ("answer", "key", "stem", "expected"),
    [
        ("The Harbour Board.", "harbour board", "", 1.0),
        ("the harbour", "harbour board", "", 2 / 3),
        ("the mayor", "harbour board", "", 0.0),
        ("", "harbour board", "", 0.0),
        ("The board met at noon.", "at noon", "When did the board meet?", 0.8),
        ("()", "()", "", 1.0),
    ],
)
def test_agreement_is_the_f1_of_the_words_that_the_question_does_not_hold(answer, key, stem, expected):
    assert agreement(answer, key, stem) == pytest.approx(expected)


def test_an_answer_that_was_cut_short_is_not_held_against_a_long_key():
    key = "one two three four five six seven eight nine ten"
    assert agreement("one two three four five six seven eight", key) == 1.0
    assert agreement("one two", key) == pytest.approx(2 * 2 / 12)


def test_the_passage_is_read_back_without_the_key():
    parrot = ScriptedModel(" the Harbour Board")
    asked = [
        VerificationCase("Oslo", "The Harbour Board ran it in 1911.", "Who ran the port?", "Harbour Board", ())
    ] * 2
    with ReplyStore(":memory:") as store:
        found = round_trip(asked, CachedLanguageModel(parrot, store), seed=0)
        assert round_trip([], CachedLanguageModel(parrot, store), seed=0) == []
    assert [(one.answer, one.agreement) for one in found if not isinstance(one, NoReply)] == [
        ("the Harbour Board", 1.0)
    ] * 2
    (prompts,) = parrot.batches
    assert "The Harbour Board ran it in 1911." in prompts[0].user
    assert "Question: Who ran the port?" in prompts[0].user


KEY = AskedKey("Who ran the port?", "the harbour board", "After the war the harbour board ran it.")


def test_wrong_answers_are_split_cleaned_and_put_in_the_keys_form():
    raw = ' The city council; 2) "the port police".; the army of Norway; the city council'
    assert usable_wrong_answers(raw.split(";"), KEY) == ["the city council", "the port police", "the army of Norway"]


def test_wrong_answers_that_repeat_key_sentence_or_stem_or_differ_much_in_length_are_left_out():
    raw = "the harbour boards; the war; the port; no; the king of all the islands beyond the northern sea and more"
    assert usable_wrong_answers(raw.split(";"), KEY) == []


def test_wrong_answers_are_written_for_phrases_and_clauses_alone():
    assert [wants_writing(kind) for kind in ("phrase:2s", "clause:4", "code:call", "number:year", "name:2")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_all_wrong_answers_are_written_as_one_batch():
    parrot = ScriptedModel(" the city council; the port police; the army of Norway")
    with ReplyStore(":memory:") as store:
        found = written_answers([KEY] * 3, CachedLanguageModel(parrot, store), seed=0)
    assert [len(one.texts) for one in found] == [3, 3, 3]
    assert len(parrot.batches) == 1
