"""A model held to JSON writes JSON, however little it knows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from examcore import CachedLanguageModel, Prompt, ReplyStore
from examcore._language_model import WritesJson
from rag import load_model
from rag.local import LocalModel
from rag.local._json_shape import JsonShape, Vocabulary

QUESTION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "choices": {"type": "array", "items": {"type": "string"}, "minItems": 4, "maxItems": 4},
        "answer": {"type": "string", "enum": ["A", "B", "C", "D"]},
    },
}
PROMPTS = [Prompt("Ask about ships."), Prompt("Ask about bread and the four rivers.", system="Be brief.")]


@pytest.mark.parametrize("family", ["llama", "gemma3"])
@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_a_random_model_writes_the_wanted_shape_and_ends_in_time(
    tiny_folder: Callable[..., Path], family: str, temperature: float
) -> None:
    model = load_model(str(tiny_folder(family)), dtype="float32")
    assert isinstance(model, WritesJson)
    # Generation is cut off at this number of tokens: an object that is closed has ended in time.
    for raw in model.generate_json(PROMPTS, QUESTION_SCHEMA, max_tokens=260, temperature=temperature, seed=4):
        found = json.loads(raw)
        assert list(found) == ["question", "choices", "answer"]
        assert len(found["choices"]) == 4
        assert all(isinstance(text, str) and text for text in [found["question"], *found["choices"]])
        assert found["answer"] in {"A", "B", "C", "D"}


def test_replies_with_a_schema_are_held_to_it_and_kept_apart_from_others(tiny_folder: Callable[..., Path]) -> None:
    model = load_model(str(tiny_folder("llama")), dtype="float32")
    with ReplyStore(":memory:") as store:
        cached = CachedLanguageModel(model, store)
        free = cached.replies(PROMPTS, max_tokens=260, seed=1, temperature=1.0)
        held = cached.replies(PROMPTS, max_tokens=260, seed=1, temperature=1.0, schema=QUESTION_SCHEMA)
        assert free != held
        assert all(set(json.loads(str(raw))) == set(QUESTION_SCHEMA["properties"]) for raw in held)
        assert held == cached.replies(PROMPTS, max_tokens=260, seed=1, temperature=1.0, schema=QUESTION_SCHEMA)
        assert cached.usage.cached == 2


class Letters:
    """A tokenizer of single characters, one of them special."""

    all_special_ids = (0,)
    marks = '\0{}[]": ,questionawrABCD\\\n?x'

    def __len__(self) -> int:
        return len(self.marks)

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": [self.marks.index(mark) for mark in text]}

    def batch_decode(self, rows: list[list[int]]) -> list[str]:
        return ["".join(self.marks[one] for one in row) for row in rows]


SMALL: dict[str, Any] = {
    "type": "object",
    "properties": {"question": {"type": "string"}, "answer": {"type": "string", "enum": ["AB", "AC", "D"]}},
}


def following(text: str) -> str:
    tokenizer = Letters()
    shape = JsonShape(Vocabulary(tokenizer, [0]), SMALL, 60)
    return "".join(dict.fromkeys(tokenizer.marks[one] for one in shape.allowed(0, tokenizer(text)["input_ids"])))


def test_literals_are_forced_and_strings_are_free_of_what_needs_escaping() -> None:
    assert following("") == "{"
    assert following('{"quest') == "i"
    inside = following('{"question": "')
    assert not set(inside) & set('"\\\n\0')
    assert set("questionawrABCD?x{}[]: ,") == set(inside)
    assert set(following('{"question": "x')) == {*inside, '"'}
    assert following('{"question": "x"') == ","


class Merged(Letters):
    """The same with tokens for a question's end: its mark, the quote and what comes behind."""

    marks = Letters.marks
    more = ('?",', '?"', '",', ' "', '?"}')

    def __len__(self) -> int:
        return len(self.marks) + len(self.more)

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        found = []
        while text:
            long = next((one for one in self.more if text.startswith(one)), text[0])
            found.append(self.marks.index(long) if len(long) == 1 else len(self.marks) + self.more.index(long))
            text = text[len(long) :]
        return {"input_ids": found}

    def batch_decode(self, rows: list[list[int]]) -> list[str]:
        texts = [*self.marks, *self.more]
        return ["".join(texts[one] for one in row) for row in rows]


def test_a_string_ends_with_any_token_that_holds_its_closing_quote() -> None:
    tokenizer = Merged()
    shape = JsonShape(Vocabulary(tokenizer, [0]), SMALL, 60)

    def next_of(text: str) -> set[str]:
        ids = tokenizer(text)["input_ids"]
        return set(tokenizer.batch_decode([[one] for one in shape.allowed(0, ids)]))

    inside = next_of('{"question": "x')
    assert {'?",', '?"', '",', "x"} <= inside
    assert '?"}' not in inside  # the object goes on behind this string
    assert {'?",', '?"'} <= next_of('{"question": "')  # the mark is text of the string
    assert '",' not in next_of('{"question": "')
    assert next_of('{"question": "x?",') == {' "'}
    assert next_of('{"question": "x?"') == {","}
    assert next_of('{"question": "x?", "answer": "') == {"A", "D"}


def test_words_of_a_list_are_followed_to_their_end() -> None:
    start = '{"question": "x", "answer": "'
    assert following(start) == "AD"
    assert following(f"{start}A") == "BC"
    assert following(f"{start}AC") == '"'
    assert following(f'{start}D"}}') == "\0"


def test_a_string_that_takes_all_the_room_is_closed() -> None:
    shape = JsonShape(Vocabulary(Letters(), [0]), SMALL, 60)
    begun = Letters()('{"question": "')["input_ids"]
    counts = [len(shape.allowed(0, [*begun, *Letters()("x" * n)["input_ids"]])) for n in range(1, 40)]
    assert counts[0] > 1
    assert counts[-1] == 1


def test_a_model_decodes_its_vocabulary_once_for_all_schemas_and_calls(
    tiny_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_model(str(tiny_folder("llama")), dtype="float32")
    assert isinstance(model, LocalModel)
    decode, calls = model.tokenizer.batch_decode, []
    monkeypatch.setattr(model.tokenizer, "batch_decode", lambda rows: calls.append(len(rows)) or decode(rows))
    first = model.generate_json(PROMPTS, QUESTION_SCHEMA, max_tokens=260)
    model.generate_json(PROMPTS, SMALL, max_tokens=60)
    assert model.generate_json(PROMPTS, QUESTION_SCHEMA, max_tokens=260) == first
    assert calls == [len(model.tokenizer)]


def test_a_schema_beyond_the_known_and_too_little_room_are_refused() -> None:
    with pytest.raises(ValueError, match="schema: 'number'; wanted objects, strings and lists of a fixed length"):
        JsonShape(Vocabulary(Letters(), [0]), {"type": "object", "properties": {"question": {"type": "number"}}}, 60)
    with pytest.raises(ValueError, match="max_tokens 20: wanted at least"):
        JsonShape(Vocabulary(Letters(), [0]), SMALL, 20)
