"""Banks written by a model: prompts, replies of many forms, losses by reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from examcore import CachedLanguageModel, Prompt, ReplyStore
from grading.banks._bank_writing import Topic, WrittenBank, bank_prompt, read_topics, schema_of, write_questions
from rag.local import JsonShape, Vocabulary
from tests.scripted_model import ScriptedModel

TOPIC = Topic("t1", "the skin", "its layers")


def written(
    reply: str, path: Path, topics: tuple[Topic, ...] = (TOPIC,), *, wanted: int = 2, keys: bool = False
) -> WrittenBank:
    model = CachedLanguageModel(ScriptedModel(lambda _: reply), ReplyStore(path / "r.sqlite"))
    return write_questions(topics, model, wanted=wanted, keys=keys)


@pytest.mark.parametrize(
    "reply",
    [
        '{"questions": ["What is A?", "What is B?"]}',
        '```json\n{"questions": ["What is A?", "What is B?"]}\n```',
        'Here they are: ["What is A?", "What is B?"]',
        '{"question_set": [{"question": "What is A?"}, {"question_text": "What is B?"}]}',
        '{"questions": ["What is A?", "What is B?"',
        '{"questions": ["What is A?", "What is B?", ]}',
    ],
)
def test_a_list_of_questions_is_read_in_many_forms(reply: str, tmp_path: Path) -> None:
    found = written(reply, tmp_path)
    assert [one.question for one in found.questions] == ["What is A?", "What is B?"]
    assert {(one.query, one.subtopic) for one in found.questions} == {("t1", "its layers")}
    assert len({one.id for one in found.questions}) == 2
    assert not found.losses


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty reply"),
        ("I cannot do that.", "malformed JSON"),
        ('{"questions": []}', "empty list"),
        ('{"questions": ["", "What is B?"]}', "empty question"),
        ('{"questions": ["What is B?", "what is b"]}', "stands in the bank already"),
        ('{"questions": ["What is A?", "What is B?", "What is C?"]}', "beyond the wanted number"),
        ('{"questions": [["What is A?"]]}', "empty question"),
    ],
)
def test_what_is_lost_is_counted_by_reason_and_the_topic_named(reply: str, reason: str, tmp_path: Path) -> None:
    found = written(reply, tmp_path)
    assert found.losses == {reason: 1}
    assert dict(found.short) == ({} if len(found.questions) == 2 else {("t1", "its layers"): len(found.questions)})


def test_keys_are_kept_whole_and_questions_without_them_lost(tmp_path: Path) -> None:
    items = [{"question": "What is A?", "answer": "sand"}, {"question": "Is B?", "answer": True}, {"question": "C?"}]
    found = written(json.dumps({"questions": items}), tmp_path, wanted=3, keys=True)
    assert [[key.text for key in one.answers] for one in found.questions] == [["sand"], ["true"]]
    assert found.losses == {"no answer": 1}


def test_sub_topics_of_a_query_share_no_question_but_queries_may(tmp_path: Path) -> None:
    topics = (TOPIC, TOPIC._replace(subtopic="its colour"), TOPIC._replace(query="t2"))
    found = written('{"questions": ["What is A?", "What is B?"]}', tmp_path, topics)
    assert [one.query for one in found.questions] == ["t1", "t1", "t2", "t2"]
    assert found.losses == {"stands in the bank already": 2}


def test_a_reply_is_asked_for_once(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: '{"questions": ["What is A?"]}')
    for _ in range(2):
        write_questions([TOPIC], CachedLanguageModel(model, ReplyStore(tmp_path / "r.sqlite")), wanted=1)
    assert len(model.asked) == 1


def test_the_prompt_names_query_sub_topic_number_and_shape() -> None:
    asked = bank_prompt(TOPIC, 7).user
    assert all(part in asked for part in ("'the skin'", "'its layers'", "Write 7 questions", '{"questions": ["..."'))
    assert '"answer"' in bank_prompt(TOPIC, 7, keys=True).user
    assert isinstance(bank_prompt(Topic("a", "b"), 1), Prompt)


@pytest.mark.parametrize("keys", [False, True])
def test_local_models_can_be_held_to_the_shape(keys: bool) -> None:
    class Letters:
        """One token a character."""

        all_special_ids = ()

        def __call__(self, text: str, **_: object) -> dict[str, list[int]]:
            return {"input_ids": [ord(one) for one in text]}

    JsonShape(Vocabulary(Letters(), [0]), schema_of(3, keys=keys), 400)


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("query\nskin\n", [Topic("skin", "skin")]),
        ("qid,query\n7,The skin\n", [Topic("7", "The skin")]),
        (
            "query_id,title,facet\n7,Skin,Layers\n7,Skin,Colour\n",
            [Topic("7", "Skin", "Layers"), Topic("7", "Skin", "Colour")],
        ),
    ],
)
def test_topics_are_read_under_their_usual_names(text: str, topics: list[Topic], tmp_path: Path) -> None:
    (tmp_path / "topics.csv").write_text(text)
    assert read_topics(tmp_path / "topics.csv") == topics


def test_a_topic_that_stands_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "topics.csv").write_text("query\nskin\nskin\n")
    with pytest.raises(ValueError, match=r"topics.csv:3: topic 'skin' '' stands at .*:2 already; wanted it once"):
        read_topics(tmp_path / "topics.csv")


def test_of_a_conversation_the_last_turn_is_the_topic(tmp_path: Path) -> None:
    turns = {"a<::>3": ["Where is it?", "Is it old?"], "a<::>1": ["Who built the | bridge?"]}
    records = [{"_id": name, "text": "\n".join(f"|user|: {one}" for one in each)} for name, each in turns.items()]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    assert read_topics(tmp_path / "questions.jsonl") == [
        Topic("a<::>3", "Is it old?"),
        Topic("a<::>1", "Who built the | bridge?"),
    ]
