"""Effects of levels on items: the sampler against closed forms, simulated truth and a second implementation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import irt
from irt import _estimation as estimation
from irt._design import design_of
from irt._model import MARGINAL, Priors, build_problem
from irt._responses import ResponseMatrix
from irt.checks import prior_sensitivity
from irt.fitting import _crossed as crossed
from irt.fitting._polya_gamma import polya_gamma
from irt.fitting._sampling_steps import normal_drawn, scale_drawn, slice_move

FACETS = {"llm": 3, "retriever": 5}
SHARED = irt.simulate(items=40, facets=FACETS, shared_sd={"retriever": 3.0}, seed=3)
"""Retrievers share what they found on each item; language models share nothing."""


@pytest.fixture(scope="module")
def fit() -> irt.Fit:
    """The usual fit of it."""
    return irt.fit(SHARED.data, seed=0)


@pytest.fixture(scope="module")
def without() -> irt.Fit:
    """The same by the model without effects on items, its intervals as the posterior has them."""
    return irt.fit(SHARED.data, item_effects=False, method="map", seed=0)


@pytest.mark.parametrize(("count", "x"), [(1, 0.0), (1, 0.7), (1, 6.0), (3, 1.5), (80, 2.0)])
def test_polya_gamma_draws_have_its_mean_and_laplace_transform(count: int, x: float) -> None:
    rng = np.random.default_rng(1)
    drawn = np.array([polya_gamma(rng, count, x) for _ in range(20_000)])
    mean = count * (np.tanh(x / 2) / (2 * x) if x else 0.25)
    assert drawn.mean() == pytest.approx(mean, abs=4 * drawn.std() / np.sqrt(len(drawn)))
    seen, t = np.exp(-drawn / count), 1 / count
    transform = (np.cosh(x / 2) / np.cosh(np.sqrt(x**2 / 4 + t / 2))) ** count
    assert seen.mean() == pytest.approx(transform, abs=4 * seen.std() / np.sqrt(len(seen)) + 1e-6)


def test_a_scale_is_drawn_from_its_density() -> None:
    rng, scale, drawn = np.random.default_rng(2), 1.0, []
    for _ in range(8000):
        scale = scale_drawn(rng, scale, 10, 25.0, 1.0)
        drawn.append(scale)
    v = np.linspace(-3, 3, 20_001)
    density = np.exp(-9 * v - 12.5 * np.exp(-2 * v) - 0.5 * np.exp(2 * v))
    assert np.mean(drawn) == pytest.approx(np.sum(np.exp(v) * density) / density.sum(), abs=0.02)


def test_a_slice_of_what_cannot_be_computed_ends_where_it_began() -> None:
    for value in (float("nan"), float("inf")):
        assert slice_move.py_func(np.random.default_rng(0), lambda _, given: given, value, 1.0) == 0


def test_normal_draws_have_their_mean_and_covariance() -> None:
    root, linear = np.array([[2.0, 0.0], [0.5, 1.0]]), np.array([1.0, 2.0])
    precision, rng = root @ root.T, np.random.default_rng(3)
    drawn = np.array([normal_drawn(rng, root, linear) for _ in range(20_000)])
    assert drawn.mean(axis=0) == pytest.approx(np.linalg.solve(precision, linear), abs=0.03)
    assert np.cov(drawn.T) == pytest.approx(np.linalg.inv(precision), abs=0.03)


def test_effects_are_in_the_model_where_students_share_a_level(fit: irt.Fit) -> None:
    assert fit.design.item_facets == ("llm", "retriever")
    assert fit.backend == "gibbs"
    assert fit.converged


def test_a_level_of_one_student_each_has_no_effects() -> None:
    data = irt.simulate(items=20, facets={"llm": 8}, seed=1).data
    assert design_of(data, None)[1].shared_facets == ()


def test_the_facet_that_shares_answers_is_told_from_the_one_that_does_not(fit: irt.Fit) -> None:
    scale = {name: fit.draws[f"item_effect_scale.{name}"].mean() for name in FACETS}
    assert 2.0 < scale["retriever"] < 4.5
    assert scale["llm"] < 1.0


def test_contrasts_of_what_is_shared_are_less_certain(fit: irt.Fit, without: irt.Fit) -> None:
    one, other = (float(each.draws["effect.retriever"].std(axis=0).mean()) for each in (fit, without))
    assert one > 1.5 * other


def test_intervals_hold_the_truth(fit: irt.Fit) -> None:
    truth = SHARED.truth.effects
    z = [
        (fit.draws[f"effect.{name}"].mean(axis=0) - truth[name]) / fit.draws[f"effect.{name}"].std(axis=0)
        for name in FACETS
    ]
    assert np.abs(np.concatenate(z)).max() < 3.2


def test_effects_on_items_are_those_simulated(fit: irt.Fit) -> None:
    """An item that everybody with one retriever answers and nobody else has a high effect of that retriever."""
    assert fit.item_effects is not None
    share = np.stack([SHARED.data.scores[SHARED.data.facets["retriever"] == level].mean(axis=0)  # type: ignore[index]
                      for level in fit.design.term("retriever").levels], axis=1)  # fmt: skip
    found = fit.item_effects.mean["retriever"]
    assert found.shape == share.shape
    assert np.corrcoef((found - found.mean(axis=1, keepdims=True)).ravel(), share.ravel())[0, 1] > 0.6
    assert np.all(fit.item_effects.sd["retriever"] > 0)


def test_expected_shares_are_those_seen_and_replicas_scatter_about_them(fit: irt.Fit) -> None:
    seen = SHARED.data.scores
    assert fit.expected.mean(axis=0) == pytest.approx(seen.mean(axis=0), abs=0.12)
    assert np.corrcoef(fit.expected.ravel(), seen.ravel())[0, 1] > 0.8
    checked = fit.predictive_check()
    assert not checked["items"]["surprising"].any()
    assert checked["students"]["surprising"].mean() < 0.1


def test_discriminations_are_those_for_new_levels(fit: irt.Fit) -> None:
    """The reported curve is the mean over effects of levels not seen before."""
    scales = np.array([fit.draws[f"item_effect_scale.{name}"] for name in FACETS])
    steeper = np.sqrt(1 + MARGINAL * np.sum(scales**2, axis=0))
    a, rng = fit.draws["a"][:, 0] * steeper, np.random.default_rng(0)
    logits = a[:, None] * 1.0 + np.sqrt(np.sum(scales**2, axis=0))[:, None] * rng.standard_normal((1, 4000))
    mean = (1 / (1 + np.exp(-logits))).mean(axis=1)
    assert np.abs(mean - 1 / (1 + np.exp(-fit.draws["a"][:, 0]))).max() < 0.03


def test_propagation_agrees_with_the_sampler(fit: irt.Fit) -> None:
    sampled, fit = fit, irt.fit(SHARED.data, model="2pl", method="map", seed=0)
    assert fit.converged
    for name in FACETS:
        one, other = fit.draws[f"effect.{name}"], sampled.draws[f"effect.{name}"]
        sd = other.std(axis=0)
        assert np.abs(one.mean(axis=0) - other.mean(axis=0)).max() < 0.6 * sd.mean()
        assert one.std(axis=0) / sd == pytest.approx(1.0, abs=0.35)
        scale, spread = fit.draws[f"item_effect_scale.{name}"], sampled.draws[f"item_effect_scale.{name}"]
        assert abs(scale.mean() - spread.mean()) < spread.std() + 0.15
    assert np.corrcoef(fit.point["b"], sampled.point["b"])[0, 1] > 0.98
    assert fit.item_effects is not None
    assert sampled.item_effects is not None
    found, exact = (each.item_effects.mean["retriever"].ravel() for each in (fit, sampled))  # type: ignore[union-attr]
    assert np.corrcoef(found, exact)[0, 1] > 0.97
    assert np.abs(fit.expected - sampled.expected).max() < 0.12


def test_identical_models_are_not_told_apart() -> None:
    """Three models that answer alike: the others' answers are no further evidence."""
    one = irt.simulate(items=40, facets={"retriever": 5, "icl": 2}, shared_sd={"retriever": 2.0}, seed=5).data
    copies = [replaced(one, f"llm{n}") for n in range(3)]
    fit = irt.fit(irt.join(irt.join(copies[0], copies[1]).data, copies[2]).data, seed=0, draws=100)
    for other in ("llm1", "llm2"):
        contrast = fit.contrast("llm", "llm0", other)
        assert contrast.low < 0 < contrast.high
        assert abs(contrast.estimate) < 0.1


def replaced(data: ResponseMatrix, llm: str) -> ResponseMatrix:
    """The same answers by another language model."""
    assert data.facets is not None
    students = tuple(f"{llm}-{name}" for name in data.students)
    facets = data.facets.assign(llm=llm)
    facets.index = facets.index.__class__(students, name="student")
    return replace(data, students=students, facets=facets)


@pytest.mark.parametrize("method", ["nuts", "map"])
@pytest.mark.parametrize("model", ["1pl", "3pl", "3pl-shared", "4pl"])
def test_every_model_of_right_and_wrong_answers_has_them(model: str, method: str) -> None:
    made = irt.simulate(items=25, facets={"llm": 3, "retriever": 4}, shared_sd={"retriever": 2.0}, seed=7)
    fit = irt.fit(made.data, model=model, method=method, seed=0, draws=60, warmup=80)
    draws = fit.draws
    assert fit.design.item_facets
    assert all(np.isfinite(values).all() for values in draws.values())
    assert np.allclose(draws["theta"].std(axis=1), 1)
    assert ((draws["c"] > 0) == (model != "1pl")).all()
    assert np.ptp(draws["a"], axis=1).max() < 1e-9 if model == "1pl" else np.ptp(draws["a"], axis=1).min() > 0
    assert (np.ptp(draws["c"], axis=1) < 1e-12).all() == (model in ("1pl", "3pl-shared"))


@pytest.mark.parametrize("method", ["nuts", "map"])
def test_answers_may_be_counts(method: str) -> None:
    data = irt.simulate(items=20, facets={"llm": 2, "retriever": 4}, seed=9).data
    rng = np.random.default_rng(1)
    counts = replace(
        data, scores=data.scores + rng.binomial(99, 0.5, data.scores.shape), trials=100.0 + 0 * data.scores
    )
    fit = irt.fit(counts, method=method, seed=0, draws=50, warmup=100)
    assert np.abs(fit.expected - counts.scores / 100).mean() < 0.05


def test_the_same_seed_gives_the_same_draws() -> None:
    first, again = (irt.fit(SHARED.data, seed=4, draws=20, warmup=20) for _ in range(2))
    for name, values in first.draws.items():
        assert np.array_equal(values, again.draws[name]), name


def test_a_saved_fit_has_its_effects_on_items(fit: irt.Fit, tmp_path: Path) -> None:
    fit.save(tmp_path)
    read = irt.load_fit(tmp_path)
    assert read.design.item_facets == fit.design.item_facets
    assert read.item_effects is not None
    assert fit.item_effects is not None
    assert np.array_equal(read.expected, fit.expected)
    for name in FACETS:
        assert np.array_equal(read.item_effects.mean[name], fit.item_effects.mean[name])
        assert np.array_equal(read.item_effects.sd[name], fit.item_effects.sd[name])


def test_priors_are_weighed_on_the_models_own_scale(fit: irt.Fit) -> None:
    table = prior_sensitivity(fit)
    assert "item_effect_scale" in set(table["prior"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"method": "svi"}, "found method 'svi'"),
        ({"backend": "numpyro"}, "backend 'numpyro'"),
        ({"facets": ()}, "no two students with a level in common"),
    ],
)
def test_effects_that_cannot_be_had_are_refused(words: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        irt.fit(SHARED.data, item_effects=True, **words)


def test_the_gibbs_sampler_is_for_effects_on_items() -> None:
    with pytest.raises(ValueError, match="found 'gibbs' with item_effects=False"):
        irt.fit(SHARED.data, item_effects=False, backend="gibbs")


def test_effects_that_would_take_an_hour_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    data, design = design_of(SHARED.data, None)
    assert estimation.sweep_operations(data, design) == 15 * 40 * (2 + 4 + 3) ** 2 / 2
    monkeypatch.setattr(estimation, "DEAR", 1.0)
    found, left, settings = estimation._with_item_effects(data, design, irt.FitSettings())
    assert left.item_facets == ()
    assert settings.backend is None
    assert found.notes[-1].startswith("Effects of 8 levels on each of 40 items would take long")
    assert estimation._with_item_effects(data, design, irt.FitSettings(item_effects=True))[1].item_facets


@pytest.mark.validate
def test_auto_chooses_without_effects_and_fits_with_them() -> None:
    data = irt.simulate(items=20, facets={"llm": 3, "retriever": 3}, seed=4).data
    fit = irt.fit(data, model="auto", seed=0)
    assert fit.design.item_facets
    assert fit.elpd_loo is None
    assert any("without effects on items" in note for note in fit.notes)


def test_balanced_moves_leave_the_constraints_as_they_are() -> None:
    """Residuals sum to zero and discriminations have geometric mean 1, in an unbalanced design too."""
    data = irt.simulate(items=15, facets={"llm": 3, "retriever": 4}, seed=2).data
    kept: NDArray[np.bool_] = np.arange(len(data.students)) != 3
    names = [name for name, keep in zip(data.students, kept, strict=True) if keep]
    data, design = design_of(data.select_students(names), None)
    design = replace(design, item_facets=design.shared_facets)
    problem = build_problem(data, design, "2pl", 4, Priors())
    draws = crossed._Draws(problem, crossed.table_of(problem), np.random.default_rng(0))
    for _ in range(5):
        draws.advance(3)
        assert draws.chain.state.r.sum() == pytest.approx(0, abs=1e-9)
        assert draws.chain.state.log_a.sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.validate
def test_pymc_samples_the_same_posterior() -> None:
    made = irt.simulate(items=20, facets={"llm": 3, "retriever": 4}, shared_sd={"retriever": 2.0}, seed=11).data
    ours, theirs = irt.fit(made, seed=0), irt.fit(made, seed=0, backend="pymc", draws=1000)
    assert theirs.design.item_facets == ours.design.item_facets
    for name in (
        "effect.llm",
        "effect.retriever",
        "item_effect_scale.retriever",
        "item_effect_scale.llm",
        "theta",
        "a",
    ):
        first, second = ours.draws[name], theirs.draws[name]
        sd = second.std(axis=0)
        assert np.abs(first.mean(axis=0) - second.mean(axis=0)).max() < 0.25 * np.max(sd), name
        # Long tails, such as those of steep items, are known to a factor only.
        ratio = np.abs(np.log(first.std(axis=0) / sd))
        assert np.median(ratio) < 0.15, name
        assert np.max(ratio) < np.log(2), name
