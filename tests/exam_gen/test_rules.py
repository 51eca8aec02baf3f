"""What holds of all rules: nothing is lost, reasons name their rule, stricter limits drop more."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen.rules import RULE_KINDS, Rule, RuleTools, apply_rules, each, needs_of, objections, rule_of, rules_of
from exam_gen.rules._catalogue import arriving
from exam_gen.rules._passage_evidence import EvidenceLikelihoods, blind_lead, lift, margin, support
from exam_gen.rules._rule import Limit, RuleMeasure, measured, value_of
from examcore import CachedLanguageModel, Likelihoods, Prompt, Question, ReplyStore
from tests.scripted_model import ScriptedModel

GOOD = Question("q", "Which zone of the store holds a copy of it?", ("North", "South", "East", "West"), 0, context="x")


class Reader(ScriptedModel):
    """Gives a continuation -1 per word when it stands in the prompt, else -3."""

    name = "reader"

    def __init__(self) -> None:
        super().__init__("Which copy does Gardens hold when a zone fails?")

    def score_of(self, prompt: Prompt, continuation: str) -> float:
        return (-1.0 if continuation.strip() in prompt.user else -3.0) * self.count_tokens(continuation)


def letters(texts: Sequence[str]) -> np.ndarray:
    return np.array([[text.lower().count(letter) + 0.01 for letter in "abcdefghiklmnoprstuw"] for text in texts])


TOOLS = RuleTools(embed=letters, model=Reader())
ALL = {name: True for name in RULE_KINDS if name != "blocked-words"} | {"blocked-words": ["north"]}

stems = st.sampled_from(
    [
        GOOD.stem,
        "Why?",
        "According to the passage, which zone holds a copy?",
        "What does it hold when a zone fails?",
        'Which answer completes "The copy is held in an ____."?',
        "Write to ann.lee@firm.org about the zone that holds it?",
        "Which zone of the store holds a second copy of it?",
    ]
)
choices = st.lists(
    st.sampled_from(["North", "South", "north.", "All of the above", "", "an east zone", "B) West", "x" * 80, "it"]),
    min_size=1,
    max_size=5,
)  # fmt: skip


@st.composite
def exams(draw: st.DrawFn) -> list[Question]:
    found = []
    for number in range(draw(st.integers(0, 8))):
        options = tuple(draw(choices))
        key = draw(st.integers(0, len(options) - 1))
        context = draw(st.sampled_from(["", "The copy is held in an east zone of the North."]))
        meta = {"title": draw(st.sampled_from(["", "Zones"]))}
        found.append(Question(f"q{number}", draw(stems), options, key, context=context, metadata=meta))
    return found


@settings(max_examples=60, deadline=None)
@given(exams(), st.permutations(list(RULE_KINDS)))
def test_every_question_is_kept_or_dropped_once_in_any_order_of_the_rules(
    questions: list[Question], order: list[str]
) -> None:
    rules = rules_of({**ALL, "order": order})
    assert [rule.name for rule in rules] == order
    found = apply_rules(questions, rules, TOOLS)
    lost = [one.question.id for one in found.dropped if one.question]
    assert sorted([*(one.id for one in found.kept), *lost]) == sorted(one.id for one in questions)
    assert [one.id for one in found.kept] == [one.id for one in questions if one.id not in lost]
    for step in found.steps:
        assert all(rule_of(one.reason) == step.rule for one in step.dropped)
    seen = [step.seen for step in found.steps]
    gone = np.cumsum([len(step.dropped) for step in found.steps])
    assert seen == [len(questions) - before for before in [0, *gone[:-1]]]


ALONE = [
    name
    for name, kind in RULE_KINDS.items()
    if kind.alone and not kind.what.startswith("rewrites") and name != "blocked-words"
]


@settings(max_examples=25, deadline=None)
@given(exams(), st.randoms())
def test_what_one_question_is_judged_by_itself_depends_on_no_order(questions: list[Question], lottery: object) -> None:
    shuffled = list(questions)
    lottery.shuffle(shuffled)  # type: ignore[attr-defined]
    for name in ALONE:
        (rule,) = rules_of({}, only=[name])
        found = {one.question.id: one.reason for one in apply_rules(questions, [rule], TOOLS).dropped if one.question}
        again = {one.question.id: one.reason for one in apply_rules(shuffled, [rule], TOOLS).dropped if one.question}
        assert found == again


LIMITED = [name for name, kind in RULE_KINDS.items() if kind.limit is not None and kind.shares]


@settings(max_examples=12, deadline=None)
@given(exams(), st.lists(st.floats(-5, 100), min_size=2, max_size=4), st.lists(st.integers(0, 100), min_size=2))
def test_a_stricter_limit_drops_all_that_a_laxer_one_drops(
    questions: list[Question], limits: list[float], shares: list[int]
) -> None:
    def gone(name: str, setting: object) -> set[str]:
        found = apply_rules(questions, rules_of({name: setting}, only=[name]), TOOLS)
        return {one.question.id for one in found.dropped if one.question}

    for name in LIMITED:
        by_limit = [gone(name, limit) for limit in sorted(limits)]
        nested = all(low <= high or high <= low for low, high in itertools.pairwise(by_limit))
        assert nested, name
        by_share = [gone(name, f"{share}%") for share in sorted(shares)]
        assert all(few <= many for few, many in itertools.pairwise(by_share)), name
        for share, removed in zip(sorted(shares), by_share, strict=True):
            assert len(removed) <= share / 100 * len(questions) + 1e-9


def test_a_limit_of_more_and_one_of_less_read_in_their_own_words() -> None:
    questions = [replace(GOOD, id=f"q{n}", stem="x" * n) for n in range(1, 6)]
    length = value_of(lambda one: float(len(one.stem)))
    more = apply_rules(questions, [Rule("long", measured(length, Limit(3)))])
    less = apply_rules(questions, [Rule("short", measured(length, Limit(3), "less"))])
    assert [one.reason for one in more.dropped] == ["long: 4, wanted at most 3", "long: 5, wanted at most 3"]
    assert [one.reason for one in less.dropped] == ["short: 1, wanted at least 3", "short: 2, wanted at least 3"]
    worst = apply_rules(questions, [Rule("short", measured(length, Limit(share=0.4), "less"))])
    assert [one.id for one in worst.kept] == ["q3", "q4", "q5"]


def test_what_cannot_be_told_is_kept_and_counts_for_the_share() -> None:
    questions = [replace(GOOD, id=f"q{n}") for n in range(4)]
    values = np.array([np.nan, 1.0, 2.0, np.nan])
    for limit, kept in ((Limit(0.5), 2), (Limit(share=0.5), 2), (Limit(share=0.25), 3), (Limit(share=1.0), 2)):
        found = apply_rules(questions, [Rule("r", measured(lambda *_: RuleMeasure(values), limit))])
        assert len(found.kept) == kept
    everything_unknown = measured(lambda *_: RuleMeasure(np.full(4, np.nan)), Limit(share=1.0))
    assert len(apply_rules(questions, [Rule("r", everything_unknown)]).kept) == 4


def test_the_raw_text_and_the_chunk_stay_with_what_is_dropped() -> None:
    bad = replace(GOOD, chunk_id="d#1", metadata={"raw": "the model's words"})
    (lost,) = apply_rules([bad], [Rule("never", each(lambda _: "no"))]).dropped
    assert (lost.reason, lost.raw, lost.chunk_id, lost.question) == ("never: no", "the model's words", "d#1", bad)


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        ({"nearduplicate": True}, r"filters: unknown rule 'nearduplicate'; wanted one of without-catch-all"),
        (
            {"near-duplicate": "high"},
            r"near-duplicate is 'high'; wanted on, off, a number \(usually 0\.79\) or",
        ),
        ({"near-duplicate": "x%"}, r"near-duplicate is 'x%'; wanted on, off"),
        ({"near-duplicate": "120%"}, r"near-duplicate is '120%'; wanted on, off"),
        ({"near-duplicate": None}, r"near-duplicate is None; wanted on, off"),
        ({"near-duplicate": float("nan")}, r"near-duplicate is nan; wanted on, off"),
        ({"answer-leak": 0.5}, r"answer-leak is 0\.5; wanted on or off, it has no limit"),
        ({"without-catch-all": "10%"}, r"without-catch-all is '10%'; wanted on, off, a number \(usually 3\)$"),
        ({"blocked-words": True}, r"blocked-words is True; wanted a list of words"),
        ({"order": "stem-short"}, r"order is 'stem-short'; wanted a list of rules"),
        ({"order": ["stem"]}, r"unknown rule 'stem'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(given_settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rules_of(given_settings)


def test_settings_turn_rules_on_and_off_and_order_them() -> None:
    usual = [rule.name for rule in rules_of()]
    assert usual == [name for name, kind in RULE_KINDS.items() if kind.on]
    assert needs_of(rules_of()) == {"nothing"}
    changed = [rule.name for rule in rules_of({"catch-all": False, "extra-words": "10%", "order": ["length-cue"]})]
    assert changed[0] == "length-cue"
    assert set(changed) == set(usual) - {"catch-all"} | {"extra-words"}
    (only,) = rules_of({"catch-all": False, "stem-short": 30}, only=["stem-short"])
    assert (only.name, only.limit) == ("stem-short", "30")
    assert [rule.limit for rule in rules_of({"extra-words": "10%"}, only=["extra-words", "catch-all"])] == ["", "10%"]


def arrived(questions: Sequence[Question], settings: dict[str, object] | None = None) -> list[str | None]:
    """The first reason given for each question that comes in."""
    filters = arriving(settings)
    return [next((reason for one in filters if (reason := one(question))), None) for question in questions]


def test_arriving_questions_meet_the_rules_that_judge_one_alone() -> None:
    bad = replace(GOOD, id="q2", stem="Short.")
    copy = replace(GOOD, id="q3")
    reasons = ["stem-short: 6, wanted at least 20", "near-duplicate: 1 with q, wanted at most 0.79"]
    assert arrived([GOOD, bad, copy]) == [None, *reasons]
    assert arrived([GOOD, bad, copy], {"stem-short": 3, "no-question": False, "near-duplicate": False}) == [None] * 3
    assert arrived([GOOD, copy], {"stem-short": "100%", "near-duplicate": "100%"}) == [None] * 2
    assert arrived([GOOD, copy], {"near-duplicate": 0}) == [None, "near-duplicate: 1 with q, wanted at most 0"]


def test_objections_are_those_of_every_rule_by_itself() -> None:
    assert objections(GOOD) == []
    bad = replace(GOOD, stem="What is it", choices=("North", "north.", "None of the above", "West"))
    rules = [rule_of(one) for one in objections(bad)]
    assert rules == ["stem-short", "no-question", "duplicate-choices", "catch-all", "self-contained"]


def test_what_would_be_mended_is_not_dropped_as_it_arrives() -> None:
    leaning = replace(GOOD, stem="What does it hold in store?", metadata={"title": "A zone"})
    assert arrived([leaning], {"standing-alone": True}) == [None]
    assert arrived([leaning]) == ["self-contained: 'What does it' points outside the question"]


def test_likelihoods_become_support_margin_lift_and_lead() -> None:
    read = EvidenceLikelihoods(
        with_passage=Likelihoods((-2.0, -6.0, -5.0), (2, 2, 1), 9),
        without=Likelihoods((-8.0, -6.0, -5.0), (2, 2, 1), 5),
    )
    assert support(read) == -1
    # Distractor 1: 4 in the sum, 2 * (3 - 1) = 4 by the mean; distractor 2: 3 in the sum, 2 * (5 - 1) = 8 by the mean.
    assert margin(read) == 3
    assert lift(read) == 6
    assert blind_lead(read) == -4 + 3
    alone = EvidenceLikelihoods(None, read.without)
    assert np.isnan([support(alone), margin(alone), lift(alone)]).all()


def test_likelihood_rules_ask_the_model_once_and_keep_what_it_supports() -> None:
    model = Reader()
    good = replace(
        GOOD, context="A copy stands in the North.", choices=("the North", "South pole", "East end", "West side")
    )
    both = replace(good, id="q2", context="Copies stand in the North. The South pole has one.")
    never = replace(good, id="q3", context="Nobody knows.")
    open_book = replace(good, id="q4", stem="Is it the North that holds a copy of the North?")
    bare = replace(good, id="q5", context="")
    questions = [good, both, never, open_book, bare]
    names = ["unsupported-key", "supported-distractor", "needless-passage", "solved-blind"]
    told = []
    with ReplyStore(":memory:") as store:
        tools = RuleTools(
            model=CachedLanguageModel(model, store), progress=lambda done, total: told.append((done, total))
        )
        found = {name: apply_rules(questions, rules_of({}, only=[name]), tools) for name in names}
    assert len(model.asked) == 6  # four with a passage; without one two different stems
    assert told[:5] == [(n, 5) for n in range(1, 6)]
    dropped = {name: [one.question.id for one in found[name].dropped if one.question] for name in names}
    assert dropped == {
        "unsupported-key": ["q3"],
        "supported-distractor": ["q2", "q3"],
        "needless-passage": ["q3", "q4"],
        "solved-blind": ["q4"],
    }
    assert found["solved-blind"].dropped[0].reason == "solved-blind: 2, wanted at most 1"


def test_rules_without_their_tool_say_so() -> None:
    with pytest.raises(ValueError, match="no language model is given"):
        apply_rules([GOOD], rules_of({}, only=["solved-blind"]))
    with pytest.raises(ValueError, match="no encoder is given"):
        apply_rules([GOOD], rules_of({}, only=["intra-meaning"]))
    assert apply_rules([], rules_of({}, only=["solved-blind"])).kept == ()


def test_similarity_rules_drop_near_copies_of_the_key_and_distractors_of_the_passage() -> None:
    copy = replace(GOOD, choices=("the red fox runs", "the red fox run", "a cow", "two hens"))
    near = replace(GOOD, id="q2", choices=("no idea", "red fox", "a cow", "a hen"), context="The red fox ran past.")
    words = apply_rules([GOOD, copy, near], rules_of({"intra-words": 0.5}, only=["intra-words"]))
    assert [one.reason for one in words.dropped] == ["intra-words: 0.6, wanted at most 0.5"]
    extra = apply_rules([GOOD, near], rules_of({}, only=["extra-words"]))
    assert [one.question and one.question.id for one in extra.dropped] == ["q2"]
    meaning = apply_rules([copy, near], rules_of({}, only=["intra-meaning"]), TOOLS)
    assert [one.question and one.question.id for one in meaning.dropped] == ["q"]


RUNAWAYS = [
    "a ",
    "what is it ",
    '"a b c ',
    "a@b.",
    "1-",
    "____ ",
    "a(n) ",
    "is in the ",
    "according to the ",
    "“aaaaaaaaaaaa” ",
]


@pytest.mark.parametrize("piece", RUNAWAYS)
def test_a_runaway_question_takes_no_rule_long(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    options = (f"k {text[:5000]}", f"{text[:5000]}b", "c", "d")
    runaway = Question("q", f"{text}?", options, 0, context=text, metadata={"title": text[:3000]})
    settings = {name: True for name, kind in RULE_KINDS.items() if kind.needs == "nothing"}
    start = time.process_time()
    for rule in rules_of(settings | {"blocked-words": ["x y"]}):
        rule.reasons([runaway], RuleTools())
    assert time.process_time() - start < 3
