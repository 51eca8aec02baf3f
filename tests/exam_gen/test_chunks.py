import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen.corpora import ChunkBounds, chunk
from examcore import Chunk, Document, text_units
from examcore._sentences import sentence_starts
from tests.corpus_reading import read_corpus
from tests.shared_data import SHARED

CORPORA = SHARED / "corpora"


def words(text: str) -> int:
    """A token counter that is subadditive, as tokenizers are: joining never needs more."""
    return len(re.findall(r"\w{1,4}|[^\w\s]", text))


def document(text: str) -> Document:
    return Document("d", "Title", text, topic="topic")


def sentences(text: str) -> list[str]:
    return [text[unit.start : unit.end].strip() for unit in text_units(text)]


def check(text: str, chunks: list[Chunk]) -> None:
    """Chunks follow each other and leave out nothing but white space around the text."""
    assert "".join(one.text for one in chunks) == text[chunks[0].start : chunks[-1].end]
    assert not (text[: chunks[0].start] + text[chunks[-1].end :]).strip()
    for number, one in enumerate(chunks):
        assert one.text == text[one.start : one.end]
        assert one.text.strip()
        assert (one.id, one.document_id, one.title, one.topic) == (f"d#{number}", "d", "Title", "topic")


PIECES = [
    "A first sentence here. ",
    "Dr. Smith paid $3.5 to I.B.M. Corp. in 2010. ",
    "Why not? ",
    "Yes! ",
    "e.g. this, ",
]
PIECES += ["\n\n", "\n", "# Heading\n", "Under\n=====\n", "```\ncode. More = 1\n\nx\n```\n", "    indented = 1. More\n"]
PIECES += [
    "- item one. Two. ",
    "1. First. ",
    "| a | b |\n",
    "word ",
    "x" * 40,
    " " * 30,
    "这是。那是。",
    "😀",
    "\u2028",
]
PIECES += ["\t", "(See Fig. 3. It shows.) ", "...", "?!"]
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.text(max_size=120),
).filter(str.strip)
bounds = st.builds(
    lambda low_s, more_s, low_c, more_c, low_t, more_t: ChunkBounds(
        low_s, more_s and low_s + more_s, low_c, more_c and low_c + more_c, low_t, more_t and low_t + more_t
    ),
    st.integers(0, 3), st.none() | st.integers(1, 4),
    st.integers(0, 60), st.none() | st.integers(1, 90),
    st.integers(0, 10), st.none() | st.integers(1, 30),
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(texts, bounds)
def test_chunks_cover_any_text_within_the_maxima(text: str, limits: ChunkBounds) -> None:
    chunks = chunk([document(text)], limits, words)
    check(text, chunks)
    for one in chunks:
        body = one.text.strip()
        assert limits.max_characters is None or len(body) <= limits.max_characters
        # A single character is never split, whatever it costs in tokens.
        assert limits.max_tokens is None or words(body) <= limits.max_tokens or len(body) == 1


@settings(max_examples=200, deadline=None)
@given(texts)
def test_units_follow_each_other_to_the_end(text: str) -> None:
    found = text_units(text)
    assert found[-1].end == len(text)
    assert not text[: found[0].start].strip()
    assert all(left.end == right.start for left, right in pairwise(found))
    assert all(unit.start < unit.end for unit in found)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(20, 90), min_size=2, max_size=30), st.integers(60, 150))
def test_minima_hold_when_maxima_leave_room(lengths: list[int], low: int) -> None:
    text = " ".join("A" + "b" * (length - 2) + "." for length in lengths)
    limits = ChunkBounds(min_sentences=0, min_characters=low, max_characters=3 * low + 100)
    chunks = chunk([document(text)], limits)
    check(text, chunks)
    assert all(len(one.text.strip()) >= low for one in chunks) or len(chunks) == 1


def test_sentences_are_found_around_abbreviations_numbers_and_quotes() -> None:
    text = (
        'Dr. Smith of Acme Corp. paid $3.5 million in 2010. The U.S. court agreed, e.g. in "Roe v. Wade." It was over. '
        "See Fig. 3 for details! Was it? (Yes.) Version 3.11 came out. x = 1."
    )
    assert sentences(text) == [
        "Dr. Smith of Acme Corp. paid $3.5 million in 2010.",
        'The U.S. court agreed, e.g. in "Roe v. Wade."',
        "It was over.",
        "See Fig. 3 for details!",
        "Was it?",
        "(Yes.)",
        "Version 3.11 came out. x = 1.",
    ]


def test_sentences_of_scripts_without_spaces_are_found() -> None:
    assert sentences("这是一句。那是一句！真的？好") == ["这是一句。", "那是一句！", "真的？", "好"]


def test_a_list_number_is_no_sentence_end() -> None:
    assert sentences("1. First point. Second part.\n2. Another.") == ["1. First point.", "Second part.", "2. Another."]


def test_code_tables_and_headings_are_not_broken() -> None:
    fence = "```python\na = 1. \n\nB = 2. C = 3.\n```"
    indented = "    run it. Then stop.\n\n    exit. Now."
    table = "| A b. C d. |\n| E f. G h. |"
    assert sentences(f"# One. Two\nText.\n\n{fence}\n\nMore: \n\n{indented}\n\n{table}\nEnd") == [
        "# One. Two",
        "Text.",
        fence,
        "More:",
        indented.strip(),
        table,
        "End",
    ]
    assert sentences("Title\n=====\nText. More.") == ["Title\n=====", "Text.", "More."]


def test_indented_prose_is_split_into_sentences() -> None:
    assert sentences("Note:\n\n   This is prose. It has two sentences.") == [
        "Note:",
        "This is prose.",
        "It has two sentences.",
    ]


def test_a_heading_starts_a_chunk_and_never_ends_one() -> None:
    section = "# Head {n}\n\n" + "A sentence of forty characters, or more. " * 8 + "\n\n"
    text = "".join(section.replace("{n}", str(n)) for n in range(6))
    chunks = chunk([document(text)], ChunkBounds(min_characters=100, max_characters=500))
    assert [one.text.split("\n")[0] for one in chunks] == [f"# Head {n}" for n in range(6)]


def test_a_long_sentence_is_split_between_words_and_a_long_word_within() -> None:
    text = "word " * 500 + "x" * 1000
    chunks = chunk([document(text)], ChunkBounds(min_characters=0, max_characters=100))
    check(text, chunks)
    assert {one.text.strip("word ") for one in chunks if "w" in one.text} == {""}
    assert all(one.text.startswith("word") for one in chunks if "w" in one.text)


def test_a_long_code_block_is_split_between_lines() -> None:
    text = "```\n" + "\n".join(f"line_{n} = {n} + {n}" for n in range(100)) + "\n```"
    chunks = chunk([document(text)], ChunkBounds(min_characters=0, max_characters=300))
    check(text, chunks)
    assert all(one.text.startswith(("line", "```")) for one in chunks)


def test_a_short_document_is_one_chunk() -> None:
    assert chunk([document("  Short.\n")], ChunkBounds(3, 9, 500, 900)) == [
        Chunk("d#0", "d", "Short.", 2, 8, "Title", "topic")
    ]


def test_a_short_tail_joins_or_takes_from_the_chunk_before() -> None:
    sentence = "A sentence of exactly forty characters. "
    limits = ChunkBounds(min_sentences=0, min_characters=100, max_characters=200)
    sizes = [len(one.text.strip()) for one in chunk([document(sentence * 6)], limits)]
    assert sizes == [119, 119]
    loose = ChunkBounds(min_sentences=0, min_characters=100, max_characters=250)
    assert len(chunk([document(sentence * 6)], loose)) == 1


def test_bounds_on_sentences_and_tokens_hold() -> None:
    text = "One two three four. " * 20
    assert [one.text.count(".") for one in chunk([document(text)], ChunkBounds(1, 8, 0, None))] == [8, 8, 4]
    by_tokens = chunk([document(text)], ChunkBounds(0, None, 0, None, 10, 24), words)
    assert all(10 <= words(one.text) <= 24 for one in by_tokens)


def test_progress_counts_documents() -> None:
    seen: list[tuple[int, int]] = []
    documents = [Document(str(n), "", "Text here.") for n in range(3)]
    chunk(documents, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"min_characters": -1}, "min_characters: found -1; wanted 0 or more"),
        ({"max_characters": 100}, r"max_characters: found 100; wanted at least 300 \(min_characters is 300\)"),
        ({"max_sentences": 0, "min_sentences": 0}, "max_sentences: found 0; wanted at least 1"),
        ({"min_tokens": 9, "max_tokens": 8}, "max_tokens: found 8; wanted at least 9"),
    ],
)
def test_contradictory_bounds_are_refused(fields: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChunkBounds(**fields)


def test_token_bounds_need_a_counter() -> None:
    with pytest.raises(ValueError, match="bounds on tokens: found no token counter; wanted count_tokens"):
        chunk([document("Text.")], ChunkBounds(max_tokens=10))


@pytest.mark.parametrize(
    "text",
    [
        "word " * 400_000,
        "Mr. A. B. Smith et al. No. 5. " * 20_000,
        "." * 300_000,
        "a" * 1_000_000,
        "((((" * 50_000,
        '"' * 200_000 + ". A",
        "- a. B\n" * 50_000,
        " \n" * 300_000 + "x",
        "```\n" * 100_001,
    ],
    ids=["one line", "abbreviations", "dots", "one word", "brackets", "quotes", "list", "blank lines", "fences"],
)
def test_hostile_documents_take_seconds_not_minutes(text: str) -> None:
    start = time.process_time()
    check(text, chunk([document(text)]))
    assert time.process_time() - start < 20


def test_the_language_reference_is_covered() -> None:
    documents = read_corpus("python-docs")
    chunks = chunk(documents)
    for one in documents:
        own = [chunk for chunk in chunks if chunk.document_id == one.id]
        assert "".join(part.text for part in own).strip() == one.text.strip()


@pytest.mark.slow
@pytest.mark.skipif(not CORPORA.exists(), reason="the shared corpora are not here")
@pytest.mark.parametrize("name", ["arxiv", "devops", "stackexchange"])
def test_real_corpora_are_covered(name: str) -> None:
    documents = {one.id: one for one in read_corpus(CORPORA / f"{name}.jsonl.gz")}
    chunks = chunk(list(documents.values()))
    assert all(one.text == documents[one.document_id].text[one.start : one.end] for one in chunks)
    assert max(len(one.text.strip()) for one in chunks) <= 1500
    short = sum(len(one.text.strip()) < 300 for one in chunks)
    assert short < 0.02 * len(chunks)


def test_sentence_starts_are_offset() -> None:
    assert sentence_starts("One here. Two here.", 100) == [110]
