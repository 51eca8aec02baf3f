import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen.drafting._parser import ParsedQuestion, UnparsableReply
from examcore import normalized, repaired_json_object
from tests.exam_gen.json_reply import parse_json
from tests.exam_gen.reply_faults import KINDS

WHOLE = {"question": "Which one?", "choices": ["a b", "c d", "e f", "g h"], "answer": 2}
WANTED = ParsedQuestion("Which one?", ("a b", "c d", "e f", "g h"), 2)
TEXT = json.dumps(WHOLE)


@pytest.mark.parametrize(
    "raw",
    [
        TEXT,
        f"Here you are:\n```json\n{TEXT}\n```\nGood luck!",
        TEXT.replace("]", ",]").replace("}", ",\n}"),
        TEXT[:-1],
        json.dumps({**WHOLE, "answer": "C"}),
        json.dumps({**WHOLE, "answer": "c) e f"}),
        json.dumps({**WHOLE, "answer": "E F"}),
        json.dumps({"Question": "Which one?", "Options": WHOLE["choices"], "Correct Answer": "(C)"}),
        json.dumps({**WHOLE, "choices": {"A": "a b", "B": "c d", "C": "e f", "D": "g h"}, "answer": "C"}),
        json.dumps({**WHOLE, "choices": ["A) a b", "B) c d", "C) e f", "D) g h"], "answer": "C"}),
    ],
)
def test_every_shape_of_reply_gives_the_same_question(raw: str) -> None:
    assert parse_json(raw) == WANTED


def test_an_answer_with_distractors_comes_first() -> None:
    raw = json.dumps({"question": "Which?", "answer": "r", "distractors": ["x", "y", "z"]})
    assert parse_json(raw) == ParsedQuestion("Which?", ("r", "x", "y", "z"), 0)


def test_the_right_answer_survives_when_choices_are_too_many() -> None:
    raw = json.dumps({**WHOLE, "choices": ["a", "b", "c", "d", "e"], "answer": 4})
    assert parse_json(raw) == ParsedQuestion("Which one?", ("a", "b", "c", "e"), 3)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("", "malformed JSON"),
        ("no object", "malformed JSON"),
        ('{"question" "x"}', "malformed JSON"),
        ("{" * 100_000, "malformed JSON"),
        ('{"choices": ["a", "b", "c", "d"], "answer": 0}', "no question"),
        ('{"question": "Which?", "answer": 0}', "no choices"),
        (json.dumps({**WHOLE, "choices": ["a", "b"]}), "too few choices"),
        (json.dumps({**WHOLE, "choices": ["a", "b", "A.", "d"]}), "duplicate choices"),
        (json.dumps({**WHOLE, "choices": ["a", "b", " ", "d"]}), "empty choice"),
        (json.dumps({**WHOLE, "answer": 4}), "answer names no choice"),
        (json.dumps({**WHOLE, "answer": -1}), "answer names no choice"),
        (json.dumps({**WHOLE, "answer": True}), "answer names no choice"),
        (json.dumps({**WHOLE, "answer": "Configure"}), "answer names no choice"),
        (json.dumps({**WHOLE, "answer": "C is best"}), "answer names no choice"),
        (json.dumps({**WHOLE, "answer": None}), "no answer"),
    ],
)
def test_what_is_no_question_is_counted_by_kind(raw: str, kind: str) -> None:
    assert parse_json(raw) == UnparsableReply(kind)


@pytest.mark.parametrize("end", range(2, len(TEXT)))
def test_a_reply_cut_anywhere_is_repaired_to_what_it_said(end: int) -> None:
    found = repaired_json_object(TEXT[:end])
    assert found is not None
    for name, value in found.items():
        whole = WHOLE[name]
        if isinstance(whole, list):
            assert isinstance(value, list)
            assert [str(one) for one in whole][: max(len(value) - 1, 0)] == value[:-1]
        else:
            assert str(whole).startswith(str(value))


def test_line_breaks_inside_strings_are_accepted() -> None:
    assert repaired_json_object('{"question": "two\nlines"}') == {"question": "two\nlines"}


PARTS = ['{"question": "Q?"', '"choices": ["a", "b", "c", "d"]', '"answer": 1', ",", "}", "]", "[", '"', "\\", "null"]
PARTS += [": ", "{", "1e999"]


@settings(max_examples=800, deadline=None)
@given(
    st.one_of(st.lists(st.sampled_from(PARTS), max_size=14).map("".join), st.text(max_size=80).map(lambda t: "{" + t))
)
def test_no_text_breaks_the_parser(raw: str) -> None:
    found = parse_json(raw)
    if isinstance(found, UnparsableReply):
        assert found.kind in KINDS
    else:
        assert len({normalized(choice) for choice in found.choices}) == 4
        assert 0 <= found.key < 4
