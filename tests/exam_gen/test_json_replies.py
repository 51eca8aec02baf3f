import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen.drafting._json_questions import read_drafts
from examcore import repaired_json_object
from tests.exam_gen.test_json_questions import PASSAGE, WHOLE

TEXT = json.dumps({"question": "Which one?", "choices": ["a b", "c d", "e f", "g h"], "answer": 2})
ONE = json.dumps(WHOLE)


@pytest.mark.parametrize(
    "raw",
    [
        ONE,
        f"Here you are:\n```json\n{ONE}\n```\nGood luck!",
        ONE.replace("]", ",]").replace("}", ",\n}"),
        ONE[:-1],
        json.dumps({"questions": [WHOLE]}),
        json.dumps({name.replace("_", " ").title(): value for name, value in WHOLE.items()}),
        json.dumps({**WHOLE, "wrong_answers": [*WHOLE["wrong_answers"], "A) the mayor"]}),
    ],
)
def test_every_shape_of_reply_gives_the_same_question(raw: str) -> None:
    (draft,), dropped = read_drafts(raw, PASSAGE)
    assert not dropped
    assert (draft.stem, draft.fact.span.text) == (WHOLE["question"], "Harbour Board")
    assert draft.wrong[:3] == ("Merchant Guild", "Customs House", "Royal Navy")


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("", "empty reply"),
        ("no object", "malformed JSON"),
        ('{"question" "x"}', "malformed JSON"),
        ("{" * 100_000, "malformed JSON"),
        (json.dumps({**WHOLE, "question": "Which \ud800?"}), "malformed JSON"),
        (json.dumps({**WHOLE, "question": None}), "no question"),
        ('{"question": "Which?", "answer": 0}', "too few choices"),
        (json.dumps({**WHOLE, "wrong_answers": ["a", "b"]}), "too few choices"),
        (json.dumps({**WHOLE, "wrong_answers": ["a", "b", "A."]}), "duplicate choices"),
        (json.dumps({**WHOLE, "wrong_answers": ["a", "b", " "]}), "empty choice"),
        (json.dumps({**WHOLE, "answer": None}), "empty choice"),
        (json.dumps({**WHOLE, "answer": True}), "empty choice"),
    ],
)
def test_what_is_no_question_is_counted_by_kind(raw: str, kind: str) -> None:
    drafts, dropped = read_drafts(raw, PASSAGE)
    assert not drafts
    assert [one.reason for one in dropped] == [f"unparsable: {kind}"]


@pytest.mark.parametrize("end", range(2, len(TEXT)))
def test_a_reply_cut_anywhere_is_repaired_to_what_it_said(end: int) -> None:
    found = repaired_json_object(TEXT[:end])
    assert found is not None
    for name, value in found.items():
        whole = json.loads(TEXT)[name]
        if isinstance(whole, list):
            assert isinstance(value, list)
            assert [str(one) for one in whole][: max(len(value) - 1, 0)] == value[:-1]
        else:
            assert str(whole).startswith(str(value))


def test_line_breaks_inside_strings_are_accepted() -> None:
    assert repaired_json_object('{"question": "two\nlines"}') == {"question": "two\nlines"}


PARTS = [
    '{"question": "Q?"',
    '"wrong_answers": ["a", "b", "c"]',
    '"answer": "d"',
    ",",
    "}",
    "]",
    "[",
    '"',
    "\\",
    "null",
]
PARTS += [": ", "{", "1e999"]


@settings(max_examples=800, deadline=None)
@given(
    st.one_of(st.lists(st.sampled_from(PARTS), max_size=14).map("".join), st.text(max_size=80).map(lambda t: "{" + t))
)
def test_no_text_breaks_the_reader(raw: str) -> None:
    drafts, dropped = read_drafts(raw, PASSAGE)
    assert not drafts
    assert all(one.reason for one in dropped)
