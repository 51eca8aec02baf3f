"""Does each student answer as the model says one of that ability does?

The log-likelihood of a student's answers, standardised: `lz` (Drasgow, Levine & Williams 1985; `Zh` in mirt) at the
expected ability, and `lz_star` (Snijders 2001), which allows for the ability being estimated. Low values mean that hard
items were solved and easy ones missed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr

from irt._graded import Items
from irt._likelihoods import Likelihood, likelihood_of
from irt._quadrature import Posterior
from irt._residuals import MeanSquares
from irt._responses import Floats, ResponseMatrix
from irt.checks._inputs import ALPHA, false_discovery_rates, optional, require_matching
from irt.checks._residual_fit import mean_square_columns
from irt.checks._tails import upper_tail
from irt.kernels import Categories

FEWEST = 5
"""Answers below which a sum of them is too coarse to judge."""
ROUNDS = 50
"""Newton steps at most; few are needed."""


class Corrected(NamedTuple):
    """Per student `[S]`: `lz_star`, and the chance of one as low."""

    lz_star: Floats
    p: Floats


def student_fit(data: ResponseMatrix, items: Items) -> pd.DataFrame:
    """`student,theta,answers,infit,infit_z,outfit,outfit_z,lz,lz_star,p,p_adjusted,flag,note,sentence`.

    `p` is one-sided, the chance that `lz_star` comes out as low (saddlepoint approximation); `p_adjusted` is Benjamini
    and Hochberg's. A student with fewer than 5 informative answers has no statistics.
    """
    require_matching(data, items)
    answered = likelihood_of(data, items)
    ability = answered.posterior()
    theta = ability.mean
    found = answered.mean_squares(theta, 1)
    star = corrected_fit(answered, modal_ability(answered, ability))
    return _student_table(data, theta, found, standardised_fit(answered, theta), star)


def _student_table(
    data: ResponseMatrix, theta: Floats, found: MeanSquares, plain: Floats, star: Corrected
) -> pd.DataFrame:
    """The table of `student_fit` from abilities, mean squares, `lz` `[S]` and `lz_star`."""
    known = found.answers >= FEWEST
    corrected = false_discovery_rates(star.p, known)
    flag = known & (corrected < ALPHA)
    table = pd.DataFrame({"student": list(data.students), "theta": theta}).join(mean_square_columns(found, known))
    for name, values in (("lz", plain), ("lz_star", star.lz_star), ("p", star.p), ("p_adjusted", corrected)):
        table[name] = optional(values, known)
    table["flag"] = flag
    table["note"] = np.where(known, "", f"fewer than {FEWEST} informative answers")
    table["sentence"] = [
        f"Student '{student}' misses easy items and solves hard ones more than chance allows (lz* {value:.1f}, "
        f"adjusted p {chance:.2g}): read the answers; look for failed calls, a broken prompt, or leaked items."
        if bad
        else ""
        for student, value, chance, bad in zip(data.students, star.lz_star, corrected, flag, strict=True)
    ]
    return table


def standardised_fit(answered: Likelihood, theta: Floats) -> Floats:
    """`lz` `[S]`: the log-likelihood at `theta` `[S]`, less its mean and over its standard deviation."""
    at, counts = answered.items.categories(theta[:, None]), answered.answers
    own = at.log - _mean(at, at.log)[..., None]
    return np.asarray((counts * own).sum(axis=(1, 2)) / _sd(counts, at, own))


def corrected_fit(answered: Likelihood, mode: Floats) -> Corrected:
    """`lz_star` at the modal abilities `[S]` (Snijders 2001, eq. 10 to 15, prior Normal(0, 1); ratings: Sinharay 2016).

    The part of the log-likelihood that ability explains is projected out, so estimating ability costs nothing. For
    counts of trials the chance is that of the normal distribution.
    """
    at, counts, weights = answered.items.categories(mode[:, None]), answered.answers, answered.weights
    own = at.log - _mean(at, at.log)[..., None]
    shared, power = ((weights * _mean(at, part * at.slope)).sum(axis=1) for part in (own, at.slope))
    own = own - (shared / np.maximum(power, 1e-12))[:, None, None] * at.slope
    total = (counts * own).sum(axis=(1, 2))
    star = np.asarray(total / _sd(counts, at, own))
    if weights.max(initial=1.0) > 1:
        return Corrected(star, ndtr(star))
    asked = (weights > 0)[..., None]
    chances = np.where(asked, at.chance, np.eye(own.shape[2])[0])
    return Corrected(star, upper_tail(np.where(asked, -own, 0.0), chances, -total))


def modal_ability(answered: Likelihood, ability: Posterior) -> Floats:
    """Most probable ability `[S]` under the Normal(0, 1) population: the best node of the posterior, made exact."""
    best: Floats = ability.nodes[ability.weights.argmax(axis=1)]
    theta, reach = best, float(np.diff(ability.nodes).max())
    for _ in range(ROUNDS):
        information = (answered.weights * answered.items.moments(theta[:, None]).information).sum(axis=1)
        step = (answered.slope(theta) - theta) / (1 + information)
        moved = np.clip(theta + step, best - reach, best + reach)
        if np.abs(moved - theta).max(initial=0.0) < 1e-9:
            break
        theta = moved
    return theta


def _mean(at: Categories, values: Floats) -> Floats:
    """Expected value `[S, I]` of what each category is worth."""
    return np.asarray(np.sum(at.chance * values, axis=2))


def _sd(counts: Floats, at: Categories, own: Floats) -> Floats:
    variance = (counts.sum(axis=2) * _mean(at, own**2)).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(variance, 1e-24)))
