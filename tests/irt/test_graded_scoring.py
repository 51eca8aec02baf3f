"""Ratings are scored by the same rules as right and wrong answers, which they are when the highest score is 1."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

import irt
from irt import _graded as graded
from irt._graded import GradedParameters
from irt._likelihoods import likelihood
from irt._responses import Floats
from irt._scoring import METHODS, score, score_likelihoods
from irt.commands import main
from irt.kernels import ItemParameters
from tests.irt.counted_scores import score_counts

A, B = np.array([1.2, 0.7, -0.6, 2.0, 1.5]), np.array([0.3, -1.0, 0.2, 1.0, -0.4])
TOP = np.array([4, 1, 3, 4, 2])
STEPS = np.sign(A)[:, None] * np.cumsum(np.full((5, 4), 0.7), axis=1) - 1.5
ITEMS = GradedParameters(A, graded.padded(STEPS + B[:, None], TOP), TOP)


@pytest.fixture(scope="module")
def ratings() -> Floats:
    rng = np.random.default_rng(0)
    reached = graded.cumulative(rng.standard_normal(40)[:, None], *ITEMS)
    scores = (rng.random((40, 5))[:, :, None] < reached).sum(axis=2).astype(float)
    scores[3, 1:3] = np.nan
    return scores


@pytest.mark.parametrize("method", METHODS)
def test_with_a_highest_score_of_one_the_scores_are_those_of_the_2pl(method: str) -> None:
    rng = np.random.default_rng(1)
    answers = rng.integers(0, 2, (30, 5)).astype(float)
    answers[0], answers[1] = 1.0, 0.0
    answers[2, :2] = np.nan
    asked = (~np.isnan(answers)).astype(float)
    plain = ItemParameters(A, B, np.zeros(5), np.ones(5))
    rated = likelihood(answers, asked, GradedParameters(A, B[:, None], np.ones(5, dtype=np.int64)))
    found, wanted = score_likelihoods(rated, method), score_counts(np.nan_to_num(answers), asked, plain, method)
    for name in wanted._fields:
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-7, atol=1e-8)
    theta = rng.standard_normal(30)
    counted = likelihood(np.nan_to_num(answers), asked, plain)
    for one, other in zip(*(each.items.moments(theta[:, None]) for each in (rated, counted)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)
    np.testing.assert_allclose(rated.slope(theta), counted.slope(theta), atol=1e-10)


def test_eap_and_map_are_integral_and_maximum_of_the_posterior(ratings: Floats) -> None:
    found = {
        method: score_likelihoods(likelihood(ratings, 1.0 - np.isnan(ratings), ITEMS), method)
        for method in ("eap", "map")
    }
    for student in (0, 3, 7):

        def log_posterior(theta: float, row: Floats = ratings[student]) -> float:
            own = ITEMS.log_likelihood(row[None], np.array([theta]))
            return float(own.sum()) - 0.5 * theta**2

        mass, mean = (
            quad(lambda t, p=power, f=log_posterior: t**p * np.exp(f(t)), -9, 9, epsabs=1e-12)[0] for power in (0, 1)
        )
        assert found["eap"].theta[student] == pytest.approx(mean / mass, abs=1e-6)
        best = minimize_scalar(lambda t, f=log_posterior: -f(t), bounds=(-5, 5), method="bounded").x
        assert found["map"].theta[student] == pytest.approx(best, abs=1e-4)


def test_moments_and_slopes_equal_finite_differences() -> None:
    step, theta = 1e-4, np.linspace(-2, 2, 9)
    p = [graded.probability((theta + shift)[:, None], *ITEMS) for shift in (-step, 0.0, step)]
    first, second = (p[2] - p[0]) / (2 * step), (p[2] - 2 * p[1] + p[0]) / step**2
    safe = np.where(p[1] > 0, p[1], 1.0)
    found = ITEMS.moments(theta[:, None])
    np.testing.assert_allclose(found.information, np.sum(first**2 / safe, axis=2), atol=1e-5)
    np.testing.assert_allclose(found.tilt, np.sum(first * second / safe, axis=2), atol=1e-5)
    np.testing.assert_allclose(found.information, graded.information(theta[:, None], *ITEMS), atol=1e-10)


def test_intervals_of_new_students_hold_their_abilities() -> None:
    sim = irt.simulate_graded(700, 12, top=5, seed=5)
    old, new = sim.data.select_students(sim.data.students[:300]), sim.data.select_students(sim.data.students[300:])
    fit = irt.fit(old, "grm", "mml")
    found = {method: score(fit, new, method, draws=40) for method in ("eap", "wle")}
    truth = sim.truth.theta[300:]
    for each in found.values():
        covered = (each.low < truth) & (truth < each.high)
        assert 0.86 < covered.mean() < 0.94
    assert np.mean(((found["eap"].theta - truth) / found["eap"].sd) ** 2) == pytest.approx(1, abs=0.2)
    known = score(fit, new, "eap", propagate=False)
    assert np.mean(known.sd) < np.mean(found["eap"].sd)


def test_ratings_beyond_the_scale_of_the_fit_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    fit = irt.fit(irt.simulate_graded(60, 6, top=3, seed=1).data, "grm", "mml")
    high = irt.ResponseMatrix(np.array([[4.0, 1.0]]), ("new",), ("q0", "q1"), top=np.array([4, 4]))
    message = "student 'new', item 'q0': rating 4; wanted at most 3, the highest score in the fit"
    with pytest.raises(ValueError, match=message):
        score(fit, high)
    fit.save(tmp_path / "fit")
    (tmp_path / "new.csv").write_text("student,q0,q1\nx,3,0\ny,1,\n", encoding="utf-8")
    assert main(["score", str(tmp_path / "fit"), str(tmp_path / "new.csv")]) == 0
    assert "x" in capsys.readouterr().out
    (tmp_path / "bad.csv").write_text("student,q0,q1\nx,4,0\n", encoding="utf-8")
    assert main(["score", str(tmp_path / "fit"), str(tmp_path / "bad.csv")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["dif", "--facet", "llm"],
        ["adaptive", "--pipeline", "s0"],
        ["compare", "s0", "s1"],
        ["power", "--gap", "0.3"],
        ["check", "--groups", "groups.csv"],
    ],
)
def test_what_cannot_read_ratings_says_so_in_one_line(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    irt.fit(irt.simulate_graded(40, 5, top=3, seed=1).data, "grm", "mml").save(tmp_path / "fit")
    command, *rest = words
    assert main([command, str(tmp_path / "fit"), *rest, "-q"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "a fit of ratings (grm)" in said
