"""What tests of marginal likelihood share: fits, small tables off their maximum, directions to differentiate along."""

import numpy as np

import irt
from irt._design import build_design
from irt._model import Priors, Problem, build_problem
from irt._responses import Floats
from irt.fitting import _em as em
from irt.fitting._marginal_maximum import starting_point

MODELS = ("1pl", "2pl", "3pl", "4pl")


def table(scores: Floats, trials: Floats | None = None) -> irt.ResponseMatrix:
    names = tuple(f"s{index}" for index in range(len(scores)))
    return irt.ResponseMatrix(scores, names, tuple(f"q{index}" for index in range(scores.shape[1])), trials)


def mml(data: irt.ResponseMatrix, model: str = "2pl", priors: Priors | None = None) -> irt.Fit:
    return irt.fit(data, model, "mml", priors=priors)


def problem_of(data: irt.ResponseMatrix, model: str) -> Problem:
    return build_problem(data, build_design(data), model, 4, Priors())


def finite(fit: irt.Fit) -> bool:
    arrays = (*fit.draws.values(), *fit.point.values(), *fit.errors.values())
    return all(bool(np.isfinite(values).all()) for values in arrays) and not fit.items.isna().to_numpy().any()


def small_table(model: str, seed: int = 0) -> tuple[em.AnswerPatterns, Floats, Floats]:
    """A table with missing cells and counts, a point off the maximum, and nodes."""
    rng = np.random.default_rng(seed)
    trials = rng.integers(1, 4, (25, 6)).astype(float)
    scores = rng.binomial(trials.astype(int), 0.6).astype(float)
    scores[rng.random(scores.shape) < 0.2] = np.nan
    problem = problem_of(table(scores, trials), model)
    x = starting_point(problem) + 0.3 * rng.standard_normal((1, 6))
    x[0] = x[0].mean() if model == "1pl" else x[0]
    return em.compress(problem.successes, problem.attempts), x, np.linspace(-6, 6, 81)


def directions(x: Floats, model: str, count: int = 6) -> list[Floats]:
    rng = np.random.default_rng(1)
    drawn = [rng.standard_normal(x.shape) for _ in range(count)]
    for each in drawn:
        each[0] = each[0].mean() if model == "1pl" else each[0]
    return drawn
