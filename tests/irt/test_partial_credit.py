"""Partial credit items: the model's own definition, derivatives by finite differences, simulated truth."""

import numpy as np
import pytest
from scipy.integrate import quad

import irt
from irt._model import RATINGS
from irt._partial_credit import PartialCreditParameters

TOP = np.array([3, 1, 2])
ITEMS = PartialCreditParameters(
    np.array([1.3, 0.7, 2.0]), np.array([[0.8, -0.6, 0.1], [-0.2, -0.2, -0.2], [0.3, 1.1, 1.1]]), TOP
)
THETA = np.linspace(-3, 3, 13)[:, None]


def test_neighbouring_scores_have_the_logit_of_their_step_and_scores_beyond_the_highest_do_not_occur() -> None:
    logs = ITEMS.log_categories(THETA)
    for item, top in enumerate(TOP):
        for k in range(1, top + 1):
            wanted = ITEMS.a[item] * (THETA[:, 0] - ITEMS.thresholds[item, k - 1])
            np.testing.assert_allclose(logs[:, item, k] - logs[:, item, k - 1], wanted)
        assert (logs[:, item, top + 1 :] == -np.inf).all()
    np.testing.assert_allclose(np.exp(logs).sum(axis=-1), 1.0)


def test_slopes_information_and_tilt_are_those_of_finite_differences() -> None:
    step = 1e-5
    p = np.exp(ITEMS.log_categories(THETA))
    up, down = (np.exp(ITEMS.log_categories(THETA + sign * step)) for sign in (1, -1))
    first, second = (up - down) / (2 * step), (up - 2 * p + down) / step**2
    np.testing.assert_allclose(ITEMS.category_slopes(THETA) * p, first, atol=1e-8)
    found, safe = ITEMS.moments(THETA), np.where(p > 0, p, 1.0)
    np.testing.assert_allclose(found.information, ITEMS.information(THETA))
    np.testing.assert_allclose(found.information, (first**2 / safe).sum(axis=-1), atol=1e-7)
    np.testing.assert_allclose(found.tilt, (first * second / safe).sum(axis=-1), atol=1e-4)


def test_expected_scores_and_draws_are_those_of_the_distribution() -> None:
    p = np.exp(ITEMS.log_categories(THETA))
    np.testing.assert_allclose(ITEMS.share(THETA) * TOP, p @ np.arange(4))
    drawn = ITEMS.draw(np.random.default_rng(0), np.full(20000, 0.4), np.ones((20000, 3)))
    for item in range(3):
        shares = np.bincount(drawn[:, item].astype(int), minlength=4) / len(drawn)
        np.testing.assert_allclose(shares, np.exp(ITEMS.log_categories(np.array([0.4]))[item]), atol=0.015)


def test_of_two_items_with_one_discrimination_the_sum_of_scores_tells_everything() -> None:
    """What makes the partial credit model a Rasch model: equal sums have equal likelihoods up to a constant."""
    items = ITEMS._replace(a=np.full(3, 1.4))
    curves = [
        items.log_likelihood(np.tile(scores, (13, 1)), THETA[:, 0]).sum(axis=1)
        for scores in ([3.0, 0.0, 1.0], [1.0, 1.0, 2.0])
    ]
    gap = curves[0] - curves[1]
    np.testing.assert_allclose(gap, gap[0], atol=1e-10)


def test_an_ability_is_the_integral_of_its_posterior() -> None:
    sim = irt.simulate_graded(300, 6, top=3, seed=1, model="gpcm")
    fit = irt.fit(sim.data, "gpcm", "mml")
    found = irt.score(fit, sim.data, propagate=False)
    row, items = sim.data.scores[4], fit.estimated_items
    assert isinstance(items, PartialCreditParameters)

    def density(theta: float) -> float:
        return float(np.exp(items.log_likelihood(row[None], np.array([theta])).sum() - 0.5 * theta**2))

    whole, mean = (quad(lambda t, p=power: t**p * density(t), -9, 9, epsabs=1e-12)[0] for power in (0, 1))
    assert found.theta[4] == pytest.approx(mean / whole, abs=1e-5)


@pytest.mark.parametrize("model", RATINGS)
def test_truth_is_recovered_within_its_errors_with_few_categories_or_many(model: str) -> None:
    sim = irt.simulate_graded(1000, 15, top=[1, 3, 6] * 5, seed=2, model=model, missing=0.1)
    fit = irt.fit(sim.data, model, "mml")
    assert fit.converged
    assert fit.graded is not None
    unit = sim.truth.theta.std()
    for name, found, truth in (
        ("a", fit.point["a"], sim.truth.a * unit),
        ("b", fit.point["b"], (sim.truth.b - sim.truth.theta.mean()) / unit),
    ):
        error = np.sqrt(np.mean(((found - truth) / fit.errors[name]) ** 2))
        assert error < 1.5, name
        assert error > 0.5 or (name, model) == ("a", "pcm"), name  # one value alone may be near
    assert np.unique(fit.point["a"]).size == (1 if model == "pcm" else 15)
    assert np.unique(fit.draws["a"][7]).size == (1 if model == "pcm" else 15)
    parameters = 5 * (1 + 3 + 6) + (1 if model == "pcm" else 15)
    assert fit.diagnostics["parameters"] == parameters


@pytest.mark.validate
@pytest.mark.parametrize("model", RATINGS)
def test_intervals_cover(model: str) -> None:
    """The shares of docs/validation.md: 90 % intervals by `mml` of 60 tables of 300 x 12."""
    held: dict[str, list[float]] = {"a": [], "b": [], "steps": [], "theta": []}
    for seed in range(60):
        sim = irt.simulate_graded(300, 12, top=4, seed=seed + 100, model=model)
        fit = irt.fit(sim.data, model, "mml", seed=seed)
        steps = "thresholds" if model == "grm" else "steps"
        for name, truth in (("a", "a"), ("b", "b"), (steps, "thresholds"), ("theta", "theta")):
            low, high = np.quantile(fit.draws[name], [0.05, 0.95], axis=0)
            value = getattr(sim.truth, truth)
            held["steps" if truth == "thresholds" else name].append(np.mean((low <= value) & (value <= high)))
    covered = {name: float(np.mean(shares)) for name, shares in held.items()}
    print(model, {name: round(share, 3) for name, share in covered.items()})
    # The one discrimination of the partial credit model is 60 values in all: binomial error .04.
    assert covered["a"] == pytest.approx(0.9, abs=0.1 if model == "pcm" else 0.03)
    assert all(0.87 < covered[name] < 0.98 for name in ("b", "steps", "theta")), covered


def test_the_right_model_has_the_greatest_likelihood_and_the_information_criterion_says_so() -> None:
    data = irt.simulate_graded(1500, 12, top=4, seed=3, model="gpcm", log_a_sd=0.5).data
    assert data.facets is None
    bic = {model: float(irt.fit(data, model, "mml").diagnostics["bic"]) for model in RATINGS}
    assert min(bic, key=lambda model: bic[model]) == "gpcm"


def test_a_common_discrimination_of_too_many_steps_is_refused_in_a_line() -> None:
    scores = np.random.default_rng(0).integers(0, 4, (20, 900)).astype(float)
    data = irt.ResponseMatrix(
        scores, tuple(map(str, range(20))), tuple(f"q{i}" for i in range(900)), top=np.full(900, 3)
    )
    with pytest.raises(ValueError, match="model 'pcm' by 'mml' takes up to 2500 parameters; wanted model 'gpcm'"):
        irt.fit(data, "pcm", "mml")
    with pytest.raises(ValueError, match="unknown model 'rsm'; wanted grm, gpcm, pcm"):
        irt.simulate_graded(10, 3, seed=0, model="rsm")
