"""Power-scaling: exact for a normal model; priors are recovered from reported draws; a prior-bound result is named."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, halfnorm, norm

import irt
from irt._model import Priors, RawDraws, report_scale
from irt.checks import prior_sensitivity
from irt.checks._sensitivity import log_priors, power_weights, shift


def test_weighed_draws_equal_the_posterior_under_the_powered_prior() -> None:
    prior_sd, error, seen = 1.0, 1.2, 1.5

    def posterior(power: float) -> tuple[float, float]:
        precision = power / prior_sd**2 + 1 / error**2
        return seen / error**2 / precision, precision**-0.5

    mean, sd = posterior(1.0)
    draws = norm.ppf((np.arange(20_000) + 0.5) / 20_000, mean, sd)[:, None]
    weights, k = power_weights(norm.logpdf(draws[:, 0], 0, prior_sd))
    assert k < 0.7
    for column, power in enumerate((0.5, 2.0)):
        found, (new_mean, new_sd) = shift(draws, weights[:, column]), posterior(power)
        assert found.mean[0] == pytest.approx((new_mean - mean) / sd, abs=0.01)
        assert found.spread[0] == pytest.approx(new_sd / sd, abs=0.01)


def test_draws_of_one_ratio_share_their_weight_whatever_rounding_made_of_their_order() -> None:
    rng = np.random.default_rng(3)
    log_prior = np.repeat(rng.normal(size=200), 8)
    weights, _ = power_weights(log_prior)
    rounded, _ = power_weights(log_prior + rng.uniform(-1e-13, 1e-13, log_prior.shape))
    assert np.ptp(weights.reshape(200, 8, 2), axis=1).max() < 1e-12
    np.testing.assert_allclose(rounded, weights, rtol=1e-9)


def test_log_priors_are_recovered_from_draws_on_the_reported_scale() -> None:
    fit = irt.fit(
        irt.simulate(None, 12, facets={"llm": 3, "icl": 4}, seed=1, model="4pl").data, "4pl", "map", item_effects=False
    )
    rng = np.random.default_rng(0)
    effects = tuple(
        e - e.mean(axis=1, keepdims=True) for e in (rng.standard_normal((50, 3)), rng.standard_normal((50, 4)))
    )
    scales = (rng.lognormal(size=50), rng.lognormal(size=50))
    residual = rng.standard_normal((50, 12))
    theta = sum(e[:, term.level_of] for e, term in zip(effects, fit.design.terms, strict=True))
    log_a = rng.standard_normal((50, 12)) / 3
    c, delta = rng.uniform(0.05, 0.4, (50, 12)), rng.uniform(0.6, 0.99, (50, 12))
    raw = RawDraws(
        a=np.exp(log_a - log_a.mean(axis=1, keepdims=True)), b=rng.standard_normal((50, 12)), c=c,
        d=c + (1 - c) * delta, theta=theta + residual - residual.mean(axis=1, keepdims=True), effects=effects,
        scales=scales, residual_scale=rng.lognormal(size=50), spread_a=rng.lognormal(size=50),
        spread_b=rng.lognormal(size=50),
        centre_b=rng.standard_normal(50),
    )  # fmt: skip
    found = log_priors(replace(fit, draws=report_scale(raw, fit.design)))
    wanted = {
        "term_scale": halfnorm.logpdf(scales[0], scale=1) + halfnorm.logpdf(scales[1], scale=1),
        "residual_scale": halfnorm.logpdf(raw.residual_scale, scale=1),
        "spread_a": halfnorm.logpdf(raw.spread_a, scale=0.5),
        "centre_b": norm.logpdf(raw.centre_b, scale=2),
        "spread_b": halfnorm.logpdf(raw.spread_b, scale=2),
        "guessing_weight": beta.logpdf(c, 5, 15).sum(axis=1),
        "upper_weight": beta.logpdf(delta, 19, 1).sum(axis=1),
    }
    assert set(found) == set(wanted)
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name] - found[name][0], values - values[0], atol=1e-8, err_msg=name)


def test_without_facets_the_common_discrimination_has_the_prior() -> None:
    fit = irt.fit(irt.simulate(30, 10, seed=1).data, "1pl", method="map")
    found = log_priors(fit)
    assert set(found) == {"common_a", "centre_b", "spread_b"}
    np.testing.assert_allclose(found["common_a"], -0.5 * (np.log(fit.draws["a"][:, 0]) / 0.5) ** 2)


def test_the_priors_that_are_scaled_are_those_of_the_fit() -> None:
    fit = irt.fit(irt.simulate(30, 10, seed=1).data, "1pl", "map", priors=Priors(common_a=0.2))
    np.testing.assert_allclose(log_priors(fit)["common_a"], -0.5 * (np.log(fit.draws["a"][:, 0]) / 0.2) ** 2)


def test_a_result_that_follows_a_prior_is_named_and_held_scales_are_said() -> None:
    fit = irt.fit(irt.simulate(None, 12, facets={"llm": 3, "icl": 4}, seed=1).data, method="map", item_effects=False)
    held = prior_sensitivity(fit)
    assert held["note"].isin(["", "the method holds this scale fixed"]).all()
    assert held.loc[held["note"] != "", "shift_half"].isna().all()
    rng = np.random.default_rng(0)
    scale = np.abs(rng.standard_normal(2000)) * 0.45
    draws = dict(fit.draws) | {"spread_a": scale}
    draws["effect.llm"] = draws["effect.llm"] + np.outer(scale, [10, -10, 0])
    moved = prior_sensitivity(replace(fit, draws=draws))
    first = moved.iloc[0]
    assert (first["prior"], first["quantity"], first["element"]) == ("spread_a", "contrast of llm", "llm0 - llm1")
    assert first["shift_half"] > 0 > first["shift_double"]
    assert first["flag"]
    assert "rests on the prior 'spread_a'" in first["sentence"]
    few = replace(fit, draws={name: values[:50] for name, values in fit.draws.items()})
    with pytest.raises(ValueError, match="50 draws cannot be weighed again; wanted at least 100"):
        prior_sensitivity(few)


@pytest.mark.slow
def test_weighing_agrees_with_sampling_under_the_other_prior(factorial_by_nuts: irt.Fit) -> None:
    one = factorial_by_nuts
    # A half-normal to the power 1/2 is a half-normal with sqrt(2) times the scale.
    other = irt.fit(one.data, draws=1000, item_effects=False, priors=Priors(spread_a=0.5 * np.sqrt(2)))
    weights, _ = power_weights(log_priors(one)["spread_a"])
    found = weights[:, 0] @ one.draws["spread_a"]
    error = one.draws["spread_a"].std()
    assert found > one.draws["spread_a"].mean()
    assert found == pytest.approx(other.draws["spread_a"].mean(), abs=0.25 * error)
