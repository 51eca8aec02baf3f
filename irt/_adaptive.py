"""Adaptive testing: ask next what tells most about this student, stop when enough is known.

The state of an exam is a value: `record` returns the next one, and nothing is hidden in it, so it can be pickled after
any answer and resumed without asking anything twice. The posterior of ability is carried for every draw of the fit, so
that the standard error which stops the exam includes what is not known about the items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import softmax

from irt import _quadrature as quadrature
from irt import kernels
from irt._argument_checks import require_number, require_whole
from irt._printing import json_record
from irt._responses import Floats, ResponseMatrix, positions, require_matrix
from irt._result import Fit, require_fit
from irt._scoring import crossing, score
from irt.kernels import ItemParameters

CHOICES = ("information", "posterior", "kl", "random")
DRAWS = 30
"""Draws of the items in each step: enough for their share of the standard error, and quick between two questions."""
FINER = 5
"""Nodes between two of the bank's when bounds are read off: the spline makes them smooth."""
REPLAYED = ("student", "items", "share", "theta", "sd", "low", "high", "full_items", "full_theta", "full_sd", "reached",
            "stopped")  # fmt: skip
"""Columns of a table of replayed exams."""
SEED_STRIDE = 1_000_003
"""A prime, so that the students of two seeds do not share seeds."""


@dataclass(frozen=True)
class Rules:
    """When an exam stops and how it chooses.

    It stops once the standard error is at most `se` after at least `shortest` items, or at `longest` items; with
    neither, when no item is left. `choice`: `information` at the current estimate (EAP), `posterior` (information
    averaged over the posterior), `kl` (Kullback-Leibler distance from the estimate, averaged over the posterior; Chang
    & Ying 1996), or `random`. `among` above 1 draws one of so many best items (randomesque exposure control; Kingsbury
    & Zara 1989). `shares` of the groups in `groups` (item to group) are kept at every length by a priority index.
    """

    se: float | None = None
    longest: int | None = None
    shortest: int = 1
    choice: str = "information"
    among: int = 1
    groups: Mapping[str, str] | None = None
    shares: Mapping[str, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.choice not in CHOICES:
            raise ValueError(f"choice: found '{self.choice}'; wanted {', '.join(CHOICES)}")
        if self.se is not None:
            require_number("se", self.se)
            if not self.se > 0:
                raise ValueError(f"se: found {self.se:g}; wanted a standard error above 0")
        for name, value in (("longest", self.longest), ("shortest", self.shortest), ("among", self.among)):
            if value is not None:
                require_whole(name, value, 1)
        require_whole("seed", self.seed, 0)
        if self.longest is not None and self.shortest > self.longest:
            raise ValueError(f"shortest: found {self.shortest}; wanted at most longest, {self.longest}")
        if (self.groups is None) != (self.shares is None):
            raise ValueError("found one of groups and shares; wanted both, or neither")
        if self.shares is not None and (min(self.shares.values()) < 0 or abs(sum(self.shares.values()) - 1) > 1e-6):
            raise ValueError(
                f"shares: found a sum of {sum(self.shares.values()):g}; wanted shares of at least 0 that sum to 1"
            )


@dataclass(frozen=True)
class ItemBank:
    """Items that may be asked, their point estimates `[I]` and draws, and the abilities `[Q]` integrated over."""

    items: tuple[str, ...]
    parameters: ItemParameters
    draws: ItemParameters
    nodes: Floats
    interval: float

    @cached_property
    def place(self) -> dict[str, int]:
        """Position of each item."""
        return {item: position for position, item in enumerate(self.items)}

    @cached_property
    def information(self) -> Floats:
        """Information of each item at each node, `[Q, I]`."""
        return np.array([self.information_at(float(node)) for node in self.nodes])

    def information_at(self, theta: float) -> Floats:
        """Information of each item's response curve averaged over the draws, `[I]`.

        It is what an answer tells when the item itself is uncertain: below that of the point estimates, most so for
        steep items, which chance in the calibration makes look too good (van der Linden & Glas 2000).
        """
        a, b, c, d = self.draws
        up = kernels.sigmoid(a * (theta - b))
        p = np.mean(c + (d - c) * up, axis=0)
        slope = np.mean(a * (d - c) * up * (1 - up), axis=0)
        return np.asarray(slope**2 / np.maximum(p * (1 - p), 1e-300))

    @cached_property
    def log_probability(self) -> tuple[Floats, Floats]:
        """Log probabilities of right and wrong, `[Q, I]` each."""
        right, wrong = kernels.log_probability(self.nodes[:, None], *self.parameters)
        return np.maximum(right, -1e6), np.maximum(wrong, -1e6)

    def log_likelihood(self, place: int, score: float, trials: float) -> Floats:
        """Of ability at the nodes, for each draw of the items, given one answer; `[D, Q]`."""
        a, b, c, d = (values[:, place, None] for values in self.draws)
        right, wrong = kernels.log_probability(self.nodes[None], a, b, c, d)
        return np.asarray(score * np.maximum(right, -1e6) + (trials - score) * np.maximum(wrong, -1e6))


@dataclass(frozen=True, eq=False)
class AdaptiveExam:
    """An exam under way: what was asked and answered, and the posterior of ability `[D, Q]` (in logs)."""

    bank: ItemBank
    rules: Rules
    log_posterior: Floats
    offered: frozenset[str]
    asked: tuple[str, ...] = field(default=())
    scores: tuple[float, ...] = field(default=())

    @cached_property
    def weights(self) -> Floats:
        """Posterior of ability over the bank's nodes, `[Q]`, averaged over the draws of the items."""
        return _averaged(self.log_posterior)

    @property
    def theta(self) -> float:
        """Expected ability a posteriori."""
        return float(self.weights @ self.bank.nodes)

    @property
    def sd(self) -> float:
        """Standard deviation of ability a posteriori, the items' uncertainty included."""
        return float(np.sqrt(self.weights @ (self.bank.nodes - self.theta) ** 2))

    @property
    def bounds(self) -> tuple[float, float]:
        """Central posterior interval of ability, with the fit's probability."""
        from scipy.interpolate import CubicSpline  # takes a while to load

        nodes, level = self.bank.nodes, self.bank.interval
        fine = np.linspace(nodes[0], nodes[-1], FINER * (len(nodes) - 1) + 1)
        weights = _averaged(np.asarray(CubicSpline(nodes, self.log_posterior, axis=1)(fine)))
        rising = (np.cumsum(weights) - weights / 2)[None]
        low, high = (float(crossing(fine, rising, tail)[0]) for tail in ((1 - level) / 2, (1 + level) / 2))
        return low, high

    @property
    def stopped(self) -> str | None:
        """Why the exam is over (`se`, `length`, `no items left`), or None."""
        count, rules = len(self.asked), self.rules
        if rules.se is not None and count >= rules.shortest and self.sd <= rules.se:
            return "se"
        if rules.longest is not None and count >= rules.longest:
            return "length"
        return None if self._open.any() else "no items left"

    def next_item(self) -> str | None:
        """The item to ask now, or None when the exam is over; the same state always gives the same item."""
        if self.stopped is not None:
            return None
        rng = np.random.default_rng([self.rules.seed, len(self.asked)])
        value = np.where(self._open, self._value(rng) * self._priority(), -np.inf)
        best = np.argsort(-value, kind="stable")[: self.rules.among]
        worthy = [int(place) for place in best if value[place] > 0]
        # Where nothing is worth anything, any open item is as good.
        return self.bank.items[int(rng.choice(worthy)) if worthy else int(np.argmax(self._open))]

    def record(self, item: str, score: float, trials: int = 1) -> AdaptiveExam:
        """The exam after an answer: 0 or 1, or `score` successes of `trials`; ValueError for one already given."""
        if item not in self.offered:
            raise ValueError(f"unknown item '{item}'; this exam does not hold it")
        if item in self.asked:
            raise ValueError(f"item '{item}' was already answered; wanted an item not yet asked")
        require_number(f"item '{item}': score", score)
        require_whole(f"item '{item}': trials", trials, 1)
        if score not in range(trials + 1):
            raise ValueError(f"item '{item}': score {score:g} is not a whole number from 0 to {trials}")
        added = self.bank.log_likelihood(self.bank.place[item], score, trials)
        return replace(
            self,
            log_posterior=self.log_posterior + added,
            asked=(*self.asked, item),
            scores=(*self.scores, float(score)),
        )

    @cached_property
    def _open(self) -> NDArray[np.bool_]:
        left = self.offered.difference(self.asked)
        return np.array([item in left for item in self.bank.items])

    def _value(self, rng: np.random.Generator) -> Floats:
        """What each item is expected to tell, `[I]`."""
        bank, theta = self.bank, self.theta
        if self.rules.choice == "random":
            return rng.random(len(bank.items)) + 1.0
        if self.rules.choice == "posterior":
            return np.asarray(self.weights @ bank.information)
        if self.rules.choice == "kl":
            here = kernels.probability(theta, *bank.parameters)
            right, wrong = bank.log_probability
            now, never = kernels.log_probability(theta, *bank.parameters)
            gap = np.where(here > 0, here * now, 0.0) + np.where(here < 1, (1 - here) * never, 0.0)
            return np.asarray(gap - here * (self.weights @ right) - (1 - here) * (self.weights @ wrong))
        return bank.information_at(theta)

    def _priority(self) -> Floats:
        """By how much each item's group falls short of its share of the items asked so far and now, `[I]`, at least 0.

        The priority index of Cheng & Chang (2009), with quotas that grow with the exam, so that the shares hold
        whenever it stops. All 1 without shares, and when no group that falls short has an item left.
        """
        groups, shares = self.rules.groups, self.rules.shares
        if groups is None or shares is None:
            return np.ones(len(self.bank.items))
        count = {name: sum(groups.get(item) == name for item in self.asked) for name in shares}
        short = {name: max(share * (len(self.asked) + 1) - count[name], 0.0) for name, share in shares.items()}
        priority = np.array([short.get(groups.get(item, ""), 0.0) for item in self.bank.items])
        return priority if (priority[self._open] > 0).any() else np.ones(len(self.bank.items))


@dataclass(frozen=True)
class ExamResult:
    """What an adaptive exam found of a student, of an exam of `offered` items; `goal` is the standard error wanted."""

    student: str
    items: int
    theta: float
    sd: float
    low: float
    high: float
    stopped: str | None
    asked: tuple[str, ...]
    reached: bool
    offered: int
    goal: float | None

    @classmethod
    def of(cls, exam: AdaptiveExam, student: str) -> ExamResult:
        """The result of the exam as far as it went."""
        goal, sd = exam.rules.se, exam.sd
        found = (len(exam.asked), exam.theta, sd, *exam.bounds, exam.stopped, exam.asked)
        return cls(student, *found, goal is not None and sd <= goal, len(exam.offered), goal)

    def record(self) -> dict[str, Any]:
        """The result as JSON can hold it."""
        return json_record({name: value for name, value in vars(self).items() if name not in ("offered", "goal")})

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The result for a reader."""
        return [
            f"{self.student}: {self.items} of {self.offered} questions; stopped by: {self.stopped}",
            self.ability,
            *self.goal_missed,
        ]

    @property
    def ability(self) -> str:
        """The ability for a reader."""
        return f"ability {self.theta:+.2f} [{self.low:+.2f}, {self.high:+.2f}], error {self.sd:.3f}"

    @property
    def goal_missed(self) -> list[str]:
        """A line where the standard error wanted was not reached."""
        if self.goal is None or self.reached:
            return []
        return [f"the wanted error of {self.goal:g} was not reached: these questions give {self.sd:.3g}"]


@dataclass(frozen=True)
class ReplayedExam:
    """What an adaptive exam would have concluded from a student's answers, beside what all of them (`full_`) say.

    `result` is of an exam of the student's answered items. `within` says by how much its goal exceeds the error of the
    full exam, where that set it.
    """

    result: ExamResult
    full_theta: float
    full_sd: float
    within: float | None

    @property
    def share(self) -> float:
        """Items asked, as a share of those answered."""
        return self.result.items / max(self.result.offered, 1)

    def record(self) -> dict[str, Any]:
        """The row of `replay`'s table."""
        full = {"full_items": self.result.offered, "full_theta": self.full_theta, "full_sd": self.full_sd}
        values = vars(self.result) | full | {"share": self.share}
        return json_record({name: values[name] for name in REPLAYED})

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The result for a reader."""
        goal = "by the rules given" if self.within is None else f"within {self.within:.0%} of the full exam's error"
        found = self.result
        return [
            f"{found.student}: {found.items} of {found.offered} questions ({self.share:.0%}), {goal}; "
            f"stopped by: {found.stopped}",
            f"{found.ability}; full exam {self.full_theta:+.2f}, error {self.full_sd:.3f}",
            *(found.goal_missed if self.within is None else []),
        ]


def begin(fit: Fit, rules: Rules | None = None, items: Sequence[str] | None = None, draws: int = DRAWS) -> AdaptiveExam:
    """An exam over `items` of the fit (all by default), nothing asked yet.

    `draws` of the fit carry the uncertainty of its items. Raises ValueError for an unknown item, or an item without
    a group, or a group without a share, when shares are given.
    """
    require_fit(fit)
    fit.require_right_or_wrong("an adaptive exam")
    names = fit.data.items if items is None else tuple(items)
    rules = rules or Rules()
    _require_groups(rules, names)
    return _opened(_bank(fit, names, draws), rules, names)


def administer(exam: AdaptiveExam, answer: Callable[[str], float]) -> AdaptiveExam:
    """Ask until the exam is over; `answer(item)` gives 0 or 1. Goes on from any state."""
    while (item := exam.next_item()) is not None:
        exam = exam.record(item, answer(item))
    return exam


def replay(fit: Fit, data: ResponseMatrix, rules: Rules | None = None, *, within: float | None = None) -> pd.DataFrame:
    """What adaptive exams would have concluded from recorded answers, against all of each student's answers.

    One row per student: `student,items,share,theta,sd,low,high,full_items,full_theta,full_sd,reached,stopped`. With
    `within`, the exam of a student stops at `1 + within` times the standard error of that student's full exam (in place
    of `rules.se`). Judge with students who took no part in the fit.
    """
    return pd.DataFrame([exam.record() for exam in replayed_exams(fit, data, rules, within)])


def replayed_exams(fit: Fit, data: ResponseMatrix, rules: Rules | None, within: float | None) -> list[ReplayedExam]:
    """The rows of `replay`, one per student."""
    require_matrix(data)
    rules = rules or Rules()
    _require_groups(rules, data.items)
    full = score(fit, data, draws=DRAWS)
    bank = _bank(fit, data.items, DRAWS)
    found = []
    for row, student in enumerate(data.students):
        goal = rules.se if within is None else (1 + within) * float(full.sd[row])
        own = replace(rules, se=goal, seed=rules.seed * SEED_STRIDE + row)
        result = ExamResult.of(_replayed(bank, data, row, own), student)
        found.append(ReplayedExam(result, float(full.theta[row]), float(full.sd[row]), within))
    return found


def _bank(fit: Fit, items: Sequence[str], draws: int) -> ItemBank:
    places = positions("item", fit.data.items, items)
    thin = fit.thinned(draws)
    varied = ItemParameters(*(thin[name] for name in "abcd")).at(places)
    parameters = fit.parameters.at(places)
    trials = max(float(fit.data.attempts.max(initial=1.0)), 1.0)
    nodes = quadrature.nodes_for(parameters, trials)
    return ItemBank(tuple(items), parameters, varied, nodes, fit.interval)


def _opened(bank: ItemBank, rules: Rules, items: Sequence[str]) -> AdaptiveExam:
    prior = np.broadcast_to(-0.5 * bank.nodes**2, (len(bank.draws.a), len(bank.nodes))).copy()
    return AdaptiveExam(bank, rules, prior, frozenset(items))


def _averaged(log_posterior: Floats) -> Floats:
    """Each draw's posterior `[D, Q]` made to sum to 1, and their mean `[Q]`."""
    return np.asarray(softmax(log_posterior, axis=1).mean(axis=0))


def _replayed(bank: ItemBank, data: ResponseMatrix, row: int, rules: Rules) -> AdaptiveExam:
    where = {data.items[column]: column for column in np.flatnonzero(data.asked[row])}
    exam = _opened(bank, rules, list(where))
    while (item := exam.next_item()) is not None:
        exam = exam.record(item, float(data.scores[row, where[item]]), int(data.attempts[row, where[item]]))
    return exam


def _require_groups(rules: Rules, items: Sequence[str]) -> None:
    if rules.groups is None or rules.shares is None:
        return
    for item in items:
        if item not in rules.groups:
            raise ValueError(f"item '{item}' has no group; wanted one for every item")
        if rules.groups[item] not in rules.shares:
            raise ValueError(f"group '{rules.groups[item]}' of item '{item}' has no share; wanted one per group")
