import math

import numpy as np
import pytest

from examcore import cohen_kappa, krippendorff_alpha
from ragexam.classify import compare_labels

LEVELS = ("a", "b", "c")


def test_a_labeller_who_errs_in_one_of_five_has_the_kappa_of_it() -> None:
    # Two levels, equally frequent, each taken for the other with probability 0.2: p_o = 0.8, p_e = 0.5, kappa 0.6.
    rng = np.random.default_rng(1)
    truth = rng.random(4000) < 0.5
    told = truth ^ (rng.random(4000) < 0.2)
    first, second = ({str(n): ("a",) if one else ("b",) for n, one in enumerate(row)} for row in (truth, told))
    found = compare_labels(first, second, LEVELS)
    assert found.kappa.estimate == pytest.approx(0.6, abs=0.03)
    assert found.kappa.low < 0.6 < found.kappa.high
    assert found.alpha.estimate == pytest.approx(found.kappa.estimate, abs=0.001)
    assert found.levels["a"].kappa.estimate == pytest.approx(found.kappa.estimate)
    assert found.equal == int((truth == told).sum())


def test_counts_are_those_of_the_questions_in_common() -> None:
    first = {"1": ("a",), "2": ("a", "b"), "3": (), "4": ("c",)}
    second = {"1": ("a",), "2": ("b", "a"), "3": ("b",), "5": ("a",)}
    found = compare_labels(first, second, LEVELS)
    assert (found.n, found.equal, found.only_first, found.only_second) == (3, 2, ("4",), ("5",))
    assert found.levels["a"][:3] == (2, 2, 2)
    assert found.levels["b"][:3] == (1, 2, 1)
    sets = [[frozenset(row[name]) for name in "123"] for row in (first, second)]
    assert found.kappa == cohen_kappa(*sets)
    assert found.alpha == krippendorff_alpha(sets, metric="masi")


def test_a_level_given_always_or_never_has_no_interval() -> None:
    first = {str(n): ("a",) for n in range(20)}
    second = {str(n): ("a",) if n % 2 else ("b",) for n in range(20)}
    kappa = compare_labels(first, second, LEVELS).levels["a"].kappa
    assert kappa.estimate == 0
    assert math.isnan(kappa.low)
    assert math.isnan(compare_labels(first, second, LEVELS).levels["c"].kappa.estimate)


def test_labellers_without_a_common_question_are_refused() -> None:
    with pytest.raises(ValueError, match="labels: found 1 and 1 questions; wanted some in common"):
        compare_labels({"1": ("a",)}, {"2": ("a",)}, LEVELS)
