"""Two students or two levels compared: antisymmetry, the exact test, matched pairs, coverage."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import irt
from irt import kernels
from irt._comparison import compare, exchange_test, matched_pairs, paired_test, sign_test
from irt.kernels import ItemParameters
from tests.irt.calibrated_fit import calibrated


@pytest.fixture(scope="module")
def fit() -> irt.Fit:
    return irt.fit(irt.simulate(None, 40, facets={"retriever": 4, "icl": 3}, seed=1).data, method="map")


def test_students_compare_as_the_fit_says_and_the_other_way_round(fit: irt.Fit) -> None:
    a, b = fit.data.students[:2]
    there, back = compare(fit, a, b), compare(fit, b, a)
    assert there.ability == fit.compare_students(a, b)
    assert there.facet is None
    assert there.accuracy.estimate == pytest.approx(-back.accuracy.estimate)
    assert there.ability.probability == pytest.approx(1 - back.ability.probability)
    assert there.test.p_value == back.test.p_value
    assert (there.test.a_better, there.test.b_better) == (back.test.b_better, back.test.a_better)
    assert there.accuracy.estimate == pytest.approx(there.accuracy_a.estimate - there.accuracy_b.estimate)
    share = np.nanmean(fit.data.scores, axis=1)
    assert there.observed == pytest.approx(share[0] - share[1])


def test_levels_compare_as_their_contrast(fit: irt.Fit) -> None:
    result = compare(fit, "icl0", "icl2")
    assert result.facet == "icl"
    assert result.pairs == 4
    assert result.ability == fit.contrast("icl", "icl0", "icl2")
    by_level = fit.accuracy_by_level.set_index("level").loc["icl0"]
    assert result.accuracy_a.estimate == pytest.approx(by_level["accuracy"], abs=0.02)
    facets = fit.data.facets
    assert facets is not None
    for first, second in matched_pairs(fit.data, ["icl"], "icl0", "icl2"):
        assert facets["retriever"].iloc[first] == facets["retriever"].iloc[second]
    rows = {level: fit.data.scores[(facets["icl"] == level).to_numpy()] for level in ("icl0", "icl2")}
    assert result.observed == pytest.approx(rows["icl0"].mean() - rows["icl2"].mean())
    gaps = rows["icl0"].mean(axis=0) - rows["icl2"].mean(axis=0)
    assert result.over_questions == sign_test(gaps)
    assert result.test.unit == "pairs"


def test_logits_are_differences_on_an_item_of_typical_discrimination(fit: irt.Fit) -> None:
    typical = np.exp(np.log(fit.draws["a"]).mean(axis=1))
    drawn = (fit.draws["effect.icl"][:, 0] - fit.draws["effect.icl"][:, 2]) * typical
    result = compare(fit, "icl0", "icl2")
    assert result.logits.sd == pytest.approx(drawn.std(ddof=1))
    assert (result.logits.low, result.logits.high) == pytest.approx(tuple(np.quantile(drawn, [0.05, 0.95])))
    ratio = result.logits.estimate / result.ability.estimate
    assert ratio == pytest.approx(np.exp(np.log(fit.point["a"]).mean()))
    assert f"({result.logits.text()} in logits)" in result.lines()[0]


def test_two_students_are_no_scale_but_differ_in_logits() -> None:
    rng = np.random.default_rng(0)
    facets = pd.DataFrame({"llm": ["m", "n"]}, index=["x", "y"])
    gaps = []
    for share in (0.6, 0.9):
        scores = np.stack([rng.random(60) < share, rng.random(60) < 0.3]).astype(float)
        data = irt.ResponseMatrix(scores, ("x", "y"), tuple(f"q{i}" for i in range(60)), facets=facets)
        fit = irt.fit(data, "1pl", "map", seed=0)
        assert any("standard deviation of 2 students" in sentence for sentence in fit.warnings)
        forced = fit.contrast("llm", "m", "n")
        assert (forced.low, forced.high) == pytest.approx((2, 2))
        gaps.append(fit.contrast("llm", "m", "n", logits=True).estimate)
    assert gaps[1] > gaps[0] + 1


def test_the_paired_test_is_the_exact_one_of_mcnemar() -> None:
    result = sign_test(np.array([1.0] * 9 + [-1.0] * 2 + [0.0] * 30))
    assert (result.a_better, result.b_better, result.same) == (9, 2, 30)
    assert result.p_value == pytest.approx(2 * binom.cdf(2, 11, 0.5))
    assert sign_test(np.zeros(5)).p_value == 1


def test_under_no_difference_the_paired_test_keeps_its_level() -> None:
    rng = np.random.default_rng(1)
    p = rng.uniform(0.1, 0.9, 60)
    draws = rng.binomial(1, p, (2000, 2, 60))
    values = np.array([sign_test(one[0] - one[1]).p_value for one in draws.astype(float)])
    assert np.mean(values <= 0.05) <= 0.06
    assert np.mean(values <= 0.05) > 0.01


def test_levels_are_tested_over_the_pairs_that_differ_in_them_alone() -> None:
    exact = exchange_test(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0]))
    assert exact == ("pairs", 6, 0, 1, 2 / 2**6)
    assert exchange_test(np.array([3.0])).p_value == exchange_test(np.zeros(4)).p_value == 1
    assert exchange_test(np.random.default_rng(2).normal(1.0, 1.0, 40)).p_value < 0.01


def test_students_that_differ_by_themselves_are_no_evidence_for_a_level() -> None:
    rejected = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        b, theta = rng.normal(0, 1, 150), rng.normal(0, 1, 16)[:, None] + rng.normal(0, 0.5, (16, 2))
        scores = rng.binomial(1, kernels.sigmoid(theta.T.reshape(-1, 1) - b))  # two levels that are worth the same
        names = tuple(f"{level} {one}" for level in "ab" for one in range(16))
        data = irt.ResponseMatrix(scores.astype(float), names, tuple(f"q{one}" for one in range(150)))
        rows = [(one, 16 + one) for one in range(16)]
        of_levels, of_items = (paired_test(data, rows, "a", "b", of_levels=kind)[2].p_value for kind in (True, False))
        rejected.append((of_levels <= 0.05, of_items <= 0.05))
    share = np.mean(rejected, axis=0)
    assert share[0] <= 0.12
    assert share[1] > 0.2, "over questions, chance differences of students would pass for one of levels"


def test_intervals_of_the_difference_cover_the_truth() -> None:
    rng = np.random.default_rng(4)
    truth = ItemParameters(rng.lognormal(0, 0.3, 30), rng.normal(0, 1, 30), np.zeros(30), np.ones(30))
    inside = {"ability": [], "accuracy": []}
    for seed in range(250):
        made = calibrated(truth, error=0.05, seed=seed)
        theta = np.random.default_rng([seed, 77]).normal(0, 1, 20)  # the abilities behind that fit
        result = compare(made, "s0", "s1")
        gap = {"ability": theta[0] - theta[1]}
        shares = kernels.probability(theta[:2, None], *truth).mean(axis=1)
        gap["accuracy"] = shares[0] - shares[1]
        for name, value in gap.items():
            found = getattr(result, name)
            inside[name].append(found.low <= value <= found.high)
    for name, hits in inside.items():
        assert np.mean(hits) == pytest.approx(0.9, abs=0.06), name


def test_names_that_cannot_be_compared_are_refused(fit: irt.Fit) -> None:
    student = fit.data.students[0]
    with pytest.raises(ValueError, match="found 'icl0' twice; wanted two different names"):
        compare(fit, "icl0", "icl0")
    with pytest.raises(ValueError, match="unknown 'gpt'; wanted a student of the fit or a level"):
        compare(fit, "gpt", "icl0")
    with pytest.raises(ValueError, match="neither two students nor two levels of one facet"):
        compare(fit, student, "icl0")
    with pytest.raises(ValueError, match="unknown level 'icl0' of facet 'retriever'"):
        compare(fit, "icl0", "icl1", "retriever")
    apart = fit.data.scores.copy()
    apart[0, ::2], apart[1, 1::2] = np.nan, np.nan
    with pytest.raises(ValueError, match="no item was asked of both"):
        compare(replace(fit, data=replace(fit.data, scores=apart)), *fit.data.students[:2])


def test_levels_that_never_share_the_other_facets_cannot_be_paired() -> None:
    facets = pd.DataFrame({"llm": ["x", "y"], "icl": ["0", "1"]}, index=["s", "t"])
    data = irt.ResponseMatrix(np.ones((2, 3)), ("s", "t"), ("a", "b", "c"), facets=facets)
    with pytest.raises(ValueError, match="no students at 'x' and at 'y' share all other facets"):
        matched_pairs(data, ["llm"], "x", "y")


def test_counts_of_trials_are_compared_by_their_shares(fit: irt.Fit) -> None:
    data = replace(fit.data, scores=fit.data.scores * 2, trials=np.full(fit.data.scores.shape, 2.0))
    result = compare(replace(fit, data=data), *fit.data.students[:2])
    assert result.observed == pytest.approx(compare(fit, *fit.data.students[:2]).observed)
