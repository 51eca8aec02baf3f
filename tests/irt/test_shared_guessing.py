"""One guessing parameter for all items: a hyperparameter of the table, whichever method finds it."""

import numpy as np
import pytest

import irt
from experiments.calibration.prior_draws import Specification, draw_prior
from irt._design import build_design
from irt._model import Priors, Problem, build_problem
from irt.fitting import _laplace as laplace
from irt.fitting import _scale_estimates as scaling
from irt.fitting._scale_estimates import peak
from irt.kernels import sigmoid

SHARED = "3pl-shared"


def problem_of(data: irt.ResponseMatrix, options: int | list[int] = 4) -> Problem:
    return build_problem(data, build_design(data), SHARED, options, Priors())


def test_simulated_tables_and_draws_from_the_prior_have_one_c_around_the_mean_chance() -> None:
    options = [2] * 3 + [5] * 3
    centre = (0.5 + 0.2) / 2
    simulated = [irt.simulate(5, 6, SHARED, seed=seed, options=options).truth.c for seed in range(400)]
    assert all(np.ptp(c) == 0.0 for c in simulated)
    drawn = draw_prior(
        Specification(build_design(irt.simulate(5, 6, seed=0).data), SHARED, 1 / np.array(options)), 400, 1
    )
    assert np.ptp(drawn.c, axis=1).max() == 0.0
    for c in (np.array(simulated)[:, 0], drawn.c[:, 0]):
        assert c.mean() == pytest.approx(centre, abs=0.02)
        assert c.var() == pytest.approx(centre * (1 - centre) / 21, rel=0.2)


def test_a_peak_is_found_where_calculus_has_it() -> None:
    # Beta(5, 15) in the logit: the mode is at the mean, the curvature there is 20 c (1 - c).
    found = peak(lambda z: float(-5 * np.logaddexp(0, -z) - 15 * np.logaddexp(0, z)), 2.0)
    assert found.settled
    assert sigmoid(np.array(found.at)) == pytest.approx(0.25, abs=0.01)
    assert found.sd == pytest.approx(1 / np.sqrt(20 * 0.25 * 0.75), rel=0.01)


def test_c_is_at_the_maximum_of_the_evidence_with_its_prior() -> None:
    problem = problem_of(irt.simulate(40, 60, SHARED, seed=3).data)
    fit = laplace.climb(problem)

    def height(shift: float) -> float:
        vector = fit.scales.vector()
        vector[-1] += shift
        moved = laplace.refit(problem, fit, scaling.Scales.of(vector))
        return laplace.log_evidence(moved) + scaling.log_prior(problem, vector)

    there = height(0.0)
    assert there > height(1.5 * fit.guessing_sd)
    assert there > height(-1.5 * fit.guessing_sd)


def test_a_long_exam_of_few_students_tells_c_where_a_joint_mode_cannot() -> None:
    found = []
    for seed in range(4):
        sim = irt.simulate(63, 120, SHARED, seed=seed, guessing=0.25)
        fit = irt.fit(sim.data, SHARED, "map", options=6)
        assert fit.converged
        assert np.ptp(fit.draws["c"], axis=1).max() < 1e-12
        assert 0.015 < fit.items["c_sd"][0] < 0.06
        assert fit.draws["c"][:, 0].std() == pytest.approx(fit.items["c_sd"][0], rel=0.01)
        found.append((fit.point["c"][0] - 0.25) / fit.items["c_sd"][0])
    assert np.sqrt(np.mean(np.square(found))) < 2.0


def test_difficulties_move_with_c() -> None:
    fit = irt.fit(irt.simulate(63, 80, SHARED, seed=1).data, SHARED, "map")
    own = irt.fit(irt.simulate(63, 80, SHARED, seed=1).data, "2pl", "map")
    assert np.corrcoef(fit.draws["c"][:, 0], fit.draws["b"].mean(axis=1))[0, 1] > 0.3
    assert fit.point["b"].mean() > own.point["b"].mean()


def test_other_methods_agree_with_marginal_likelihood() -> None:
    sim = irt.simulate(200, 30, SHARED, seed=1, mean_a=1.5)
    fits = {method: irt.fit(sim.data, SHARED, method, seed=1) for method in ("mml", "map", "laplace")}
    reference = fits["mml"].items
    for method, fit in fits.items():
        assert abs(fit.items["c"][0] - reference["c"][0]) < 1.5 * reference["c_sd"][0], method
        assert np.corrcoef(fit.point["theta"], fits["mml"].point["theta"])[0, 1] > 0.98, method


@pytest.mark.validate
def test_the_mode_has_the_posterior_of_the_sampler() -> None:
    data = irt.simulate(None, 60, SHARED, facets={"llm": 4, "retriever": 5}, seed=2).data
    mode, nested = (irt.fit(data, SHARED, method, seed=1) for method in ("map", "laplace"))
    sampled = irt.fit(data, SHARED, seed=1, draws=6000)
    assert sampled.converged
    mean, sd = sampled.draws["c"][:, 0].mean(), sampled.draws["c"][:, 0].std()
    for fit in (mode, nested):
        assert abs(fit.draws["c"][:, 0].mean() - mean) < 0.5 * sd
        assert fit.draws["c"][:, 0].std() == pytest.approx(sd, rel=0.3)


def test_a_table_too_large_for_its_evidence_is_sent_to_marginal_likelihood() -> None:
    with pytest.raises(ValueError, match=r"up to 1000000 cells this way, found 1100 x 1000; use method 'mml'"):
        irt.fit(irt.simulate(1100, 1000, seed=0).data, SHARED, "map")
