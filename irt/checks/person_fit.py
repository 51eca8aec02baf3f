"""Does each student answer as the model says one of that ability does?

The log-likelihood of a student's answers, standardised: `lz` (Drasgow, Levine & Williams 1985; `Zh` in mirt) at the
expected ability, and `lz_star` (Snijders 2001), which allows for the ability being estimated. Low values mean that hard
items were solved and easy ones missed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from irt import kernels
from irt.checks.inputs import ALPHA, false_discovery_rates, optional, require_matching
from irt.checks.residual_fit import mean_square_columns
from irt.checks.tails import normal_tail, upper_tail
from irt.kernels import ItemParameters
from irt.quadrature import Posterior, posterior
from irt.residuals import MeanSquares, mean_squares, residuals
from irt.responses import Floats, ResponseMatrix

FEWEST = 5
ROUNDS = 50


class Corrected(NamedTuple):
    """Per student `[S]`: `lz_star`, and the chance of one as low."""

    lz_star: Floats
    p: Floats


def student_fit(data: ResponseMatrix, items: ItemParameters) -> pd.DataFrame:
    """`student,theta,answers,infit,infit_z,outfit,outfit_z,lz,lz_star,p,p_adjusted,flag,note,sentence`.

    `p` is one-sided, the chance that `lz_star` comes out as low (saddlepoint approximation); `p_adjusted` is Benjamini
    and Hochberg's. A student with fewer than 5 informative answers has no statistics.
    """
    require_matching(data, items)
    successes, attempts = data.successes, data.attempts
    ability = posterior(successes, attempts, items)
    theta = ability.mean
    found = mean_squares(residuals(successes, attempts, items, theta), attempts, 1)
    star = corrected_fit(successes, attempts, items, modal_ability(successes, attempts, items, ability))
    return student_table(data, theta, found, standardised_fit(successes, attempts, items, theta), star)


def student_table(
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


def standardised_fit(successes: Floats, attempts: Floats, items: ItemParameters, theta: Floats) -> Floats:
    """`lz` `[S]`: the log-likelihood at `theta` `[S]`, less its mean and over its standard deviation."""
    p, weight, _ = _terms(theta, items)
    return np.asarray(((successes - attempts * p) * weight).sum(axis=1) / _sd(attempts, p, weight))


def corrected_fit(successes: Floats, attempts: Floats, items: ItemParameters, mode: Floats) -> Corrected:
    """`lz_star` at the modal abilities `[S]` (Snijders 2001, eq. 10 to 15, prior Normal(0, 1)).

    The part of the log-likelihood that ability explains is projected out, so estimating ability costs nothing. For
    counts of trials the chance is that of the normal distribution.
    """
    p, weight, score = _terms(mode, items)
    slope = score * p * (1 - p)
    pull = (attempts * slope * weight).sum(axis=1) / np.maximum((attempts * slope * score).sum(axis=1), 1e-12)
    own = weight - pull[:, None] * score
    total = ((successes - attempts * p) * own).sum(axis=1)
    star = np.asarray(total / _sd(attempts, p, own))
    if attempts.max(initial=1.0) > 1:
        return Corrected(star, normal_tail(-star))
    asked = (attempts > 0)[..., None]
    steps = np.where(asked, np.stack([-own * (1 - p), own * p], axis=2), 0.0)
    chances = np.where(asked, np.stack([p, 1 - p], axis=2), np.array([1.0, 0.0]))
    return Corrected(star, upper_tail(steps, chances, -total))


def modal_ability(successes: Floats, attempts: Floats, items: ItemParameters, ability: Posterior) -> Floats:
    """Most probable ability `[S]` under the Normal(0, 1) population: the best node of the posterior, made exact."""
    best: Floats = ability.nodes[ability.weights.argmax(axis=1)]
    theta, reach = best, float(np.diff(ability.nodes).max())
    for _ in range(ROUNDS):
        p, _, score = _terms(theta, items)
        gradient = ((successes - attempts * p) * score).sum(axis=1) - theta
        step = gradient / (1 + (attempts * score**2 * p * (1 - p)).sum(axis=1))
        moved = np.clip(theta + step, best - reach, best + reach)
        if np.abs(moved - theta).max(initial=0.0) < 1e-9:
            break
        theta = moved
    return theta


def _terms(theta: Floats, items: ItemParameters) -> tuple[Floats, Floats, Floats]:
    """P, its logit, and P' / (P (1 - P)), `[S, I]` each."""
    a, b, c, d = items
    right, wrong = kernels.log_probability(theta[:, None], *items)
    right, wrong = np.maximum(right, -700.0), np.maximum(wrong, -700.0)
    up = kernels.sigmoid(a * (theta[:, None] - b))
    slope = a * (d - c) * up * (1 - up)
    return np.exp(right), right - wrong, slope * np.exp(-right - wrong)


def _sd(attempts: Floats, p: Floats, weight: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum((attempts * p * (1 - p) * weight**2).sum(axis=1), 1e-24)))
