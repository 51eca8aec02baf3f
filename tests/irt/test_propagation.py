"""Effects of levels on items by expectation propagation: against dense algebra, integrals and simulated truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

import irt
from irt import _estimation as estimation
from irt._design import design_of
from irt._model import Priors, Problem, build_problem
from irt.fitting._crossed_gaussian import CrossedGaussian, Directions, Sites
from irt.fitting._crossed_propagation import Evidence
from irt.fitting._tilted import tilt

FACETS = {"llm": 3, "retriever": 5}
SHARED = irt.simulate(items=40, facets=FACETS, shared_sd={"retriever": 3.0}, seed=3)


@pytest.fixture(scope="module")
def fit() -> irt.Fit:
    return irt.fit(SHARED.data, model="2pl", method="map", seed=0)


def problem_of(data: irt.ResponseMatrix, model: str) -> Problem:
    _, design = design_of(data, None, (), ())
    return build_problem(data, replace(design, item_facets=design.shared_facets), model, 4, Priors())


@pytest.mark.parametrize(("c", "delta", "right"), [(0.0, 1.0, 3.0), (0.25, 0.95, 1.0)])
@pytest.mark.parametrize(("width", "precision"), [(1.3, 0.2), (9.0, 0.002)])
def test_tilted_moments_are_the_integrals(c: float, delta: float, right: float, width: float, precision: float) -> None:
    """Also where a logit may be anything, and its answer is a step."""
    centre, linear, trials = 0.8, 0.3 * precision, 4.0
    found, by_item = tuple(np.empty((1, 1)) for _ in range(3)), np.empty((1, 4))
    one = np.ones((1, 1))
    tilt(
        (right * one, trials * one),
        (np.array([c]), np.array([delta])),
        (centre * one, width * one),
        (precision * one, linear * one),
        found,
        by_item,
    )

    def height(x: float, power: int) -> float:
        p = c + (1 - c) * delta * expit(x)
        normal = np.exp(-0.5 * ((x - centre) / width) ** 2) / width / np.sqrt(2 * np.pi)
        site = np.exp(linear * x - 0.5 * precision * x**2)
        return float(p**right * (1 - p) ** (trials - right) / site * normal * x**power)

    total, first, second = (quad(height, -60, 60, args=(power,), points=[-5, 0, 5], limit=400)[0] for power in range(3))
    mean = first / total
    assert [float(each[0, 0]) for each in found] == pytest.approx(
        [np.log(total), mean, second / total - mean**2], rel=5e-4
    )


def test_the_gaussian_is_that_of_the_dense_precision() -> None:
    rng = np.random.default_rng(0)
    items, students, width, size = 3, 5, 2, 6
    parts = (slice(0, 4), slice(4, 6))
    directions = Directions(
        rng.standard_normal((items, students, width)),
        rng.standard_normal((items, 2)) + 0.5,
        rng.standard_normal((students, size)),
        parts,
    )
    sites = Sites(rng.random((items, students)), rng.standard_normal((items, students)))
    prior = np.array([1.0, 1.0, 1.0, 0.25, 1.0, 2.0])
    found = CrossedGaussian(directions, sites, prior)
    rows = np.zeros((items, students, size + items * width))
    for item in range(items):
        rows[item, :, :size] = np.repeat(directions.factor[item], [4, 2]) * directions.loadings
        rows[item, :, size + item * width : size + (item + 1) * width] = directions.slopes[item]
    flat = rows.reshape(-1, rows.shape[2])
    precision = np.diag([*prior, *np.ones(items * width)]) + (flat.T * sites.precision.ravel()) @ flat
    covariance, pull = np.linalg.inv(precision), flat.T @ sites.linear.ravel()
    mean = covariance @ pull
    assert np.concatenate([found.mean.v, found.mean.x.ravel()]) == pytest.approx(mean)
    assert np.concatenate([found.variances.v, found.variances.x.ravel()]) == pytest.approx(np.diag(covariance))
    evidence = 0.5 * (pull @ mean - np.linalg.slogdet(precision)[1] + np.log(prior).sum())
    assert found.log_evidence == pytest.approx(evidence)
    slopes = np.array([0.7, 0.0])
    ahead = np.zeros_like(rows)
    for item in range(items):
        ahead[item, :, :4] = directions.loadings[:, :4]
        ahead[item, :, size + item * width : size + (item + 1) * width] = slopes
    pairs = ((rows, rows), (ahead, ahead), (rows, ahead))
    for seen, (one, other) in zip(found.covariances(slopes), pairs, strict=True):
        assert seen == pytest.approx(np.einsum("isk,km,ism->is", one, covariance, other))
    drawn = found.sample(rng, 40_000, held=False)
    assert drawn.v.var(axis=0) == pytest.approx(found.variances.v, rel=0.05)
    held = found.sample(rng, 100, held=True)
    assert held.x[:, :, 0].sum(axis=1) == pytest.approx(0, abs=1e-9)


def test_the_evidence_is_the_mean_likelihood_over_the_prior() -> None:
    """A small table of the 1pl, its likelihood averaged over draws from the prior."""
    data = irt.simulate(items=2, facets={"llm": 2, "retriever": 2}, seed=1).data
    evidence = Evidence(problem_of(data, "1pl"))
    vector = np.log([0.8, 0.9, 0.5, 1.2, 1.5, 2.0])
    propagation, found = evidence._whole(vector)
    rng, table, scales, count = np.random.default_rng(2), evidence.table, propagation.scales, 400_000
    v = rng.standard_normal((count, len(propagation.prior))) / np.sqrt(propagation.prior)
    ahead = v @ propagation.loadings.T
    mean = np.zeros(count)
    for item in range(2):
        logits = ahead - scales.spread_b * rng.standard_normal((count, 1))
        logits += rng.standard_normal((count, len(table.facet))) @ propagation.levels.T
        right = table.answers[0][item]
        mean += np.sum(right * logits - np.logaddexp(0, logits), axis=1)
    exact = float(np.log(np.mean(np.exp(mean))))
    assert found.log_evidence == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("model", ["1pl", "2pl"])
def test_the_slope_is_that_of_the_evidence(model: str) -> None:
    """But for what the discriminations' information has of the scales, which a climb holds."""
    evidence = Evidence(problem_of(SHARED.data, model))
    vector = evidence.top + 0.2
    evidence.near = evidence._whole(vector)[1].state
    propagation, found = evidence._whole(vector)
    known = propagation.known(found)
    slope = evidence._slope(vector, found, known)
    for place in range(len(vector)):
        ends = [vector + side * 0.05 * np.eye(len(vector))[place] for side in (1, -1)]
        above, below = (evidence._height(end, evidence._whole(end)[1], known) for end in ends)
        assert (above - below) / 0.1 == pytest.approx(slope[place], abs=0.6 + 0.1 * abs(slope[place]))


@pytest.mark.parametrize("seed", [2, 5])
def test_identical_models_are_not_told_apart(seed: int) -> None:
    """Three models that answer alike with five retrievers: the others' answers are no further evidence."""
    one = irt.simulate(items=56, facets={"retriever": 5}, seed=seed).data
    assert one.facets is not None
    scores, levels = np.tile(one.scores, (3, 1)), np.repeat(["a", "b", "c"], 5)
    students = tuple(f"{llm}-{name}" for llm, name in zip(levels, np.tile(one.students, 3), strict=True))
    facets = one.facets.iloc[np.tile(np.arange(5), 3)].set_axis(one.facets.index.__class__(students, name="student"))
    alike = replace(one, scores=scores, students=students, facets=facets.assign(llm=levels))
    fit = irt.fit(alike, model="2pl", method="map", seed=0)
    for other in "bc":
        contrast = fit.contrast("llm", "a", other)
        assert contrast.low < 0 < contrast.high
        assert abs(contrast.estimate) < 0.1
    # Discriminations that few students tell must not run away, and with them what is known of the retrievers.
    assert fit.draws["spread_a"].mean() < 1.0
    assert fit.diagnostics["scale_samples"] > 2
    assert any("in common answer nearly alike" in note for note in fit.notes)
    # One model alone is as sure; propagation makes copies up to a third surer (Gibbs sampling does not).
    alone = irt.fit(one, model="2pl", method="map", seed=0)
    ratio = np.mean(fit.draws["effect.retriever"].std(axis=0) / alone.draws["effect.retriever"].std(axis=0))
    assert 0.65 < ratio < 1.2


def test_the_same_seed_gives_the_same_draws(fit: irt.Fit) -> None:
    assert not any("nearly alike" in note for note in fit.notes)
    again = irt.fit(SHARED.data, model="2pl", method="laplace", seed=0)
    for name, values in fit.draws.items():
        np.testing.assert_array_equal(values, again.draws[name])


def test_large_tables_go_without_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimation, "DEAR_BRIEFLY", 1.0)
    fit = irt.fit(SHARED.data, model="2pl", method="map", seed=0)
    assert not fit.design.item_facets
    assert any("would take long and were left out" in note for note in fit.notes)
    assert any("intervals of contrasts are too narrow" in warning for warning in fit.warnings)


@pytest.mark.validate
def test_intervals_cover() -> None:
    """Coverage of 90 % intervals of contrasts under effects of 3 logits."""
    held = []
    for seed in range(40):
        made = irt.simulate(items=56, facets=FACETS, seed=seed, shared_sd=dict.fromkeys(FACETS, 3.0))
        fit = irt.fit(made.data, model="2pl", method="map", seed=seed)
        for name, count in FACETS.items():
            for one in range(count):
                for other in range(one):
                    gap = fit.draws[f"effect.{name}"][:, one] - fit.draws[f"effect.{name}"][:, other]
                    true = made.truth.effects[name][one] - made.truth.effects[name][other]
                    held.append(np.quantile(gap, 0.05) <= true <= np.quantile(gap, 0.95))
    assert 0.83 < np.mean(held) < 0.96
