"""Marginal estimates with priors: the items' population, its estimated spreads, and what they do for the items."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import irt
from irt._model import Priors, Problem
from irt._responses import Floats
from irt.commands import main
from irt.fitting import _em as em
from irt.fitting._coordinates import SHARED
from irt.fitting._item_priors import Penalty, PopulationPrior, Spreads, population_of
from irt.fitting._marginal_maximum import starting_point
from irt.fitting._population_spreads import item_moments, settle
from tests.irt.marginal import directions, finite, mml, problem_of, table


def prior_and_point(model: str) -> tuple[PopulationPrior, Floats]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 7))
    x[0] = np.exp(0.3 * x[0]) * np.where(np.arange(7) == 2, -1, 1)
    x[0] = 1.3 if model == "1pl" else x[0]
    zero, ones = np.zeros_like(x), np.ones_like(x)
    rest = Penalty(zero, zero, 2 * ones * (np.arange(3)[:, None] == 2), 3 * ones * (np.arange(3)[:, None] == 2))
    return PopulationPrior(Spreads(0.4, 0.9), Priors(), model != "1pl", rest), x


@pytest.mark.parametrize("model", ["1pl", "2pl"])
def test_derivatives_of_the_population_equal_differences(model: str) -> None:
    prior, x = prior_and_point(model)
    for step in directions(x, model):
        high, low = x + 1e-5 * step, x - 1e-5 * step
        slope = (prior.value(high) - prior.value(low)) / 2e-5
        assert slope == pytest.approx(float(np.sum(prior.gradient(x) * step)), abs=1e-6)
        bent = float(np.sum((prior.gradient(low) - prior.gradient(high)) / 2e-5 * step))
        released = np.einsum("nki,ki->n", prior.released(x), step)
        own = float(np.einsum("ki,ikl,li->", step, prior.information(x, observed=True), step))
        assert bent == pytest.approx(own - float(released @ released), abs=1e-5)


def explicit(x: Floats, centre: float, mean: float, spreads: Spreads) -> float:
    """Log density of log slopes, intercepts and centres by the definition, for default priors."""
    logs, b = np.log(np.abs(x[0])), -x[1] / x[0] * np.exp(centre)
    items = ((logs - centre) / spreads.a) ** 2 + ((b - mean) / spreads.b) ** 2
    return float(-0.5 * (items.sum() + centre**2 + (mean / 2) ** 2) + np.sum(centre - logs))


def test_centres_are_at_their_best() -> None:
    prior, x = prior_and_point("2pl")
    best = minimize(lambda at: -explicit(x, at[0], at[1], prior.spreads), [0.0, 0.0], tol=1e-12)
    at = prior.place(x)
    np.testing.assert_allclose([at.centre, at.mean], best.x, atol=1e-5)
    assert prior.value(x) - prior.rest.value(x) == pytest.approx(-best.fun, abs=1e-8)


def small_problem(model: str, seed: int = 3) -> tuple[Problem, em.AnswerPatterns, Floats]:
    problem = problem_of(irt.simulate(1000, 8, model, seed=seed, log_a_sd=0.4).data, model)
    return problem, em.compress(problem.successes, problem.attempts), starting_point(problem)


def test_moments_of_an_item_equal_those_on_a_fine_grid() -> None:
    sim = irt.simulate(40, 30, seed=1)
    problem = problem_of(sim.data, "2pl")
    answers, x = em.compress(problem.successes, problem.attempts), starting_point(problem)
    x[0] = np.maximum(x[0], 0.3)
    prior = population_of(problem, Spreads(0.4, 1.0), x.shape)
    top = em.climb(answers, x, SHARED["2pl"], prior)
    found = em.expect(answers, top.state.x, top.nodes)
    moments, at = item_moments(found, top.state.x, prior, SHARED["2pl"]), prior.place(top.state.x)
    for item in (0, 7):
        logs, intercept = np.meshgrid(np.linspace(-2, 1.5, 141), np.linspace(-5, 5, 201))
        b = -intercept * np.exp(at.centre - logs)
        weight = -0.5 * (((logs - at.centre) / 0.4) ** 2 + (b - at.mean) ** 2) - logs
        z = np.exp(logs)[..., None] * top.nodes + intercept[..., None]
        weight += (
            found.right[:, item] * z - np.broadcast_to(found.asked, found.right.shape)[:, item] * np.logaddexp(0, z)
        ).sum(-1)
        weight = np.exp(weight - weight.max())
        weight /= weight.sum()
        for row, values in enumerate((logs, b)):
            mean = float(np.sum(weight * values))
            sd = float(np.sqrt(np.sum(weight * (values - mean) ** 2)))
            assert moments.mean[row, item] == pytest.approx(mean, abs=0.03 * sd)
            assert np.sqrt(moments.variance[row, item]) == pytest.approx(sd, rel=0.05)


@pytest.mark.parametrize("model", ["1pl", "2pl"])
def test_spreads_are_a_stationary_point_of_the_evidence(model: str) -> None:
    problem, answers, start = small_problem(model)
    found = settle(answers, problem, start)
    free, nodes = model == "2pl", found.top.nodes
    v = np.log(np.array(found.prior.spreads)[0 if free else 1 :])
    widths = np.array([0.5, 2.0])[-len(v) :]
    items = start.shape[1]

    def evidence(v: Floats) -> float:
        """Laplace's approximation over log slopes, intercepts and centres, by differences of the definition."""
        spreads = Spreads(*np.exp(v)) if free else Spreads(1.0, float(np.exp(v[0])))
        prior = population_of(problem, spreads, start.shape)
        x = em.climb(answers, found.top.state.x, SHARED[model], prior).state.x
        at = prior.place(x)

        def density(y: Floats) -> float:
            slope = np.exp(y[:items]) if free else np.full(items, np.exp(y[0]))
            point = np.stack([slope, y[-items - 2 : -2]])
            likelihood = em.evaluate(answers, point, nodes, SHARED[model], Penalty(*np.zeros((4, *point.shape)))).value
            centre, mean = (y[-2], y[-1]) if free else (y[0], y[-1])
            if free:
                return likelihood + explicit(point, centre, mean, spreads)
            normal = ((-point[1] - mean) / spreads.b) ** 2
            return likelihood - 0.5 * float(normal.sum() + y[0] ** 2 + (mean / 2) ** 2 + y[-2] ** 2)

        logs = np.log(x[0]) if free else np.log(x[0, :1])
        y = np.concatenate([logs, x[1], [at.centre, at.mean]])
        normal = -items * float(np.log(spreads.b) + (np.log(spreads.a) if free else 0.0))
        hyper = float(np.sum(v - 0.5 * np.exp(2 * v) / widths**2))
        return density(y) + normal + hyper - 0.5 * float(np.linalg.slogdet(hessian(density, y))[1])

    for row, error in zip(np.eye(len(v)), found.errors, strict=True):
        slope = (evidence(v + 0.1 * row) - evidence(v - 0.1 * row)) / 0.2
        assert abs(slope) * error < 0.25


def hessian(density: object, y: Floats, step: float = 1e-3) -> Floats:
    """Minus the second differences."""
    count, moves = len(y), step * np.eye(len(y))
    found = np.empty((count, count))
    for i in range(count):
        for j in range(i + 1):
            ends = [density(y + p * moves[i] + q * moves[j]) for p, q in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
            found[i, j] = found[j, i] = -(ends[0] - ends[1] - ends[2] + ends[3]) / (4 * step**2)
    return found


@pytest.mark.parametrize(("students", "items"), [(63, 200), (1000, 40)])
def test_spreads_of_the_truth_are_recovered_and_said(students: int, items: int) -> None:
    found = []
    for seed, (log_a_sd, b_sd) in enumerate([(0.3, 1.0), (0.5, 1.6), (0.2, 0.7)]):
        sim = irt.simulate(students, items, seed=40 + seed, log_a_sd=log_a_sd, b_sd=b_sd, mean_a=1.3)
        fit = mml(sim.data, priors=Priors())
        assert fit.converged
        true = np.log(sim.truth.a).std(), sim.truth.b.std()
        found.append([float(fit.diagnostics[f"spread_{name}"]) / each for name, each in zip("ab", true, strict=True)])
        assert any(
            "priors' spreads were estimated" in said and f"{fit.diagnostics['spread_b']:.2f}" in said
            for said in fit.notes
        )
    np.testing.assert_allclose(np.mean(found, axis=0), 1.0, atol=0.15)
    np.testing.assert_allclose(found, 1.0, atol=0.35)


def test_equal_slopes_shrink_together() -> None:
    sim = irt.simulate(600, 40, seed=4, log_a_sd=0.0)
    fit = mml(sim.data, priors=Priors())
    assert fit.converged
    assert finite(fit)
    assert 0.0 < float(fit.diagnostics["spread_a"]) < 0.12
    assert fit.point["a"].std() < 0.25 * mml(sim.data).point["a"].std()


@pytest.mark.parametrize("model", ["2pl", "3pl"])
def test_a_population_errs_less_than_spreads_that_are_wrong_and_no_more_than_map(model: str) -> None:
    ours, wide, theirs = [], [], []
    for seed in (50, 51):
        sim = irt.simulate(63, 120, model, seed=seed, log_a_sd=0.15, b_sd=0.6)
        problem = problem_of(sim.data, model)
        answers = em.compress(problem.successes, problem.attempts)
        start = starting_point(problem)
        start[0] = np.maximum(start[0], 0.3)
        fixed = em.climb(answers, start, SHARED[model], population_of(problem, Spreads(0.5, 2.0), start.shape)).state.x
        fits = [mml(sim.data, model, Priors()).point, {"a": fixed[0], "b": -fixed[1] / fixed[0]}]
        fits.append(irt.fit(sim.data, model, "map").point)
        for kept, point in zip((ours, wide, theirs), fits, strict=True):
            kept.append([np.sqrt(np.mean((point[name] - getattr(sim.truth, name)) ** 2)) for name in "ab"])
    assert np.all(np.mean(ours, axis=0) < np.mean(wide, axis=0))
    assert np.all(np.mean(ours, axis=0) < 1.1 * np.mean(theirs, axis=0))


def test_intervals_of_a_population_hold_the_truth_as_often_as_they_say() -> None:
    shares: dict[str, list[float]] = {name: [] for name in ("a", "b", "theta")}
    for seed in range(60, 64):
        sim = irt.simulate(100, 100, seed=seed)
        fit = mml(sim.data, priors=Priors())
        for name, kept in shares.items():
            low, high = np.quantile(fit.draws[name], [0.05, 0.95], axis=0)
            truth = getattr(sim.truth, name)
            kept.append(float(np.mean((low < truth) & (truth < high))))
    for name, kept in shares.items():
        assert np.mean(kept) == pytest.approx(0.9, abs=0.06), name


def test_only_a_clearly_negative_association_turns_a_slope_of_a_population() -> None:
    sim = irt.simulate(300, 60, seed=6, mean_a=1.4)
    scores = sim.data.scores.copy()
    scores[:, 4] = 1 - scores[:, 4]
    scores[:, 9] = np.random.default_rng(0).random(300) < 0.4
    fit = mml(table(scores), priors=Priors())
    assert fit.converged
    assert fit.point["a"][4] < -0.5
    assert 0 < fit.point["a"][9] < 0.6 * np.median(fit.point["a"])
    assert np.all(np.delete(fit.point["a"], 4) > 0)
    assert fit.point["b"][4] == pytest.approx(sim.truth.b[4], abs=0.5)


def test_a_spread_of_no_prior_width_is_said_by_the_table_alone() -> None:
    data = irt.simulate(200, 80, seed=8).data
    narrow, wide = (mml(data, priors=replace(Priors(), spread_a=width)) for width in (0.5, 1.0))
    assert float(narrow.diagnostics["spread_a"]) == pytest.approx(float(wide.diagnostics["spread_a"]), rel=0.03)


@pytest.mark.parametrize("wrong", [{"spread_a": -1.0}, {"spread_b": 0.0}, {"centre_b": float("nan")}, {"upper": 1.0}])
def test_impossible_priors_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=rf"priors: {next(iter(wrong))} is "):
        irt.Priors(**wrong)


def test_priors_of_another_kind_are_refused():
    data = irt.simulate(20, 10, seed=0).data
    with pytest.raises(ValueError, match=r"priors is a bool; wanted irt\.Priors\(\) or None"):
        irt.fit(data, "2pl", "mml", priors=True)


def test_the_command_line_takes_priors(tmp_path, capsys):
    scores = irt.simulate(40, 12, seed=1).data.scores.astype(int)
    header = ",".join(["student", *(f"q{item}" for item in range(scores.shape[1]))])
    lines = [f"s{row}," + ",".join(map(str, values)) for row, values in enumerate(scores)]
    (tmp_path / "answers.csv").write_text("\n".join([header, *lines]))
    assert main(["fit", str(tmp_path / "answers.csv"), "--method", "mml", "--priors", "--quiet", "--json"]) == 0
    assert any("spreads were estimated" in line for line in capsys.readouterr().err.splitlines())
