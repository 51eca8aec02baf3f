"""S-X2: the score distribution by enumeration, nominal rejection, power, and mirt's published numbers."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irt
from irt.checks import s_x2
from irt.checks._inputs import population
from irt.checks._item_fit import added, expected_shares
from irt.kernels import ItemParameters


def test_score_distribution_and_expected_shares_equal_enumeration() -> None:
    rng = np.random.default_rng(0)
    items = ItemParameters(rng.lognormal(0, 0.3, 6), rng.standard_normal(6), rng.uniform(0, 0.3, 6), np.ones(6))
    where = population(items)
    patterns = np.array(list(itertools.product([0, 1], repeat=6)))
    chance = np.where(patterns[:, None], where.p, 1 - where.p).prod(axis=2)
    totals = patterns.sum(axis=1)
    by_score = np.array([chance[totals == score].sum(axis=0) for score in range(7)])
    np.testing.assert_allclose(added(np.ones((len(where.p), 1)), where.p).T, by_score, atol=1e-13)
    marginal = chance @ where.weights
    for item, found in enumerate(expected_shares(where)):
        wanted = [
            marginal[(totals == score) & (patterns[:, item] == 1)].sum() / marginal[totals == score].sum()
            for score in range(1, 6)
        ]
        np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_an_item_that_falls_with_ability_is_flagged_and_the_others_are_not(draw: Callable[..., Any]) -> None:
    drawn = draw(500, 15, seed=1)
    scores = drawn.data.scores.copy()
    scores[:, 4] = 1 - scores[:, 4]
    table = s_x2(irt.ResponseMatrix(scores, drawn.data.students, drawn.data.items), drawn.items)
    assert table.loc[4, "flag"]
    assert "Item 'q4' does not follow its curve" in table.loc[4, "sentence"]
    assert (table["p"] <= table["p_adjusted"] + 1e-12).all()


def test_long_exams_of_few_students_merge_scores_and_stay_defined(draw: Callable[..., Any]) -> None:
    drawn = draw(60, 300, seed=2)
    table = s_x2(drawn.data, drawn.items)
    assert len(table) == 300
    assert not table["s_x2"].isna().all()
    assert table["note"][table["s_x2"].isna()].str.match(r"too few groups of scores \([12]\) for 2 parameters").all()


def test_incomplete_rows_are_left_out_and_counted_and_unusable_tables_refused(draw: Callable[..., Any]) -> None:
    drawn = draw(100, 8, seed=3)
    scores = drawn.data.scores.copy()
    scores[:30, 0] = np.nan
    data = irt.ResponseMatrix(scores, drawn.data.students, drawn.data.items)
    assert s_x2(data, drawn.items)["note"].str.contains("70 complete rows used; 30 with items not asked").all()
    scores[:90, 1] = np.nan
    with pytest.raises(ValueError, match="S-X2 found 10 of 100 students who were asked every item; wanted at least 20"):
        s_x2(irt.ResponseMatrix(scores, drawn.data.students, drawn.data.items), drawn.items)
    counts = irt.simulate(30, 6, seed=0, trials=3).data
    with pytest.raises(ValueError, match="S-X2 wants one trial per answer; the table has answers of up to 3"):
        s_x2(counts, ItemParameters(*np.ones((4, 6))))
    long = draw(20, 2001, seed=0)
    with pytest.raises(ValueError, match="S-X2 of 2001 items takes too long; wanted at most 2000"):
        s_x2(long.data, long.items)
    with pytest.raises(ValueError, match="unknown model '5pl'; wanted 1pl, 2pl, 3pl, 3pl-shared, 4pl"):
        s_x2(drawn.data, drawn.items, "5pl")
    with pytest.raises(ValueError, match="wanted one of each for 8 items"):
        s_x2(drawn.data, ItemParameters(*np.ones((4, 7))))


def test_lsat7_equals_the_values_of_mirt(lsat7: Any) -> None:
    table = s_x2(lsat7.data, lsat7.items)
    np.testing.assert_allclose(table["s_x2"].to_numpy(float), [4.749, 14.451, 1.270, 5.238, 0.941], atol=0.005)
    np.testing.assert_allclose(table["p"].to_numpy(float), [0.093, 0.001, 0.530, 0.073, 0.625], atol=0.001)
    assert (table["df"] == 2).all()
    assert (s_x2(lsat7.data, lsat7.items, "1pl")["df"] == 3).all()


@pytest.mark.slow
def test_rejections_are_nominal_at_maximum_likelihood(draw: Callable[..., Any], two_parameter_em: Any) -> None:
    p = []
    for seed in range(40):
        drawn = draw(400, 15, seed=seed)
        p.append(s_x2(drawn.data, two_parameter_em(drawn.data.scores))["p"].dropna().to_numpy(float))
    assert np.mean(np.concatenate(p) < 0.05) == pytest.approx(0.05, abs=0.02)
