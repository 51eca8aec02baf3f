import math

import numpy as np
import pytest

from taxonomy import cohen_kappa, krippendorff_alpha


def test_kappa_in_closed_form() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: p_o = .7, p_e = .5 * .6 + .5 * .4 = .5.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = cohen_kappa(first, second)
    assert found.estimate == pytest.approx(0.4)
    # Standard error by Fleiss, Cohen and Everitt's simple form: sqrt(p_o (1 - p_o) / n) / (1 - p_e).
    half = 1.645 * math.sqrt(0.7 * 0.3 / 50) / 0.5
    assert found.low == pytest.approx(0.4 - half, abs=0.05)
    assert found.high == pytest.approx(0.4 + half, abs=0.05)


def test_full_agreement_is_one_and_independence_about_zero() -> None:
    assert cohen_kappa(list("abcab"), list("abcab")).estimate == 1
    rng = np.random.default_rng(0)
    left, right = rng.integers(3, size=(2, 5000)).tolist()
    found = cohen_kappa(left, right, draws=200)
    assert abs(found.estimate) < 0.03
    assert found.low < 0 < found.high
    assert abs(krippendorff_alpha([left, right], draws=50).estimate) < 0.03


def test_alpha_of_krippendorffs_worked_example() -> None:
    # Four observers, twelve units with gaps; nominal alpha is .743 (Krippendorff 2011, example C).
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    found = krippendorff_alpha(rows)
    assert found.estimate == pytest.approx(0.743, abs=0.0005)
    assert found.low < 0.743 < found.high


def test_alpha_in_closed_form_for_two_observers() -> None:
    # 10 units, one disagreement; coincidences: 8 x 2 'a'... o_ab = 1 each way, n_a = 13, n_b = 7, n = 20.
    first = ["a"] * 7 + ["b"] * 3
    second = ["a"] * 6 + ["b"] * 4
    assert krippendorff_alpha([first, second]).estimate == pytest.approx(1 - 19 * 2 / (2 * 13 * 7))


def test_intervals_are_fixed_by_the_seed_and_widen_with_the_level() -> None:
    first, second = list("aabbccab"), list("aabbcacb")
    assert cohen_kappa(first, second, seed=1) == cohen_kappa(first, second, seed=1)
    narrow, wide = (cohen_kappa(first, second, interval=level) for level in (0.5, 0.95))
    assert wide.low <= narrow.low <= narrow.high <= wide.high


def test_one_label_throughout_leaves_agreement_undefined() -> None:
    assert all(math.isnan(value) for value in cohen_kappa(["a"] * 4, ["a"] * 4))
    assert all(math.isnan(value) for value in krippendorff_alpha([["a"] * 4, ["a"] * 4]))
    assert math.isnan(krippendorff_alpha([["a", None], [None, "b"]]).estimate)
    assert math.isnan(krippendorff_alpha([[None], [None]]).estimate)


def test_bad_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="labels: found 1 and 2; wanted two equally long"):
        cohen_kappa(["a"], ["a", "b"])
    with pytest.raises(ValueError, match=r"labels: found 2 rows of lengths \[1, 2\]; wanted 2 or more"):
        krippendorff_alpha([["a"], ["a", "b"]])
    with pytest.raises(ValueError, match="interval: found 90; wanted a share between 0 and 1"):
        cohen_kappa(["a"], ["a"], interval=90)
