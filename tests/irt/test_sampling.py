"""Two implementations of one posterior agree; a run ends when enough is known."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import irt
from irt._design import build_design
from irt._fit_settings import FitSettings
from irt._model import Priors, Problem, build_problem
from irt._packed_answers import counted
from irt._responses import Floats
from irt.checks._convergence import mixing
from irt.fitting import _laplace as laplace
from irt.fitting import _nuts as nuts
from irt.fitting._chains import Sampled

FACETS = {"retriever": 3, "shots": 2}


@pytest.fixture(scope="module")
def tiny() -> Problem:
    data = irt.simulate(12, 6, seed=0).data
    return build_problem(data, build_design(data), "1pl", 4, Priors())


def test_a_run_ends_when_enough_is_known(tiny: Problem) -> None:
    asked = []

    def enough(sampled: Sampled) -> bool:
        asked.append(sampled.draws)
        return len(asked) == 2

    told: list[tuple[int, int]] = []
    settings = FitSettings(seed=1, warmup=100, draws=1000)
    sampled = nuts.sample(tiny, settings, lambda done, total: told.append((done, total)), enough)
    assert asked == [500, 1000]
    assert sampled.draws == 1000
    assert sampled.chains == 2
    assert told[-1][0] == 2 * (100 + 500)
    whole = nuts.sample(tiny, settings)
    assert whole.draws == 2000
    np.testing.assert_array_equal(whole.values["theta"][:500], sampled.values["theta"][:500])


def test_trials_without_answers_leave_the_prior(tiny: Problem) -> None:
    empty = Problem(counted(0 * tiny.successes, 0 * tiny.attempts), tiny.design, "1pl", tiny.chance)
    values = nuts.sample(empty, FitSettings(seed=2, warmup=100, draws=1000)).values
    # In logits: half-normal with scale 2, normal with scale 2, log-normal with log scale .5.
    unit = values["a"][:, 0]
    assert np.mean((unit * values["spread_b"]) ** 2) == pytest.approx(4, rel=0.25)
    assert np.std(unit * values["centre_b"]) == pytest.approx(2, rel=0.15)
    assert np.std(np.log(unit)) == pytest.approx(0.5, rel=0.15)


def nearly_guttman(seed: int, flipped: float) -> irt.ResponseMatrix:
    """Fifteen students by 56 items whose answers ability determines, but for a share that is flipped."""
    rng = np.random.default_rng(seed)
    theta, b = np.sort(rng.normal(size=15)), rng.normal(size=56)
    right = (theta[:, None] > b) ^ (rng.random((15, 56)) < flipped)
    return irt.ResponseMatrix(right.astype(float), tuple(f"s{i}" for i in range(15)), tuple(f"q{i}" for i in range(56)))


@pytest.mark.parametrize(
    ("flipped", "seeds"), [(0.06, range(3)), pytest.param(0.03, range(8), marks=pytest.mark.validate)]
)
def test_tables_near_guttmans_scale_are_sampled_without_divergence_and_mostly_at_once(
    flipped: float, seeds: Sequence[int]
) -> None:
    fits = [irt.fit(nearly_guttman(seed, flipped), "2pl", "nuts", seed=seed) for seed in seeds]
    for fit in fits:
        assert fit.converged, fit.warnings
        assert fit.diagnostics["divergences"] == 0
    repeated = [any("first run" in sentence for sentence in fit.notes) for fit in fits]
    assert sum(repeated) <= 1, repeated


def test_smaller_steps_are_for_tables_that_abilities_nearly_determine() -> None:
    tables = [nearly_guttman(0, 0.0), nearly_guttman(0, 0.06), irt.simulate(15, 56, seed=0).data]
    problems = [build_problem(data, build_design(data), "2pl", 4, Priors()) for data in tables]
    exact, near, usual = (nuts.uncertainty(problem, laplace.climb(problem)) for problem in problems)
    assert 0 < exact < near < nuts.DETERMINED < usual < 1


MODELS = ("1pl", "2pl", "3pl", "3pl-shared", "4pl")


@pytest.mark.parametrize("model", ["factorial", *(pytest.param(one, marks=pytest.mark.validate) for one in MODELS)])
def test_pymc_and_numpyro_agree_within_monte_carlo_error(model: str) -> None:
    from irt.fitting import _pymc_model as pymc_model

    settings = FitSettings(seed=3, warmup=300, draws=600)
    given = _problem(model)
    z = _differences(*(_means(sample(given, settings)) for sample in (nuts.sample, pymc_model.sample)))
    assert len(z) > 20
    assert np.max(np.abs(z)) < 4.5
    assert np.mean(z**2) < 2.0


@pytest.mark.slow
def test_the_pymc_backend_is_chosen_by_name() -> None:
    data = irt.simulate(16, 8, seed=5).data
    fit = irt.fit(data, "1pl", backend="pymc", warmup=200, draws=800, seed=1)
    assert fit.backend == "pymc"
    assert fit.diagnostics["draws"] in (1600, 3200)
    assert fit.abilities["theta"].corr(_accuracy(data)) > 0.95


def _accuracy(data: irt.ResponseMatrix) -> Any:
    import pandas as pd

    return pd.Series(data.scores.mean(axis=1))


def _problem(model: str) -> Problem:
    if model != "factorial":
        data = irt.simulate(24, 8, model, seed=4).data
        return build_problem(data, build_design(data), model, 4, Priors())
    data = irt.simulate(24, 8, facets=FACETS, seed=4).data
    return build_problem(data, build_design(data, list(FACETS), [list(FACETS)]), "2pl", 4, Priors())


def _means(sampled: Sampled) -> tuple[Floats, Floats]:
    """Posterior means of every reported quantity that varies, and their squared Monte Carlo errors."""
    means, errors = [], []
    for values in sampled.values.values():
        draws = values.reshape(sampled.chains, sampled.draws // sampled.chains, -1)
        varies = np.ptp(draws, axis=(0, 1)) > 1e-9
        means.append(draws.mean(axis=(0, 1))[varies])
        errors.append((draws.var(axis=(0, 1)) / mixing(draws).ess_bulk)[varies])
    return np.concatenate(means), np.concatenate(errors)


def _differences(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> Floats:
    return np.asarray((first[0] - second[0]) / np.sqrt(first[1] + second[1]))
