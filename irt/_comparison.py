"""Two students, or two levels of a facet: who is better, by how much, and does a test without a model agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from irt._design import SEPARATOR
from irt._item_covariates import Mix
from irt._printing import json_record
from irt._responses import Floats, ResponseMatrix
from irt._result import Estimate, Fit, require_fit
from irt.kernels import probability

DRAWS = 1000
"""Draws of expected shares: ends of intervals are then known to a few hundredths of their width."""
PERMUTATIONS = 9999
"""Exchanges of signs that are tried at random where there are more than so many."""


class PairedTest(NamedTuple):
    """Units (`"questions"` or `"pairs"`) in which one did better than the other, and a two-sided p-value.

    Two students are compared over questions, by the exact sign test: with one answer to each it is McNemar's (1947). It
    speaks of these two. Levels of a facet are compared over the pairs of students that differ in it alone, by
    exchanging the two at random within pairs (exactly where there are few): questions are no independent witnesses of a
    level, for the same students answer them all. Nor are pairs, where all differ on the same few questions: a level is
    better where the tests over pairs and over questions both say so. It is 1 when nothing differs.
    """

    unit: str
    a_better: int
    b_better: int
    same: int
    p_value: float

    @property
    def units(self) -> int:
        """How many units were compared."""
        return self.a_better + self.b_better + self.same


@dataclass(frozen=True)
class AbilityComparison:
    """`a` minus `b`: ability, expected share right on the exam's items, and the model-free check beside them.

    `ability.probability` is P(a is better); `logits` is the same difference in logits of a typical item. `observed_a`
    and `observed_b` are the shares right on the items both were asked, for a facet over the pairs of students that
    differ in it alone; `pairs` is their number, `observed` the difference. `test` is over questions for students and
    over pairs for levels, `over_questions` over questions for both.
    """

    a: str
    b: str
    facet: str | None
    ability: Estimate
    logits: Estimate
    accuracy: Estimate
    accuracy_a: Estimate
    accuracy_b: Estimate
    observed_a: float
    observed_b: float
    test: PairedTest
    over_questions: PairedTest
    pairs: int
    interval: float

    @property
    def observed(self) -> float:
        """Difference of the observed shares right."""
        return self.observed_a - self.observed_b

    def record(self) -> dict[str, Any]:
        """The comparison as JSON can hold it."""
        return json_record({**vars(self), "observed": self.observed})

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The comparison for a reader."""
        a, b, test = self.a, self.b, self.test
        rest, units, kind = "", "questions", "exact paired test"
        if self.facet is not None:
            rest, units = ", all else at its average,", "pairs that differ in nothing else"
            kind = "permutation test over pairs"
        ability, accuracy = self.ability.text(), self.accuracy.text(100, " points")
        lines = [
            f"{a} minus {b}: ability {ability} ({self.logits.text()} in logits), "
            f"P({a} is better) = {self.ability.probability:.3f}",
            f"expected share right{rest} {self.accuracy_a.estimate:.1%} and {self.accuracy_b.estimate:.1%}: {accuracy}",
            f"without a model: {self.observed_a:.1%} and {self.observed_b:.1%} right; {a} is better in {test.a_better} "
            f"of {test.units} {units}, {b} in {test.b_better}; {kind} p = {test.p_value:.3g}",
        ]
        if self.facet is not None:
            over = self.over_questions
            lines.append(
                f"over questions: {a} is better in {over.a_better} of {over.units}, {b} in {over.b_better}; "
                f"sign test p = {over.p_value:.3g}"
            )
        return lines


def compare(fit: Fit, a: str, b: str, facet: str | None = None, *, at: Mix | None = None) -> AbilityComparison:
    """Compare two students, or two levels of a facet (named, or the only one that has both), `at` a mix of questions
    (`Fit.at`).

    The levels of an interaction are combinations (`"llm0 x bm25"`), the effects of their facets included. The expected
    share right of a level is that of a student at it whose other effects and residual are 0. Raises
    ValueError for unknown or equal names, for levels of several facets, and when no item was asked of both.
    """
    require_fit(fit)
    if a == b:
        raise ValueError(f"found '{a}' twice; wanted two different names")
    fit = fit if at is None else fit.at(at)
    facet = _facet_of(fit, a, b) if facet is None else facet
    fit.require_right_or_wrong("a comparison")
    thin = fit.thinned(DRAWS)
    if facet is None:
        ability, logits = (fit.compare_students(a, b, logits=each) for each in (False, True))
        columns = [fit.data.students.index(name) for name in (a, b)]
        theta, point = thin["theta"], np.asarray(fit.point["theta"])
        rows = [(columns[0], columns[1])]
    else:
        ability, logits = (fit.contrast(facet, a, b, logits=each) for each in (False, True))
        term = fit.design.term(facet)
        columns = [term.levels.index(name) for name in (a, b)]
        theta, point = (fit.design.worth(facet, values) for values in (thin, fit.point))
        rows = matched_pairs(fit.data, term.facets, a, b)
    drawn = [thin[name] for name in "abcd"]
    shares = [np.asarray(probability(theta[:, column, None], *drawn).mean(axis=1)) for column in columns]
    centre = [float(np.mean(probability(point[column], *fit.parameters))) for column in columns]
    accuracy = fit.summary(shares[0] - shares[1], centre[0] - centre[1])
    each = [fit.summary(share, value) for share, value in zip(shares, centre, strict=True)]
    share_a, share_b, over_questions = paired_test(fit.data, rows, a, b, of_levels=False)
    test = over_questions if facet is None else paired_test(fit.data, rows, a, b, of_levels=True)[2]
    observed = (share_a, share_b, test, over_questions, len(rows))
    return AbilityComparison(a, b, facet, ability, logits, accuracy, each[0], each[1], *observed, fit.interval)


def matched_pairs(data: ResponseMatrix, facets: Sequence[str], a: str, b: str) -> list[tuple[int, int]]:
    """Rows of students at `a` and at `b` that share all other facets, in the order of the table.

    `a` and `b` are levels of one facet, or combinations (`"x x y"`) of several. Repeated students are paired in their
    order. ValueError when there is no such pair.
    """
    assert data.facets is not None
    others = data.facets.drop(columns=list(facets))
    levels = np.array([SEPARATOR.join(row) for row in data.facets[list(facets)].to_numpy(dtype=str)])
    waiting: dict[tuple[str, ...], list[int]] = {}
    for row in np.flatnonzero(levels == b):
        waiting.setdefault(tuple(others.iloc[row]), []).append(int(row))
    pairs = []
    for row in np.flatnonzero(levels == a):
        partners = waiting.get(tuple(others.iloc[row]), [])
        if partners:
            pairs.append((int(row), partners.pop(0)))
    if not pairs:
        raise ValueError(f"no students at '{a}' and at '{b}' share all other facets; nothing can be paired")
    return pairs


def paired_test(
    data: ResponseMatrix, rows: Sequence[tuple[int, int]], a: str, b: str, *, of_levels: bool
) -> tuple[float, float, PairedTest]:
    """Shares right of either side on the items both of a pair were asked, and their test: over items, or over pairs."""
    first, second = (np.array([row[side] for row in rows]) for side in (0, 1))
    both = data.asked[first] & data.asked[second]
    if not both.any():
        raise ValueError(f"no item was asked of both '{a}' and '{b}'; they cannot be paired")
    share = np.nan_to_num(data.proportions)
    gaps = np.where(both, share[first] - share[second], 0.0)
    units = gaps[both.any(axis=1)].sum(axis=1) if of_levels else gaps.sum(axis=0)[both.any(axis=0)]
    units = np.where(np.abs(units) < 1e-9, 0.0, units)
    test = exchange_test(units) if of_levels else sign_test(units)
    return float(share[first][both].mean()), float(share[second][both].mean()), test


def sign_test(gaps: Floats) -> PairedTest:
    """Exact two-sided sign test of differences over questions `[N]`; zeros are left out."""
    from scipy.stats import binomtest  # takes a while to load

    up, differing = int(np.sum(gaps > 0)), int(np.sum(gaps != 0))
    return _counted("questions", gaps, float(binomtest(up, differing, 0.5).pvalue) if differing else 1.0)


def exchange_test(gaps: Floats) -> PairedTest:
    """Two-sided test of differences over pairs `[N]`, by all changes of their signs or `PERMUTATIONS` of them."""
    from scipy.stats import permutation_test  # takes a while to load

    differing = gaps[gaps != 0]
    p_value = 1.0
    if len(differing) > 1:  # one pair exchanged is as far from 0 as it was
        found = permutation_test(
            (differing,),
            np.sum,
            permutation_type="samples",
            vectorized=True,
            n_resamples=PERMUTATIONS,
            random_state=np.random.default_rng(0),
        )
        p_value = float(min(found.pvalue, 1.0))
    return _counted("pairs", gaps, p_value)


def _counted(unit: str, gaps: Floats, p_value: float) -> PairedTest:
    return PairedTest(unit, int(np.sum(gaps > 0)), int(np.sum(gaps < 0)), int(np.sum(gaps == 0)), p_value)


def _facet_of(fit: Fit, a: str, b: str) -> str | None:
    """The facet that has both names as levels, or None when both are students."""
    if a in fit.data.students and b in fit.data.students:
        return None
    having = [term.name for term in fit.design.terms if {a, b} <= set(term.levels)]
    if len(having) > 1:
        raise ValueError(f"'{a}' and '{b}' are levels of {', '.join(having)}; name the facet")
    if having:
        return having[0]
    known = {*fit.data.students, *(level for term in fit.design.terms for level in term.levels)}
    unknown = [name for name in (a, b) if name not in known]
    if unknown:
        raise ValueError(f"unknown '{unknown[0]}'; wanted a student of the fit or a level of one of its facets")
    raise ValueError(f"'{a}' and '{b}' are neither two students nor two levels of one facet")
