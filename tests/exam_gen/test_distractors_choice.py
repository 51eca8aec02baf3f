import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen.drafting import Fact, facts
from exam_gen.drafting._corpus_distractors import (
    DistractorOption,
    DistractorPool,
    KeyWithDistractors,
    candidates,
    choose,
    hides,
    marks,
    pool,
)
from exam_gen.language._spans import key_span
from examcore import Chunk

ERRORS = ["KeyError", "ValueError", "OSError", "TypeError", "IndexError", "RuntimeError", "EOFError", "BufferError"]


def corpus() -> list[Chunk]:
    texts = [
        f'Reading a closed tape number {n} of the archive raises a "{name}" at once.' for n, name in enumerate(ERRORS)
    ]
    return [Chunk(f"d{n}#0", f"d{n // 2}", text, 0, len(text), f"Archive {n}") for n, text in enumerate(texts)]


def test_candidates_are_of_the_kind_of_the_key():
    for fact in facts(corpus(), per_chunk=1, seed=0):
        assert fact.span.kind == "code:exception"
        found = candidates(fact, "Which error is raised?", pool(corpus(), None), count=5, seed=0)
        assert len(found) == 5
        assert set(found) < set(ERRORS) - {fact.span.text}


def test_candidates_of_one_long_document_take_time_in_proportion():
    text = "The mill Northern Star holds copper boilers for the valley."
    fact = Fact(Chunk("d#0", "d", text, 0, len(text)), key_span(text, "Northern Star"), 0.0)

    def seconds(count: int) -> float:
        names = tuple(f"Name{n} Word{n}" for n in range(count))
        home = frozenset(["d"])
        pooled = DistractorPool({fact.span.kind: names}, dict.fromkeys(names, home), {})
        start = time.process_time()
        assert candidates(fact, "Which mill?", pooled, count=9, seed=0)
        return time.process_time() - start

    part, whole = seconds(1_500), seconds(12_000)
    # In proportion it would be eight times as much, with the square sixty-four times.
    assert whole < 24 * part + 0.2


def test_candidates_leave_out_what_the_stem_names():
    fact = facts(corpus(), per_chunk=1, seed=0)[0]
    named = next(name for name in ERRORS if name != fact.span.text)
    assert named not in candidates(fact, f"Which error but {named} is raised?", pool(corpus(), None), count=8, seed=0)


def test_candidates_leave_out_near_copies_of_the_key():
    def same(texts):
        return np.ones((len(texts), 2))

    fact = facts(corpus(), per_chunk=1, seed=0)[0]
    assert candidates(fact, "Which error?", pool(corpus(), same), count=5, seed=0) == []


def test_another_call_of_the_same_function_is_no_wrong_answer():
    calls = ["open_tape(x)", "close_tape()", "wind_tape()", "cut_tape()", "open_tape()"]
    texts = [f'An archive handles a worn tape of group {n} with "{call}" at once.' for n, call in enumerate(calls)]
    chunks = [Chunk(f"d{n}#0", f"d{n}", text, 0, len(text), f"Group {n}") for n, text in enumerate(texts)]
    fact = next(fact for fact in facts(chunks, per_chunk=1, seed=0) if fact.span.text == "open_tape()")
    found = candidates(fact, "Which function is called?", pool(chunks, None), count=5, seed=0)
    assert set(found) == {"close_tape()", "wind_tape()", "cut_tape()"}


def items(count: int, seed: int) -> list[KeyWithDistractors]:
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        lengths = rng.integers(4, 16, size=9)
        options = tuple(
            DistractorOption(f"{chr(97 + i)}{number}".ljust(int(n), "x"), float(rng.normal()))
            for i, n in enumerate(lengths)
        )
        made.append(KeyWithDistractors("k" * int(rng.integers(8, 12)), float(rng.normal()), options))
    return made


@pytest.mark.parametrize("extreme", [max, min])
def test_the_longest_and_the_shortest_choice_find_a_quarter_of_the_keys(extreme):
    given_items = items(80, 1)
    hits = 0.0
    for item, wrong in zip(given_items, choose(given_items, seed=0), strict=True):
        lengths = [len(text) for text in (item.key, *wrong)]
        hits += (lengths[0] == extreme(lengths)) / lengths.count(extreme(lengths))
    assert abs(hits / 80 - 0.25) < 0.06


def test_the_likeliest_choice_finds_about_a_quarter_of_the_keys():
    given_items = items(80, 2)
    hits = 0
    for item, wrong in zip(given_items, choose(given_items, seed=0), strict=True):
        closed = {option.text: option.closed for option in item.options}
        hits += item.closed > max(closed[text] for text in wrong)
    assert abs(hits / 80 - 0.25) < 0.1


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_choices_are_three_different_admissible_options(seed):
    given_items = items(6, seed)
    for item, wrong in zip(given_items, choose(given_items, seed=seed), strict=True):
        assert len(set(wrong)) == 3
        assert set(wrong) <= {option.text for option in item.options}
    assert choose(given_items, seed=seed) == choose(given_items, seed=seed)


@pytest.mark.parametrize(
    ("key", "wrong", "marked"),
    [
        ("rich detail", ("only colour", "only outlines", "only shadows"), True),
        ("rich detail", ("only colour", "few outlines", "no shadows"), True),
        ("rich detail", ("only colour", "plain outlines", "deep shadows"), False),
        ("only colour", ("only outlines", "few lines", "no shadows"), False),
        ("outdoor nests", ("indoor nests", "indoor roosts", "indoor dens"), True),
        ("outdoor nests", ("indoor nests", "indoor roosts", "attic dens"), False),
        ("63.8 degrees", ("60 degrees", "50 degrees", "80 degrees"), True),
        ("63.8 degrees", ("60.5 degrees", "50 degrees", "80 degrees"), False),
        ("60 degrees", ("61.5 degrees", "57.2 degrees", "80.1 degrees"), True),
    ],
)
def test_wrong_answers_mark_a_key_by_what_they_alone_share_or_lack(key, wrong, marked):
    assert marks(key, wrong) == marked
    assert hides(key, wrong) != marked


def test_choices_leave_the_key_unmarked_where_they_can():
    texts = ("indoor nests", "indoor roosts", "indoor dens", "attic burrows")
    item = KeyWithDistractors("outdoor nests", -1.0, tuple(DistractorOption(text, -1.0) for text in texts))
    for seed in range(8):
        assert "attic burrows" in choose([item], seed=seed)[0]


def test_of_three_choices_one_at_least_is_tempting():
    texts = ("marsh nests", "field nests", "cliff nests", "wall nests", "reed nests")
    options = tuple(DistractorOption(text, -1.0, tempting=text.startswith("wall")) for text in texts)
    for seed in range(8):
        assert "wall nests" in choose([KeyWithDistractors("tree nests", -1.0, options)], seed=seed)[0]
