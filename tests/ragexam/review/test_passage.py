import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragexam.review._marked_passage import hidden_characters, pieces

words = st.text("ab c.\n", max_size=12)


@given(words, words, words)
def test_pieces_join_to_the_passage(passage: str, key: str, sentence: str) -> None:
    assert "".join(text for text, _ in pieces(passage, key, sentence)) == passage


def test_the_key_is_marked_in_its_sentence_alone() -> None:
    passage = "The dog barks. A cat and a dog\nsleep here. The dog again."
    found = pieces(passage, "dog", "a cat and a dog sleep here.")
    assert found == [
        ("The dog barks. ", ""),
        ("A cat and a ", "sentence"),
        ("dog", "key"),
        ("\nsleep here.", "sentence"),
        (" The dog again.", ""),
    ]


@pytest.mark.parametrize(
    ("key", "marked"),
    [
        ("is", ["is", "is"]),
        ("IS  IT", ["is it"]),
        ("f(x)", ["f(x)"]),
        ("nothing", []),
        ("", []),
        ("x" * 5000, []),
    ],
)
def test_a_key_is_found_as_a_whole_and_in_any_case(key: str, marked: list[str]) -> None:
    passage = "This is it: f(x) is island."
    assert [text for text, kind in pieces(passage, key) if kind == "key"] == marked


def test_characters_that_do_not_show_are_named() -> None:
    assert hidden_characters("a\u202eb\0\n\tü😀") == ["U+0000 control character", "U+202E right-to-left override"]
    assert hidden_characters("👩‍👧 plain\n") == []
