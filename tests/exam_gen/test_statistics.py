import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exam_gen import exam_statistics
from exam_gen._assembly import shuffle_exam
from exam_gen._baselines import fixed_answer_baseline, length_baseline
from exam_gen._paper_writing import question_about
from exam_gen._statistics import overlaps
from exam_gen.rules._rule import BEYOND
from examcore import Chunk, Dropped, Question, wilson


def question(number: int, key: int, *choices: str, stem: str = "Which is it?") -> Question:
    return Question(f"q{number}", stem, choices, key, document_id=f"d{number % 2}", topic="t", context="c" * 10)


def exam(keys: list[int]) -> list[Question]:
    return [question(number, key, "aa", "bb", "cc", "dd") for number, key in enumerate(keys)]


def test_the_expected_best_position_is_the_multinomial_maximum() -> None:
    # Three questions, two positions: maxima 3, 2, 2, 2, 2, 2, 2, 3 out of 3.
    pairs = [question(number, 0, "a", "b") for number in range(3)]
    exact = np.mean([max(keys.count(0), keys.count(1)) for keys in product(range(2), repeat=3)]) / 3
    found = fixed_answer_baseline(pairs, draws=200_000)
    assert found.accuracy == 1
    assert found.chance == pytest.approx(exact, abs=0.003)
    assert found.p_value == pytest.approx(0.25, abs=0.005)
    assert found.within_chance


def test_a_biased_position_is_noticed_and_a_balanced_exam_is_not() -> None:
    biased = fixed_answer_baseline(exam([0] * 60 + [1, 2, 3] * 13))
    assert biased.accuracy == pytest.approx(60 / 99)
    assert biased.p_value < 0.001
    assert not biased.within_chance
    balanced = fixed_answer_baseline(list(shuffle_exam(exam([0] * 99), seed=1)))
    assert balanced.accuracy == pytest.approx(25 / 99)
    assert balanced.within_chance
    # The best of four positions is expected above a quarter.
    assert 0.27 < balanced.chance < 0.33


def test_random_keys_are_found_biased_in_about_one_exam_of_twenty() -> None:
    rng = np.random.default_rng(0)
    flagged = [
        not fixed_answer_baseline(exam(list(rng.integers(4, size=60))), draws=2000).within_chance for _ in range(300)
    ]
    assert 0.01 < np.mean(flagged) < 0.09


def test_exams_of_mixed_numbers_of_choices_have_mixed_chance() -> None:
    mixed = [question(n, 0, "a", "b") for n in range(50)] + [question(50 + n, 0, "a", "b", "c", "d") for n in range(50)]
    assert length_baseline(mixed).chance == pytest.approx(0.375)
    assert 0.375 < fixed_answer_baseline(mixed).chance < 0.47


def test_ties_for_the_longest_choice_share_the_point() -> None:
    questions = [
        question(0, 0, "longest", "short", "s", "s"),
        question(1, 1, "longest", "short", "s", "s"),
        question(2, 0, "equal", "equal", "s", "s"),
        question(3, 3, "same", "same", "same", "same"),
    ]
    longest = length_baseline(questions)
    assert longest.accuracy == pytest.approx((1 + 0 + 0.5 + 0.25) / 4)
    assert longest.chance == 0.25
    assert length_baseline(questions, min).accuracy == pytest.approx((0 + 0 + 0 + 0.25) / 4)


def test_long_keys_are_noticed_and_equal_lengths_never_are() -> None:
    telling = [question(n, n % 4, *("a" * (9 if m == n % 4 else 3) for m in range(4))) for n in range(30)]
    found = length_baseline(telling)
    assert (found.accuracy, found.within_chance) == (1.0, False)
    assert found.p_value < 1e-6
    level = length_baseline(exam([n % 4 for n in range(30)]))
    assert (level.accuracy, level.p_value, level.within_chance) == (0.25, 1.0, True)


def test_random_lengths_are_found_telling_in_about_one_exam_of_twenty() -> None:
    rng = np.random.default_rng(1)

    def one() -> list[Question]:
        return [
            question(n, int(rng.integers(4)), *("x" * int(size) for size in rng.integers(1, 9, 4))) for n in range(80)
        ]

    flagged = [not length_baseline(one()).within_chance for _ in range(400)]
    assert 0.01 < np.mean(flagged) < 0.09


def test_wilson_interval_by_its_defining_equation() -> None:
    for share, total in ((0.0, 10), (0.3, 40), (1.0, 7)):
        for bound in wilson(share, total):
            if 1e-9 < bound < 1 - 1e-9:
                assert abs(share - bound) == pytest.approx(1.959964 * math.sqrt(bound * (1 - bound) / total), rel=1e-5)
    assert wilson(0.0, 10)[0] == pytest.approx(0, abs=1e-12)
    assert wilson(1.0, 10)[1] == pytest.approx(1, abs=1e-12)


def test_losses_are_counted_by_kind_and_rule_and_nothing_is_lost() -> None:
    kept = exam([0, 1])
    dropped = [
        Dropped("no answer", "raw"),
        Dropped("no answer", "raw"),
        Dropped("too few choices", "raw"),
        Dropped("near-duplicate stem: 0.93 with q1", "raw", question=kept[0]),
        Dropped("near-duplicate stem: 0.81 with q0", "raw", question=kept[1]),
    ]
    found = exam_statistics(kept, dropped)
    assert found.unparsable == {"no answer": 2, "too few choices": 1}
    assert found.dropped == {"near-duplicate stem": 2}
    assert found.generated == found.surviving + sum(found.unparsable.values()) + sum(found.dropped.values()) == 7


reasons = st.sampled_from([BEYOND, "unparsable: no answer", "no stem", "answer leak: all 2 words", "length cue"])


@given(st.lists(st.tuples(reasons, st.booleans()), max_size=30), st.integers(0, 9), st.integers(0, 4))
def test_whatever_was_generated_is_accounted_for(losses: list[tuple[str, bool]], kept: int, pooled: int) -> None:
    asked = exam([0] * (kept + pooled))
    dropped = [
        Dropped(reason, "raw", question=question(100 + n, 0, "a", "b") if whole or reason == BEYOND else None)
        for n, (reason, whole) in enumerate(losses)
    ]
    total = len(dropped) + kept + pooled
    found = exam_statistics(asked[:kept], dropped, pool=asked[kept:])
    parts = sum(found.unparsable.values()) + sum(found.dropped.values()) + found.beyond
    assert found.generated == parts + found.set_aside + found.surviving == total
    assert found.beyond == sum(reason == BEYOND for reason, _ in losses)


def test_unparsable_replies_are_told_apart_by_kind() -> None:
    dropped = [Dropped("unparsable: no answer", "raw"), Dropped("unparsable: too few choices", "raw")]
    assert exam_statistics(exam([0]), dropped).unparsable == {"no answer": 1, "too few choices": 1}


def test_topics_and_labels_are_covered_or_said_to_be_missing() -> None:
    asked = [
        Question("q0", "?", ("a", "b"), 0, "d", "c0", "s3", labels={"bloom": ("apply",), "form": ("how",)}),
        Question("q1", "?", ("a", "b"), 1, "d", "c1", "ecs", labels={"bloom": ("apply", "create"), "form": ("what",)}),
    ]
    found = exam_statistics(asked, topics={"s3", "ecs", "vpc"})
    assert found.uncovered_topics == ("vpc",)
    assert found.labels == {"bloom": {"apply": 2, "create": 1}, "form": {"how": 1, "what": 1}}
    assert (found.documents, found.chunks) == (1, 2)


def test_lengths_words_and_topics_are_described() -> None:
    questions = [
        question(0, 0, "aa", "bbbb", stem="Show me: which how?"),
        question(1, 1, "aa", "bbbb", stem="What is showhow?"),
        question(2, 1, "aa", "bbbb", stem="Name it!"),
    ]
    found = exam_statistics(questions)
    assert found.question_words == pytest.approx({"what": 1 / 3, "which": 1 / 3, "how": 1 / 3, "other": 1 / 3})
    assert found.first_words == {"show": 1, "what": 1, "name": 1}
    assert found.positions == (1, 2)
    assert found.topics == {"t": 3}
    assert found.documents == 2
    assert found.choice_length == (3, 1, 2, 4)
    assert found.key_length.mean == pytest.approx(10 / 3)
    assert found.context_length.least == 10
    plain = found.as_dict()
    assert json.loads(json.dumps(plain)) == {**plain, "positions": [1, 2], "uncovered_topics": []}


def test_an_empty_exam_has_undefined_baselines() -> None:
    found = exam_statistics([])
    assert found.surviving == 0
    assert math.isnan(found.fixed_answer.accuracy)
    assert math.isnan(found.longest_answer.chance)
    assert math.isnan(found.stem_length.mean)
    assert found.question_words == {}


def test_overlap_is_counted_in_the_language_of_the_question() -> None:
    passage = "Der Hafen nimmt die Schiffe auf."
    german = Question("q", "Welches Schiff?", ("a", "b"), 0, context=passage, metadata={"language": "de"})
    assert overlaps([german], "stem") == [1.0]
    assert overlaps([replace(german, metadata={})], "stem") == [0.5]


def test_a_question_written_from_a_passage_names_its_language_unless_that_is_english() -> None:
    german = Chunk("a#0", "a", "Der Hafen.", 0, 10, language="de")
    assert question_about(german, "Was?", ("a", "b"), 0, {}).language == "de"
    assert "language" not in question_about(replace(german, language="en"), "What?", ("a", "b"), 0, {}).metadata
