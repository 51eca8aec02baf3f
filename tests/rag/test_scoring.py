"""Normalisations are what their names say; ties and faults follow the stated rules."""

import math

import pytest

from rag import ChoiceEvidence, choose_answer, normalized_scores
from rag.answering._examinees import NORMALIZATIONS

EVIDENCE = ChoiceEvidence(("ab", "é", "abcd"), (-4.0, -3.0, -6.0), (2, 1, 4), (-1.0, -2.5, -5.5))


def test_each_normalization_divides_by_its_unit() -> None:
    assert normalized_scores(EVIDENCE, "sum") == [-4, -3, -6]
    assert normalized_scores(EVIDENCE, "token") == [-2, -3, -1.5]
    assert normalized_scores(EVIDENCE, "character") == [-2, -3, -1.5]
    assert normalized_scores(EVIDENCE, "byte") == [-2, -1.5, -1.5]
    assert normalized_scores(EVIDENCE, "pmi") == [-3, -0.5, -0.5]


def test_normalizations_choose_differently_from_one_pass() -> None:
    assert {name: choose_answer(EVIDENCE, name) for name in NORMALIZATIONS} == {
        "sum": 1,
        "token": 2,
        "character": 2,
        "byte": 1,
        "pmi": 1,
    }


def test_ties_go_to_the_higher_sum_and_then_to_the_first() -> None:
    assert choose_answer(ChoiceEvidence(("aa", "a"), (-4.0, -2.0), (2, 1)), "token") == 1
    assert choose_answer(ChoiceEvidence(("a", "b", "c"), (-2.0, -1.0, -1.0), (1, 1, 1)), "sum") == 1


def test_faults_are_named() -> None:
    with pytest.raises(ValueError, match="normalization 'length': unknown; wanted one of sum, token, character"):
        choose_answer(EVIDENCE, "length")
    with pytest.raises(ValueError, match="log-likelihood is NaN"):
        choose_answer(ChoiceEvidence(("a", "b"), (-1.0, math.nan), (1, 1)), "sum")
    with pytest.raises(ValueError, match="no unconditional log-likelihoods"):
        choose_answer(ChoiceEvidence(("a", "b"), (-1.0, -2.0), (1, 1)), "pmi")
    with pytest.raises(ValueError, match="no choices"):
        choose_answer(ChoiceEvidence((), (), ()), "sum")
