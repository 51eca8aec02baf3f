"""Tables read from answers and draws: item fit, residual dependence, predictive checks, ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from irt._design import Design
from irt._graded import GradedParameters, Items
from irt._likelihoods import expected_mean_squares, items_among
from irt._model import flattening
from irt._residuals import counts
from irt._responses import Floats, ResponseMatrix, blocks
from irt.kernels import RUNAWAY, ItemParameters

ABILITIES = 8.0
"""Width of the range of abilities of a Normal(0, 1) population."""
HARDLY = "hardly discriminates"
ASSUMED = "sign from the prior"
UNSURE = "sign uncertain"
ENDLESS = "slope not bounded above"
STEP = 2 * 1.7
"""Slope times the abilities' error at which a curve looks nine tenths as steep as a step: 2 / sqrt(1 + 2^2)."""
SURE = 1.28
"""Standard errors from 0 at which the sign of a correlation counts as known (one-sided 10 %)."""


def best(names: Sequence[str], draws: Floats, label: str) -> pd.DataFrame:
    """`label,probability` of being the largest, over draws `[D, N]`; most probable first, ties in given order."""
    share = np.bincount(np.argmax(draws, axis=1), minlength=len(names)) / len(draws)
    table = pd.DataFrame({label: list(names), "probability": share})
    return table.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def item_fit(data: ResponseMatrix, items: Items, chance: Floats) -> pd.DataFrame:
    """`infit,outfit,point_biserial,flags` per item.

    Infit and outfit are `irt._likelihoods.expected_mean_squares`, empty where fewer than 2 students were asked; the
    point biserial is the correlation with the share right on the other items, 0 for a constant item, which is flagged.
    """
    squares = expected_mean_squares(data, items)
    parts = [_item_fit(block) for block in _blocks(data)]
    correlation, right, asked = (np.concatenate(part) for part in zip(*parts, strict=True))
    # A negative correlation counts when it lies 1.28 standard errors below 0.
    reversed_ = correlation < -SURE / np.sqrt(np.maximum(asked - 1, 1))
    rated = isinstance(items, GradedParameters)
    return pd.DataFrame(
        {
            "infit": np.where(squares.known, squares.infit, np.nan),
            "outfit": np.where(squares.known, squares.outfit, np.nan),
            "point_biserial": correlation,
            "flags": _rating_flags(data, reversed_) if rated else _flags(right, reversed_, chance),
        }
    )


def with_weak_items(
    table: pd.DataFrame, data: ResponseMatrix, tails: tuple[float, float], error: float, *, common: bool, free: bool
) -> pd.DataFrame:
    """`table` with flags of items whose slope or difficulty the answers do not tell.

    "Hardly discriminates" are items whose answers vary and whose difficulty has an interval wider than the abilities of
    all but one in 15,000 students, from -4 to 4. Where slopes are `free` of a prior it marks, too, a correlation with
    the rest whose normal interval includes 0 (a slope's own error does not tell: of steep items the likelihood falls
    slowly upwards, and the error is as large as the slope), or a `common` slope, in which all items have a hand, whose
    own interval does.

    "Slope not bounded above" are free slopes that may be as steep as these answers can show. Abilities known up to
    `error` (their standard deviation given the answers) show a logistic curve of slope a as one of slope
    `a / sqrt(1 + (a error / 1.7)^2)`, and a step as `1.7 / error`. Marked are slopes whose interval reaches nine tenths
    of that, or what maximum likelihood takes as infinite.

    The sign of a slope is not shown by the item's own answers, which vary, where their correlation with the rest is
    less than 1.28 standard errors on its side of 0 (one-sided 10 %). Of free slopes the flag is "sign uncertain": their
    draws and intervals take the estimate's sign as known. Elsewhere it is "sign from the prior", of positive ones; of a
    negative one the answers convinced the prior.
    """
    a, error_a, low, high = (table[name].to_numpy(float) for name in ("a", "a_sd", "b_low", "b_high"))
    # Correlations with the rest of the exam, in standard errors of one that is 0.
    association = table["point_biserial"].to_numpy(float) * np.sqrt(np.maximum(data.asked.sum(axis=0) - 1, 1))
    weak, varies = high - low > ABILITIES, _varies(data)
    if free:
        size, unit = (a, error_a) if common else (association, 1.0)
        weak |= np.abs(size) <= ndtri(tails[1]) * unit
    table = _with_flag(table, HARDLY, weak & varies)
    if free:
        steep = table[["a_low", "a_high"]].abs().max(axis=1).to_numpy(float)
        table = _with_flag(table, ENDLESS, steep >= min(STEP / max(error, 1e-9), RUNAWAY))
    if common:
        return table
    unseen = (np.where(a < 0, -association, association) < SURE) & varies
    return _with_flag(table, UNSURE, unseen) if free else _with_flag(table, ASSUMED, unseen & (a > 0))


def _varies(data: ResponseMatrix) -> NDArray[np.bool_]:
    """Items `[I]` that not all students answered alike."""
    share = data.scores if data.trials is None else data.proportions
    return np.asarray(np.nanmin(share, axis=0) < np.nanmax(share, axis=0))


def _with_flag(table: pd.DataFrame, flag: str, which: NDArray[np.bool_]) -> pd.DataFrame:
    words = [
        "; ".join(filter(None, (said, flag))) if bad else said for said, bad in zip(table["flags"], which, strict=True)
    ]
    return table.assign(flags=words)


def rest_correlation(data: ResponseMatrix) -> Floats:
    """Correlation `[I]` of each item with the share right on all other items; 0 where either is constant."""
    return np.concatenate([_rest_correlation(block) for block in _blocks(data)])


def spread(draws: Floats, tails: tuple[float, float]) -> tuple[Floats, Floats, Floats]:
    """Standard deviation and quantiles at the `tails` of draws `[D, N, ...]`, some columns at a time."""
    sd, low, high = (np.empty(draws.shape[1:]) for _ in range(3))
    for columns in blocks(draws.shape[1], draws[:, :1].size):
        # A value that is the same in every draw is stored once.
        block = draws[:1, columns] if draws.strides[0] == 0 else draws[:, columns]
        sd[columns] = block.std(axis=0, ddof=1) if len(block) > 1 else 0.0
        low[columns], high[columns] = np.quantile(block, tails, axis=0)
    return sd, low, high


class _ColumnBlock(NamedTuple):
    """Some columns of a table: successes and trials `[S, B]` (0 where not asked), and all items' totals `[S, 1]`."""

    k: Floats
    n: Floats
    all_k: Floats
    all_n: Floats


def _blocks(data: ResponseMatrix) -> Iterator[_ColumnBlock]:
    """The table a block of columns at a time, so that large tables are not copied whole."""
    students, items = data.scores.shape
    every = slice(None)
    columns = list(blocks(items, students))
    all_k, all_n = np.zeros((students, 1)), np.zeros((students, 1))
    for block in columns:
        for total, part in zip((all_k, all_n), counts(data, every, block), strict=True):
            total += part.sum(axis=1, keepdims=True)
    for block in columns:
        yield _ColumnBlock(*counts(data, every, block), all_k, all_n)


def _item_fit(block: _ColumnBlock) -> tuple[Floats, Floats, Floats]:
    """Rest correlation, share right and number asked of the items of a block."""
    right = block.k.sum(axis=0) / np.maximum(block.n.sum(axis=0), 1)
    return _rest_correlation(block), right, (block.n > 0).sum(axis=0)


def _rest_correlation(block: _ColumnBlock) -> Floats:
    k, n, asked = block.k, block.n, block.n > 0
    rest = (block.all_k - k) / np.maximum(block.all_n - n, 1)
    share = k / np.maximum(n, 1)
    count = np.maximum(asked.sum(axis=0), 1)
    x = np.where(asked, share - share.sum(axis=0) / count, 0.0)
    y = np.where(asked, rest - (rest * asked).sum(axis=0) / count, 0.0)
    norm = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    return np.asarray(np.divide((x * y).sum(axis=0), norm, out=np.zeros(norm.shape), where=norm > 1e-12))


def _flags(right: Floats, reversed_: NDArray[np.bool_], chance: Floats) -> list[str]:
    """Plain words, separated by '; '; empty when nothing is wrong.

    With a share right below chance on top of a negative correlation the key is probably wrong: better students choose
    another answer.
    """
    kinds = {"all correct": right == 1.0, "all wrong": right == 0.0, "negative discrimination": reversed_}
    kinds["probable mis-key"] = reversed_ & (right < chance)
    return [
        "; ".join(word for word, has in zip(kinds, row, strict=True) if has)
        for row in zip(*kinds.values(), strict=True)
    ]


def unused_scores(data: ResponseMatrix) -> NDArray[np.bool_]:
    """Scores 0..K that exist for an item of a table of ratings and that nobody got, `[I, K + 1]`."""
    assert data.top is not None
    score = np.arange(int(data.top.max()) + 1)
    used = np.stack([(data.scores == value).any(axis=0) for value in score], axis=1)
    return np.asarray((score <= data.top[:, None]) & ~used)


def _rating_flags(data: ResponseMatrix, reversed_: NDArray[np.bool_]) -> list[str]:
    """Plain words, separated by '; ': unused scores, and a negative correlation."""
    words = []
    for unused, bad in zip(unused_scores(data), reversed_, strict=True):
        found = ["nobody scored " + ", ".join(str(score) for score in np.flatnonzero(unused))] if unused.any() else []
        words.append("; ".join([*found, *(["negative discrimination; perhaps scored in reverse"] if bad else [])]))
    return words


def q3(data: ResponseMatrix, expected: Floats) -> pd.DataFrame:
    """Correlations of residuals over students asked both items, for every pair with at least 3 of them."""
    rho, _, count = residual_correlations(np.nan_to_num(data.proportions) - expected, data.asked)
    first, second = np.triu_indices(len(data.items), 1)
    keep = count[first, second] >= 3
    names = np.array(data.items, dtype=object)
    table = pd.DataFrame({"item_a": names[first], "item_b": names[second], "q3": rho[first, second]})[keep]
    order = table["q3"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)


def residual_correlations(residual: Floats, asked: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Correlations `[I, I]` of residuals `[S, I]` over students asked both items, whether defined, and their number."""
    weight = asked.astype(np.float64)
    residual = np.where(asked, residual, 0.0)
    count = weight.T @ weight
    safe = np.maximum(count, 1)
    sums = residual.T @ weight
    covariance = residual.T @ residual / safe - sums * sums.T / safe**2
    variance = (residual**2).T @ weight / safe - (sums / safe) ** 2
    norm = np.sqrt(np.maximum(variance * variance.T, 0))
    known = norm > 1e-12
    return np.divide(covariance, norm, out=np.zeros_like(norm), where=known), known, count


def accuracy_by_level(
    draws: Mapping[str, Floats], items: Items, design: Design, tails: tuple[float, float]
) -> pd.DataFrame:
    """Expected share right of a student at each level, or combination, whose other effects and residual are 0.

    `items` are those of all `draws`.
    """
    frames = []
    for term in design.terms:
        effects = design.worth(term.name, draws)
        shares = np.stack([items.share(level[:, None]).mean(axis=1) for level in effects.T], axis=1)
        low, high = np.quantile(shares, tails, axis=0)
        columns = {"accuracy": shares.mean(axis=0), "low": low, "high": high}
        frames.append(pd.DataFrame({"facet": term.name, "level": list(term.levels)} | columns))
    empty = pd.DataFrame(columns=["facet", "level", "accuracy", "low", "high"])
    return pd.concat(frames, ignore_index=True) if frames else empty


def each_draw(data: ResponseMatrix, draws: Mapping[str, Floats]) -> Iterator[tuple[Floats, Items]]:
    """Abilities `[S]` and items of each draw."""
    for index, theta in enumerate(draws["theta"]):
        yield theta, items_among({name: values[index] for name, values in draws.items()}, data.top)


def replicas(data: ResponseMatrix, design: Design, draws: Mapping[str, Floats], seed: int) -> Iterator[Floats]:
    """A table of successes, or of ratings, `[S, I]` from each draw of abilities and items; 0 where not asked.

    Effects of levels on items are drawn anew: the replica is of the same students answering like items.
    """
    rng, attempts = np.random.default_rng([seed, 2]), data.attempts
    steeper = np.broadcast_to(flattening(draws), len(draws["theta"]))
    for index, (theta, items) in enumerate(each_draw(data, draws)):
        if design.item_facets:
            own, away = items.a * steeper[index], np.zeros(attempts.shape)
            for name in design.item_facets:
                term, scale = design.term(name), draws[f"item_effect_scale.{name}"][index]
                effects = scale * rng.standard_normal((len(term.levels), len(own)))
                away = away + effects[term.level_of] / own
            if isinstance(items, ItemParameters):
                items = ItemParameters(own, items.b - away, items.c, items.d)
            else:
                items = items._replace(a=own, thresholds=items.thresholds - away[:, :, None])
        yield items.draw(rng, theta, attempts)


def predictive_check(
    data: ResponseMatrix, made: Iterable[Floats], tails: tuple[float, float]
) -> dict[str, pd.DataFrame]:
    """Shares right (of the points) of students and of items against those of tables `made` by the model.

    `p_value` is two-sided with half weight on ties; `surprising` marks p below 0.01.
    """
    right, all_of = data.successes, data.attempts
    sums = [(table.sum(axis=1), table.sum(axis=0)) for table in made]
    by_student, by_item = (np.array(part, dtype=np.float64) for part in zip(*sums, strict=True))
    return {
        "students": checked("student", data.students, right.sum(1), all_of.sum(1), by_student, tails),
        "items": checked("item", data.items, right.sum(0), all_of.sum(0), by_item, tails),
    }


def checked(
    label: str, names: Sequence[str], observed: Floats, attempts: Floats, replicas: Floats, tails: tuple[float, float]
) -> pd.DataFrame:
    """Sums observed `[N]` against replicas `[D, N]`, as shares of the attempts; two-sided p, surprising below 0.01."""
    above = np.mean(replicas > observed, axis=0) + 0.5 * np.mean(replicas == observed, axis=0)
    p_value = np.minimum(2 * np.minimum(above, 1 - above), 1.0)
    low, high = np.quantile(replicas, tails, axis=0)
    share = np.maximum(attempts, 1)
    return pd.DataFrame(
        {
            label: list(names),
            "observed": observed / share,
            "expected": replicas.mean(axis=0) / share,
            "low": low / share,
            "high": high / share,
            "p_value": p_value,
            "surprising": p_value < 0.01,
        }
    )
