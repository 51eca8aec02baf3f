import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomy import TAXONOMIES, Level, Taxonomy, labels
from taxonomy._taxonomy import WORD_PATTERN, lemma

DEPTH = Taxonomy(
    name="depth",
    asks="how far the answer lies from the text",
    levels=(
        Level("computed", "", ("calculate", "add up"), (re.compile(r"how (much|many) more", re.I),)),
        Level("stated", "", ("name", "list")),
    ),
)


@pytest.mark.parametrize(
    ("question", "levels", "basis"),
    [
        ("Which value was calculated?", ("computed",), "words"),
        ("Recalculate the recalculation.", (), "nothing"),
        ("What adds up to ten?", ("computed",), "words"),
        ("What adds a row? Look up.", (), "nothing"),
        ("HOW MANY MORE rows are there?", ("computed",), "wording"),
        ("List what was calculated.", ("computed", "stated"), "words"),
        ("Who is listless?", (), "nothing"),
        ("", (), "nothing"),
    ],
)
def test_words_count_in_every_form_and_only_whole(question: str, levels: tuple[str, ...], basis: str) -> None:
    assert DEPTH.read(question) == (levels, basis)


def test_one_level_is_the_first_in_order_that_is_found() -> None:
    single = Taxonomy("depth", "", DEPTH.levels, several=False, otherwise="stated")
    assert single.read("List what was calculated.") == (("computed",), "words")
    assert single.read("Why?") == (("stated",), "otherwise")
    assert single.read("?! 42") == ((), "nothing")


def test_a_taxonomy_knows_who_can_label_by_it() -> None:
    assert DEPTH.has_rules
    assert not DEPTH.has_definitions
    meant = Taxonomy("x", "", (Level("a", "one thing"), Level("b", "another")))
    assert meant.has_definitions
    assert not meant.has_rules
    assert [one.name for one in TAXONOMIES if one.has_definitions] == ["bloom", "knowledge"]


HOSTILE = [
    "",
    "   \n",
    "🙂" * 500,
    "x" * 10_000,
    "the set " * 1250,
    "to a " * 2000,
    "To x: " * 2000,
    '"' * 10_000,
    "\0\u202e?",
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", HOSTILE, ids=[repr(text[:6]) for text in HOSTILE])
def test_hostile_text_is_labelled_in_no_time(text: str) -> None:
    found = labels(text)
    assert list(found) == ["bloom", "knowledge", "form", "words"]
    known = {one.name: set(one.names) for one in TAXONOMIES}
    assert all(set(levels) <= known[name] for name, levels in found.items())
    DEPTH.read(text)


@given(st.text(max_size=60))
def test_levels_stand_in_order_and_only_text_without_a_word_has_none(text: str) -> None:
    for taxonomy in TAXONOMIES[:2]:
        levels, basis = taxonomy.read(text)
        assert levels == taxonomy.ordered(set(levels))
        assert bool(levels) == bool(WORD_PATTERN.search(text)) == (basis != "nothing")


def test_dictionary_forms() -> None:
    assert [lemma(word) for word in WORD_PATTERN.findall("The MICE were running.")] == ["the", "mouse", "be", "run"]
    assert lemma("Z" * 51) == "z" * 51
