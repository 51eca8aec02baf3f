from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen import assemble, attribute, split_pool
from exam_gen._assembly import shuffle_choices, shuffle_exam
from examcore import Question


def question(number: int, *, choices: int = 4, topic: str = "t", document: str = "d", chunk: str = "") -> Question:
    texts = tuple(f"choice {n}" for n in range(choices))
    return Question(f"q{number}", "Which?", texts, number % choices, document, chunk, topic, metadata={"model": "m"})


@given(st.integers(0, 10**6), st.integers(0, 50), st.integers(2, 6))
def test_a_shuffle_keeps_the_question_and_can_be_undone(seed: int, number: int, size: int) -> None:
    before = question(number, choices=size)
    after = shuffle_choices(before, seed)
    assert after.answer == before.answer
    assert sorted(after.choices) == sorted(before.choices)
    assert after == shuffle_choices(before, seed)
    stored = after.metadata["shuffle"]
    assert isinstance(stored, dict)
    assert stored["seed"] == seed
    assert tuple(before.choices[index] for index in stored["order"]) == after.choices
    assert after.metadata["model"] == "m"


def test_the_order_depends_on_seed_and_id_alone() -> None:
    questions = [question(n, choices=5) for n in range(60)]
    orders = {shuffle_choices(one, 1).choices for one in questions}
    assert len(orders) > 30
    assert [shuffle_choices(one, 1) for one in questions[30:]] == [shuffle_choices(one, 1) for one in questions][30:]
    assert any(shuffle_choices(one, 1) != shuffle_choices(one, 2) for one in questions)


def test_shuffled_keys_are_spread_evenly() -> None:
    keys = Counter(shuffle_choices(Question(f"q{n}", "?", ("a", "b", "c", "d"), 0), 5).key for n in range(4000))
    assert all(abs(count - 1000) < 5 * (4000 * 0.25 * 0.75) ** 0.5 for count in keys.values())


@given(st.integers(0, 100), st.lists(st.integers(2, 5), max_size=60))
def test_balanced_positions_differ_by_at_most_one(seed: int, sizes: list[int]) -> None:
    questions = [question(n, choices=size) for n, size in enumerate(sizes)]
    shuffled = shuffle_exam(questions, seed)
    assert [one.answer for one in shuffled] == [one.answer for one in questions]
    for size in set(sizes):
        counts = Counter(one.key for one in shuffled if len(one.choices) == size)
        spread = [counts[position] for position in range(size)]
        assert max(spread) - min(spread) <= 1


def test_distractors_stay_in_random_order_when_the_key_is_placed() -> None:
    orders = Counter(
        shuffle_choices(Question(f"q{n}", "?", ("k", "x", "y"), 0), 0, position=1).choices for n in range(400)
    )
    assert set(orders) == {("x", "k", "y"), ("y", "k", "x")}
    assert min(orders.values()) > 150


def test_a_position_outside_the_choices_is_refused() -> None:
    with pytest.raises(ValueError, match="question 'q1': position is 4; wanted 0 to 3"):
        shuffle_choices(question(1), 0, position=4)


def test_the_pool_is_disjoint_fixed_by_seed_and_from_other_chunks() -> None:
    shared = [question(n, chunk="d#0") for n in range(6)]
    alone = [question(n, chunk=f"e{n}#0", document=f"e{n}") for n in range(6, 12)]
    split = split_pool([*shared, *alone], 4, seed=1)
    assert len(split.pool) == 4
    assert {one.id for one in split.pool} <= {one.id for one in alone}
    assert {one.id for one in split.pool} | {one.id for one in split.exam} == {f"q{n}" for n in range(12)}
    assert not {one.id for one in split.pool} & {one.id for one in split.exam}
    assert split == split_pool([*shared, *alone], 4, seed=1)
    assert len({tuple(one.id for one in split_pool([*shared, *alone], 4, seed=seed).pool) for seed in range(20)}) > 1
    assert split_pool(shared, 0, seed=0).exam == tuple(shared)
    for size in (6, -1):
        with pytest.raises(ValueError, match=f"pool_size: found {size}; wanted 0 to 5"):
            split_pool(shared, size, seed=0)


@settings(max_examples=80)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.data())
def test_assembled_exams_have_every_topic_in_its_share(sizes: list[int], data: st.DataObject) -> None:
    questions = [
        question(1000 * topic + n, topic=f"t{topic}", document=f"d{topic}.{n % 3}")
        for topic, size in enumerate(sizes)
        for n in range(size)
    ]
    size = data.draw(st.integers(1, len(questions)))
    chosen = assemble(questions, size, seed=4).questions
    assert len(chosen) == size
    assert chosen == tuple(one for one in questions if one in chosen)
    assert chosen == assemble(list(reversed(questions)), size, seed=4).questions[::-1]
    counts = Counter(one.topic for one in chosen)
    for topic, count in Counter(one.topic for one in questions).items():
        share = size * count / len(questions)
        assert counts[topic] >= min(1, int(size >= len(sizes)))
        assert counts[topic] <= max(1, share + 1)
        documents = Counter(one.document_id for one in chosen if one.topic == topic)
        whole = Counter(one.document_id for one in questions if one.topic == topic)
        assert all(documents[a] - documents[b] <= 1 or documents[b] == whole[b] for a in documents for b in whole)


def test_sizes_that_cannot_be_met_are_refused() -> None:
    for size in (0, 4):
        with pytest.raises(ValueError, match=f"size: found {size}; wanted 1 to 3, the number of questions"):
            assemble([question(n) for n in range(3)], size, seed=0)


def test_another_stratum_can_be_given() -> None:
    questions = [question(n, choices=2 if n % 2 else 4) for n in range(40)]
    chosen = assemble(questions, 10, seed=0, by=[lambda one: str(len(one.choices))])
    assert Counter(len(one.choices) for one in chosen.questions) == {2: 5, 4: 5}
    assert [(one.name, one.available, one.wanted, one.taken) for one in chosen.strata] == [
        (("2",), 20, 5, 5),
        (("4",), 20, 5, 5),
    ]


def labelled(number: int, topic: str, *levels: str) -> Question:
    return replace(question(number, topic=topic, document=f"d{number}"), labels={"bloom": levels})


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("uvw")), min_size=1, max_size=60), st.data())
def test_a_second_attribute_is_divided_inside_the_first(kinds: list[tuple[str, str]], data: st.DataObject) -> None:
    questions = [labelled(n, topic, level) for n, (topic, level) in enumerate(kinds)]
    size = data.draw(st.integers(1, len(questions)))
    equal = data.draw(st.booleans())
    chosen = assemble(questions, size, 1, by=[attribute("topic"), attribute("bloom")], equal=equal)
    assert len(chosen.questions) == size == sum(one.taken for one in chosen.strata)
    assert sum(one.wanted for one in chosen.strata) == size
    counts = Counter((one.topic, one.labels["bloom"][-1]) for one in chosen.questions)
    assert {one.name: one.taken for one in chosen.strata if one.taken} == counts
    assert {one.name: one.available for one in chosen.strata} == Counter(kinds)
    alone = assemble(questions, size, 1, equal=equal)
    topics = {one.name[0]: one.taken for one in alone.strata if one.taken}
    assert topics == Counter(one.topic for one in chosen.questions)


def test_equal_shares_are_filled_up_and_the_shortfall_is_said() -> None:
    questions = [labelled(n, "rare" if n < 2 else "common" if n < 40 else "other") for n in range(70)]
    chosen = assemble(questions, 30, 0, equal=True)
    assert {one.name[0]: one.taken for one in chosen.strata} == {"rare": 2, "common": 14, "other": 14}
    assert [(one.name, one.wanted, one.taken) for one in chosen.strata if one.taken < one.wanted] == [
        (("rare",), 10, 2)
    ]
    assert all(one.taken == one.wanted for one in assemble(questions, 30, 0).strata)


def test_largest_remainders_get_the_questions_that_are_left() -> None:
    # Shares of 10: 4.7, 3.1, 2.2 of 47, 31 and 22 hundredths: Hamilton's method gives 5, 3, 2.
    questions = [labelled(n, "a" if n < 47 else "b" if n < 78 else "c") for n in range(100)]
    assert [one.taken for one in assemble(questions, 10, 0).strata] == [5, 3, 2]


def test_the_seed_decides_which_questions_are_chosen() -> None:
    questions = [labelled(n, "t") for n in range(40)]
    assert len({tuple(q.id for q in assemble(questions, 5, seed).questions) for seed in range(8)}) == 8


def test_of_several_labels_the_last_counts() -> None:
    one = labelled(1, "t", "remember", "apply")
    assert (attribute("bloom")(one), attribute("form")(one), attribute("document")(one)) == ("apply", "", "d1")
