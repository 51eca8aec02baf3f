"""Intervals over questions: the same questions are drawn again for all pipelines, so that differences are paired."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import beta

import irt
from examcore import IntervalEstimate, percentile_interval
from irt import Floats

INTERVAL = 0.9
"""Share of resamples that an interval holds."""
DRAWS = 4000
"""Bootstrap samples: the limits of a 90 % interval then vary by about 2 % of its width from seed to seed."""


def weights(questions: int, seed: int = 0) -> Floats:
    """How often each question counts, `[1 + DRAWS, I]`: once each in the first row, the sample, then as drawn."""
    drawn = np.random.default_rng(seed).multinomial(questions, np.full(questions, 1 / questions), size=DRAWS)
    return np.vstack([np.ones(questions), drawn])


def shares(data: irt.ResponseMatrix, students: Sequence[int], how_often: Floats) -> Floats:
    """Share right of these students together, in the sample and in each resample `[1 + DRAWS]`; NaN where not asked.

    Students count equally: the share of each is taken first, then the mean.
    """
    rows = list(students)
    right, asked = data.successes[rows], data.attempts[rows]
    with np.errstate(invalid="ignore"):
        return np.asarray((how_often @ right.T / (how_often @ asked.T)).mean(axis=1))


def interval(values: Floats) -> IntervalEstimate:
    """The first value, and the middle `INTERVAL` of the others; NaN where undefined."""
    return percentile_interval(float(values[0]), values[1:], INTERVAL)


def posterior(draws: Floats) -> IntervalEstimate:
    """Mean of draws and the middle `INTERVAL` of them."""
    return percentile_interval(float(draws.mean()), draws, INTERVAL)


def share_interval(values: Floats, questions: int) -> IntervalEstimate:
    """The interval of a share; resamples say nothing about one that is all or none: it gets Jeffreys' limit.

    Limits are NaN for fewer than 2 questions.
    """
    found = interval(values)
    if questions < 2 or not np.isfinite(found.estimate):
        return IntervalEstimate(found.estimate, np.nan, np.nan)
    return jeffreys(found.estimate * questions, questions) if found.estimate in (0.0, 1.0) else found


def jeffreys(count: float, of: int) -> IntervalEstimate:
    """A share of independent cases with Jeffreys' interval; one limit is the share itself where it is 0 or 1."""
    low, high = (float(beta.ppf((1 + side * INTERVAL) / 2, count + 0.5, of - count + 0.5)) for side in (-1, 1))
    return IntervalEstimate(count / of, low if count > 0 else 0.0, high if count < of else 1.0)


def over_questions(data: irt.ResponseMatrix, students: Sequence[int], seed: int = 0) -> IntervalEstimate:
    """Share right of these students with its interval over questions."""
    return share_interval(shares(data, students, weights(len(data.items), seed)), len(data.items))
