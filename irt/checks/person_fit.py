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
from irt.checks.inputs import ALPHA, adjusted, optional, require_matching
from irt.checks.replicas import residuals
from irt.checks.residual_fit import mean_square_columns, mean_squares
from irt.checks.tails import benjamini_hochberg, normal_tail, upper_tail
from irt.kernels import ItemParameters
from irt.quadrature import posterior
from irt.responses import Floats, ResponseMatrix

FEWEST = 5
ROUNDS = 50


class PersonStatistics(NamedTuple):
    """Per student `[S]`: `lz` at the expected ability, `lz_star` at the modal one, and the chance of one as low."""

    lz: Floats
    lz_star: Floats
    p: Floats


def student_fit(data: ResponseMatrix, items: ItemParameters) -> pd.DataFrame:
    """`student,theta,answers,infit,infit_z,outfit,outfit_z,lz,lz_star,p,p_adjusted,flag,note,sentence`.

    `p` is one-sided, the chance that `lz_star` comes out as low (saddlepoint approximation); `p_adjusted` is Benjamini
    and Hochberg's. A student with fewer than 5 informative answers has no statistics.
    """
    require_matching(data, items)
    successes, attempts = data.successes, data.attempts
    theta = posterior(successes, attempts, items).mean
    found = mean_squares(residuals(successes, attempts, items, theta), attempts, 1)
    known = found.answers >= FEWEST
    person = person_statistics(successes, attempts, items, theta)
    corrected = adjusted(person.p, known, benjamini_hochberg)
    flag = known & (corrected < ALPHA)
    table = pd.DataFrame({"student": list(data.students), "theta": theta}).join(mean_square_columns(found, known))
    for name, values in (("lz", person.lz), ("lz_star", person.lz_star), ("p", person.p), ("p_adjusted", corrected)):
        table[name] = optional(values, known)
    table["flag"] = flag
    table["note"] = np.where(known, "", f"fewer than {FEWEST} informative answers")
    table["sentence"] = [
        f"Student '{student}' misses easy items and solves hard ones more than chance allows (lz* {value:.1f}, "
        f"adjusted p {chance:.2g}): read the answers; look for failed calls, a broken prompt, or leaked items."
        if bad
        else ""
        for student, value, chance, bad in zip(data.students, person.lz_star, corrected, flag, strict=True)
    ]
    return table


def person_statistics(successes: Floats, attempts: Floats, items: ItemParameters, theta: Floats) -> PersonStatistics:
    """The statistics at expected abilities `theta` `[S]`; counts are sums of independent trials."""
    p, weight, _ = _terms(theta, items)
    lz = ((successes - attempts * p) * weight).sum(axis=1) / _sd(attempts, p, weight)
    mode = modal_ability(successes, attempts, items, theta)
    p, weight, score = _terms(mode, items)
    slope = score * p * (1 - p)
    pull = (attempts * slope * weight).sum(axis=1) / np.maximum((attempts * slope * score).sum(axis=1), 1e-12)
    own = weight - pull[:, None] * score
    # At the mode the score equals the prior's pull, theta: what ability explains cancels, and so does the estimation.
    total = ((successes - attempts * p) * own).sum(axis=1)
    steps = np.stack([own * (1 - p), -own * p], axis=2)
    chances = np.stack([p, 1 - p], axis=2)
    single = attempts.max(initial=1.0) <= 1
    chances = np.where((attempts > 0)[..., None], chances, np.array([1.0, 0.0]))
    steps = np.where((attempts > 0)[..., None], steps, 0.0)
    star = total / _sd(attempts, p, own)
    tail = upper_tail(-steps, chances, -total) if single else normal_tail(-star)
    return PersonStatistics(lz, star, np.asarray(tail))


def modal_ability(successes: Floats, attempts: Floats, items: ItemParameters, start: Floats) -> Floats:
    """Most probable ability `[S]` under the Normal(0, 1) population: Fisher scoring with steps of at most 1."""
    theta = np.array(start, dtype=np.float64)
    for _ in range(ROUNDS):
        p, _, score = _terms(theta, items)
        gradient = ((successes - attempts * p) * score).sum(axis=1) - theta
        step = gradient / (1 + (attempts * score**2 * p * (1 - p)).sum(axis=1))
        theta = theta + np.clip(step, -1, 1)
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
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
