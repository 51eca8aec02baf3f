"""Plain tables behind the pictures of a fit: what `irt.plots` draws, ready to be written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betaincinv

from irt import _tables as tables
from irt import kernels
from irt._likelihoods import expected_abilities
from irt._printing import json_record
from irt._responses import Floats, positions
from irt._result import BAND_DRAWS, Fit, Information
from irt.checks._residual_fit import item_residuals
from irt.selecting._prune_result import Pruned

__all__ = [
    "ExamInformation",
    "GroupInformation",
    "ItemCurve",
    "exam_precision",
    "item_curve",
    "item_information",
    "item_misfit",
    "person_item_map",
    "pruning_gains",
    "score_distribution",
    "student_scores",
]

GRID = np.linspace(-3.5, 3.5, 71)
MEAN_SQUARES = ("infit", "outfit", "infit_z", "outfit_z", "z")


class ItemCurve(NamedTuple):
    """`curve`: `item, theta, mean, low, high`; `observed`, by group: `theta, share, low, high, students`."""

    curve: pd.DataFrame
    observed: pd.DataFrame


@dataclass(frozen=True)
class ExamInformation:
    """Information of an exam over ability, and the reliability of its fit."""

    curves: Information
    reliability: float

    def record(self) -> dict[str, Any]:
        """The curves as JSON can hold them."""
        found = self.curves
        total = {"mean": found.total, "low": found.total_low, "high": found.total_high}
        items = dict(zip(found.items, found.mean, strict=True))
        return json_record({"theta": found.theta, "total": total, "reliability": self.reliability, "items": items})

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The curve of all items together as CSV."""
        found = self.curves
        columns = (found.theta, found.total, found.total_low, found.total_high, found.standard_error)
        rows = [",".join(f"{value:.6g}" for value in row) for row in zip(*columns, strict=True)]
        return ["theta,information,low,high,standard_error", *rows]


@dataclass(frozen=True)
class GroupInformation:
    """Information of each group of items over ability, as `Fit.information_by` gives it."""

    table: pd.DataFrame

    def record(self) -> dict[str, Any]:
        """The rows as JSON can hold them."""
        return json_record({"groups": self.table})

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The table as CSV."""
        return [self.table.to_csv(index=False).strip()]


def item_curve(fit: Fit, item: str, theta: Sequence[float] | Floats = GRID, groups: int = 6) -> ItemCurve:
    """The posterior of P(correct) over ability, and shares observed in `groups` of students of similar ability.

    Groups are of about equal size by the ability expected from the other items, so that an answer does not choose its
    own group; students of equal ability stay together, so that there may be fewer groups. In a short exam expected
    abilities lie close together, and the shares rise less steeply than the curve. Their intervals are Jeffreys' (Brown,
    Cai & DasGupta 2001) at the fit's level. Students not asked are left out. Raises ValueError for an unknown item.
    """
    fit.require_right_or_wrong("an item curve")
    (index,) = positions("item", fit.data.items, [item])
    grid = np.atleast_1d(np.asarray(theta, dtype=np.float64))
    draws = fit.thinned(BAND_DRAWS)
    curves = kernels.probability(grid, *(draws[name][:, index, None] for name in "abcd"))
    low, high = np.quantile(curves, fit.tails, axis=0)
    table = pd.DataFrame({"item": item, "theta": grid, "mean": curves.mean(axis=0), "low": low, "high": high})
    return ItemCurve(table, _observed(fit, index, groups))


def item_information(
    fit: Fit, items: Sequence[str] | None = None, theta: Sequence[float] | Floats = GRID
) -> pd.DataFrame:
    """`item, theta, mean, low, high`: information of each item (all by default) over ability."""
    found = fit.information(theta, items)
    size = len(found.theta)
    names = np.repeat(np.array(found.items, dtype=object), size)
    columns = {name: getattr(found, name).ravel() for name in ("mean", "low", "high")}
    return pd.DataFrame({"item": names, "theta": np.tile(found.theta, len(found.items))} | columns)


def exam_precision(
    fit: Fit, items: Sequence[str] | None = None, theta: Sequence[float] | Floats = GRID
) -> pd.DataFrame:
    """`theta, total, total_low, total_high, error, error_low, error_high`: information and standard error over ability.

    The standard error is `1 / sqrt(information)`, that of an estimate from the answers alone.
    """
    found = fit.information(theta, items)
    columns = {"total": found.total, "total_low": found.total_low, "total_high": found.total_high}
    errors = {"error": found.total, "error_low": found.total_high, "error_high": found.total_low}
    inverse = {name: 1 / np.sqrt(np.maximum(values, 1e-12)) for name, values in errors.items()}
    return pd.DataFrame({"theta": found.theta} | columns | inverse)


def person_item_map(fit: Fit) -> pd.DataFrame:
    """`kind, name, location, low, high`: abilities of students and difficulties of items on one scale."""
    people, items = fit.abilities, fit.items
    frames = [
        pd.DataFrame({"kind": "student", "name": people["student"]} | _located(people, "theta")),
        pd.DataFrame({"kind": "item", "name": items["item"]} | _located(items, "b")),
    ]
    return pd.concat(frames, ignore_index=True)


def pruning_gains(pruned: Pruned) -> pd.DataFrame:
    """`round, n_items, claimed, heldout, low, high, random, random_low, random_high`, relative to the whole exam."""
    rows = [
        (row.round, row.n_items, row.claimed_gain, *row.heldout_gain, row.random.mean, row.random.low, row.random.high)
        for row in pruned.trajectory
    ]
    heldout, chance = ("heldout", "low", "high"), ("random", "random_low", "random_high")
    return pd.DataFrame(rows, columns=["round", "n_items", "claimed", *heldout, *chance])


def item_misfit(fit: Fit) -> pd.DataFrame:
    """`item, difficulty, infit, outfit, infit_z, outfit_z, z, flag`, with the verdict of `irt.checks.item_residuals`.

    `z` is the more extreme mean square against those of tables the model made: above 0, the item contradicts the order
    of students, below, it follows it too closely. `flag` is `erratic` or `too regular` where the check flags.
    """
    fit.require_right_or_wrong("the misfit of items")
    found = item_residuals(fit.data, fit.parameters, seed=fit.seed)
    columns = {name: found[name].to_numpy(float, na_value=np.nan) for name in MEAN_SQUARES}
    words = np.where(columns["z"] > 0, "erratic", "too regular")
    flags = np.where(found["flag"].to_numpy(bool), words, "")
    return pd.DataFrame({"item": list(fit.data.items), "difficulty": fit.point["b"], **columns, "flag": flags})


def student_scores(fit: Fit) -> pd.DataFrame:
    """`student, observed, expected, low, high, p_value, surprising`: shares right against the posterior predictive."""
    return fit.predictive_check()["students"]


def score_distribution(fit: Fit, bins: int = 12, seed: int | None = None) -> pd.DataFrame:
    """`start, end, observed, expected, low, high`: students by share right, against replicated tables.

    At most `bins` bins, which hold equal numbers of possible scores (of the number of answers most students have), at
    the ends of the scale fewer where they do not divide.
    """
    fit.require_right_or_wrong("the distribution of scores")
    total = np.maximum(fit.data.attempts.sum(axis=1), 1)
    made = tables.replicas(fit.data, fit.design, fit.thinned(BAND_DRAWS), fit.seed if seed is None else seed)
    replicas = np.array([table.sum(axis=1) / total for table in made])
    observed = fit.data.successes.sum(axis=1) / total
    edges = _score_edges(total, min(observed.min(), replicas.min()), max(observed.max(), replicas.max()), bins)
    counts = np.stack([np.histogram(row, edges)[0] for row in replicas])
    low, high = np.quantile(counts, fit.tails, axis=0)
    return pd.DataFrame(
        {
            "start": edges[:-1],
            "end": edges[1:],
            "observed": np.histogram(observed, edges)[0],
            "expected": counts.mean(axis=0),
            "low": low,
            "high": high,
        }
    )


def _observed(fit: Fit, index: int, groups: int) -> pd.DataFrame:
    asked = np.flatnonzero(fit.data.asked[:, index])
    theta = expected_abilities(fit.data, fit.parameters, without=index)
    rows = []
    for place in _groups(theta[asked], groups):
        part = asked[place]
        right = float(fit.data.successes[part, index].sum())
        wrong = float(fit.data.attempts[part, index].sum()) - right
        low, high = np.asarray(betaincinv(right + 0.5, wrong + 0.5, fit.tails))
        rows.append(
            {
                "theta": float(theta[part].mean()),
                "share": right / (right + wrong),
                "low": float(low) if right > 0 else 0.0,
                "high": float(high) if wrong > 0 else 1.0,
                "students": len(part),
            }
        )
    return pd.DataFrame(rows, columns=["theta", "share", "low", "high", "students"])


def _groups(theta: Floats, groups: int) -> list[NDArray[np.int64]]:
    """Places of students in at most so many groups of about equal size, in rising order; equal values stay together."""
    _, value, count = np.unique(theta.round(9), return_inverse=True, return_counts=True)
    middle = (np.cumsum(count) - count / 2) / len(theta)
    group = np.floor(groups * middle).astype(np.int64)[value]
    return [np.flatnonzero(group == one) for one in np.unique(group)]


def _located(table: pd.DataFrame, name: str) -> dict[str, pd.Series]:
    return {"location": table[name], "low": table[f"{name}_low"], "high": table[f"{name}_high"]}


def _score_edges(total: Floats, least: float, most: float, bins: int) -> Floats:
    """Edges half-way between possible scores, as shares, around all from `least` to `most`."""
    values, students = np.unique(total, return_counts=True)
    answers = float(values[np.argmax(students)])
    first, last = np.floor(np.array([least, most]) * answers + 0.5)
    width = np.ceil((last - first + 1) / bins)
    count = np.ceil((last - first + 1) / width)
    spare = count * width - (last - first + 1)
    start = max(min(first - spare // 2, answers + 1 - count * width), 0.0)
    edges = start - 0.5 + width * np.arange(count + 1)
    return np.asarray(np.minimum(edges, answers + 0.5) / answers)
