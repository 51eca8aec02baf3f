"""Abilities of students on items already calibrated: EAP, MAP, maximum likelihood, Warm's weighted likelihood.

Every method yields a curve over ability that rises from 0 to 1: the posterior distribution (`eap`), or the confidence
distribution from the signed root of the deviance (`map`, `ml`, `wle`). Intervals are read off that curve, so they are
not forced to be symmetric, and an estimate at infinity still has a finite bound on its other side. Items that are
themselves uncertain are carried along by averaging the curves over the draws of the fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from irt import _quadrature as quadrature
from irt import kernels
from irt._argument_checks import require_probability
from irt._graded import GradedParameters
from irt._likelihoods import Likelihood, likelihood_of
from irt._printing import first_rows, json_record, where_whole
from irt._responses import Floats, ResponseMatrix, positions, require_matrix
from irt._result import Fit, require_fit
from irt._tables import each_draw
from irt.kernels import ItemParameters

METHODS = ("eap", "map", "ml", "wle")
DRAWS = 100
"""Draws that carry the items' uncertainty: its share of the error is then known to a tenth."""
REACH = 10.0
"""Maximum likelihood is looked for between -10 and 10; a likelihood that still rises there has no maximum."""
FINER = 2
"""Nodes per node of the quadrature: bounds are interpolated between them."""
ILLINOIS = 9
"""Steps of the root search, of order 1.44 from a bracket two nodes wide."""


class AbilityEstimates(NamedTuple):
    """Ability, standard error and interval, `[S]` each; infinite where the likelihood has no maximum."""

    theta: Floats
    sd: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Scores:
    """Abilities of students on the scale of a fit. `notes` say what is unusual about a student, else are empty."""

    method: str
    students: tuple[str, ...]
    answered: tuple[int, ...]
    theta: Floats
    sd: Floats
    low: Floats
    high: Floats
    notes: tuple[str, ...]
    interval: float

    @property
    def table(self) -> pd.DataFrame:
        """One row per student: `student,answered,theta,theta_sd,theta_low,theta_high,note`."""
        columns = {"student": list(self.students), "answered": list(self.answered), "theta": self.theta}
        return pd.DataFrame(
            columns | {"theta_sd": self.sd, "theta_low": self.low, "theta_high": self.high, "note": list(self.notes)}
        )

    def record(self) -> dict[str, Any]:
        """The scores as JSON can hold them."""
        return json_record({"method": self.method, "interval": self.interval, "students": self.table})

    def lines(self, out: Path | None = None, /) -> list[str]:
        """The scores for a reader; `out` is the folder that received `abilities.csv`."""
        return [first_rows(self.table, where_whole(out, "abilities.csv"))]

    @property
    def reliability(self) -> float:
        """Variance of the estimates over that plus the mean squared standard error.

        ValueError with fewer than 2 students or an infinite estimate.
        """
        if len(self.theta) < 2 or not (np.isfinite(self.theta).all() and np.isfinite(self.sd).all()):
            raise ValueError("reliability needs at least 2 students with finite estimates; use method 'eap' or 'wle'")
        between = float(np.var(self.theta, ddof=1))
        return between / (between + float(np.mean(self.sd**2)))


def score(
    fit: Fit,
    data: ResponseMatrix,
    method: str = "eap",
    *,
    propagate: bool = True,
    interval: float | None = None,
    draws: int = DRAWS,
) -> Scores:
    """Abilities of the students of `data`, whose items must all be items of the fit; empty cells were not asked.

    `eap` and `map` take the population Normal(0, 1) of the fit's scale as prior, `ml` and `wle` (Warm 1989) none.
    `propagate` carries the uncertainty of the items through `draws` draws of the fit. With a fit of ratings the
    scores are ratings. Raises ValueError for an unknown item or method, a rating above an item's highest score, and
    with `ml` or `wle` for a student who answered nothing.
    """
    require_matrix(data)
    require_fit(fit)
    if method not in METHODS:
        raise ValueError(f"unknown method '{method}'; wanted {', '.join(METHODS)}")
    places = positions("item", fit.data.items, data.items)
    answered = tuple(int(count) for count in data.asked.sum(axis=1))
    if method in ("ml", "wle") and 0 in answered:
        raise ValueError(f"student '{data.students[answered.index(0)]}' answered nothing; '{method}' needs an answer")
    level = fit.interval if interval is None else interval
    items = fit.estimated_items.at(places)
    if isinstance(items, GradedParameters):
        _require_ratings(data, items)
    point = likelihood_of(data, items)
    drawn = each_draw(fit.data, fit.thinned(draws)) if propagate else ()
    varied = [replace(point, items=each.at(places)) for _, each in drawn]
    found = score_likelihoods(point, method, level, varied)
    notes = tuple(_note(value, count) for value, count in zip(found.theta, answered, strict=True))
    return Scores(method, data.students, answered, *found, notes, level)


def score_likelihoods(
    point: Likelihood, method: str = "eap", interval: float = 0.9, draws: Sequence[Likelihood] = ()
) -> AbilityEstimates:
    """Abilities from their likelihood at the items' point estimates; `draws` have equally likely items (none: exact).

    With draws, `eap` is the mean of the averaged posterior, its sd that posterior's; the other methods keep the
    estimate at `items` and add the variance of the estimate over draws to its squared standard error.
    """
    require_probability("interval", interval)
    bound = quadrature.BOUND if method in ("eap", "map") else REACH
    nodes = np.linspace(-bound, bound, FINER * len(point.nodes(bound)) + 1)
    curves = [
        _posterior_curve(each, nodes) if method == "eap" else _deviance_curve(method, each, nodes)
        for each in (draws or (point,))
    ]
    spread = np.var([np.clip(curve.theta, -REACH, REACH) for curve in curves], axis=0)
    if method == "eap":
        theta = np.mean([curve.theta for curve in curves], axis=0)
        variance = np.mean([curve.variance for curve in curves], axis=0)
    else:
        theta = _refined(method, point, nodes)
        variance = _error_variance(method, theta, point)
    rising = np.mean([curve.rising for curve in curves], axis=0)
    low, high = (crossing(nodes, rising, tail) for tail in ((1 - interval) / 2, (1 + interval) / 2))
    return AbilityEstimates(theta, np.sqrt(variance + spread), low, high)


def marginal_reliability(items: ItemParameters) -> float:
    """Expected reliability `I / (I + 1)` over a Normal(0, 1) population (Green, Bock et al. 1984)."""
    nodes = np.linspace(-8, 8, 801)
    total = kernels.information(nodes[:, None], *items).sum(axis=1)
    density = np.exp(-0.5 * nodes**2)
    return float(np.sum(density * total / (total + 1)) / density.sum())


def crossing(nodes: Floats, rising: Floats, tail: float) -> Floats:
    """Where curves `[S, Q]` that rise over `nodes` reach `tail`; infinite where they never do.

    Interpolated on the normal quantiles of the curve, which are nearly straight in ability.
    """
    bent = ndtri(np.clip(rising, 1e-300, 1 - 1e-16))
    rows = (np.interp(ndtri(tail), np.maximum.accumulate(curve), nodes, left=-np.inf, right=np.inf) for curve in bent)
    return np.fromiter(rows, np.float64, len(bent))


def item_draws(fit: Fit, places: Sequence[int], count: int) -> tuple[ItemParameters, ...]:
    """At most `count` draws of the parameters of the items at these positions, evenly spaced over the fit's."""
    thin = fit.thinned(count)
    drawn = ItemParameters(*(thin[name] for name in "abcd")).at(places)
    return tuple(ItemParameters(*rows) for rows in zip(*drawn, strict=True))


class _Curve(NamedTuple):
    """Estimate and squared error `[S]`, and the rising curve `[S, Q]`."""

    theta: Floats
    variance: Floats
    rising: Floats


def _require_ratings(data: ResponseMatrix, items: GradedParameters) -> None:
    if data.trials is not None:
        raise ValueError("the fit is of ratings, one per answer; the table counts right answers of trials")
    for row, place in np.argwhere(np.nan_to_num(data.scores) > items.top)[:1]:
        raise ValueError(
            f"student '{data.students[row]}', item '{data.items[place]}': rating {data.scores[row, place]:g}; "
            f"wanted at most {items.top[place]}, the highest score in the fit"
        )


def _posterior_curve(likelihood: Likelihood, nodes: Floats) -> _Curve:
    found = quadrature.weigh(likelihood.over(nodes), nodes)
    # A node stands for the step around it: half its weight lies below the node.
    rising = np.cumsum(found.weights, axis=1) - found.weights / 2
    return _Curve(found.mean, found.sd**2, rising)


def _deviance_curve(method: str, likelihood: Likelihood, nodes: Floats) -> _Curve:
    objective = _objective(method, likelihood, nodes)
    theta, top = _peak(nodes, objective)
    root = np.sqrt(np.maximum(2 * (top[:, None] - objective), 0.0))
    rising = ndtr(np.where(nodes < theta[:, None], -root, root))
    return _Curve(theta, np.zeros(len(theta)), rising)


def _objective(method: str, likelihood: Likelihood, nodes: Floats) -> Floats:
    """What the method maximises, `[S, Q]`: log-likelihood, plus log prior (`map`) or Warm's weight (`wle`)."""
    value = likelihood.over(nodes)
    if method == "map":
        value = value - 0.5 * nodes**2
    if method == "wle":
        info, tilt = likelihood.items.moments(nodes[:, None])
        pull = _warm(likelihood.weights @ tilt.T, likelihood.weights @ info.T)
        step = nodes[1] - nodes[0]
        areas = np.concatenate([np.zeros((len(pull), 1)), np.cumsum((pull[:, 1:] + pull[:, :-1]) / 2, axis=1)], axis=1)
        value = value + step * areas
    return np.asarray(value)


def _warm(tilt: Floats, info: Floats) -> Floats:
    """Warm's (1989) term `J / 2I` added to the score, from sums over the items answered."""
    return np.asarray(tilt / np.maximum(2 * info, 1e-290))


def _peak(nodes: Floats, objective: Floats) -> tuple[Floats, Floats]:
    """Place and height of each row's maximum by the parabola through its top three nodes; infinite at an edge."""
    top = np.argmax(objective, axis=1)
    inner = np.clip(top, 1, len(nodes) - 2)
    rows = np.arange(len(objective))
    left, middle, right = (objective[rows, inner + shift] for shift in (-1, 0, 1))
    bend = left - 2 * middle + right
    shift = np.divide(left - right, 2 * bend, out=np.zeros(len(rows)), where=bend < 0)
    shift = np.clip(shift, -1, 1)
    theta = nodes[inner] + shift * (nodes[1] - nodes[0])
    height = middle - (left - right) * shift / 4
    theta = np.where(top == 0, -np.inf, np.where(top == len(nodes) - 1, np.inf, theta))
    return theta, np.where(top == inner, height, objective[rows, top])


def _refined(method: str, likelihood: Likelihood, nodes: Floats) -> Floats:
    """The root of the slope between the nodes beside the highest one, by Dowell & Jarratt (1971)."""
    objective = _objective(method, likelihood, nodes)
    top = np.argmax(objective, axis=1)
    old, new = nodes[np.maximum(top - 1, 0)], nodes[np.minimum(top + 1, len(nodes) - 1)]
    ends = old, new
    f_old, f_new = (_slope(method, each, likelihood) for each in ends)
    for _ in range(ILLINOIS):
        drop = f_new - f_old
        theta = np.clip(new - f_new * np.divide(new - old, drop, out=np.zeros_like(drop), where=drop != 0), *ends)
        f = _slope(method, theta, likelihood)
        crossed = f * f_new < 0
        old, f_old = np.where(crossed, new, old), np.where(crossed, f_new, f_old / 2)
        new, f_new = theta, f
    return np.where(top == 0, -np.inf, np.where(top == len(nodes) - 1, np.inf, new))


def _slope(method: str, theta: Floats, likelihood: Likelihood) -> Floats:
    """Derivative `[S]` of the objective at `theta` `[S]`."""
    slope = likelihood.slope(theta)
    if method == "map":
        slope = slope - theta
    if method == "wle":
        info, tilt = likelihood.items.moments(theta[:, None])
        slope = slope + _warm(*(np.sum(likelihood.weights * each, axis=1) for each in (tilt, info)))
    return np.asarray(slope)


def _error_variance(method: str, theta: Floats, likelihood: Likelihood) -> Floats:
    """One over the information at the estimate `[S]`, with that of the prior for `map`; infinite at infinity."""
    finite = np.isfinite(theta)
    info = np.sum(
        likelihood.weights * likelihood.items.moments(np.where(finite, theta, 0.0)[:, None]).information, axis=1
    )
    info = info + 1.0 if method == "map" else info
    return np.where(finite, 1.0 / np.maximum(info, 1e-300), np.inf)


def _note(theta: float, answered: int) -> str:
    if np.isinf(theta):
        side = "above" if theta > 0 else "below"
        return f"the likelihood has no maximum: ability is unbounded {side}; the interval gives its finite bound"
    return "answered nothing: this is the population" if answered == 0 else ""
