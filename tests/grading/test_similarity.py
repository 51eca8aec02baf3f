"""Similarity of reformulations: identities, closed forms, other implementations, the paper's figures."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cityblock
from scipy.spatial.distance import dice as scipy_dice
from scipy.spatial.distance import jaccard as scipy_jaccard
from sklearn.metrics.pairwise import cosine_similarity

from grading._similarity import MEASURES, Measure, NgramSettings, ngrams, require_weights, similarity, steps, words
from tests.shared_data import SHARED

SHAW = SHARED / "data" / "shaw2008"
TEXTS = st.lists(st.sampled_from("ab cd ef gh ij".split()), min_size=1, max_size=9).map(" ".join)  # noqa: SIM905
WEIGHTS = st.tuples(*[st.sampled_from([0.0, 0.5, 1.0, 2.0])] * 3).filter(any)


@pytest.mark.parametrize("measure", MEASURES)
@given(text=TEXTS, other=TEXTS, weights=WEIGHTS)
def test_it_is_symmetric_between_0_and_1_and_1_for_the_same_text(
    measure: Measure, text: str, other: str, weights: tuple[float, float, float]
) -> None:
    score = similarity(text, [other], NgramSettings(weights=weights, measure=measure)).score
    assert math.isnan(score) or 0 <= score <= 1 + 1e-12
    back = similarity(other, [text], NgramSettings(weights=weights, measure=measure)).score
    assert back == pytest.approx(score, nan_ok=True)
    same = similarity(text, [text], NgramSettings(weights=weights, measure=measure)).score
    assert math.isnan(same) or same == pytest.approx(1)
    doubled = similarity(text, [other], NgramSettings(weights=[2 * one for one in weights], measure=measure)).score
    assert doubled == pytest.approx(score, nan_ok=True)


@given(text=TEXTS, other=TEXTS, length=st.sampled_from([1, 2, 3]))
def test_the_measures_agree_with_scipy_and_scikit_learn(text: str, other: str, length: int) -> None:
    first, second = (ngrams(words(one), length) for one in (text, other))
    if not first or not second:
        return
    grams = sorted(first.keys() | second.keys())
    counts = np.array([[one.get(gram, 0) for gram in grams] for one in (first, second)])
    sets = counts > 0
    weights = [float(length == one) for one in (1, 2, 3)]
    found = {name: similarity(text, [other], NgramSettings(weights=weights, measure=name)).score for name in MEASURES}
    assert found["jaccard"] == pytest.approx(1 - scipy_jaccard(*sets))
    assert found["dice"] == pytest.approx(1 - scipy_dice(*sets))
    assert found["cosine"] == pytest.approx(cosine_similarity(sets)[0, 1])
    assert found["block"] == pytest.approx(1 - cityblock(*counts) / counts.sum())


@pytest.mark.parametrize(
    ("measure", "one", "two"),
    [
        ("jaccard", 3 / 5, 1 / 4),
        ("dice", 6 / 8, 2 / 5),
        ("cosine", 3 / math.sqrt(15), 1 / math.sqrt(6)),
        ("block", 6 / 9, 2 / 7),
    ],
)
def test_closed_forms_with_the_papers_weights(measure: Measure, one: float, two: float) -> None:
    # a b a c d against a b e: sets of 4 and 3, multisets of 5 and 3; bigrams ab ba ac cd against ab be.
    found = similarity("a b a c", ["a b c d e"], NgramSettings(measure=measure, weights=[1]))
    assert found.score == pytest.approx(
        {"jaccard": 3 / 5, "dice": 6 / 8, "cosine": 3 / math.sqrt(15), "block": 6 / 9}[measure]
    )
    both = similarity("a b a c", ["a b c d e"], NgramSettings(measure=measure))
    bigrams = {"jaccard": 1 / 6, "dice": 2 / 7, "cosine": 1 / math.sqrt(12), "block": 2 / 7}[measure]
    assert both.by_length == {1: pytest.approx(one), 2: pytest.approx(bigrams)}
    assert both.score == pytest.approx((2 * one + bigrams) / 3)


def test_words_lose_case_and_marks_but_not_their_insides() -> None:
    assert words('Who was Jay-Z’s "first" U.S. manager, (1996)?') == [
        "who",
        "was",
        "jay-z's",
        "first",
        "u.s",
        "manager",
        "1996",
    ]
    assert similarity("What is it?", ["what IS it"]).score == 1.0


def test_the_closest_of_several_gold_forms_counts() -> None:
    gold = ["Who founded the Church (Mormons)?", "Who founded the Mormons?"]
    assert similarity("Who founded the Mormons?", gold).score == 1.0
    assert similarity("who founded", ["", "who founded"]).score == 1.0


def test_a_length_that_neither_text_reaches_is_left_out_and_no_words_are_undefined() -> None:
    short = similarity("Paris", ["paris"])
    assert short.score == 1.0
    assert math.isnan(short.by_length[2])
    assert similarity("Paris", ["in Paris"]).by_length[2] == 0.0
    assert math.isnan(similarity("Paris", ["Paris"], NgramSettings(weights=[0, 1])).score)
    assert math.isnan(similarity("?", ["Paris"]).score)
    assert math.isnan(similarity("Paris", [""]).score)


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([2, -1], r"weights: 2,-1; wanted numbers of 0 or more"),
        ([float("nan")], "weights: nan; wanted numbers of 0 or more"),
        ([0, 0, 0], "weights: 0,0,0; wanted at least one above 0"),
        ([], "weights: 0 of them; wanted one to three"),
        ([1, 1, 1, 1], "weights: 4 of them; wanted one to three"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights: list[float], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        require_weights(weights)
    with pytest.raises(ValueError, match="gold: no text; wanted at least one"):
        similarity("a", [])


@pytest.mark.skipif(not SHAW.is_dir(), reason="the examples of Shaw et al. 2008 are not here")
def test_without_overlap_the_measures_give_the_papers_table_9() -> None:
    example = json.loads((SHAW / "examples.json").read_text())["scored_examples"][0]
    for name in MEASURES:
        found = similarity(example["system"], example["gold"], NgramSettings(measure=name, stepping=True)).score
        assert math.floor(found * 1000) / 1000 == example["published"][name]


def test_steps_cut_a_text_and_keep_what_is_left() -> None:
    assert steps("a b a b c".split(), 2) == {("a", "b"): 2, ("c",): 1}  # noqa: SIM905
    assert similarity("how many fell", ["how many"], NgramSettings(weights=[0, 1], stepping=True)).score == 1 / 2


@pytest.mark.skipif(not SHAW.is_dir(), reason="the examples of Shaw et al. 2008 are not here")
def test_the_papers_gold_forms_score_1_and_worse_forms_less() -> None:
    for example in json.loads((SHAW / "examples.json").read_text())["reformulations"]:
        assert similarity(example["gold"][0], example["gold"]).score == 1.0
        for name in ("worse", "wrong"):
            if name in example:
                assert similarity(example[name], example["gold"]).score < 1.0
