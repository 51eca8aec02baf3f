"""Keys that give themselves away, and keys that do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from exam_gen._baselines import fixed_answer_baseline
from exam_gen.rules import apply_rules, rules_of
from exam_gen.rules._answer_cues import length_cue, neutral_article, odd_forms
from examcore import Question


def question(*choices: str, stem: str = "Which one is it of all that are there?", name: str = "q") -> Question:
    return Question(name, stem, choices, 0)


def reason(rule: str, one: Question) -> str | None:
    found = apply_rules([one], rules_of({rule: True}, only=[rule]))
    return found.dropped[0].reason if found.dropped else None


def test_the_length_cue_is_a_ratio_from_twelve_characters_on() -> None:
    assert length_cue(question("x" * 40, "y" * 20, "z" * 10)) == 2
    assert length_cue(question("x" * 5, "y" * 20, "z" * 30)) == 4
    assert length_cue(question("x" * 9, "y" * 3, "z" * 4)) == 1
    assert length_cue(question("x" * 25, "y" * 20, "z" * 30)) == 1
    assert reason("length-cue", question("x" * 40, "y" * 20)) == "length-cue: 2, wanted at most 1.6"
    assert reason("length-cue", question("x" * 30, "y" * 20)) is None


@pytest.mark.parametrize(
    ("choices", "odd"),
    [
        (("len()", "the list", "the tuple", "the set"), ("code", "number of words", "article")),
        (("Buckets", "Zone", "Class", "Basis"), ("plural",)),
        (("to wait", "an end", "a start", "a stop"), ("article", "verb")),
        (("3.5 seconds", "two hours", "one day", "some weeks"), ("digits",)),
        (("It fails.", "it waits", "it runs", "it ends"), ("capital", "full stop")),
        (("does not run", "does run at once", "does run later", "does run twice"), ("negation",)),
        (("waiting for it", "a lock", "a queue", "a pipe"), ("article", "gerund")),
        (("red", "blue", "green", "grey"), ()),
        (("red", "Blue fish", "3 greens", "grey"), ()),
        (("Red", "blue"), ()),
    ],
)
def test_the_odd_one_out_differs_where_all_others_agree(choices: tuple[str, ...], odd: tuple[str, ...]) -> None:
    found = odd_forms(question(*choices))
    assert set(odd) <= set(found)
    assert bool(found) == bool(odd)


def test_one_odd_form_may_be_chance_and_two_are_a_cue() -> None:
    assert reason("odd-one-out", question("Buckets", "Zone", "Class", "Basis")) is None
    found = reason("odd-one-out", question("It fails.", "it waits", "it runs", "it ends"))
    assert found == "odd-one-out: 2 (capital, full stop), wanted at most 1"


@pytest.mark.parametrize(
    ("stem", "choices", "cue"),
    [
        ('Lists: which answer completes "It returns an ____."?', ("iterator", "list", "dict"), "an"),
        ('Lists: which answer completes "It returns a ____."?', ("list", "iterator", "lists"), "a"),
        ('Lists: which answer completes "It returns an ____."?', ("iterator", "index", "dict"), None),
        ('Lists: which answer completes "It returns an ____."?', ("list", "dict", "set"), None),
        ('Lists: which answer completes "It returns the ____."?', ("iterator", "list", "dict"), None),
        ("The object that holds all values of the sum is an?", ("array", "list", "file"), "an"),
        ("What do all the objects of the sum return for class A?", ("array", "list", "file"), None),
        ("What does it take an hour to do in an old system?", ("add", "list", "file"), None),
        ('Which answer completes "It takes an ____."?', ("hour", "day", "university"), "an"),
        ('Which answer completes "It sends an `____`."?', ("HTTP call", "packet", "user"), "an"),
        ('Which answer completes "It is a ____."?', ("unique name", "hour", "NumPy array"), None),
    ],
)
def test_an_article_that_only_the_key_fits_is_a_cue(stem: str, choices: tuple[str, ...], cue: str | None) -> None:
    expected = None if cue is None else f"grammar-cue: only the key fits after '{cue}'"
    assert reason("grammar-cue", question(*choices, stem=stem)) == expected


@pytest.mark.parametrize(
    ("stem", "choices", "after"),
    [
        ('Which answer completes "It returns an ____ at once."?', ("iterator", "list"), "returns a(n) ____ at"),
        ("The object that holds all values is an?", ("array", "list"), "is a(n)?"),
        ('Which answer completes "It returns an ____."?', ("iterator", "index"), None),
        ("What does a class that has a `__hash__()` method need?", ("items", "keys"), None),
        ('Which answer completes "It returns the ____."?', ("iterator", "list"), None),
    ],
)
def test_an_article_that_tells_choices_apart_becomes_neutral(
    stem: str, choices: tuple[str, ...], after: str | None
) -> None:
    found = neutral_article(question(*choices, stem=stem))
    assert (found is not None) == (after is not None)
    if found is not None and after is not None:
        assert after in found.stem
        assert neutral_article(found) is None
        assert reason("grammar-cue", found) is None


def test_a_neutral_article_still_tells_a_singular_from_plurals() -> None:
    one = question("iterator", "lists", "maps", stem='Which answer completes "It returns a(n) ____."?')
    assert reason("grammar-cue", one) == "grammar-cue: only the key fits after 'a(n)'"


def test_positions_beyond_chance_are_balanced_and_others_left_alone() -> None:
    rng = np.random.default_rng(0)
    fair = [replace(question("a", "b", "c", "d", name=f"q{n}"), key=int(rng.integers(4))) for n in range(60)]
    biased = [replace(question("a", "b", "c", "d", name=f"q{n}"), key=1) for n in range(60)]
    rules = rules_of({}, only=["balanced-positions"])
    assert apply_rules(fair, rules).kept == tuple(fair)
    found = apply_rules(biased, rules)
    assert len(found.steps[0].rewritten) == 60
    assert fixed_answer_baseline(found.kept).accuracy == 0.25
    assert {one.answer for one in found.kept} == {"b"}
    assert found.kept[0].metadata["rewritten"] == [
        {"rule": "balanced-positions", "question": biased[0].stem, "choices": ["a", "b", "c", "d"], "answer": 1}
    ]
