import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen.language import distractors, embedding_similarities, word_similarities
from exam_gen.language._similarity import best_windows, mean_words, threshold_for
from examcore import Question, jaccard


def reference_window(choice: str, document: str, n: int) -> float:
    """The definition, word by word: the best bag Jaccard of any n neighbouring words, 0 without any."""
    words = document.split()
    best = 0.0
    for start in range(len(words) - n + 1):
        window = Counter(" ".join(words[start : start + n]).lower().split())
        bag = Counter(choice.lower().split())
        best = max(best, (window & bag).total() / (window | bag).total())
    return best


def question(context: str, *choices: str, key: int = 0, name: str = "q") -> Question:
    return Question(name, "Which?", choices, key, context=context)


texts = st.lists(st.sampled_from("a b c d A The the, x.y é".split()), min_size=1, max_size=40).map(" ".join)  # noqa: SIM905


@settings(max_examples=300, deadline=None)
@given(texts, st.lists(texts, min_size=2, max_size=5), st.integers(1, 12))
def test_windows_equal_the_definition(document: str, choices: list[str], n: int) -> None:
    expected = [reference_window(choice, document, n) for choice in choices]
    assert best_windows(choices, document, n) == pytest.approx(expected, abs=1e-12)


def test_jaccard_counts_words_as_often_as_they_stand() -> None:
    assert jaccard("a a b", "A b b") == 2 / 4
    assert jaccard("a b", "b a") == 1
    assert jaccard("", "a") == 0
    assert jaccard("", "") == 0


def test_the_window_is_the_mean_choice_length_rounded_down() -> None:
    assert mean_words(["a", "a b", "a b", "a b"]) == 1
    assert mean_words(["a b c", "a", "a b", "a b"]) == 2
    assert mean_words(["", ""]) == 1


def test_extra_and_intra_similarity_by_hand() -> None:
    # n = 2; key "red fox": best window {the red} 1/3; "red dog" 1/1; distractor "the sun" 1/3.
    one = question("the red dog sleeps", "red fox", "red dog", "the sun", key=0)
    found = word_similarities([one])
    assert found.extra == pytest.approx([1 - 1 / 3])
    assert found.intra == pytest.approx([1 / 3])
    good = question("the red dog sleeps", "red fox", "red dog", "the sun", key=1)
    assert word_similarities([good]).extra == pytest.approx([-2 / 3])


def test_embedding_similarities_are_cosines_and_embed_each_text_once() -> None:
    vectors = {"passage": [1.0, 0.0], "k": [2.0, 2.0], "x": [3.0, 0.0], "y": [0.0, -1.0]}
    seen: list[list[str]] = []

    def embed(texts: "list[str]") -> np.ndarray:
        seen.append(list(texts))
        return np.array([vectors[text] for text in texts])

    questions = [question("passage", "k", "x", "y"), question("passage", "y", "x", "k", key=2)]
    found = embedding_similarities(questions, embed)  # type: ignore[arg-type]
    assert found.extra == pytest.approx([1 - np.sqrt(0.5)] * 2)
    assert found.intra == pytest.approx([np.sqrt(0.5)] * 2)
    assert seen == [["passage", "k", "x", "y"]]
    with pytest.raises(ValueError, match=r"embed: found an array of shape \(1, 2\); wanted \(4, dimensions\)"):
        embedding_similarities(questions, lambda texts: np.zeros((1, 2)))
    assert embedding_similarities([], embed).extra.shape == (0,)  # type: ignore[arg-type]


@given(st.lists(st.floats(-1, 1), max_size=40), st.floats(0, 1))
def test_a_share_removes_no_more_than_wanted_and_ties_stay_together(values: list[float], share: float) -> None:
    removed = np.sum(np.array(values) > threshold_for(values, share))
    assert removed <= share * len(values) + 1e-9
    if len(set(values)) == len(values):
        assert removed == int(round(share * len(values), 9))


def test_shares_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"share: found 1\.5; wanted a number from 0 to 1"):
        threshold_for([1.0], 1.5)


def test_small_helpers() -> None:
    one = question("", "a", "b", "c", key=1, name="n")
    assert distractors(one) == ("a", "c")


def test_windows_are_much_faster_than_the_word_by_word_loop() -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"w{n}" for n in range(400)])
    questions = [
        question(" ".join(rng.choice(words, 400)), *(" ".join(rng.choice(words, 12)) for _ in range(4)))
        for _ in range(40)
    ]
    start = time.process_time()
    slow = [
        [reference_window(choice, one.context, mean_words(one.choices)) for choice in one.choices]
        for one in questions[:10]
    ]
    slow_time = 4 * (time.process_time() - start)
    start = time.process_time()
    fast = [best_windows(one.choices, one.context, mean_words(one.choices)) for one in questions]
    fast_time = time.process_time() - start
    assert np.allclose(slow, fast[:10], atol=1e-12)
    # The measured factor is several times higher; a busy machine must not fail this.
    assert slow_time > 8 * fast_time
