import pytest
from hypothesis import given
from hypothesis import strategies as st

from exam_gen.language._tagging import commands, dangling, has_finite_verb, is_nominal, noun_phrases, tokens


def test_noun_phrases_hold_no_verbs_and_no_articles():
    sentence = "A security group acts as a virtual firewall until the old task stops in winter."
    found = [sentence[run[0].start : run[-1].end] for run in noun_phrases(sentence)]
    assert found == ["security group", "virtual firewall", "old task", "winter"]


@given(st.text(max_size=200))
def test_any_text_is_cut_into_tokens_that_stand_where_they_say(text):
    for token in tokens(text):
        assert text[token.start : token.end] == token.text
    for run in noun_phrases(text):
        assert text[run[0].start : run[-1].end].startswith(run[0].text)


SENTENCE = "The pilot boards a heavy ship of the Harbour Board before it leaves two northern ports of Oslo."


@pytest.mark.parametrize(
    ("text", "nominal"),
    [
        ("a heavy ship", True),
        ("heavy ship of the Harbour Board", True),
        ("two northern ports", True),
        ("boards a heavy ship", False),
        ("a heavy", False),
        ("before it leaves", False),
        ("Board before", False),
        ("", False),
    ],
)
def test_a_thing_is_told_from_what_happens(text, nominal):
    assert is_nominal(SENTENCE, text) is nominal


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Send a request with the name of the ship.", True),
        ("Choose the harbour and the date of arrival.", True),
        ("The pilot sends a request to the harbour.", False),
        ("Ships with a pilot leave the harbour first.", False),
    ],
)
def test_orders_to_the_reader_are_told(sentence, told):
    assert commands(sentence) is told


def test_a_heading_states_nothing():
    assert not has_finite_verb("Ships and pilots of northern ports in winter.")
    assert has_finite_verb("Ships of northern ports need pilots in winter.")


@pytest.mark.parametrize(
    ("sentence", "thing"),
    [
        ("A message goes to the clerk when a ship arrives.", "clerk"),
        ("The second northern pilot boards a ship at night.", "second northern pilot"),
        ("The clerk of Bergen sends a message at night.", None),
        ("The clerk that a captain calls sends a message.", None),
        ("A clerk sends a message before the clerk sleeps.", None),
        ("The Harbour Board sends a message at night.", None),
        ("The `close` call ends a message at night.", None),
        ("The port sends a message at night.", None),
        ("The smallest boat sends a message at night.", None),
    ],
)
def test_a_definite_thing_dangles_unless_something_introduces_it(sentence, thing):
    assert dangling(sentence, "Ports of the north") == thing
