"""Simulated tables hold what they were told to hold, and their truth says so."""

import numpy as np
import pytest

import irt
from irt import kernels

GRID = {"llm": 3, "retriever": 4}


def test_the_same_seed_gives_the_same_table_and_an_older_seed_keeps_its_own() -> None:
    one, two = (irt.simulate(6, 5, "3pl", seed=11).data for _ in range(2))
    assert np.array_equal(one.scores, two.scores)
    rng = np.random.default_rng(11)
    theta = rng.standard_normal(6)
    steep = rng.standard_normal(5)
    assert irt.simulate(6, 5, "3pl", seed=11).truth.theta == pytest.approx(theta - theta.mean())
    assert irt.simulate(6, 5, "3pl", seed=11).truth.a == pytest.approx(np.exp(0.3 * steep))


def test_recorded_probability_is_the_models_own() -> None:
    truth = irt.simulate(20, 8, "4pl", seed=1).truth
    p = kernels.probability(truth.theta[:, None], truth.a, truth.b, truth.c, truth.d)
    assert truth.probability == pytest.approx(p)


def test_scores_follow_the_recorded_probability_whatever_is_planted() -> None:
    settings = {"trials": 5, "documents": 4, "miskeyed": 3, "dif_items": 2, "facets": GRID, "residual_sd": 0.5}
    sim = irt.simulate(600, 20, "3pl", seed=2, **settings)  # type: ignore[arg-type]
    gap = sim.data.proportions.mean(axis=0) - sim.truth.probability.mean(axis=0)
    assert np.abs(gap).max() < 0.03


def test_guessing_may_be_shared_and_options_differ_by_item() -> None:
    assert np.all(irt.simulate(5, 6, "3pl", seed=0, guessing=0.2).truth.c == 0.2)
    c = irt.simulate(5, 400, "3pl", seed=0, options=[2] * 200 + [10] * 200).truth.c
    assert c[:200].mean() == pytest.approx(0.5, abs=0.03)
    assert c[200:].mean() == pytest.approx(0.1, abs=0.03)


def test_discrimination_and_difficulty_correlate_as_asked() -> None:
    truth = irt.simulate(5, 4000, seed=0, a_b_correlation=0.6).truth
    assert np.corrcoef(np.log(truth.a), truth.b)[0, 1] == pytest.approx(0.6, abs=0.04)
    assert truth.b.std() == pytest.approx(1.0, abs=0.05)


def test_every_form_asks_two_chained_blocks() -> None:
    sim = irt.simulate(40, 30, seed=3, forms=5)
    assert np.all(sim.data.asked.sum(axis=1) == 12)
    assert set(sim.truth.form) == set(range(5))
    shared = [np.all(sim.data.asked[np.isin(sim.truth.form, (f, (f + 1) % 5))], axis=0).sum() for f in range(5)]
    assert shared == [6] * 5


def test_an_interaction_sums_to_zero_along_both_facets_and_has_a_fits_levels() -> None:
    sim = irt.simulate(None, 10, facets=GRID, seed=4, interactions=[("llm", "retriever")])
    cells = sim.truth.effects["llm:retriever"].reshape(3, 4)
    assert cells.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    assert cells.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-12)
    fit = irt.fit(sim.data, method="map", interactions=[("llm", "retriever")])
    assert len(fit.design.term("llm:retriever").levels) == 12


def test_effects_and_residual_add_up_to_ability() -> None:
    truth = irt.simulate(None, 5, facets=GRID, seed=5, residual_sd=0.0, interactions=[("llm", "retriever")]).truth
    main = truth.effects["llm"][:, None] + truth.effects["retriever"]
    assert truth.theta == pytest.approx((main + truth.effects["llm:retriever"].reshape(3, 4)).ravel())
    assert truth.theta.std() == pytest.approx(1.0)


def test_levels_may_differ_in_spread() -> None:
    sim = irt.simulate(2000, 2, facets={"group": ["low", "high"]}, seed=6, residual_sd={"low": 0.3, "high": 1.2})
    groups = sim.data.facets["group"].to_numpy()  # type: ignore[index]
    ratio = sim.truth.theta[groups == "high"].std() / sim.truth.theta[groups == "low"].std()
    assert ratio == pytest.approx(4.0, rel=0.1)
    assert sim.truth.residual_scale == pytest.approx(np.sqrt(np.mean(sim.truth.residual_scales**2)))


def test_questions_of_one_text_depend_on_each_other() -> None:
    sim = irt.simulate(800, 20, seed=7, documents=5, document_sd=1.0)
    residual = sim.data.scores - kernels.probability(sim.truth.theta[:, None], sim.truth.a, sim.truth.b)
    rho = np.corrcoef(residual.T)
    same = sim.truth.document[:, None] == sim.truth.document
    assert rho[same & ~np.eye(20, dtype=bool)].mean() > 0.1
    assert abs(rho[~same].mean()) < 0.02


def test_a_wrong_key_turns_the_curve_round() -> None:
    sim = irt.simulate(500, 30, seed=8, miskeyed=4, options=5)
    slope = [np.corrcoef(sim.truth.theta, sim.data.scores[:, item])[0, 1] for item in range(30)]
    assert all((slope[item] < 0) == sim.truth.miskeyed[item] for item in range(30))
    assert sim.truth.miskeyed.sum() == 4
    assert sim.truth.probability[:, sim.truth.miskeyed].max() < 0.25


def test_dif_items_are_harder_for_the_last_level_only() -> None:
    sim = irt.simulate(4, 10, facets={"llm": ["old", "new"]}, seed=9, dif_items=2, dif_size=1.0)
    truth = sim.truth
    expected = kernels.probability(truth.theta[:, None], truth.a, truth.b + truth.dif * truth.focal[:, None])
    assert truth.probability == pytest.approx(expected)
    assert sorted(truth.dif)[-3:] == [0.0, 1.0, 1.0]
    assert list(truth.focal) == [False, True, False, True]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "5pl"}, "unknown model '5pl'"),
        ({"forms": 2}, "forms 2 cannot be chained"),
        ({"miskeyed": 6, "dif_items": 6}, "6 mis-keyed and 6 DIF items do not fit into 10 items"),
        ({"dif_items": 1}, "DIF needs a facet"),
        ({"a_b_correlation": 2.0}, "a_b_correlation 2 is not between"),
        ({"interactions": [("llm", "icl")]}, "needs facets"),
        ({"residual_sd": {"a": 1.0}}, "not the levels of one facet"),
        ({"options": 1}, "options 1 is not a number of choices"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        irt.simulate(12, 10, seed=0, **settings)  # type: ignore[arg-type]
