"""The index finds what comparing all pairs finds, and finds it quickly."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen.rules import RuleTools, apply_rules, rules_of, stem_words
from exam_gen.rules._duplicates import WordSets, earlier_stems, new_stems, same_key
from examcore import Question

GOOD = Question("q", "Which zone holds it?", ("a", "b"), 0)


def with_stem(stem: str, name: str, key: int = 0) -> Question:
    return replace(GOOD, id=name, stem=stem, key=key)


def similarity(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left | right else 0.0


def by_all_pairs(sets: Sequence[frozenset[str]], floor: float) -> list[float]:
    """The definition: each against all before it."""
    best = [max((similarity(one, other) for other in sets[:n]), default=0.0) for n, one in enumerate(sets)]
    return [value if value >= floor else 0.0 for value in best]


few_words = st.frozensets(st.sampled_from("a b c d e f g h i j".split()), max_size=10)  # noqa: SIM905


@settings(max_examples=300, deadline=None)
@given(st.lists(few_words, max_size=25), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]))
def test_the_index_equals_all_pairs(sets: list[frozenset[str]], floor: float) -> None:
    index, found = WordSets(floor), []
    for number, one in enumerate(sets):
        name, value = index.nearest(one)
        assert value == 0 or similarity(sets[int(name)], one) == value
        found.append(value)
        index.add(str(number), one)
    assert found == by_all_pairs(sets, floor)


def test_near_duplicate_stems_are_dropped_but_names_tell_questions_apart() -> None:
    stems = [
        "What does str.lower() return for an empty string?",
        "what does str.lower() return, for an empty string?!",
        "What does str.upper() return for an empty string?",
        "Which zone holds it?",
    ]
    questions = [with_stem(stem, f"q{n}") for n, stem in enumerate(stems)]
    found = apply_rules(questions, rules_of({"near-duplicate": 0.9}, only=["near-duplicate"]))
    assert [one.id for one in found.kept] == ["q0", "q2", "q3"]
    assert [one.reason for one in found.dropped] == ["near-duplicate: 1 with q0, wanted at most 0.9"]


def test_a_stem_alike_with_the_same_key_repeats_the_fact() -> None:
    first = with_stem("Which zone holds the copies of an object?", "q0")
    second = with_stem("Which zone is it that holds an object and its copies?", "q1")
    third = replace(second, id="q2", key=1)
    rules = rules_of({"repeated-fact": 0.45}, only=["repeated-fact"])
    found = apply_rules([first, second, third], rules)
    assert [one.id for one in found.kept] == ["q0", "q2"]
    assert found.dropped[0].reason.startswith("repeated-fact: 0.4615 with q0")
    assert same_key(first) == same_key(second) != same_key(third)


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6), max_size=12))
def test_a_stricter_limit_drops_all_that_a_laxer_one_drops(stems: list[list[str]]) -> None:
    questions = [with_stem(" ".join(words), f"q{n}") for n, words in enumerate(stems)]

    def gone(limit: float) -> set[str]:
        found = apply_rules(questions, rules_of({"near-duplicate": limit}, only=["near-duplicate"]))
        return {one.question.id for one in found.dropped if one.question}

    limits = [1.0, 0.9, 0.7, 0.5, 0.3, 0.0]
    removed = [gone(limit) for limit in limits]
    assert all(lax <= strict for lax, strict in itertools.pairwise(removed))
    assert not removed[0]


def test_questions_that_arrive_one_by_one_are_compared_with_those_that_passed() -> None:
    rule = new_stems(0.79)
    assert rule(GOOD) is None
    assert rule(GOOD) == "near-duplicate: 1 with q, wanted at most 0.79"
    assert new_stems(0.79)(GOOD) is None


@pytest.mark.parametrize("template", ["what is the {}", "{}"])
def test_ten_thousand_stems_take_seconds_even_from_one_template(template: str) -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"word{n}" for n in range(3000)])
    questions = [with_stem(template.format(" ".join(rng.choice(words, 6))), f"q{n}") for n in range(10_000)]
    start = time.process_time()
    values = earlier_stems()(questions, RuleTools()).values
    assert time.process_time() - start < 15
    sets = [stem_words(one) for one in questions[:400]]
    assert values[:400].tolist() == by_all_pairs(sets, 0.4)
