import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from examcore import cohen_kappa, krippendorff_alpha
from examcore._agreement import AlphaMetric, KappaWeights, _masi


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


EXAMPLE = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@pytest.mark.parametrize(("metric", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_by_every_difference_of_krippendorffs_worked_example(metric: AlphaMetric, published: float) -> None:
    # Krippendorff 2011, example D.
    found = krippendorff_alpha(EXAMPLE, metric=metric, draws=200)
    assert found.estimate == pytest.approx(published, abs=0.0005)
    assert found.low < published < found.high


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_weighted_kappa_is_that_of_scikit_learn(weights: KappaWeights) -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(4, size=300)
    second = np.clip(first + rng.integers(-1, 2, size=300), 0, 3)
    wanted = cohen_kappa_score(first, second, weights=None if weights == "none" else weights)
    assert cohen_kappa(first.tolist(), second.tolist(), weights=weights, draws=10).estimate == pytest.approx(wanted)


def test_quadratic_kappa_counts_the_distance_of_the_grades_not_of_their_places() -> None:
    first, second = [0, 0, 1, 1, 3, 3, 3, 0], [0, 1, 1, 3, 3, 3, 0, 0]
    wanted = cohen_kappa_score(first, second, weights="quadratic", labels=[0, 1, 2, 3])
    assert cohen_kappa(first, second, weights="quadratic").estimate == pytest.approx(wanted)


def test_alpha_of_two_complete_labellers_on_an_interval_scale_is_nearly_quadratic_kappa() -> None:
    # Both are 1 - mean squared difference / expected; alpha pools the two distributions and corrects for n.
    rng = np.random.default_rng(4)
    first = rng.integers(4, size=4000)
    second = np.where(rng.random(4000) < 0.7, first, rng.integers(4, size=4000))
    pair = (first.tolist(), second.tolist())
    kappa = cohen_kappa(*pair, weights="quadratic", draws=2).estimate
    assert krippendorff_alpha(pair, metric="interval", draws=2).estimate == pytest.approx(kappa, abs=0.002)


def test_groups_that_agree_within_themselves_widen_the_interval() -> None:
    # Ten topics of 30 items each, either wholly agreed or wholly reversed.
    rng = np.random.default_rng(5)
    first = rng.integers(2, size=300)
    topics = np.repeat(np.arange(10), 30)
    second = np.where(topics < 7, first, 1 - first)
    labels = (first.tolist(), second.tolist())
    alone, grouped = (cohen_kappa(*labels, groups=groups, draws=300) for groups in (None, topics.tolist()))
    assert alone.estimate == grouped.estimate
    # The standard errors are those of a share of 300 and of 10, so the ratio is sqrt(30).
    assert (grouped.high - grouped.low) / (alone.high - alone.low) == pytest.approx(30**0.5, rel=0.3)
    assert math.isnan(cohen_kappa(*labels, groups=["one"] * 300, draws=5).low)
    with pytest.raises(ValueError, match="groups: found 2; wanted one for each of 300 items"):
        cohen_kappa(*labels, groups=["a", "b"])


def test_distances_of_labels_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="labels: found 'a'; wanted numbers, whose distances count"):
        cohen_kappa(["a", "b"], ["a", "b"], weights="linear")
    with pytest.raises(ValueError, match="labels: found 'a'; wanted numbers"):
        krippendorff_alpha([["a"], ["a"]], metric="ordinal")


def test_masi_distances_of_sets() -> None:
    # Passonneau 2006: 1 - Jaccard x (1 equal, 2/3 one holds the other, 1/3 they meet, 0 they do not).
    sets = [frozenset(text) for text in ("a", "ab", "bc", "d", "")]
    wanted = [
        [0, 1 - 1 / 2 * 2 / 3, 1, 1, 1],
        [1 - 1 / 2 * 2 / 3, 0, 1 - 1 / 3 * 1 / 3, 1, 1],
        [1, 1 - 1 / 3 * 1 / 3, 0, 1, 1],
        [1, 1, 1, 0, 1],
        [1, 1, 1, 1, 0],
    ]
    assert _masi(sets) == pytest.approx(np.array(wanted))


def test_alpha_of_sets_is_that_of_all_pairs_written_out() -> None:
    rng = np.random.default_rng(6)
    rows = [[frozenset(np.array(list("abc"))[rng.random(3) < 0.5].tolist()) for _ in range(30)] for _ in range(2)]
    pooled = [*rows[0], *rows[1]]
    distances = _masi(pooled)
    observed = np.mean([distances[n, 30 + n] for n in range(30)])
    expected = distances.sum() / (60 * 59)
    assert krippendorff_alpha(rows, metric="masi", draws=10).estimate == pytest.approx(1 - observed / expected)


def test_sets_of_one_label_have_nominal_alpha() -> None:
    first, second = list("aabbccab"), list("aabbcacb")
    alone = [[frozenset(one) for one in row] for row in (first, second)]
    assert krippendorff_alpha(alone, metric="masi") == pytest.approx(krippendorff_alpha([first, second]))
    with pytest.raises(ValueError, match="labels: found 'a'; wanted frozen sets of labels"):
        krippendorff_alpha([first, second], metric="masi")
