"""How many questions tell two pipelines apart, and what gap a number of questions can show.

The questions are thought of as drawn from where the exam's came from. Two ways to test: by ability, with calibrated
items (Wald test of the difference of two ability estimates, error 1/I each), or by share right (no model at test time;
in the paired design McNemar's test, where what both find hard cancels). Where levels have effects on items, the two
pipelines have no level in common; `Fit.d_study` plans for two levels of a facet, and for pipelines that share some.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from irt._argument_checks import require_number, require_probability, require_whole
from irt._model import flattening
from irt._printing import json_record
from irt._question_source import QuestionSource, drawn_sources, effect_variance
from irt._result import Estimate, Fit, require_fit

DESIGNS = ("paired", "independent")
SCALES = ("ability", "accuracy")
DRAWS = 200
"""Draws of the items, each a search for a root: enough for a 90 % interval."""
WIDEST = 8.0
"""Abilities further from the middle are nobody's (1 in 10^15); wider gaps are not looked for."""


class OutOfReachError(ValueError):
    """No number of questions like these, or not so many, tells such a gap apart."""


@dataclass(frozen=True)
class Power:
    """Questions each of two pipelines must answer, with interval, and what the gap means on both scales.

    `theta` are the two abilities; `accuracy` their expected shares right. `low`, `high` and `questions` are whole
    numbers; `exams` is `questions` in lengths of this exam.
    """

    questions: int
    low: int
    high: int
    exams: float
    gap: float
    scale: str
    design: str
    power: float
    level: float
    theta: tuple[float, float]
    accuracy: tuple[float, float]
    interval: float

    def record(self) -> dict[str, Any]:
        """The answer as JSON can hold it."""
        return json_record(self)

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The answer for a reader."""
        shares = " and ".join(f"{share:.1%}" for share in self.accuracy)
        test = _test_text(self.power, self.level, self.design, sum(self.theta) / 2)
        return [
            f"{self.questions} questions [{self.low}, {self.high}] tell a gap of {self.gap:g} in {self.scale} apart "
            f"{test}",
            f"that is {self.exams:.1f} times this exam; such pipelines answer {shares} right",
        ]


@dataclass(frozen=True)
class DetectableGap:
    """The gap that so many questions tell apart with the wanted power, and its interval."""

    questions: int
    estimate: float
    low: float
    high: float
    power: float
    level: float
    scale: str
    design: str
    at: float
    interval: float

    def record(self) -> dict[str, Any]:
        """The answer as JSON can hold it."""
        return json_record({("gap" if name == "estimate" else name): value for name, value in vars(self).items()})

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The answer for a reader."""
        size = f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"
        test = _test_text(self.power, self.level, self.design, self.at)
        return [f"{self.questions} questions show a gap of {size} in {self.scale} {test}"]


@dataclass(frozen=True)
class UndetectableGap:
    """What was asked of `power` or `detectable_gap`, and the reason why these questions cannot tell it."""

    questions: int | None
    gap: float | None
    at: float
    power: float
    level: float
    scale: str
    design: str
    reason: str

    def record(self) -> dict[str, Any]:
        """What was asked as JSON can hold it; what was wanted is null."""
        return json_record(self)

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The reason."""
        return [f"no answer: {self.reason}"]


class PowerSettings(NamedTuple):
    """A planned comparison: which scale, which design, the power wanted and the two-sided level."""

    scale: str = "ability"
    design: str = "paired"
    power: float = 0.8
    level: float = 0.05


def power(
    fit: Fit,
    gap: float,
    at: float = 0.0,
    *,
    power: float = 0.8,
    level: float = 0.05,
    scale: str = "ability",
    design: str = "paired",
    seed: int = 0,
) -> Power:
    """Questions like these that two pipelines `gap` apart, halfway at ability `at`, need to be told apart.

    `scale="ability"`: the gap is in abilities, tested by ability estimates; `"accuracy"`: in expected share right,
    tested by shares right. `design`: both answer the same questions (`paired`) or each its own (`independent`). The
    interval carries the uncertainty of the items, and that these items are a sample (Bayesian bootstrap). Raises
    ValueError for a gap of 0, and its kind OutOfReachError for one that no two abilities have.
    """
    plan = _checked(PowerSettings(scale, design, power, level), fit, seed)
    require_number("gap", gap)
    if not gap > 0:
        raise ValueError(f"gap: found {gap:g}; wanted a gap above 0")

    def questions(source: QuestionSource) -> float:
        return questions_needed(source, abilities_apart(source, gap, at, scale), plan)

    needed = _with_interval(fit, seed, questions)
    source = _at_point(fit)
    theta = abilities_apart(source, gap, at, scale)
    shares = tuple(float(source.probability(each).mean()) for each in theta)
    return Power(
        questions=int(np.ceil(needed.estimate)),
        low=int(np.ceil(needed.low)),
        high=int(np.ceil(needed.high)),
        exams=needed.estimate / len(fit.data.items),
        gap=gap,
        **plan._asdict(),
        theta=theta,
        accuracy=(shares[0], shares[1]),
        interval=fit.interval,
    )


def detectable_gap(
    fit: Fit,
    questions: int,
    at: float = 0.0,
    *,
    power: float = 0.8,
    level: float = 0.05,
    scale: str = "ability",
    design: str = "paired",
    seed: int = 0,
) -> DetectableGap:
    """The gap that so many questions tell apart with the wanted power: the inverse of `power`, with its interval.

    OutOfReachError (a ValueError) when even the widest gap would need more questions.
    """
    plan = _checked(PowerSettings(scale, design, power, level), fit, seed)
    require_whole("questions", questions, 1)
    _on_scale(at, at)
    found = _with_interval(fit, seed, lambda source: _gap_shown(source, questions, at, plan))
    bounds = (found.estimate, found.low, found.high)
    return DetectableGap(questions, *bounds, power, level, scale, design, at, fit.interval)


def questions_needed(source: QuestionSource, theta: tuple[float, float], plan: PowerSettings) -> float:
    """Questions per pipeline for abilities `theta`."""
    alpha, beta = float(ndtri(1 - plan.level / 2)), float(ndtri(plan.power))
    gap, null, real = _one_question(source, theta, plan)
    return (alpha * float(np.sqrt(null)) + beta * float(np.sqrt(real))) ** 2 / gap**2


def power_of(source: QuestionSource, theta: tuple[float, float], questions: float, plan: PowerSettings) -> float:
    """Probability that so many questions tell the abilities `theta` apart: the inverse of `questions_needed`."""
    alpha = float(ndtri(1 - plan.level / 2))
    gap, null, real = _one_question(source, theta, plan)
    return float(ndtr((abs(gap) * np.sqrt(questions) - alpha * np.sqrt(null)) / np.sqrt(real)))


def abilities_apart(source: QuestionSource, gap: float, at: float, scale: str) -> tuple[float, float]:
    """Two abilities, `at` halfway between them, that are `gap` apart in ability or in expected share right."""
    if scale == "ability":
        return _on_scale(at + gap / 2, at - gap / 2)

    def short(width: float) -> float:
        return _shares_apart(source, width, at) - gap

    if short(2 * WIDEST) <= 0:
        raise OutOfReachError(
            f"gap {gap:g} in share right is more than any two abilities around {at:g} have on these questions"
        )
    from scipy.optimize import brentq  # takes a while to load

    width = float(brentq(short, 0.0, 2 * WIDEST, xtol=1e-10))
    return at + width / 2, at - width / 2


def _on_scale(upper: float, lower: float) -> tuple[float, float]:
    """The two abilities; OutOfReachError where nobody has one and information vanishes."""
    if not -WIDEST <= lower <= upper <= WIDEST:
        raise OutOfReachError(
            f"abilities from {lower:g} to {upper:g} are asked for, and outside -{WIDEST:g} to {WIDEST:g} no questions "
            "tell anything"
        )
    return upper, lower


def _one_question(
    source: QuestionSource, theta: tuple[float, float], plan: PowerSettings
) -> tuple[float, float, float]:
    """The gap on the plan's scale, and the variance that one question leaves of it, with no gap and with it.

    Ability: two estimates, 1/I each. Share right, paired: the share of discordant answers, and that less the squared
    gap (Connor 1987). Independent: two binomials.
    """
    if plan.scale == "ability":
        error = sum(1.0 / source.information(each).mean for each in theta)
        return theta[0] - theta[1], error, error
    first, second = (source.probability(each) for each in theta)
    p, q = float(source.weights @ first), float(source.weights @ second)
    if plan.design == "paired":
        discordant = float(source.weights @ (first * (1 - second) + second * (1 - first)))
        return p - q, discordant, discordant - (p - q) ** 2
    middle = (p + q) / 2
    return p - q, 2 * middle * (1 - middle), p * (1 - p) + q * (1 - q)


def _gap_shown(source: QuestionSource, questions: int, at: float, plan: PowerSettings) -> float:
    """The gap at which `questions_needed` equals `questions`, by its width in ability."""

    def excess(width: float) -> float:
        return power_of(source, (at + width / 2, at - width / 2), questions, plan) - plan.power

    # Power falls again where abilities leave the questions behind, so the first crossing is looked for from below.
    widths = np.geomspace(0.01, WIDEST, 40)
    over = next((width for width in widths if excess(width) > 0), None)
    if over is None:
        said = "question like these does" if questions == 1 else "questions like these do"
        raise OutOfReachError(f"{questions} {said} not show any gap around ability {at:g}; ask more")
    from scipy.optimize import brentq  # takes a while to load

    width = float(brentq(excess, 1e-6, over, xtol=1e-9))
    return width if plan.scale == "ability" else _shares_apart(source, width, at)


def _shares_apart(source: QuestionSource, width: float, at: float) -> float:
    """Difference of the expected shares right of abilities that are `width` apart around `at`."""
    up, down = (float(source.weights @ source.probability(at + side * width / 2)) for side in (1, -1))
    return up - down


def _test_text(power: float, level: float, design: str, at: float) -> str:
    return f"with power {power:.0%} at level {level:g}, {design}, around ability {at:g}"


def _at_point(fit: Fit) -> QuestionSource:
    """The source at the point estimates, every item of the exam as likely to be drawn."""
    count, flat = len(fit.data.items), float(flattening(fit.point))
    items = fit.parameters._replace(a=fit.parameters.a * flat)
    return QuestionSource(items, np.full(count, 1.0 / count), float(effect_variance(fit.point)))


def _with_interval(fit: Fit, seed: int, quantity: Callable[[QuestionSource], float]) -> Estimate:
    """The median and interval of a quantity over draws of the source, each with Dirichlet weights (Rubin 1981).

    It must exist at the point estimates, too; a draw in which it does not is left out, and OutOfReachError is raised
    when these are too many for an interval. What items tell is no linear function of them: at point estimates of steep
    items it lies outside the interval.
    """
    quantity(_at_point(fit))
    values, failures = [], []
    for source in drawn_sources(fit.thinned(DRAWS), seed):
        try:
            values.append(quantity(source))
        except OutOfReachError as error:
            failures.append(str(error))
    if len(failures) > (1 - fit.interval) / 2 * (len(values) + len(failures)):
        raise OutOfReachError(f"no interval can be given: within the uncertainty of the items, {failures[0]}")
    median = float(np.median(values))
    return fit.summary(np.array(values), median)._replace(estimate=median)


def _checked(plan: PowerSettings, fit: Fit, seed: int) -> PowerSettings:
    require_fit(fit)
    require_whole("seed", seed, 0)
    if plan.scale not in SCALES:
        raise ValueError(f"scale: found '{plan.scale}'; wanted {' or '.join(SCALES)}")
    if plan.design not in DESIGNS:
        raise ValueError(f"design: found '{plan.design}'; wanted {' or '.join(DESIGNS)}")
    for name, value in (("power", plan.power), ("level", plan.level)):
        require_probability(name, value)
    return plan
