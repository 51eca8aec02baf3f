"""What wrong options attract: a nominal response model (Bock 1972) of the options that students chose.

    P(option k | theta) = exp(a_k theta + c_k) / sum over options,    a = c = 0 for the key

Abilities are those of the fit, less what the item's own answer says of them. Under the model the odds of two wrong
options do not depend on the key, so that a wrong option whose slope lies above that of the others is what able students
choose when they miss the key: it may be right as well. Students with a part in common choose alike; they count as
groups, by whichever facet leaves most open (sandwich errors, and a t distribution with a degree less than groups).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp, ndtr, stdtr, stdtrit

from irt._responses import Floats
from irt._result import Fit
from irt.checks._inputs import ALPHA, optional
from irt.checks._keys import FEWEST_TAKERS, chosen_options
from irt.checks._tails import REACH, holm
from irt.kernels import probability

DRAWS = 100
"""Draws of abilities that an item's likelihood is averaged over."""
SLOPE, INTERCEPT = 2.0, 5.0
"""Standard deviations of normal priors that keep options with few takers finite."""
STEP = 1e-4
"""Of the differences of slopes that give the information."""


class OptionSlopes(NamedTuple):
    """Slopes and intercepts `[2 K]` of wrong options against the key, slopes first, their covariance, and what each
    student's answer says of them, slopes of its log-likelihood `[S, 2 K]`.
    """

    values: Floats
    covariance: Floats
    scores: Floats


def distractors(fit: Fit, options: pd.DataFrame, key: Mapping[str, object]) -> pd.DataFrame:
    """`item,option,keyed,takers,share,slope,slope_low,slope_high,beside,beside_low,beside_high,p,p_adjusted,flag,
    sentence`: every option that was chosen, by item, the flagged items first.

    `slope` is that of the log odds of a wrong option against the key, per standard deviation of these students,
    `beside` how far it lies above the mean of the item's other wrong options, with 95 % intervals; `p` is the one-sided
    chance of that, and `p_adjusted` Holm's over all options with at least 5 takers. Flagged below 5 %: the option may
    be right as well. `options` and `key` as in `miskeys`. Raises ValueError for a fit of ratings, and as `miskeys`.
    """
    fit.require_right_or_wrong("the model of wrong options")
    chosen = chosen_options(fit.data, options, key)
    theta = fit.thinned(DRAWS)["theta"].T
    groups = [fit.design.term(name).level_of for name in fit.design.shared_facets]
    frames = []
    for index, item in enumerate(fit.data.items):
        asked = fit.data.asked[:, index] & (chosen[:, index] != "")
        weights = _weights(theta[asked], fit, index, asked)
        own = [group[asked] for group in groups]
        frames.append(_of_item(item, chosen[asked, index], str(key[item]), (theta[asked], weights), own))
    return _finished(pd.concat(frames, ignore_index=True))


def option_slopes(choice: NDArray[np.intp], count: int, theta: Floats, weights: Floats) -> OptionSlopes:
    """The most probable slopes and intercepts of `count` wrong options, numbered from 1 (0 is the key).

    `choice` `[S]`; `theta` and `weights` (which sum to 1 for each student) `[S, D]`.
    """
    precision = np.repeat([SLOPE**-2, INTERCEPT**-2], count)
    logs = np.log(weights)

    def at(values: Floats) -> tuple[float, Floats]:
        """Log-likelihood and its slopes, by student."""
        slopes, intercepts = values[:count], values[count:]
        logits = np.concatenate([np.zeros((*theta.shape, 1)), theta[..., None] * slopes + intercepts], axis=2)
        p = log_softmax(logits, axis=2)
        own = logs + np.take_along_axis(p, choice[:, None, None], axis=2)[..., 0]
        total = logsumexp(own, axis=1)
        share = np.exp(own - total[:, None])
        pull = share[..., None] * ((choice[:, None, None] == np.arange(1, count + 1)) - np.exp(p[..., 1:]))
        return float(total.sum()), np.hstack([(pull * theta[..., None]).sum(axis=1), pull.sum(axis=1)])

    def descent(values: Floats) -> tuple[float, Floats]:
        """Minus log posterior density, and its slopes."""
        total, scores = at(values)
        return 0.5 * float(precision @ values**2) - total, precision * values - scores.sum(axis=0)

    from scipy.optimize import minimize  # takes a while to load

    found = np.asarray(minimize(descent, np.zeros(2 * count), jac=True, method="BFGS", options={"gtol": 1e-4}).x)
    moves = STEP * np.eye(2 * count)
    information = np.array([(descent(found + move)[1] - descent(found - move)[1]) / (2 * STEP) for move in moves])
    return OptionSlopes(found, np.asarray(np.linalg.inv((information + information.T) / 2)), at(found)[1])


def _weights(theta: Floats, fit: Fit, index: int, asked: NDArray[np.bool_]) -> Floats:
    """How much each draw of a student's ability counts `[S, D]` when its answer to the item is not known."""
    p = np.clip(probability(theta, *(values[index] for values in fit.parameters)), 1e-6, 1 - 1e-6)
    right, tried = fit.data.successes[asked, index, None], fit.data.attempts[asked, index, None]
    logs = -(right * np.log(p) + (tried - right) * np.log1p(-p))
    return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))


def _spreads(found: OptionSlopes, contrasts: Floats, groups: Sequence[NDArray[np.int64]]) -> tuple[Floats, Floats]:
    """Half widths of 95 % intervals of `contrasts` `[C, 2 K]`, and the chances that they are not above 0 `[C]`: the
    largest of those by students and by each grouping of them.
    """
    values, moves = contrasts @ found.values, contrasts @ found.covariance
    sd = np.sqrt((moves * contrasts).sum(axis=1))
    half, p = REACH * sd, ndtr(-values / sd)
    for group in groups:
        sums = np.array([found.scores[group == level].sum(axis=0) for level in np.unique(group)])
        if (freedom := len(sums) - 1) > 0:
            sd = np.sqrt(((moves @ sums.T) ** 2).sum(axis=1) * len(sums) / freedom)
            half = np.maximum(half, stdtrit(freedom, 0.975) * sd)
            p = np.maximum(p, stdtr(freedom, -values / np.maximum(sd, 1e-12)))
    return half, p


def _of_item(
    item: str,
    chosen: NDArray[np.object_],
    key: str,
    abilities: tuple[Floats, Floats],
    groups: Sequence[NDArray[np.int64]],
) -> pd.DataFrame:
    wrong = sorted(set(chosen) - {key})
    names, count = [key, *wrong], len(wrong)
    takers = np.array([np.sum(chosen == name) for name in names])
    table = pd.DataFrame({"item": item, "option": names, "keyed": [True, *[False] * count], "takers": takers})
    table["share"] = takers / max(takers.sum(), 1)
    p = np.full(count + 1, np.nan)
    ends = {name: p.copy() for stem in ("slope", "beside") for name in (stem, f"{stem}_low", f"{stem}_high")}
    if wrong:
        found = option_slopes(np.array([names.index(name) for name in chosen]), count, *abilities)
        every = {"slope": np.eye(count)}
        if count > 1:
            every["beside"] = np.eye(count) * count / (count - 1) - 1 / (count - 1)
        for stem, of_slopes in every.items():
            contrasts = np.hstack([of_slopes, np.zeros((count, count))])
            half, above = _spreads(found, contrasts, groups)
            values = contrasts @ found.values
            for end, side in (("", 0), ("_low", -1), ("_high", 1)):
                ends[f"{stem}{end}"][1:] = values + side * half
            p[1:] = above if stem == "beside" else np.nan
    tested = np.isfinite(p) & (takers >= FEWEST_TAKERS)
    columns = {name: optional(np.nan_to_num(values), np.isfinite(values)) for name, values in ends.items()}
    return table.assign(**columns, p=optional(np.nan_to_num(p), tested))


def _finished(table: pd.DataFrame) -> pd.DataFrame:
    tested = table["p"].notna().to_numpy()
    adjusted = np.ones(len(table))
    adjusted[tested] = holm(table["p"][tested].to_numpy(dtype=np.float64))
    table = table.assign(p_adjusted=optional(adjusted, tested), flag=tested & (adjusted < ALPHA))
    table["sentence"] = [_sentence(row) if row.flag else "" for row in table.itertuples()]
    flagged = table.groupby("item")["flag"].transform("any")
    return table.iloc[np.argsort(~flagged.to_numpy(), kind="stable")].reset_index(drop=True)


def _sentence(row: object) -> str:
    item, option, takers = (getattr(row, name) for name in ("item", "option", "takers"))
    return (
        f"Item '{item}': of those who miss the key, the abler choose '{option}' ({takers} in all): check whether it is "
        "right as well."
    )
